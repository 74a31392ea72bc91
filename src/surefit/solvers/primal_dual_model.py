r"""Newton steps on a loss whose kinks are rounded off: the quadratic model, its minimum, and a line search.

The intercept is taken out of the model by centring the columns with the weights of the curvature, so that
columns far from 0 lose no digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.gram import centred_gram, sandwich
from surefit.penalties.ordered import Ordered
from surefit.penalties.table import CoordinateTable
from surefit.solvers.objective import Objective
from surefit.solvers.ordered_model import minimise_ordered
from surefit.solvers.primal_dual_envelope import Envelope, slope_range
from surefit.solvers.quadratic_model import grounded, minimise_prox, minimise_table
from surefit.stats.products import pulled, scores
from surefit.stats.spread import Spread

Array = NDArray[np.float64]

MOST_COLUMNS = 5000  # their square is kept
HALVINGS = 50
TELLING = 1e-14  # of the value: what it falls by less than that is rounding, and the model knows better
FIRST_SHARE = 1e-4  # of the promised fall, that a step must keep


@dataclass(frozen=True, slots=True)
class NewtonStep:
    """Where a step led: the share of the whole step that was taken, and what the model promised of it."""

    x: Array
    share: float
    promised: float

    @property
    def next_damping(self) -> float:
        """By how much to change the damping: less after a whole step, more after a short one."""
        return 0.3 if self.share == 1.0 else 10.0 if self.share < 0.1 else 1.0


class Rounded:
    """All rows of an objective, on which a rounded loss is minimised; width: of the first rounding."""

    def __init__(self, objective: Objective, start: Array) -> None:
        self._objective = objective
        batch = objective.need_rows("the primal_dual solver")
        self._X: Any = batch.X.tocsr() if hasattr(batch.X, "tocsr") else batch.X
        self.y: Any = batch.y
        s = np.ones(len(batch)) if batch.weight is None else batch.weight
        self._s = s / s.sum()
        spread: Spread = objective.accumulate(Spread.of)
        size = spread.variance if objective.fit_intercept else spread.variance + spread.mean**2
        self._means = np.abs(spread.mean)
        self._size = grounded(size, spread.mean)
        z = self.scores(start)
        low, high = slope_range(objective.loss, self.y, z)
        self.steepest = float(np.clip(np.maximum(np.abs(low), np.abs(high)), 1e-3, 1e3).max())
        # As wide as the scores of the start, or of a constant, are off.
        floor = objective.targets.floor / objective.targets.weight
        off = max(objective.scale, self.mean(objective.loss.value(self.y, z)) - floor)
        self.width = (
            off if off > np.finfo(float).eps * abs(floor) + np.finfo(float).tiny else 1.0
        ) / self.steepest**2

    def mean(self, of_rows: NDArray[Any]) -> float:
        """Return the weighted mean of one number a row."""
        return float(self._s @ of_rows)

    def scores(self, x: Array) -> Array:
        """Return the scores at a packed point, in one pass."""
        self._objective.passes += 1
        coef, intercept = self._objective.split(x)
        z = scores(self._X, coef)
        return z if intercept is None else z + intercept

    def rounding(self, x: Array, z: Array) -> float:
        """Return how far rounding alone moves the scores."""
        coef = np.abs(self._objective.split(x)[0])
        size = np.max(self._means @ coef, initial=0.0) + np.abs(z).max(initial=0.0)
        return float(np.finfo(float).eps * size)

    def step(self, envelope: Envelope, x: Array, z: Array, damping: float) -> NewtonStep:
        """Minimise the quadratic model at x, whose scores are z, and search on the way there."""
        objective = self._objective
        slope = _by_row(self._s, z) * envelope.gradient(self.y, z)
        bend = _by_row(self._s, z) * envelope.curvature(self.y, z)
        aim, fall = self._model_minimum(x, slope, bend, damping / self.width)
        moved = aim - x
        paid = objective.penalised(x)
        promised = -(fall + objective.penalised(aim) - paid)
        value, along = self.mean(envelope.value(self.y, z)) + paid, self.scores(moved)
        if abs(promised) <= TELLING * abs(value):
            return NewtonStep(aim, 1.0, abs(promised))
        share = 1.0
        for _ in range(HALVINGS if promised > 0 else 0):
            there = aim if share == 1.0 else x + share * moved
            found = self.mean(envelope.value(self.y, z + share * along)) + objective.penalised(there)
            if found <= value - FIRST_SHARE * share * promised:
                return NewtonStep(there, share, promised)
            share *= 0.5
        return NewtonStep(x, 0.0, np.inf)

    def _model_minimum(self, x: Array, slope: Array, bend: Array, damping: float) -> tuple[Array, float]:
        """Return the minimiser of the model with the penalty, and the loss's slope times the way there."""
        objective = self._objective
        coef, intercept = objective.split(x)
        columns = [coef] if coef.ndim == 1 else list(coef.T)
        models = [self._model(u, h, damping) for u, h in zip(_columns(slope), _columns(bend), strict=True)]
        linear = [model.matrix @ w - model.gradient for model, w in zip(models, columns, strict=True)]
        best = _minimum(objective, models, linear, columns)
        whole, fall = [], 0.0
        for k, (model, w, new) in enumerate(zip(models, columns, best, strict=True)):
            step = new - w
            fall += float(model.gradient @ step)
            if intercept is None:
                whole.append(new)
                continue
            level = -model.pull / model.bend
            fall += model.pull * level
            last = (intercept if coef.ndim == 1 else intercept[k]) + level - model.centre @ step
            whole.append(np.append(new, last))
        return (whole[0] if coef.ndim == 1 else np.column_stack(whole)), fall

    def _model(self, slope: Array, bend: Array, damping: float) -> _Model:
        self._objective.passes += 2
        if self._objective.fit_intercept:
            found = centred_gram(self._X, None, bend)
            matrix, centre, total = found.scatter, found.mean, found.weight
        else:
            sums = sandwich(self._X, bend)
            matrix, centre, total = sums.gram, np.zeros(self._X.shape[1]), sums.weight
        pull = float(slope.sum())
        gradient = pulled(self._X, slope) - pull * centre
        matrix = matrix + np.diag(damping * self._size)
        return _Model(matrix, gradient, centre, pull, total + damping)


