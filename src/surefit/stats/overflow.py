"""Refusing cells whose squares leave the range of floats: they overflow above it, and lose digits below."""

from __future__ import annotations

import numpy as np

from surefit.core.arrays import Vector
from surefit.data.checks.float_range import LARGEST, SMALLEST, out_of_range

SQUARED_TWICE = (1e-70, 1e74)


def refuse_overflow(
    scatter: Vector,
    columns: int,
    weight: float | Vector = 1.0,
    limits: tuple[float, float] = (SMALLEST, LARGEST),
) -> None:
    """Refuse sums of squares that floats cannot hold: those of ``columns`` columns, then those of targets.

    weight: of all rows, so that what counts is the variance. limits: of the numbers; ``SQUARED_TWICE`` are
    for sums of squares that are squared again.

    >>> refuse_overflow(np.array([1.0, 2.0]), 2)
    """
    with np.errstate(all="ignore"):
        variance = scatter / weight
    fits = (variance <= limits[1] ** 2) & ((variance == 0) | (variance >= limits[0] ** 2)) | (
        np.asarray(weight) == 0
    )
    if fits.all():
        return
    first = int(np.flatnonzero(~fits)[0])
    which = f"column {first} of X" if first < columns else "the target"
    raise out_of_range(which, bool(variance[first] < 1.0), limits)
