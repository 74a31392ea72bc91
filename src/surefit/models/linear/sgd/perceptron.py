"""The perceptron: a row on the wrong side is added to the coefficients, until there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.core.native.linear.coefficient_set import CoefficientSet
from surefit.core.parameters import Count, Fraction, Positive, RandomState, Strength, Tolerance, WholeNumber
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.class_weight import ClassWeight
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.sgd.classifier import StochasticClassifier
from surefit.models.linear.sgd.epochs import Problem, update_stopping
from surefit.models.linear.sgd.objective_parts import is_sparse
from surefit.models.linear.sgd.projection import within
from surefit.models.linear.sgd.regressor import Penalised
from surefit.solvers.objective.base import Objective
from surefit.stats.margins import Margins

PATIENCE = 20  # how much longer to wait where an epoch is but one step


class Perceptron(StochasticClassifier):
    r"""Add :math:`\eta_0 y_i x_i` to w for each row on the wrong side, :math:`y_i (w'x_i + b) \le 0`.

    Two classes share one plane, more have one each. Without a penalty and from zeros, with steps that are all
    of one size, a plane that leaves a gap of :math:`\gamma` between rows no longer than R is found within
    :math:`(R / \gamma)^2` such steps, a 1 counting as one more column (Novikoff, 1962). ``certificate_`` is
    the share of rows on the wrong side; where there is none, its parts have R and gamma for the plane that
    was found. Where that theorem is about the fit they have the bound as well, and the steps that it took:
    not with a penalty, weights that differ, a start elsewhere, or the slower intercept of sparse rows.

    Parameters, steps and the rule that ends them are scikit-learn's, as in :class:`~surefit.SGDClassifier`.
    batch: whether all rows on the wrong side are added at once, in one step an epoch, and the plane with the
    fewest of them is kept; then the order of the rows does not matter, and a weight of 2 is the row twice.
    constraints: as in :class:`~surefit.LinearModel`; each step ends in the nearest coefficients that keep
    them. With signs and ordered levels the bound holds for any plane that keeps them, as the nearest point of
    a convex cone is no longer and leans no less towards the cone; with other bounds none is stated.

    >>> from surefit import Perceptron
    >>> X, y = [[2.0, 1.0], [1.0, 3.0], [-1.0, -1.0], [-2.0, 1.0]], [1, 1, 0, 0]
    >>> model = Perceptron().fit(X, y)
    >>> model.score(X, y), model.certificate_.value
    (1.0, 0.0)
    >>> model.certificate_.parts["steps"] <= model.certificate_.parts["bound"]
    True
    """

    stated = ("objective", "margins")

    loss = "perceptron"
    learning_rate = "constant"
    epsilon = 0.0
    power_t = 0.5
    average = False
    polish = False

    def __init__(
        self,
        *,
        penalty: Penalised = None,
        alpha: Strength = 0.0001,
        l1_ratio: Fraction | None = 0.15,
        fit_intercept: bool = True,
        max_iter: Count = 1000,
        tol: Tolerance | None = 1e-3,
        shuffle: bool = True,
        verbose: WholeNumber | bool = 0,
        eta0: Positive = 1.0,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
        early_stopping: bool = False,
        validation_fraction: Fraction = 0.1,
        n_iter_no_change: Count = 5,
        class_weight: ClassWeight = None,
        warm_start: bool = False,
        batch: bool = False,
        constraints: Constraints = None,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.batch = batch
        self.constraints = constraints

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        if not self.batch:
            return super()._learn(source, engine, trace)
        self._check_settings(updating=False)
        problems = self._problems(source, engine, begun=False)
        points = [problem.packed(0) for problem in problems]
        held = self._held(source.schema.width)
        for _ in trace.iterations(self.max_iter):
            for k, problem in enumerate(problems):
                if problem.done:
                    continue
                wrong, best = _wrong_share(problem), problem.best
                points[k] = problem.packed(0) if wrong < best else points[k]
                update_stopping(problem, wrong, self.tol, PATIENCE * self.n_iter_no_change)
                problem.done = problem.done or wrong == 0
                _batch_step(problem, float(self.eta0), held)
            share = float(np.mean([problem.best for problem in problems]))
            trace.record(objective=share, step=float(self.eta0))
            if all(problem.done for problem in problems):
                break
        self._schema = source.schema
        spread = problems[0].objective.spread
        evidence = {"column_moments": spread.moments, "rows": spread.rows}
        proof = self._proof(problems, points, trace)
        return Learned(self._learnt(points, problems, source), proof, evidence)

    def _measured(
        self, objectives: Sequence[Objective], points: Sequence[Vector], problems: Sequence[Problem] = ()
    ) -> Certificate:
        """Measure the share of rows on the wrong side; with none, the bound on the steps to such a plane."""
        wrong, bound, objective, least, radius, margins = 0.0, 0.0, 0.0, np.inf, 0.0, 0.0
        for target, point in zip(objectives, points, strict=True):
            coef, intercept = target.split(point)
            b = 0.0 if intercept is None else float(intercept)
            found = target.accumulate(partial(Margins.of, w=coef, intercept=b))
            length = float(np.hypot(np.linalg.norm(coef), b))
            gap = found.least / length if length > 0 else 0.0
            wrong = max(wrong, found.wrong / found.weight)
            bound = max(bound, (found.radius / gap) ** 2 if gap > 0 else np.inf)
            least, radius = min(least, gap), max(radius, found.radius)
            objective += target.value(point)
            margins += gap
        parts = {"objective": objective, "radius": radius, "margin": least, "margins": margins}
        if wrong == 0 and self._has_bound(objectives, fitting=bool(problems)):
            parts["bound"] = bound
            if problems:
                parts["steps"] = float(max(problem.moves for problem in problems))
        measure = "share of training rows on the wrong side of a plane"
        return Certificate("optimal", measure, wrong, float(self.tol or 0.0), parts)

    def _has_bound(self, objectives: Sequence[Objective], *, fitting: bool) -> bool:
        """Whether the theorem is about this fit: single steps of one size, from zeros, with nothing else."""
        held = self._held(objectives[0].columns)
        elsewhere = any(given is not None for given in self.__dict__.get("_init", ()))
        before = self.__dict__.get("certificate_")
        if fitting:
            elsewhere = elsewhere or (self.warm_start and before is not None)
        elif before is not None:
            elsewhere = "bound" not in before.parts
        slower = self.fit_intercept and is_sparse(objectives[0].source)
        # The bound of a plane is for steps that may come as far as any multiple of it: not within a box.
        within_cone = held is None or held.cone
        penalised = self.penalty is not None and self.alpha > 0
        if not within_cone or self.batch or penalised or slower or elsewhere:
            return False
        return all(each.accumulate(_StepSizes.of).one for each in objectives)

    def _proof(
        self, problems: Sequence[Problem], points: Sequence[Vector], trace: Trace, *, led_down: bool = True
    ) -> Certificate:
        found = super()._proof(problems, points, trace, led_down=led_down)
        return replace(found, tolerance=0.0) if found.value == 0 else found


@dataclass(frozen=True, slots=True)
class _StepSizes:
    """The least and the greatest weight of a row, which its steps are multiplied by; rows of 0 take none."""

    least: float = np.inf
    most: float = 0.0

    @classmethod
    def of(cls, batch: Batch) -> _StepSizes:
        if batch.weight is None:
            return cls(1.0, 1.0) if len(batch) else cls()
        counted = np.asarray(batch.weight)[np.asarray(batch.weight) > 0]
        return cls(float(counted.min(initial=np.inf)), float(counted.max(initial=0.0)))

    def __add__(self, other: _StepSizes) -> _StepSizes:
        return _StepSizes(min(self.least, other.least), max(self.most, other.most))

    @property
    def one(self) -> bool:
        """Whether all steps are of one size."""
        return self.least == self.most


def _wrong_share(problem: Problem) -> float:
    """Return the share of rows on the wrong side."""
    coef, intercept = problem.objective.split(problem.packed(0))
    b = 0.0 if intercept is None else float(intercept)
    found = problem.objective.accumulate(partial(Margins.of, w=coef, intercept=b))
    return float(found.wrong / found.weight)


def _batch_step(problem: Problem, step: float, held: CoefficientSet | None) -> None:
    """Add all rows on the wrong side, each with its share of all rows, within the constraints."""
    objective, state = problem.objective, problem.state
    point = problem.packed(0)
    stepped = objective.prox(point - step * objective.at(point, 1).gradient, step)
    moved = within(held, objective, stepped)  # which rounding may have left
    coef, intercept = objective.split(moved)
    state.w[:] = coef
    state.intercept = 0.0 if intercept is None else float(intercept)
    problem.epochs += 1
