r"""Whether two classes can be told apart, completely or but for rows on the border, by a linear programme.

With signs t of the classes and standardised columns, maximise :math:`\sum_i t_i x_i'b` over
:math:`t_i x_i'b \ge 0` and :math:`-1 \le b \le 1`: the maximum is 0 exactly where there is a finite best
answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.solvers.linear_program import linear_program

CELLS = 400_000  # of a programme; beyond it, a sample of the rows proposes and all rows decide
MOST_COLUMNS = 300
BORDER = 1e-7  # of a standardised score: nearer to the border is on it


@dataclass(frozen=True, slots=True)
class Separation:
    """How classes are told apart: ``complete`` or ``quasi-complete``.

    columns: those of the direction. border: how many rows lie on it.
    """

    kind: str
    columns: tuple[int, ...]
    border: int

    @property
    def evidence(self) -> tuple[str, tuple[int, ...], int]:
        """As the rule of diagnosis takes it."""
        return self.kind, self.columns, self.border


def separation(X: Any, y: NDArray[Any], fit_intercept: bool) -> Separation | None:
    """Return the separation of classes 0 and 1; None where there is none, or too many columns to ask.

    >>> separation(np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1]), True)
    Separation(kind='quasi-complete', columns=(0,), border=2)
    """
    rows, columns = X.shape
    if columns > MOST_COLUMNS or rows < 2:
        return None
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
    mean = X.mean(axis=0) if fit_intercept else np.zeros(columns)
    size = np.sqrt(((X - mean) ** 2).mean(axis=0))
    A = (X - mean) / np.where(size > 0, size, 1.0)
    A = np.column_stack([A, np.ones(rows)]) if fit_intercept else A
    A = np.where(np.asarray(y) > 0, 1.0, -1.0)[:, None] * A
    few = max(CELLS // A.shape[1], 2)
    some = A if rows <= few else A[np.linspace(0, rows - 1, few).astype(np.intp)]
    alone = _single_columns(A[:, :columns] if not fit_intercept else X, np.asarray(y) > 0, fit_intercept)
    if alone is not None:
        return alone
    for direction in (_widest(some), _furthest(some)):
        margin = A @ direction
        if margin.min() < -BORDER or margin.max() <= BORDER:
            continue
        border = int(np.count_nonzero(margin <= BORDER))
        used = tuple(int(j) for j in np.flatnonzero(np.abs(direction[:columns]) > 1e-6))
        return Separation("quasi-complete" if border else "complete", used, border)
    return None


def _single_columns(X: Any, positive: NDArray[np.bool_], fit_intercept: bool) -> Separation | None:
    """Return a separation by one column, if there is one; without an intercept, X has its signs already."""
    if fit_intercept:
        if positive.all() or not positive.any():
            return None
        low, high = X[~positive], X[positive]
        above, below = high.min(axis=0) - low.max(axis=0), low.min(axis=0) - high.max(axis=0)
        gap = np.maximum(above, below)
        edge = np.where(above >= below, high.min(axis=0), low.min(axis=0))
        on_edge = (edge == X).sum(axis=0)
    else:
        gap = np.maximum(X.min(axis=0), -X.max(axis=0))
        on_edge = (X == 0).sum(axis=0)
    varies = X.max(axis=0) > X.min(axis=0)
    for kind, found in (("complete", (gap > 0) & varies), ("quasi-complete", (gap == 0) & varies)):
        if found.any():
            columns = tuple(int(j) for j in np.flatnonzero(found))
            border = 0 if kind == "complete" else int(on_edge[found].min())
            return Separation(kind, columns, border)
    return None


def _widest(A: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the direction whose nearest row is furthest from the border."""
    q = A.shape[1]
    c = np.append(np.zeros(q), -1.0)
    found = linear_program(c, np.hstack([-A, np.ones((len(A), 1))]), np.zeros(len(A)), bounds=(-1.0, 1.0))
    return np.asarray(found.x[:q])


def _furthest(A: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the direction that puts no row on the wrong side and their mean furthest from the border."""
    found = linear_program(-A.mean(axis=0), A_ub=-A, b_ub=np.zeros(len(A)), bounds=(-1.0, 1.0))
    return np.asarray(found.x)
