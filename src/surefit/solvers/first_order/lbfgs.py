"""L-BFGS: second derivatives guessed from the last few steps, for more columns than have a square."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.core.trace import Trace
from surefit.solvers.first_order.wolfe_line_search import strong_wolfe
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Needs, Solution, Solver, is_close
from surefit.solvers.objective.subsample import ROUGH, sample_of
from surefit.stats.curvature import Curvature
from surefit.stats.duality import Slopes

MEMORY = 10  # steps
PATIENCE = 20  # iterations between two certificates, at the most one
LONGER = 2  # times the iterations to the first proof, spent on a gap that is small beside the objective
STILL = 3  # iterations in a row that rounding alone may account for
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, slots=True)
class Step:
    """A step s, the change y of the gradient along it, and 1 / s'y."""

    s: Vector
    y: Vector
    rho: float


def two_loops(gradient: Vector, steps: deque[Step]) -> Vector:
    r"""Return :math:`B^{-1} g` for the B that the last steps tell, the newest last, without forming it.

    Back through the steps, each takes out its share; then the scale of the newest; then forth again.

    >>> s, y = np.array([1.0, 0.0]), np.array([4.0, 0.0])
    >>> two_loops(np.array([8.0, 0.0]), deque([Step(s, y, 1 / (s @ y))]))
    array([2., 0.])
    """
    q, shares = gradient.copy(), []
    for step in reversed(steps):
        share = step.rho * float(np.sum(step.s * q))
        q -= share * step.y
        shares.append(share)
    if steps:
        newest = steps[-1]
        q *= 1.0 / (newest.rho * float(np.sum(newest.y * newest.y)))
    for step, share in zip(steps, reversed(shares), strict=True):
        q += (share - step.rho * float(np.sum(step.y * q))) * step.s
    return q


class Lbfgs(Solver):
    r"""Go along :math:`-B^{-1} g` by a step that meets the strong Wolfe conditions, one pass for each trial.

    Columns are scaled to one curvature, and the intercept is measured at their means, so that units and
    offsets do not matter.

    >>> from surefit.losses import Logistic
    >>> from surefit.penalties import L2
    >>> objective = Objective.of_arrays([[-1.0], [0.0], [1.0], [2.0]], [0, 0, 1, 1], Logistic(), L2(0.1))
    >>> Lbfgs(tolerance=1e-9).solve(objective).x.round(4)
    array([ 1.5077, -0.7538])
    """

    name = "lbfgs"
    needs: ClassVar[Needs] = Needs(loss=("smooth",), penalty=("quadratic",))
    accuracy: ClassVar[Literal["exact", "second order", "first order"]] = "second order"

    def solve(
        self, objective: Objective, start: Vector | None = None, trace: Trace | None = None
    ) -> Solution:
        """Minimise, from a packed point, the answer for a sample, or the objective's ``null``."""
        self.require(objective)
        trace = Trace() if trace is None else trace
        steps: deque[Step] = deque(maxlen=MEMORY)
        sample = sample_of(objective) if start is None and objective.loss.convex else None
        if sample is None:
            return self._go(objective, objective.null if start is None else start, trace, steps)
        rough = Lbfgs(tolerance=max(ROUGH, self.tolerance), max_iter=self.max_iter)
        found = rough._go(sample, sample.null, Trace(), steps).x  # the steps tell of all rows as well
        return self._go(objective, found, trace, steps)

    def _go(self, objective: Objective, start: Vector, trace: Trace, steps: deque[Step]) -> Solution:
        w = np.array(start, dtype=np.float64)
        scaled = _Scaled.at(objective, w)
        if (
            steps
            and not scaled.first[0] <= objective.scale + objective.targets.floor / objective.targets.weight
        ):
            steps.clear()  # no coefficients at all are better than the sample's
            w = np.array(objective.null, dtype=np.float64)
            scaled = _Scaled.at(objective, w)
        v, (value, gradient) = scaled.inner(w), scaled.first
        asked, wanted, best = 0, self.tolerance, np.inf
        still, least, until = 0, np.inf, float(self.max_iter)
        for iteration in trace.iterations(self.max_iter):
            direction = -two_loops(gradient, steps)
            slope = float(np.sum(gradient * direction))
            gap = None
            held = scaled.held(gradient) / objective.scale
            near = -slope <= wanted * self._size(objective, value) and 2 * held <= self.tolerance
            if near or iteration - asked >= PATIENCE:
                proof = objective.certificate(scaled.outer(v), self.tolerance)
                gap, asked = proof.value, iteration
                wanted = min(wanted, -slope / self._size(objective, value)) / 10
                if proof.holds:
                    until = min(until, LONGER * iteration + PATIENCE)
                close = iteration >= until or self._close(objective, proof, -slope)
                at_end = gap > 0.9 * best and -slope <= EPS * self._size(objective, value)
                if (proof.holds and close) or at_end:
                    trace.record(objective=value, gap=gap, step=0.0, passes=objective.passes)
                    stopped: Literal["certificate", "stalled"] = "certificate" if proof.holds else "stalled"
                    return self.finish(objective, scaled.outer(v), trace, stopped, proof=proof)
                best = min(best, gap)
            line = scaled.along(v, direction)
            found = strong_wolfe(line.phi, value, slope) if slope < 0 else None
            falls = found is not None and value - found.value > EPS * abs(value)
            still = 0 if falls or -slope < 0.5 * least else still + 1
            least = min(least, -slope)
            if found is None or still > STILL:
                trace.record(objective=value, gap=gap, step=0.0, passes=objective.passes)
                if not steps or still > STILL:
                    return self.finish(objective, scaled.outer(v), trace, "stalled")
                steps.clear()  # once more, along the gradient alone
                continue
            new = line.seen[found.step]
            s, y = found.step * direction, new - gradient
            turned = float(np.sum(s * y))
            if turned > EPS * float(np.sqrt(np.sum(s * s) * np.sum(y * y))):
                steps.append(Step(s, y, 1.0 / turned))
            v, value, gradient = v + s, found.value, new
            trace.record(objective=value, gap=gap, step=found.step, passes=objective.passes)
        return self.finish(objective, scaled.outer(v), trace, "limit")

    @staticmethod
    def _close(objective: Objective, proof: Certificate, promised: float) -> bool:
        """Whether the gap is small beside the objective itself, not only beside the loss of a constant."""
        floor = objective.targets.floor / objective.targets.weight
        left = max(proof.parts["objective"] - floor, 0.0)
        return is_close(proof.parts.get("gap", promised), left)

    @staticmethod
    def _size(objective: Objective, value: float) -> float:
        return objective.scale if objective.loss.convex else max(objective.scale, abs(value))


