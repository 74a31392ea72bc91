r"""How far a Newton step would move each coefficient: a gap in the units of the coefficients.

A duality gap bounds an objective, and says little of coefficients where the objective is flat. Near the
minimum they are off by the step of Newton's method on those that are free to move, F: with slopes g and
second derivatives H of loss and penalty,

.. math:: \delta_F = -H_{FF}^{-1} g_F .

Coefficients that the penalty holds at zero, or at a bound, are not free, unless their slope leads away from
there. Directions that do not bend beyond rounding are left alone: along them no coefficient is better than
another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefit.core.arrays import Matrix, Vector
from surefit.data.batches.batch import Batch
from surefit.data.batches.column_batch import changed
from surefit.data.source import MappedSource
from surefit.penalties.base import Penalty
from surefit.penalties.coordinate_table import CoordinateTable
from surefit.penalties.no_penalty import NoPenalty
from surefit.solvers.objective.centred_hessian import SecondDerivatives
from surefit.solvers.objective.mean_loss import MeanLoss
from surefit.solvers.objective.newton_decrement import EPS, LARGEST, NEARLY, ObservedLoss

HELD = 1e-9  # of its strength: a slope beyond an absolute penalty by less is rounding


@dataclass(frozen=True, slots=True)
class NewtonStep:
    """The step of each coefficient and intercept, packed as they are, and its size.

    share: the largest step of a coefficient, as a share of the largest coefficient, each times the root of
    its second derivative, so that units do not matter.
    """

    steps: Vector
    share: float


def newton_step(objective: MeanLoss, packed: Vector) -> NewtonStep | None:
    """Return the step from a packed point; None for a loss with kinks, a penalty that is not one of single
    coefficients or of squares, and more free coefficients than a square is kept of.

    >>> from surefit.losses.squared import Squared
    >>> at = MeanLoss.of_arrays([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0], Squared(), NoPenalty())
    >>> newton_step(at, np.array([1.5, 1.0])).steps.round(9)
    array([0.5, 0. ])
    """
    loss, table = objective.loss, _table(objective.penalty, objective.columns)
    if not (loss.smooth and loss.convex and hasattr(loss, "curvature")) or table is None:
        return None
    w = packed.reshape(len(packed), -1)
    slopes = objective.at(packed, 1).gradient.reshape(w.shape)
    pull, free = _pull(table, w[: objective.columns], slopes[: objective.columns])
    rows = np.flatnonzero(free.any(axis=1))
    if len(rows) * w.shape[1] > LARGEST or not np.isfinite(slopes).all():
        return None
    if not len(rows):
        return NewtonStep(np.zeros_like(packed), 0.0)
    chosen = np.append(rows, objective.columns) if objective.fit_intercept else rows
    few = _with_columns(objective, rows, packed)
    second = SecondDerivatives(few)
    point = packed[chosen]
    bent = ObservedLoss(loss) if hasattr(loss, "observed_curvature") else None
    with np.errstate(all="ignore"):
        here = second.at(second.inner(point), 2, bent)
    gradient = here.gradient.reshape(len(chosen), -1)
    gradient[: len(rows)] += pull[rows]
    H = _flat(here.hessian, gradient.shape)
    f, outputs = len(rows), gradient.shape[1]
    of_penalty = _squares(table, rows)
    for k in range(outputs):
        some = k * len(chosen) + np.arange(f)
        H[np.ix_(some, some)] += of_penalty
    moves = np.ones(gradient.shape, dtype=bool)
    moves[:f] = free[rows]
    step = np.zeros(gradient.size)
    on = np.flatnonzero(moves.T.ravel())
    bends = np.sqrt(np.maximum(np.diagonal(H), 0.0)).reshape(outputs, -1).T
    if len(on):
        step[on] = _solved(H[np.ix_(on, on)], -gradient.T.ravel()[on])
    full = np.zeros(w.shape)
    full[chosen] = _outer(second, step.reshape(outputs, -1).T)
    largest = float((bends[:f] * np.abs(w[rows])).max(initial=0.0))
    moved = float((bends[:f] * np.abs(full[rows])).max(initial=0.0))
    share = moved / largest if largest > 0 else (0.0 if moved == 0 else np.inf)
    return NewtonStep(full.reshape(packed.shape), share)


def _table(penalty: Penalty, columns: int) -> CoordinateTable | Matrix | None:
    """Return a penalty as numbers for each coefficient, or as the matrix of its squares."""
    if not penalty.convex:
        return None
    if penalty.offers("table"):
        return penalty.table(columns)
    squares = penalty.quadratic(columns) if columns <= LARGEST else None
    return np.diag(squares) if squares is not None and squares.ndim == 1 else squares


def _pull(table: Any, coef: Matrix, slopes: Matrix) -> tuple[Matrix, NDArray[np.bool_]]:
    """Return the slopes of the penalty, and which coefficients are free to move."""
    if isinstance(table, np.ndarray):
        return table @ coef, np.ones(coef.shape, dtype=bool)
    l1, l2, lower, upper = (np.broadcast_to(part[:, None], coef.shape) for part in _parts(table))
    whole = slopes + l2 * coef
    with np.errstate(invalid="ignore"):
        beyond = np.abs(whole) > l1 * (1 + HELD)
    sign = np.where(coef != 0, np.sign(coef), -np.sign(whole))
    free = (coef != 0) | (l1 == 0) | beyond
    total = whole + l1 * sign
    free &= ~((coef <= lower) & (total >= 0)) & ~((coef >= upper) & (total <= 0))
    return l2 * coef + l1 * sign, free


def _parts(table: CoordinateTable) -> tuple[Vector, Vector, Vector, Vector]:
    return table.l1, table.l2, table.lower, table.upper


def _squares(table: Any, rows: NDArray[np.intp]) -> Matrix:
    if isinstance(table, np.ndarray):
        return table[np.ix_(rows, rows)]
    return np.diag(table.l2[rows])


def _flat(hessian: Matrix, shape: tuple[int, int]) -> Matrix:
    """Return second derivatives as a matrix, one output after the other."""
    if hessian.ndim == 2:
        return hessian.copy()
    size = shape[0] * shape[1]
    return np.array(hessian.transpose(0, 2, 1, 3).reshape(size, size))


def _solved(H: Matrix, right: Vector) -> Vector:
    """Solve along what bends."""
    size = np.sqrt(np.maximum(np.diagonal(H), 0.0))
    size = np.where(size > 0, size, 1.0)
    scaled = H / size[:, None] / size
    if not (np.isfinite(scaled).all() and np.isfinite(right).all()):
        return np.full_like(right, np.inf)
    bends, axes = linalg.eigh(scaled, check_finite=False)
    bent = bends > NEARLY * len(bends) * EPS * bends.max(initial=0.0)
    along = axes[:, bent]
    return np.asarray(along @ ((along.T @ (right / size)) / bends[bent]) / size)


def _outer(second: SecondDerivatives, step: Matrix) -> Matrix:
    """Return a step with columns that were moved as one with columns as they are."""
    if second.by.any():
        step = step.copy()
        step[-1] -= second.by @ step[:-1]
    return step


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Keep some columns of a batch; what the others add to scores becomes an offset."""

    columns: NDArray[np.intp]
    others: Vector

    def __call__(self, batch: Batch) -> Batch:
        X: Any = batch.X
        offset = batch.offset
        if self.others.any():
            added = np.asarray(X @ self.others)
            offset = added if offset is None else offset + added
        X = X[:, self.columns]
        return changed(batch, X=X.tocsr() if hasattr(X, "tocsr") else X, offset=offset)


def _with_columns(objective: MeanLoss, rows: NDArray[np.intp], packed: Vector) -> MeanLoss:
    """Return the objective of some columns, the coefficients of the others as they are."""
    others = objective.split(packed)[0].copy()
    others[rows] = 0.0
    schema = replace(objective.source.schema, width=len(rows), columns=None)
    source = MappedSource(objective.source, schema, _Chosen(rows, others))
    return MeanLoss(
        source,
        objective.engine,
        objective.loss,
        NoPenalty(),
        fit_intercept=objective.fit_intercept,
        outputs=objective.outputs,
    )
