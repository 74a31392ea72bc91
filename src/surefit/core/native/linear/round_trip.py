"""Through the rows and back in one pass: what conjugate gradients on least squares need of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core.arrays import Matrix
from surefit.core.config import threads
from surefit.core.native import compiled
from surefit.core.native.inputs import matrix_arguments, row_weights, side_matrix


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """A'SU (p, k), and the rows of SU added up (k,)."""

    cross: Matrix
    sums: Matrix


def round_trip(
    X: Any, V: Any, B: Any = None, weight: Any = None, centre: Any = None, *, _threads: int | None = None
) -> RoundTrip:
    """Return A'SU for U = B - AV and A = X - 1 centre', with row weights S; X is dense, V (p, k), B (n, k).

    With B a target and V coefficients, U are residuals; without B, the product with -A'SA.

    >>> round_trip(np.array([[1.0], [3.0]]), [[2.0]], [[2.0], [7.0]]).cross
    array([[3.]])
    """
    native = compiled()
    if native is None:
        return round_trip_twin(X, V, B, weight, centre)
    matrix_arguments(X)
    directions = np.ascontiguousarray(np.asarray(V, dtype=np.float64).T)
    beside = None if B is None else np.ascontiguousarray(side_matrix(B))
    cross, sums = np.empty_like(directions), np.empty(len(directions))
    count = threads() if _threads is None else _threads
    native.round_trip(X, directions, beside, row_weights(weight), row_weights(centre), cross, sums, count)
    return RoundTrip(np.ascontiguousarray(cross.T), sums)


def round_trip_twin(X: Any, V: Any, B: Any = None, weight: Any = None, centre: Any = None) -> RoundTrip:
    """Do the same with two products over a centred copy."""
    A = np.asarray(X, dtype=np.float64) - (0.0 if centre is None else np.asarray(centre))
    s = np.ones(len(A)) if weight is None else np.asarray(weight, dtype=np.float64)
    U = (0.0 if B is None else np.asarray(side_matrix(B))) - A @ np.asarray(V, dtype=np.float64)
    U = s[:, None] * U
    return RoundTrip(A.T @ U, U.sum(axis=0))
