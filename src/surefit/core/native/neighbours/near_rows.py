"""The nearest rows by Euclidean distance, by comparing all pairs."""

from __future__ import annotations

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.config import threads
from surefit.core.native import compiled
from surefit.core.native.neighbours.norms import Norm
from surefit.core.native.neighbours.point_tree import Lists, Nearest, nearest_twin, within_twin


def _frame(X: Matrix) -> tuple[Vector, float]:
    """A centre and a scale that bring the rows near to 1, where float32 keeps the most digits."""
    low, high = X.min(axis=0), X.max(axis=0)
    centre = low / 2 + high / 2
    width = float((high / 2 - low / 2).max()) if X.size else 0.0
    # A power of two, so that scaling rounds nothing.
    scale = float(np.ldexp(1.0, -int(np.clip(np.frexp(width)[1], -900, 900)))) if width > 0 else 1.0
    return np.ascontiguousarray(centre), scale


def rows_nearest(X: Matrix, Q: Matrix, k: int, own: bool = False, *, _threads: int | None = None) -> Nearest:
    """Return the k nearest rows of X for each row of Q and the squared distances; both in C order.

    >>> rows_nearest(np.array([[0.0], [1.0], [3.0]]), np.array([[2.0]]), 2).index
    array([[1, 2]])
    """
    native = compiled()
    if native is None:
        return nearest_twin(X, Norm(), Q, k, own)
    found = Nearest(np.empty((len(Q), k), dtype=np.int64), np.empty((len(Q), k)))
    centre, scale = _frame(X)
    used = threads() if _threads is None else _threads
    native.rows_nearest(X, centre, scale, Q, own, found.index, found.value, used)
    return found


def rows_within(
    X: Matrix,
    Q: Matrix,
    radius: Vector,
    own: bool = False,
    by_distance: bool = False,
    *,
    _threads: int | None = None,
) -> Lists:
    """Return all rows of X whose squared distance from row i of Q is at most ``radius[i]``."""
    native = compiled()
    if native is None:
        return within_twin(X, Norm(), Q, radius, own, by_distance)
    centre, scale = _frame(X)
    used = threads() if _threads is None else _threads
    return Lists(*native.rows_within(X, centre, scale, Q, radius, own, by_distance, used))
