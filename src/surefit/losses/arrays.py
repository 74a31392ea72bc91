"""How targets and scores come in: as floats of one type and shape, never copied where they need not be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError

Array = NDArray[np.floating[Any]]


def reals(numbers: Any) -> Array:
    """Return float64, or long doubles as they are."""
    array = np.asarray(numbers)
    return array if array.dtype in (np.float64, np.longdouble) else array.astype(np.float64)


def aligned(y: Any, z: Any) -> tuple[Array, Array]:
    """Return y and z as floats of z's type, in one shape; a single number goes with any."""
    z = np.atleast_1d(reals(z))
    y = np.atleast_1d(np.asarray(y, dtype=z.dtype))
    if y.shape == z.shape:
        return y, z
    if y.size == 1 or z.size == 1:
        y, z = np.broadcast_arrays(y, z)
        return y, z
    raise DataError(f"y has shape {y.shape} and z has shape {z.shape}: give one score for each target.")


def by_row(each: Array) -> Array:
    """Add up the outputs of a row: (n, K) becomes (n,)."""
    return each.sum(axis=1) if each.ndim == 2 else each


def inside(value: Array, allowed: NDArray[np.bool_]) -> Array:
    """Return the value where it is allowed and inf elsewhere: a conjugate on its domain."""
    return np.where(allowed, value, np.inf)


def weights_of(weight: Any, rows: int) -> NDArray[np.float64]:
    """Return the weights as floats, ones for None; some must be positive and none negative."""
    s = np.ones(rows) if weight is None else np.asarray(weight, dtype=np.float64)
    if s.shape != (rows,):
        raise DataError(f"weight has shape {s.shape} for {rows} rows: give one number a row.")
    if not (s >= 0).all() or not s.any():
        raise DataError("weight must have no negative entry and at least one positive one.")
    return s
