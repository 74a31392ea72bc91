"""Refusing cells whose squares are beyond the range of floats."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError


def refuse_overflow(scatter: NDArray[np.float64], columns: int) -> None:
    """Refuse sums of squares that are not finite: those of ``columns`` columns, then those of targets.

    >>> refuse_overflow(np.array([1.0, 2.0]), 2)
    """
    if np.isfinite(scatter).all():
        return
    first = int(np.flatnonzero(~np.isfinite(scatter))[0])
    which = f"column {first} of X" if first < columns else "the target"
    raise DataError(
        f"the squares of {which} are beyond the range of floats, or it is not finite: "
        "divide it by a power of ten, or leave it out."
    )
