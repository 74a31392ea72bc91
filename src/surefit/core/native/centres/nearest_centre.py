"""The nearest centre of each row, exactly, with or without bounds that save distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.config import threads
from surefit.core.native import compiled

Labels = NDArray[np.int32]
_FEW = 20_000  # cells, below which asking what the process may use takes longer than the work


@dataclass(slots=True)
class Bounds:
    """How far each row is from its own centre at the most, and from the others at least.

    ``lower`` has one column, the bound on all others (Hamerly), or one for each centre (Elkan). ``filled``
    says whether a first call has filled them.
    """

    upper: NDArray[np.float32]
    lower: NDArray[np.float32]
    filled: bool = False

    @classmethod
    def of(cls, rows: int, columns: int) -> Bounds:
        """Return those of so many rows, not filled."""
        return cls(np.zeros(rows, np.float32), np.zeros((rows, columns), np.float32))


def nearest_centre(
    X: NDArray[Any],
    centres: Matrix,
    labels: Labels,
    bounds: Bounds | None = None,
    moved: Vector | None = None,
    *,
    _threads: int | None = None,
) -> int:
    """Write the nearest centre of each row into ``labels``, the first of equals; return the distances
    computed.

    With bounds of an earlier call, labels are those of that call, and ``moved`` is how far each centre has
    moved.

    >>> labels = np.zeros(3, np.int32)
    >>> nearest_centre(np.array([[0.0], [1.0], [5.0]]), np.array([[0.0], [2.0]]), labels), labels.tolist()
    (6, [0, 0, 1])
    """
    native = compiled()
    if native is None:
        return nearest_centre_twin(X, centres, labels, bounds, moved)
    count = (1 if X.size < _FEW else threads()) if _threads is None else _threads
    upper, lower = (None, None) if bounds is None else (bounds.upper, bounds.lower)
    if bounds is None or not bounds.filled:
        moved = None
    computed: int = native.nearest_centre(X, centres, labels, upper, lower, moved, count)
    if bounds is not None:
        bounds.filled = True
    return computed


def nearest_centre_twin(
    X: NDArray[Any],
    centres: Matrix,
    labels: Labels,
    bounds: Bounds | None = None,
    moved: Vector | None = None,
) -> int:
    """Do the same by all differences; bounds are left as they are."""
    step = max(1, 1_000_000 // max(1, centres.size))
    for start in range(0, len(X), step):
        rows = X[start : start + step].astype(np.float64, copy=False)
        squares = np.square(rows[:, None, :] - centres).sum(axis=2)
        labels[start : start + step] = squares.argmin(axis=1)
    return len(X) * len(centres)
