"""Columns of equal length as a data frame of the kind that is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw

from surefit.core.errors import ParameterError


def frame_of(columns: Mapping[str, Any], backend: str = "pandas") -> Any:
    """Make a frame of pandas, polars or pyarrow.

    >>> frame_of({"fold": [1, 2]}, "pyarrow").num_rows
    2
    """
    if backend not in ("pandas", "polars", "pyarrow"):
        raise ParameterError(f"backend={backend!r} must be 'pandas', 'polars' or 'pyarrow'.")
    kind: Any = backend
    try:
        lists = {name: list(values) for name, values in columns.items()}
        return nw.from_dict(lists, backend=kind).to_native()
    except ImportError:
        raise ParameterError(f"{backend} is not installed: install it, or ask for another backend.") from None
