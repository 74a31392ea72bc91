r"""Losses with kinks, by the method of multipliers: round the kinks off, solve, and round less the next time.

Each rounded problem is smooth and is solved by Newton steps on its quadratic model with the penalty. Its
slopes u are the multipliers of the next one and, in the end, the dual point that proves the answer:

.. math:: \frac1W X'Su \in -\partial pen(w), \qquad u_i \in \partial f(y_i, z_i)

A loss with its kinks rounded off around slopes that are known already.

.. math:: f_\sigma(y, z) = \min_q \; f(y, q) + \tfrac{1}{2\sigma} (q - z - \sigma \bar u)^2

It bends by :math:`1/\sigma` at most, its slope at z is one of f at the minimiser q, and where that slope is
:math:`\bar u` already, q = z: nothing is lost by the rounding, however wide.

Newton steps on a loss whose kinks are rounded off: the quadratic model, its minimum, and a line search.

The intercept is taken out of the model by centring the columns with the weights of the curvature, so that
columns far from 0 lose no digits.

Kinked losses of ordered levels, exactly: equal levels are one column, and what is left has no order.

Multipliers get near an answer, and rounding then keeps slopes from balancing columns of large units. Which
levels are equal is plain long before. With each block of them as the sum of its columns, the penalty is one
of single coordinates, and ``frisch_newton`` solves for the face: its slopes prove the whole problem, or the
blocks were not those of the answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.sums.gram import centred_gram, sandwich
from surefit.core.trace import Trace
from surefit.data.source import ArraySource
from surefit.losses.base import Loss
from surefit.penalties.coordinate_table import CoordinateTable
from surefit.penalties.ordered import Ordered
from surefit.penalties.tabulated import Tabulated
from surefit.solvers.kinked.frisch_newton import FrischNewton
from surefit.solvers.newton.ordered_quadratic_model import minimise_ordered
from surefit.solvers.newton.quadratic_model import grounded, minimise_prox, minimise_table
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Needs, Solution, Solver, Stop
from surefit.stats.products import pulled, scores
from surefit.stats.spread import Spread

Members = NDArray[np.intp]

EQUAL = 1e-9  # of the largest level of a group: nearer, levels are on their way to each other
MOST_STEPS = 100


class OrderedFaces:
    """The blocks that a search has come by; ``solved`` answers where it came by the same ones again."""

    def __init__(self, objective: Objective) -> None:
        self._objective = objective
        self._last: bytes | None = None
        self._tried: set[bytes] = set()

    def solved(self, x: Vector, tolerance: float) -> tuple[Vector, Vector] | None:
        """Return point and slopes of the face near x; None where it is not settled, or was tried."""
        objective = self._objective
        if not isinstance(objective.penalty, Ordered) or objective.outputs is not None:
            return None
        members = _blocks(objective.penalty, objective.split(x)[0])
        key, before = members.tobytes(), self._last
        self._last = key
        if key != before or key in self._tried:
            return None
        self._tried.add(key)
        return _on_blocks(objective, members, tolerance)


def _blocks(penalty: Ordered, coef: Vector) -> Members:
    """Return the number of each coefficient's block."""
    above = np.zeros(len(coef), dtype=np.intp)  # 1 where a block begins
    place = np.full(len(coef), -1, dtype=np.intp)
    begun = 0
    for group in penalty.ordered_columns:
        slack = EQUAL * float(np.abs(coef[group]).max())
        above[group] = np.append(1, np.diff(coef[group]) > slack)
        place[group] = begun + np.cumsum(above[group]) - 1
        begun = int(place[group[-1]]) + 1
    alone = np.flatnonzero(place < 0)
    place[alone] = begun + np.arange(len(alone))
    return place


def _on_blocks(objective: Objective, members: Members, tolerance: float) -> tuple[Vector, Vector] | None:
    assert isinstance(objective.penalty, Ordered)
    count, table = int(members.max()) + 1, objective.penalty.separable_table(len(members))
    sizes = np.bincount(members).astype(np.float64)
    first = np.unique(members, return_index=True)[1]
    tied = CoordinateTable(
        table.l1[first] * sizes, table.l2[first] * sizes, table.lower[first], table.upper[first]
    )
    sums = sparse.csr_array((np.ones(len(members)), (np.arange(len(members)), members)))
    batch = objective.need_rows("solver 'primal_dual'")
    rows: Any = batch.X
    joined: Any = rows @ sums if sparse.issparse(rows) else np.asarray(sums.T @ np.asarray(rows).T).T
    schema = replace(objective.source.schema, width=count, columns=None)
    small = Objective(
        ArraySource(schema, replace(batch, X=joined)),
        objective.engine,
        objective.loss,
        _OfBlocks(tied),
        fit_intercept=objective.fit_intercept,
    )
    solver = FrischNewton(tolerance=tolerance, max_iter=MOST_STEPS)
    if solver.refusal(small) is not None:
        return None
    found = solver.solve(small)
    slopes = found.certificate.witness.get("slopes")
    if slopes is None:
        return None
    return np.concatenate([found.x[:count][members], found.x[count:]]), np.asarray(slopes)


