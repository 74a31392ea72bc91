r"""Counts whose likelihood has no greatest value: means of zero counts that fall for ever.

Under a log link a row of count 0 costs less the smaller its mean is. Where a direction d has
:math:`x_i'd = 0` for every row with a count and :math:`x_i'd \le 0` for the others, less than 0 for some, the
objective falls along it for ever, towards an infimum that no coefficients attain. Fewer rows than columns, a
zero among them, always have one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefit.models.linear.separation import BORDER, CELLS, MOST_COLUMNS, _direction
from surefit.penalties.no_penalty import NoPenalty
from surefit.solvers.base import Solution
from surefit.solvers.objective import Objective
from surefit.stats.products import scores_of

Array = NDArray[np.float64]

LOSSES = ("poisson", "tweedie", "negative_binomial")
SMALL = 1e-2  # of the mean count: an expected count below it may be on its way to 0
SAME = 1e-10  # of the greatest singular value: columns of rows with counts are told apart by more


def falling_zeros(X: Any, y: NDArray[Any], fit_intercept: bool) -> tuple[tuple[int, ...], int] | None:
    """Return the columns along which means of zero counts fall for ever, and of how many rows; None for none.

    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
    >>> falling_zeros(X, np.array([0, 1, 2, 1]), True)  # the first row alone has the second column
    ((1,), 1)
    >>> falling_zeros(X, np.array([1, 1, 2, 0]), True) is None
    True
    """
    rows = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
    size = np.sqrt(np.mean(rows**2, axis=0))
    size[size == 0] = 1.0
    A = rows / size
    A = np.column_stack([A, np.ones(len(A))]) if fit_intercept else A
    counted, zero = A[y > 0], A[y == 0]
    if not len(zero) or not len(counted):
        return None
    triangle = linalg.qr(counted, mode="r", check_finite=False)[0][: counted.shape[1]]
    _, lengths, axes = linalg.svd(triangle, check_finite=False)
    free = axes[int(np.count_nonzero(lengths > SAME * lengths.max())) :].T
    if not free.shape[1]:
        return None
    way = _direction(-(zero @ free))
    if way is None:
        return None
    along = free @ way
    used = np.flatnonzero(np.abs(along[: rows.shape[1]]) > 1e-6 * np.abs(along).max())
    falls = int(np.count_nonzero(zero @ along < -BORDER))
    return tuple(int(j) for j in used), falls


def unattained_evidence(objective: Objective, solution: Solution) -> dict[str, Any]:
    """Look for such a direction where the fitted mean of a zero count is next to nothing."""
    rows = objective.rows
    known = objective.loss.name in LOSSES and isinstance(objective.penalty, NoPenalty)
    if rows is None or not known or objective.columns > MOST_COLUMNS:
        return {}
    y, s = np.asarray(rows.y, dtype=np.float64), rows.weight
    counts: Any = np.ones(len(y), dtype=bool) if s is None else s > 0
    zero = counts & (y == 0)
    if not zero.any() or np.count_nonzero(counts) * objective.columns > CELLS:
        return {}
    mean = np.exp(scores_of(rows, *objective.split(solution.x)))
    if not (mean[zero] < SMALL * float(np.mean(y[counts]))).any():
        return {}
    X: Any = rows.X
    found = falling_zeros(X[np.flatnonzero(counts)], y[counts], objective.fit_intercept)
    return {} if found is None else {"falling_zeros": found}
