r"""Data without a finite best answer: classes that can be told apart, and zero counts whose means fall.

Two classes, completely or but for rows on the border, by a linear programme: with signs t of the classes and
standardised columns, maximise :math:`\sum_i t_i x_i'b` over :math:`t_i x_i'b \ge 0` and
:math:`-1 \le b \le 1`; the maximum is 0 exactly where there is a finite best answer.

Counts: under a log link a row of count 0 costs less the smaller its mean is. Where a direction d has
:math:`x_i'd = 0` for every row with a count and :math:`x_i'd \le 0` for the others, less than 0 for some, the
objective falls along it for ever, towards an infimum that no coefficients attain. Fewer rows than columns, a
zero among them, always have one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefit.penalties.no_penalty import NoPenalty
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Solution
from surefit.solvers.program.linear_program import linear_program
from surefit.stats.products import scores_of

CELLS = 400_000  # of a programme; beyond it, a sample of the rows proposes and all rows decide
MOST_COLUMNS = 300
MOST_NAMED = 12  # columns of a direction, of which each is tried whether it does without
BORDER = 1e-7  # of a standardised score: nearer to the border is on it
ROUGHLY = np.inf  # any direction will do: the rows themselves say what it separates
LARGE = 6.0  # by how much a column moves the score: odds of one to four hundred
SURE = 8.0  # a score: odds of one to three thousand


@dataclass(frozen=True, slots=True)
class Separation:
    """How classes are separated: ``complete`` or ``quasi-complete``.

    columns: those of the direction. border: how many rows lie on it.
    """

    kind: str
    columns: tuple[int, ...]
    border: int

    @property
    def evidence(self) -> tuple[str, tuple[int, ...], int]:
        """As the rule of diagnosis takes it."""
        return self.kind, self.columns, self.border


def separation(
    X: Any, y: NDArray[Any], fit_intercept: bool, *, only_single: bool = False
) -> Separation | None:
    """Return the separation of classes 0 and 1; None where there is none, or too many columns to ask.

    only_single: look for single columns alone, which takes no programme.

    >>> separation(np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1]), True)
    Separation(kind='quasi-complete', columns=(0,), border=2)
    """
    rows, columns = X.shape
    if columns > MOST_COLUMNS or rows < 2:
        return None
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
    alone = _single_columns(X, np.asarray(y) > 0, fit_intercept)
    if alone is not None or only_single:
        return alone
    A = _signed(X, np.asarray(y) > 0, fit_intercept)
    for few in (5 * A.shape[1], max(CELLS // A.shape[1], 2)):
        some = A if rows <= few else A[np.linspace(0, rows - 1, few).astype(np.intp)]
        found = _direction(some)
        if found is None and np.linalg.matrix_rank(some) == A.shape[1]:
            return None  # what cannot be told apart in some rows cannot be in all
    return None if found is None else _told(A, found, columns)


def separating_evidence(objective: Objective, solution: Solution) -> dict[str, Any]:
    """Look for columns that separate classes, where coefficients without a penalty grew large.

    Of many classes, each is told from the rest. Single columns are looked at where one moves the score far
    between its least value and its greatest; the programme, which takes longer, where it moves it far by a
    standard deviation or rows are as good as sure.
    """
    rows, classes = objective.rows, objective.source.schema.classes
    if rows is None or not isinstance(objective.penalty, NoPenalty):
        return {}
    y = np.asarray(rows.y)
    found: dict[str, Any] = {}
    if classes is not None:
        found["class_rows"] = (
            classes,
            np.bincount(y.astype(np.intp), rows.weight, len(classes)),
            objective.columns,
        )
    elif not ((y == 0) | (y == 1)).all():
        return found
    coef, intercept = objective.split(solution.x)
    size = np.abs(coef.reshape(objective.columns, -1)).max(axis=1)
    if rows.offset is not None or not (size * _ranges(rows.X) > LARGE).any():
        return found
    far = bool((size * np.sqrt(objective.spread.variance) > LARGE).any())
    sure = far or bool(np.abs(scores_of(rows, coef, intercept)).max() > SURE)
    counted: Any = slice(None) if rows.weight is None else rows.weight > 0
    X: Any = rows.X
    for code in (
        [1] if objective.loss.task == "binary" else range(len(classes if classes is not None else ()))
    ):
        told = separation(X[counted], y[counted] == code, objective.fit_intercept, only_single=not sure)
        if told is not None:
            return {**found, "separating": told.evidence}
    return {**found, "separating": ("none", (), 0)}


def _ranges(X: Any) -> NDArray[np.float64]:
    """Return from the least to the greatest value of each column."""
    high, low = X.max(axis=0), X.min(axis=0)
    if hasattr(high, "toarray"):
        high, low = high.toarray(), low.toarray()
    return np.asarray(high, dtype=np.float64).ravel() - np.asarray(low, dtype=np.float64).ravel()


def _signed(X: NDArray[np.float64], positive: NDArray[np.bool_], fit_intercept: bool) -> NDArray[np.float64]:
    """Return standardised columns, and a constant, turned around for the rows of the first class."""
    mean = X.mean(axis=0) if fit_intercept else np.zeros(X.shape[1])
    size = np.sqrt(((X - mean) ** 2).mean(axis=0))
    A = (X - mean) / np.where(size > 0, size, 1.0)
    A = np.column_stack([A, np.ones(len(X))]) if fit_intercept else A
    return np.where(positive, 1.0, -1.0)[:, None] * A


def _direction(A: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return a direction with no row on the wrong side and some on the right one, completely if it can be."""
    for direction in (_widest(A), _furthest(A)):
        margin = A @ direction
        if margin.min() >= -BORDER and margin.max() > BORDER:
            return direction
    return None