class _OfBlocks(Tabulated):
    """The penalty of blocks, by its table."""

    def __init__(self, table: CoordinateTable) -> None:
        self._table = table

    def table(self, p: int) -> CoordinateTable:
        """Return the numbers of each block."""
        return self._table

    def scaled(self, factor: float) -> _OfBlocks:
        """Return a multiple."""
        table = self._table
        return _OfBlocks(CoordinateTable(factor * table.l1, factor * table.l2, table.lower, table.upper))


@dataclass(frozen=True, slots=True)
class Envelope:
    """The rounded loss of some rows: the slopes known of each, and the width of the rounding.

    >>> from surefit.losses import Absolute
    >>> Envelope(Absolute(), np.zeros(2), 1.0).value(np.zeros(2), np.array([0.5, 3.0]))
    array([0.125, 2.5  ])
    """

    loss: Loss
    known: Vector
    width: float

    def _nearest(self, y: Any, aim: Vector) -> Vector:
        prox: Any = self.loss.prox  # type: ignore[attr-defined]
        return np.asarray(prox(y, aim, self.width))

    def value(self, y: Any, z: Vector) -> Vector:
        """Return the minimum over q, without what depends on the known slopes alone."""
        aim = z + self.width * self.known
        nearest = self._nearest(y, aim)
        squares = (aim - nearest) ** 2
        off = squares.sum(axis=1) if squares.ndim == 2 else squares
        return np.asarray(self.loss.value(y, nearest) + 0.5 * off / self.width)

    def gradient(self, y: Any, z: Vector) -> Vector:
        """Return the slope of the loss at the minimiser, which rounding must not carry beyond all slopes."""
        aim = z + self.width * self.known
        low, high = slope_range(self.loss, y, z)
        return np.clip((aim - self._nearest(y, aim)) / self.width, low, high)

    def curvature(self, y: Any, z: Vector) -> Vector:
        """Return how fast the slope grows, half of it where it begins to."""
        aim = z + self.width * self.known
        # Far above the rounding of a prox, far below the width.
        reach = np.maximum(1e-6 * self.width, 1e-9 * np.abs(aim))
        moved = self._nearest(y, aim + reach) - self._nearest(y, aim - reach)
        return np.asarray(np.clip(1.0 - moved / (2.0 * reach), 0.0, 1.0) / self.width)


def slope_range(loss: Any, y: Any, z: Vector) -> tuple[Vector, Vector]:
    """Return the least and the greatest slope that a loss has at any score, in the shape of z."""
    far = np.full(z.shape, 1e300)
    return np.asarray(loss.gradient(y, -far)), np.asarray(loss.gradient(y, far))


MOST_COLUMNS = 5000  # their square is kept
HALVINGS = 50
TELLING = 1e-14  # of the value: what it falls by less than that is rounding, and the model knows better
FIRST_SHARE = 1e-4  # of the promised fall, that a step must keep


@dataclass(frozen=True, slots=True)
class NewtonStep:
    """Where a step led: the share of the whole step that was taken, and what the model promised of it."""

    x: Vector
    share: float
    promised: float

    @property
    def next_damping(self) -> float:
        """By how much to change the damping: less after a whole step, more after a short one."""
        return 0.3 if self.share == 1.0 else 10.0 if self.share < 0.1 else 1.0


class SmoothedRows:
    """All rows of an objective, on which a rounded loss is minimised; width: of the first rounding."""

    def __init__(self, objective: Objective, start: Vector) -> None:
        self._objective = objective
        batch = objective.need_rows("solver 'primal_dual'")
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

    def scores(self, x: Vector) -> Vector:
        """Return the scores at a packed point, in one pass."""
        self._objective.passes += 1
        coef, intercept = self._objective.split(x)
        z = scores(self._X, coef)
        return z if intercept is None else z + intercept

    def rounding(self, x: Vector, z: Vector) -> float:
        """Return how far rounding alone moves the scores."""
        coef = np.abs(self._objective.split(x)[0])
        size = np.max(self._means @ coef, initial=0.0) + np.abs(z).max(initial=0.0)
        return float(np.finfo(float).eps * size)

    def step(self, envelope: Envelope, x: Vector, z: Vector, damping: float) -> NewtonStep:
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

    def _model_minimum(self, x: Vector, slope: Vector, bend: Vector, damping: float) -> tuple[Vector, float]:
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

    def _model(self, slope: Vector, bend: Vector, damping: float) -> _Model:
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

    matrix: Matrix
    gradient: Vector
    centre: Vector
    pull: float
    bend: float


