"""What looks at rows again and again, in ways that a table read in batches does not offer."""

from __future__ import annotations

from typing import Any

from surefit.core.errors import DataError
from surefit.data.door import is_streamed


def need_memory(what: str, X: Any, y: Any = None) -> None:
    """Refuse a table that is read in batches, with what to do instead.

    >>> need_memory("learning_curve", [[1.0]], [2.0])
    """
    if is_streamed(X, y, None):
        raise DataError(
            f"{what} takes rows in memory, and X is a table that is read in batches: "
            "load its rows, or a sample of them, first."
        )