def _told(A: NDArray[np.float64], direction: NDArray[np.float64], columns: int) -> Separation | None:
    """Return what a direction says of all rows, by no more columns than it takes."""
    margin = A @ direction
    if margin.min() < -BORDER or margin.max() <= BORDER:
        return None
    border = int(np.count_nonzero(margin <= BORDER))
    size = np.abs(direction[:columns])
    used = [int(j) for j in np.argsort(size) if size[j] > 1e-6]
    for j in list(used) if len(used) <= MOST_NAMED and A.size <= CELLS else ():
        kept = [k for k in used if k != j]
        fewer = _direction(A[:, [*kept, *range(columns, A.shape[1])]]) if kept else None
        if fewer is None:
            continue
        left = int(np.count_nonzero(A[:, [*kept, *range(columns, A.shape[1])]] @ fewer <= BORDER))
        if left <= border:
            used, border = kept, left
    return Separation("quasi-complete" if border else "complete", tuple(sorted(used)), border)


def _single_columns(
    X: NDArray[np.float64], positive: NDArray[np.bool_], fit_intercept: bool
) -> Separation | None:
    """Return a separation by one column, if there is one."""
    if positive.all() or not positive.any():
        return None
    if fit_intercept:
        low, high = X[~positive], X[positive]
        above, below = high.min(axis=0) - low.max(axis=0), low.min(axis=0) - high.max(axis=0)
        gap = np.maximum(above, below)
        edge = np.where(above >= below, high.min(axis=0), low.min(axis=0))
        on_edge = (edge == X).sum(axis=0)
    else:
        X = np.where(positive, 1.0, -1.0)[:, None] * X
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
    above = np.hstack([-A, np.ones((len(A), 1))])
    found = linear_program(c, above, np.zeros(len(A)), bounds=(-1.0, 1.0), tol=ROUGHLY)
    return np.asarray(found.x[:q])


def _furthest(A: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the direction that puts no row on the wrong side and their mean furthest from the border."""
    found = linear_program(-A.mean(axis=0), -A, np.zeros(len(A)), bounds=(-1.0, 1.0), tol=ROUGHLY)
    return np.asarray(found.x)


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