@dataclass(frozen=True, slots=True)
class _Model:
    """Of one output: the matrix and slope of the coefficients, and of the intercept at ``centre``."""

    matrix: Array
    gradient: Array
    centre: Array
    pull: float
    bend: float


def _minimum(
    objective: Objective, models: list[_Model], linear: list[Array], start: list[Array]
) -> list[Array]:
    penalty, p = objective.penalty, objective.columns
    squares = penalty.quadratic(p)
    if penalty.offers("table") or squares is not None:
        free, none = np.full(p, np.inf), np.zeros(p)
        table = penalty.table(p) if squares is None else CoordinateTable(none, none, -free, free)
        more = 0.0 if squares is None else np.diag(squares) if squares.ndim == 1 else squares
        found = [
            minimise_table(model.matrix + more, c, table, w)
            for model, c, w in zip(models, linear, start, strict=True)
        ]
        # Rounding may lead out of the bounds by a digit.
        return [
            w if new is None else np.clip(new, table.lower, table.upper)
            for w, new in zip(start, found, strict=True)
        ]
    if isinstance(penalty, Ordered):
        numbers, groups = penalty._table(p), penalty._groups
        in_order = [
            minimise_ordered(model.matrix, c, numbers, groups, w)
            for model, c, w in zip(models, linear, start, strict=True)
        ]
        return [w if new is None else new for w, new in zip(start, in_order, strict=True)]

    def product(w: Array) -> Array:
        columns = w[:, None] if w.ndim == 1 else w
        moved = [model.matrix @ column for model, column in zip(models, columns.T, strict=True)]
        return moved[0] if w.ndim == 1 else np.column_stack(moved)

    steepest = max(float(np.linalg.eigvalsh(model.matrix)[-1]) for model in models)
    whole = objective.outputs is not None
    c, w = (np.column_stack(linear), np.column_stack(start)) if whole else (linear[0], start[0])
    best = minimise_prox(product, c, penalty.prox, steepest, w)
    return list(best.T) if whole else [best]


def _columns(rows: Array) -> list[Array]:
    return [rows] if rows.ndim == 1 else [np.ascontiguousarray(column) for column in rows.T]


def _by_row(s: Array, like: Array) -> Array:
    return s if like.ndim == 1 else s[:, None]