@dataclass(frozen=True, slots=True)
class _Scaled:
    """An objective in coordinates where its curvature is about 1 in every direction of an axis.

    With means m and sizes d: coefficients v/d, and an intercept that is measured at the means.
    """

    objective: Objective
    squares: Vector
    size: Vector
    mean: Vector
    height: float
    first: tuple[float, Vector]

    @classmethod
    def at(cls, objective: Objective, w: Vector) -> _Scaled:
        """Take the sizes from the curvature at a point; value and gradient there come with it."""
        coef, intercept = objective.split(w)
        smooth = objective.loss.smoothness
        if smooth is None:
            none = np.zeros((objective.columns, 0))
            of: Any = partial(Slopes.of, loss=objective.loss, w=coef, intercept=intercept, free=none)
        else:
            of = partial(Curvature.of, loss=objective.loss, w=coef, intercept=intercept, order=1)
        found: Any = objective.accumulate(of)
        squares = objective.penalty.quadratic(objective.columns)
        assert squares is not None
        spread, centred = objective.spread, objective.fit_intercept
        bend = smooth or (_mean_curvature(found) if centred else 1.0)
        columns = spread.variance + (0.0 if centred else spread.mean**2)
        size = np.sqrt(bend * columns + (squares if squares.ndim == 1 else np.diagonal(squares)))
        self = cls(
            objective,
            np.asarray(squares),
            np.where(size > 0, size, 1.0),
            spread.mean if centred else np.zeros_like(spread.mean),
            float(np.sqrt(bend)),
            (0.0, np.zeros(0)),
        )
        value, gradient = self._whole(w, found.value / found.weight, found.gradient / found.weight)
        return cls(objective, self.squares, self.size, self.mean, self.height, (value, gradient))

    def inner(self, w: Vector) -> Vector:
        """Return the scaled point of a packed one."""
        coef, intercept = self.objective.split(w)
        scaled = _rows(self.size, coef) * coef
        if intercept is None:
            return scaled
        return np.concatenate([scaled, np.asarray(self.height * (intercept + self.mean @ coef))[None]])

    def outer(self, v: Vector) -> Vector:
        """Return the packed point of a scaled one."""
        scaled, height = self.objective.split(v)
        coef = scaled / _rows(self.size, scaled)
        if height is None:
            return coef
        return np.concatenate([coef, np.asarray(height / self.height - self.mean @ coef)[None]])

    def evaluate(self, v: Vector) -> tuple[float, Vector]:
        """Return the objective and its gradient, in one pass."""
        w = self.outer(v)
        with np.errstate(over="ignore", invalid="ignore"):  # a trial step may be too long
            here = self.objective.at(w, 1)
        return self._whole(w, here.value, here.gradient)

    def _whole(self, w: Vector, loss: float, slopes: Vector) -> tuple[float, Vector]:
        coef, _ = self.objective.split(w)
        slope, last = self.objective.split(slopes)
        pull = self.squares @ coef if self.squares.ndim == 2 else _rows(self.squares, coef) * coef
        value = loss + 0.5 * float(np.sum(coef * pull))
        if last is None:
            return value, (slope + pull) / _rows(self.size, coef)
        level = slope - np.multiply.outer(self.mean, last)
        return value, np.concatenate(
            [(level + pull) / _rows(self.size, coef), np.asarray(last / self.height)[None]]
        )

    def held(self, gradient: Vector) -> float:
        """Return the part of the gap that squares make of a scaled gradient; 0 where there are none."""
        slopes = self.objective.split(gradient)[0]
        if self.squares.ndim == 2 or not (self.squares > 0).all():
            return 0.0
        return 0.5 * float(np.sum((_rows(self.size, slopes) * slopes) ** 2 / _rows(self.squares, slopes)))

    def along(self, v: Vector, direction: Vector) -> _Line:
        """Return the objective along a line."""
        return _Line(self, v, direction, {})


@dataclass(frozen=True, slots=True)
class _Line:
    scaled: _Scaled
    start: Vector
    direction: Vector
    seen: dict[float, Vector]  # gradients by step

    def phi(self, step: float) -> tuple[float, float]:
        """Return value and slope at a step."""
        value, self.seen[step] = self.scaled.evaluate(self.start + step * self.direction)
        return value, float(np.sum(self.seen[step] * self.direction))


def _rows(column: Vector, like: Vector) -> Vector:
    return column if like.ndim == 1 else column[:, None]


def _mean_curvature(found: Slopes) -> float:
    """Return the mean of the loss's curvature over rows and outputs; 1 where there is none."""
    last = found.bend[..., -1, -1]
    total = float(np.mean(np.diagonal(last) if last.ndim == 2 else last))
    return total / found.weight if np.isfinite(total) and total > 0 else 1.0
