"""What shuffling a column does to the squared errors of a linear model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.config import threads
from surefit.core.native import compiled


def linear_shuffle(
    terms: Vector, error: Vector, order: NDArray[np.int64], *, _threads: int | None = None
) -> tuple[Vector, Vector]:
    """Return by how much mean squares grow, (columns, repeats), and how that varies over rows, (columns,).

    terms: (rows, columns), what each column adds to each prediction. error: truth minus prediction. order:
    (repeats, rows), the row that each takes the column from. A row counts as itself and as the one that lends
    its value.

    >>> linear_shuffle(np.array([[0.0], [1.0]]), np.zeros(2), np.array([[1, 0]]))[0]
    array([[1.]])
    """
    native = compiled()
    terms, order = np.ascontiguousarray(terms), np.ascontiguousarray(order, dtype=np.int64)
    if native is None:
        return linear_shuffle_twin(terms, error, order)
    change, spread = np.empty((terms.shape[1], len(order))), np.empty(terms.shape[1])
    count = threads() if _threads is None else _threads
    native.linear_shuffle(terms, np.ascontiguousarray(error), order, change, spread, count)
    return change, spread


def linear_shuffle_twin(terms: Vector, error: Vector, order: NDArray[np.int64]) -> tuple[Vector, Vector]:
    """Do the same, a whole table a shuffling."""
    change, both = np.empty((terms.shape[1], len(order))), np.zeros_like(terms)
    for r, rows in enumerate(order):
        apart = terms[rows] - terms
        worse = apart * (apart - 2 * error[:, None])
        change[:, r] = worse.mean(axis=0)
        both += worse
        np.add.at(both, rows, worse)
    return change, both.var(axis=0)