def _minimum(
    objective: Objective, models: list[_Model], linear: list[Vector], start: list[Vector]
) -> list[Vector]:
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
        numbers, groups = penalty.separable_table(p), penalty.ordered_columns
        in_order = [
            minimise_ordered(model.matrix, c, numbers, groups, w)
            for model, c, w in zip(models, linear, start, strict=True)
        ]
        return [w if new is None else new for w, new in zip(start, in_order, strict=True)]

    def product(w: Vector) -> Vector:
        columns = w[:, None] if w.ndim == 1 else w
        moved = [model.matrix @ column for model, column in zip(models, columns.T, strict=True)]
        return moved[0] if w.ndim == 1 else np.column_stack(moved)

    steepest = max(float(np.linalg.eigvalsh(model.matrix)[-1]) for model in models)
    whole = objective.outputs is not None
    c, w = (np.column_stack(linear), np.column_stack(start)) if whole else (linear[0], start[0])
    best = minimise_prox(product, c, penalty.prox, steepest, w)
    return list(best.T) if whole else [best]


def _columns(rows: Matrix) -> list[Vector]:
    return [rows] if rows.ndim == 1 else [np.ascontiguousarray(column) for column in rows.T]


def _by_row(s: Vector, like: Vector) -> Vector:
    return s if like.ndim == 1 else s[:, None]


NARROWING = 0.2  # of the width, from one rounded problem to the next
NARROWEST = 1e-7  # of the first width: beyond it, only the slopes are improved
MOST_DAMPING = 1e8  # no step is short enough, so rounding hides the way down
SOLVED = 0.1  # of the gap: how far off the slopes of a rounded problem may be


class PrimalDual(Solver):
    """Multipliers for the kinks, Newton's method for what is left; for any convex penalty.

    >>> from surefit.losses import Absolute
    >>> from surefit.penalties import L1
    >>> objective = Objective.of_arrays([[0.0], [1.0], [2.0]], [0.0, 1.0, 9.0], Absolute(), L1(0.1))
    >>> PrimalDual().solve(objective).certificate.holds
    True
    """

    name = "primal_dual"
    needs = Needs(loss=("convex", "prox", "conjugate"), penalty=("convex", "conjugate"), rows=True)

    def _refusal(self, objective: Objective) -> str | None:
        loss = objective.loss.name
        if objective.loss.smooth:
            return f"solver {self.name!r} is for losses that are not smooth, and the {loss} loss is smooth."
        if objective.columns > MOST_COLUMNS:
            return (
                f"solver {self.name!r} forms a Gram matrix of at most {MOST_COLUMNS} columns, "
                f"and there are {objective.columns}."
            )
        return None

    def solve(
        self, objective: Objective, start: Vector | None = None, trace: Trace | None = None
    ) -> Solution:
        """Minimise from a packed point, or from the objective's ``null``."""
        self.require(objective)
        trace = Trace() if trace is None else trace
        x = np.array(objective.null if start is None else start, dtype=np.float64)
        if not np.isfinite(objective.penalised(x)):
            x = objective.prox(x, 1.0)
        rounded = SmoothedRows(objective, x)
        z = rounded.scores(x)
        known, width, damping = np.zeros_like(z), rounded.width, 1e-6
        error, least, gap = SOLVED, np.inf, None
        best, witness, faces = x, known, OrderedFaces(objective)
        stopped: Stop = "limit"
        for _ in trace.iterations(self.max_iter):
            envelope = Envelope(objective.loss, known, width)
            step = rounded.step(envelope, x, z, damping)
            x, z = step.x, rounded.scores(step.x)
            damping = np.clip(damping * step.next_damping, 1e-10, MOST_DAMPING)
            # A model of curvature 1 / width promises width / 2 times the square of what is off in the slopes.
            if step.promised <= error**2 * width * rounded.steepest**2:
                known = envelope.gradient(rounded.y, z)
                gap = objective.certificate(x, self.tolerance, known).value
                if gap < least:
                    least, best, witness = gap, x, known
                exact = faces.solved(x, self.tolerance) if least > self.tolerance else None
                if exact is not None:
                    proof = objective.certificate(exact[0], self.tolerance, exact[1]).value
                    if proof < least:
                        least, best, witness = proof, *exact
                error = SOLVED * min(1.0, max(gap, self.tolerance))
                # Scores are off by their rounding, and slopes by that over the width.
                blur = 8 * rounded.rounding(x, z) / self.tolerance
                width = min(width, max(NARROWING * width, NARROWEST * rounded.width, blur))
            value = rounded.mean(objective.loss.value(rounded.y, z)) + objective.penalised(x)
            trace.record(objective=value, gap=gap, step=step.share, passes=objective.passes)
            if least <= self.tolerance:
                stopped = "certificate"
                break
            if damping == MOST_DAMPING:
                stopped = "stalled"
                break
        return self.finish(objective, best, trace, stopped, slopes=witness)
