"""What the estimators by stochastic gradient descent share: problems, epochs, proof and updating."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.core.native.linear.coefficient_set import CoefficientSet
from surefit.core.native.linear.sgd import SgdPlan, SgdState
from surefit.core.parameters import validate
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.source import ArraySource, MappedSource, Source, in_memory
from surefit.engine.base import Engine, choose_engine
from surefit.losses.base import Loss
from surefit.models.base import Estimator, Learned
from surefit.models.linear.common.constraints import constrained
from surefit.models.linear.common.sparse_coefficients import SparseCoefficients
from surefit.models.linear.sgd.epochs import (
    SPARSE_INTERCEPT_RATE,
    Problem,
    Stopping,
    optimal_begin,
    run_epochs,
    seeds_for,
)
from surefit.models.linear.sgd.objective_parts import (
    LOSSES,
    bounded,
    change,
    is_sparse,
    objective_values,
    penalty_named,
    shaped_like,
)
from surefit.models.linear.sgd.projection import held_by, with_multipliers, within
from surefit.models.linear.squares.ridge import NoInference
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.gap import worst
from surefit.solvers.objective.solver import choose


def hold_out(model: Any, source: Source, problems: Sequence[Problem]) -> Callable[[Problem], float]:
    """Set rows aside, scikit-learn's for the same ``random_state``, and return what scores a problem on them.

    The model says how well scores meet a target, by ``_score_of``.
    """
    batch = in_memory(source)
    if batch is None:
        raise RefusalError(
            "early_stopping=True draws a random validation set, which needs all rows in memory: load the "
            "table as one array, or set early_stopping=False."
        )
    chosen = _validation_rows(model, np.asarray(batch.y))
    weight = batch.weight
    if weight is not None and not np.any(weight[chosen] > 0):
        raise DataError(
            "The sample weights for validation set are all zero, consider using a different random state."
        )
    aside = np.zeros(len(batch), dtype=bool)
    aside[chosen] = True
    X: Any = batch.X
    kept = X[chosen]
    for problem in problems:
        problem.held_out = aside

    def score(problem: Problem) -> float:
        rows = problem.target(batch)
        y = np.asarray(rows.y, dtype=np.float64)[chosen]
        z = np.asarray(kept @ problem.state.w).ravel() + problem.state.intercept
        return float(model._score_of(y, z, None if weight is None else weight[chosen]))

    return score


def _validation_rows(model: Any, y: NDArray[Any]) -> NDArray[np.intp]:
    from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

    splitter = ShuffleSplit if model.regression else StratifiedShuffleSplit
    seed = 0 if model.random_state is None else model.random_state
    split: Any = splitter(test_size=model.validation_fraction, random_state=seed)
    chosen: NDArray[np.intp] = next(split.split(np.zeros((len(y), 1)), y))[1]
    return chosen


STATED = 1e-8  # how closely an objective computed again must agree with the one that a fit stated


class StochasticLinear(NoInference, SparseCoefficients, Estimator, abstract=True):
    """Base: loss, penalty and rate by scikit-learn's names; a class below makes the ``_targets``."""

    regression: ClassVar[bool] = True
    stated: ClassVar[tuple[str, ...]] = ("objective",)  # parts of the certificate that must come out again

    loss: str
    penalty: str | None
    alpha: float
    l1_ratio: float | None
    fit_intercept: bool
    max_iter: int
    tol: float | None
    shuffle: bool
    epsilon: float
    random_state: Any
    learning_rate: str
    eta0: float
    power_t: float
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    warm_start: bool
    average: bool | int
    polish: bool
    constraints: Any = None

    no_errors = (
        "stochastic gradient descent ends near the minimum, not at it; fit LogisticRegression or "
        "LinearRegression without a penalty"
    )

    coef_: Matrix
    intercept_: Vector
    n_iter_: int
    t_: float

    @abstractmethod
    def _targets(self, source: Source, engine: Engine | None) -> Sequence[Callable[[Batch], Batch]]:
        """Return what makes the target and weights of each problem; without an engine nothing is counted."""

    @abstractmethod
    def _parameters(self, coef: Matrix, intercept: Vector, epochs: int, t: float, source: Source) -> Any:
        """Return what is learnt from (problems, columns) coefficients."""

    def _iteration_limit(self) -> int:
        return self.max_iter

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        coef_init: Any = None,
        intercept_init: Any = None,
    ) -> Self:
        """Learn from a table; coef_init, intercept_init: where to start, instead of at zeros.

        X: rows by columns: array, sparse matrix, data frame or source. sample_weight: how often a row counts.
        """
        self._init = (coef_init, intercept_init)
        try:
            return super().fit(X, y, sample_weight)
        finally:
            self.__dict__.pop("_init", None)

    def _held(self, columns: int) -> CoefficientSet | None:
        """Return what the coefficients of every problem keep; None for nothing."""
        return held_by(type(self).__name__, self.constraints, columns)

    def _plan(self, source: Source) -> SgdPlan:
        ratio = {"l1": 1.0, "elasticnet": self.l1_ratio}.get(self.penalty or "", 0.0)
        begin = optimal_begin(self.alpha) if self.learning_rate == "optimal" else 0.0
        rate = SPARSE_INTERCEPT_RATE if is_sparse(source) else 1.0
        return SgdPlan(
            LOSSES[self.loss][0],
            float(self.epsilon),
            float(self.alpha),
            float(ratio or 0.0),
            self.penalty is not None,
            self.learning_rate,  # type: ignore[arg-type]
            float(self.eta0),
            float(self.power_t),
            begin,
            self.fit_intercept,
            rate,
            int(self.average),
            self._held(source.schema.width),
        )

    def _check_settings(self, updating: bool) -> None:
        """Refuse what contradicts itself."""
        if self.learning_rate == "optimal" and self.alpha == 0:
            raise ParameterError(
                "alpha must be > 0 since learning_rate is 'optimal', which is computed from alpha: raise "
                "alpha."
            )
        wanted = "epsilon_insensitive" if self.regression else "hinge"
        if self.learning_rate in ("pa1", "pa2") and self.loss != wanted:
            raise ParameterError(f"Learning rate '{self.learning_rate}' only works with loss '{wanted}'.")
        if self.penalty == "elasticnet" and self.l1_ratio is None:
            raise ParameterError(
                "l1_ratio must be set when penalty is 'elasticnet': give a number in [0, 1]."
            )
        if updating and self.early_stopping:
            raise ParameterError("early_stopping should be False with partial_fit: set it so.")

    def _unproved(self, certificate: Certificate) -> str:
        if len(self.trace_) < self.max_iter or self.tol is None:
            return super()._unproved(certificate)
        # Whoever filters scikit-learn's warnings looks for its words.
        ended = "Maximum number of iteration reached before convergence. Consider increasing max_iter to "
        return f"{super()._unproved(certificate)} {ended}improve the fit."

    def _loss(self) -> Loss:
        return LOSSES[self.loss][1](self.epsilon)

    def _objective(self, source: Source, target: Callable[[Batch], Batch], engine: Engine) -> Objective:
        schema = replace(source.schema, classes=None, targets=1, target_is_flat=True)
        rows: Source = MappedSource(source, schema, target)
        if isinstance(source, ArraySource):
            rows = ArraySource(schema, target(source.batch))
        own = penalty_named(self.penalty, self.alpha, self.l1_ratio)
        penalty = constrained(type(self).__name__, own, self.constraints, schema.width)
        return Objective(rows, engine, self._loss(), penalty, fit_intercept=self.fit_intercept)

    def _problems(self, source: Source, engine: Engine, begun: bool) -> list[Problem]:
        """Return one problem a target, at its start: zeros, the last fit, or where ``fit`` was told to."""
        targets = self._targets(source, None if begun else engine)
        found, held = [], self._held(source.schema.width)
        seeds = seeds_for(self.random_state, len(targets), self.regression)
        for k, target in enumerate(targets):
            state = self._start(k, len(targets), source.schema.width, begun)
            if held is not None:
                state.w[:], state.mean[:] = held.project(state.w), held.project(state.mean)
            found.append(Problem(self._objective(source, target, engine), target, state, seeds[k]))
        return found

    def _start(self, k: int, problems: int, columns: int, begun: bool) -> SgdState:
        state = SgdState.start(columns, float(self.eta0))
        coef, intercept = self.__dict__.get("_init", (None, None))
        fitted = "certificate_" in self.__dict__
        if fitted and (begun or self.warm_start):
            coef = self._dense_coef() if coef is None else coef
            intercept = self.intercept_ if intercept is None else intercept
        kept = self.__dict__.get("_averaging") if begun and self.average else None
        if kept is not None:
            coef, intercept = kept[0], kept[1]
            state.mean[:], state.mean_intercept = kept[2][k], kept[3][k]
        if coef is not None:
            state.w[:] = shaped_like(coef, (problems, columns), "coef_init")[k]
        if intercept is not None and self.fit_intercept:
            state.intercept = shaped_like(intercept, (problems, 1), "intercept_init")[k, 0]
        state.t = self.t_ if begun and fitted else 1.0
        return state

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        self._check_settings(updating=False)
        problems = self._problems(source, engine, begun=False)
        spread = problems[0].objective.spread
        for problem in problems:
            problem.scale = spread.rows / problem.objective.targets.weight
        score = hold_out(self, source, problems) if self.early_stopping else None
        stopping = Stopping(self.tol, self.n_iter_no_change)

        def so_far() -> Learned:
            points = [problem.packed(int(self.average)) for problem in problems]
            unproved = Certificate("optimal", "duality gap, not measured yet", np.inf, 0.0)
            return Learned(self._learnt(points, problems, source), unproved)

        plan = self._plan(source)
        run_epochs(
            problems,
            source,
            plan,
            stopping,
            trace,
            self.max_iter,
            shuffle=self.shuffle,
            score=score,
            learned=so_far,
        )
        self._schema = source.schema
        points = [problem.packed(int(self.average)) for problem in problems]
        evidence: dict[str, Any] = {"column_moments": spread.moments, "rows": spread.rows}
        if self.polish:
            points, proof = self._polished(problems, points, plan.within)
        else:
            values_of_problems = [
                objective_values(problem.objective, point, plan.within)
                for problem, point in zip(problems, points, strict=True)
            ]
            worst_of = max(values_of_problems, key=lambda values: values[0] - values[1])
            proof = self._proof(problems, points, trace, led_down=worst_of[0] <= worst_of[1])
            evidence["objective_and_at_zero"] = worst_of
        self._keep_averaging(problems)
        return Learned(self._learnt(points, problems, source), proof, evidence)

    def _polished(
        self, problems: Sequence[Problem], points: list[Vector], held: CoefficientSet | None
    ) -> tuple[list[Vector], Certificate]:
        """Go on by a solver that suits, from where the epochs ended, until the gap is below ``tol``."""
        ends, proofs = [], []
        for problem, point in zip(problems, points, strict=True):
            objective = problem.objective
            solver = choose(objective, tolerance=self.tol or 0.0, max_iter=self.max_iter)
            solved = solver.solve(objective, point, Trace())
            end, proof = within(held, objective, solved.x), solved.certificate
            if not np.array_equal(end, solved.x):  # a solver may end within rounding of a bound
                proof = objective.certificate(end, proof.tolerance, proof.witness.get("slopes"))
            ends.append(end)
            proofs.append(proof)
        slopes = [proof.witness.get("slopes") for proof in proofs]
        kept = {f"slopes{k}": each for k, each in enumerate(slopes) if each is not None}
        found = replace(worst(proofs), witness=kept)
        if held is not None:
            found = with_multipliers(found, [problem.objective for problem in problems], ends, slopes)
        return ends, found

    def _proof(
        self, problems: Sequence[Problem], points: Sequence[Vector], trace: Trace, *, led_down: bool = True
    ) -> Certificate:
        """State the gap that the epochs left, and hold it to ``tol``.

        Where their own rule ended them it is held to all that there was to gain, because that rule promises
        no more than to lead down; where it did not even do that, the objective is stated and nothing else.
        """
        found = self._measured([problem.objective for problem in problems], points, problems)
        ended = self.tol is None or all(problem.done for problem in problems) or trace.asked_to_stop
        if not ended:
            return replace(found, tolerance=float(self.tol or 0.0))
        return replace(found, tolerance=1.0) if led_down else self._restated(found, found)

    def _restated(self, stated: Certificate, found: Certificate) -> Certificate:
        drift = max(change(stated.parts[name], found.parts[name]) for name in self.stated)
        words = f"relative change of the {' or the '.join(self.stated)}"
        return Certificate("measured", words, drift, STATED, found.parts, found.witness)

    def _measured(
        self, objectives: Sequence[Objective], points: Sequence[Vector], problems: Sequence[Problem] = ()
    ) -> Certificate:
        """Measure how far the points can be from the best; the worst of the problems counts."""
        # Problems are there while a fit runs; afterwards its witnesses are.
        witness = {} if problems else self.certificate_.witness
        slopes = [witness.get(f"slopes{k}") for k in range(len(points))]
        tolerance = float(self.tol or 0.0)
        proofs = [
            bounded(objective, objective.certificate(point, tolerance, each))
            for objective, point, each in zip(objectives, points, slopes, strict=True)
        ]
        if self._held(objectives[0].columns) is None:
            return worst(proofs)
        return with_multipliers(worst(proofs), objectives, points, slopes)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        stated = self.certificate_
        if stated.claim == "estimated":
            raise RefusalError(
                f"this {type(self).__name__} was fitted by partial_fit, which keeps no rows, so its "
                "certificate cannot be recomputed: fit all rows at once."
            )
        objectives = [self._objective(source, target, engine) for target in self._targets(source, engine)]
        coef = np.atleast_2d(self._dense_coef())
        points = list(np.column_stack([coef, np.ravel(self.intercept_)]) if self.fit_intercept else coef)
        found = self._measured(objectives, points)
        again = self._restated(stated, found)
        if stated.claim == "measured" or not again.holds:
            return again
        return replace(found, tolerance=stated.tolerance)

    def _learnt(self, points: Sequence[Vector], problems: Sequence[Problem], source: Source) -> Any:
        packed = np.array(points)
        coef, intercept = (
            (packed[:, :-1], packed[:, -1]) if self.fit_intercept else (packed, np.zeros(len(packed)))
        )
        epochs = max(problem.epochs for problem in problems)
        t = max(problem.state.t for problem in problems)
        if problems[0].held_out is not None:
            t = 1.0 + epochs * len(problems[0].held_out)  # as scikit-learn counts: rows set aside too
        return self._parameters(np.ascontiguousarray(coef), np.array(intercept), epochs, t, source)

    def _keep_averaging(self, problems: Sequence[Problem]) -> None:
        self.__dict__.pop("_averaging", None)
        if self.average:
            states = [problem.state for problem in problems]
            self._averaging = (
                np.array([s.w for s in states]),
                np.array([[s.intercept] for s in states]),
                np.array([s.mean for s in states]),
                np.array([s.mean_intercept for s in states]),
            )

    @abstractmethod
    def _score_of(self, y: Vector, z: Vector, weight: Vector | None) -> float:
        """Return how well scores meet the target of a problem; greater is better."""

    def _update(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        """Take one epoch over some rows, and go on from there at the next call."""

        def step() -> None:
            validate(self)
            self._check_settings(updating=True)
            first = "certificate_" not in self.__dict__
            source = self._source(X, y, sample_weight, reset=first, classes=classes)
            schema = source.schema if first else self._schema
            problems = self._problems(source, choose_engine(source), begun=True)
            self.trace_ = Trace()
            plan = self._plan(source)
            run_epochs(problems, source, plan, Stopping(None, 1), self.trace_, 1, shuffle=self.shuffle)
            self._schema = schema
            points = [problem.packed(int(self.average)) for problem in problems]
            self._keep_averaging(problems)
            weight = sum(problem.epoch.weight for problem in problems)
            value = sum(problem.epoch.objective for problem in problems) / weight if weight else 0.0
            measure = "mean objective of rows before they were learnt from"
            proof = Certificate("estimated", measure, value, np.inf, {"objective": value})
            self._adopt(Learned(self._learnt(points, problems, source), proof), schema)

        return self._atomically(step)
