r"""Linear models that minimise mean loss plus penalty: from a source to a proved answer, for all of them.

A model says which loss, which penalty and which solver; what is left is the same for every one of them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, ParameterError, RegistryError, SeparationWarning, warn
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.batches.column_batch import changed
from surefit.data.schema import Schema
from surefit.data.source import ArraySource, MappedSource, Source
from surefit.engine.base import Engine
from surefit.losses.base import Loss
from surefit.models.base import Estimator, Learned
from surefit.models.float_range import refuse_extreme_columns
from surefit.models.linear.common.constraints import constrained, multipliers
from surefit.models.linear.common.leverage import CHEAP, dependencies
from surefit.models.linear.common.separation import separating_evidence
from surefit.penalties.base import Penalty
from surefit.penalties.no_penalty import NoPenalty
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.newton_step import NewtonStep, newton_step
from surefit.solvers.objective.solver import Solution, Solver, choose, solver_named
from surefit.stats.moments import Moments

MANY = 50  # iterations from which on it is worth asking what they were for
RATIO = 10.0  # of spreads, below which scaling changes little
AGAIN = 2e8  # multiplications that the same fit on scaled columns may cost


def collinearity(objective: Objective) -> dict[str, Any]:
    """Return the directions in which columns cancel, or how much others tell of each; nothing if dear."""
    rows = objective.rows
    if rows is None or rows.X.shape[0] * rows.X.shape[1] ** 2 > CHEAP or rows.X.shape[1] < 2:
        return {}
    moments = Moments.of(replace(rows, y=np.zeros(len(rows)), offset=None))
    null = dependencies(moments.gram)
    if null is None or null.shape[1]:
        return {} if null is None else {"null_space": null, "shortest": False, **_penalised(objective)}
    deviations = np.sqrt(np.diagonal(moments.gram))
    correlation = moments.gram / deviations[:, None] / deviations
    factor, failed = linalg.lapack.dpotrf(correlation, lower=1)
    if failed:
        return {}
    inverse, _ = linalg.lapack.dpotri(factor, lower=1)
    return {
        "inverse_correlation": np.tril(inverse) + np.tril(inverse, -1).T,
        "deviations": deviations,
    }


def _penalised(objective: Objective) -> dict[str, Any]:
    table = objective.penalty.table(objective.columns) if objective.penalty.offers("table") else None
    return {} if table is None or not table.l2.any() else {"penalty": float(table.l2.max())}


def scaling_cost(objective: Objective, solver: Solver, solution: Solution) -> dict[str, Any]:
    """Solve again on columns of one spread, where a method of first order took long, and count."""
    rows, source = objective.rows, objective.source
    if solver.accuracy != "first order" or solution.iterations < MANY or not isinstance(source, ArraySource):
        return {}
    if rows is None or sparse.issparse(rows.X):
        return {}
    X = np.asarray(rows.X)
    if X.size * solution.iterations > AGAIN:
        return {}
    size = np.sqrt(objective.spread.variance)
    varies = np.flatnonzero(size > 0)
    if len(varies) < 2 or size[varies].max() <= RATIO * size[varies].min():
        return {}
    scaled = replace(source, batch=replace(rows, X=X / np.where(size > 0, size, 1.0)))
    again = Objective(
        scaled,
        objective.engine,
        objective.loss,
        objective.penalty,
        fit_intercept=objective.fit_intercept,
        outputs=objective.outputs,
    )
    twin: Any = type(solver)
    count = (
        twin(tolerance=solver.tolerance, max_iter=solution.iterations).solve(again, None, Trace()).iterations
    )
    large, small = varies[np.argmax(size[varies])], varies[np.argmin(size[varies])]
    ratio = float(size[large] / size[small])
    return {"scaling_cost": (solution.iterations, count, ratio, int(large), int(small))}


class MeanLossModel(Estimator, abstract=True):
    """Base of the models with ``coef_`` and ``intercept_`` that minimise mean loss plus penalty.

    A model writes ``_loss``, ``_penalty`` and ``_parameters``; where it differs from the rest also
    ``_rows_of`` (weights of classes, another target), ``_solver`` and ``_packed``.
    """

    coef_: NDArray[np.float64]
    intercept_: Any

    fit_intercept: bool
    tol: float
    max_iter: int
    warm_start: bool
    constraints: Any = None

    @abstractmethod
    def _loss(self, schema: Schema) -> Loss:
        """Return the loss; what it may depend on is known before any row is read."""

    @abstractmethod
    def _penalty(self, objective: Objective) -> Penalty:
        """Return the penalty of the mean loss.

        ``objective`` has none yet; ``objective.targets.weight`` is what a strength for sums is divided by.
        """

    @abstractmethod
    def _parameters(self, objective: Objective, solution: Solution, solver: Solver) -> Any:
        """Return what is learnt, an instance of ``learns``."""

    def _rows_of(self, source: Source, engine: Engine) -> Source:
        """Return the source as the loss wants it."""
        return source

    def _intercept_is_free(self) -> bool:
        """Whether the objective has an intercept, which it never penalises."""
        return self.fit_intercept

    def _penalised_intercepts(self) -> int:
        """How many of the columns stand for an intercept; they come last, and no constraint is about them."""
        return int(self.fit_intercept and not self._intercept_is_free())

    def _solver(self, objective: Objective) -> Solver:
        return self._solver_called("auto", objective)

    def _solver_called(self, name: str, objective: Objective, **options: Any) -> Solver:
        """Make a solver by its name, or choose one for "auto"."""
        options = {"tolerance": self.tol, "max_iter": self.max_iter, **options}
        if name == "auto":
            return choose(objective, **options)
        try:
            return solver_named(name, **options)
        except RegistryError as error:
            raise ParameterError(f"{type(self).__name__}: {error}") from None

    def _iteration_limit(self) -> int:
        return self.max_iter

    def _objective(self, source: Source, engine: Engine) -> Objective:
        return self._bound(self._rows_of(source, engine), engine)

    def _fitted_objective(self, source: Source, engine: Engine) -> Objective:
        """Return the objective with what else of it was fitted, such as a scale."""
        return self._objective(source, engine)

    def _bound(self, source: Source, engine: Engine) -> Objective:
        """Bind a source that is as the loss wants it."""
        schema = source.schema
        loss = self._loss(schema)
        outputs = None if schema.target_is_flat else schema.targets
        if schema.classes is not None:
            outputs = outputs_for(loss, schema.classes)
        checked = CheckedTarget(loss)
        if isinstance(source, ArraySource):
            source = replace(source, batch=checked(source.batch))
        else:
            source = MappedSource(source, schema, checked)
        objective = Objective(
            source, engine, loss, NoPenalty(), fit_intercept=self._intercept_is_free(), outputs=outputs
        )
        objective.penalty = self._within_constraints(objective)
        return objective

    def _within_constraints(self, objective: Objective) -> Penalty:
        """Return the penalty, infinite where a constraint does not hold."""
        beyond, who = self._penalised_intercepts(), type(self).__name__
        own = self._penalty(objective)
        return constrained(who, own, self.constraints, objective.columns - beyond, beyond)

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        # Numbers that leave the range of floats show in what is proved; numpy's own words say less.
        with np.errstate(all="ignore"):
            return self._learnt(source, engine, trace)

    def _learnt(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        objective = self._objective(source, engine)
        solver = self._solver(objective)
        solver.require(objective)
        solution = self._solved(objective, solver, trace)
        if not solution.holds:
            refuse_extreme_columns(source)  # no warning of an answer that squares could not tell
        self._schema = source.schema
        parameters = self._parameters(objective, solution, solver)
        evidence = {**self._evidence(objective, solution), **scaling_cost(objective, solver, solution)}
        return Learned(parameters, self._proof(objective, solution), evidence)

    def _solved(self, objective: Objective, solver: Solver, trace: Trace) -> Solution:
        """Minimise, from where the last fit ended if asked to."""
        return solver.solve(objective, self._start(objective), trace)

    def _proof(self, objective: Objective, solution: Solution) -> Certificate:
        """Return the certificate of a solution, with the multipliers of the constraints if there are any."""
        proof = solution.certificate
        if self.constraints is None:
            return proof
        witness, parts = multipliers(
            objective, solution.x, proof.witness.get("slopes"), self._penalised_intercepts()
        )
        return replace(proof, witness={**proof.witness, **witness}, parts={**proof.parts, **parts})

    def _evidence(self, objective: Objective, solution: Solution) -> Mapping[str, Any]:
        """Return what the rules of the diagnosis look at."""
        return loss_evidence(objective, solution)

    def _start(self, objective: Objective) -> NDArray[np.float64] | None:
        if not self.warm_start or "certificate_" not in self.__dict__:
            return None
        start = self._packed()
        return start if start.shape == objective.shape else None

    def _packed(self) -> NDArray[np.float64]:
        """Return coefficients and intercept as the objective packs them."""
        coef = np.asarray(self.coef_).T
        return np.concatenate([coef, np.asarray(self.intercept_)[None]]) if self.fit_intercept else coef

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        objective, witness = self._fitted_objective(source, engine), self.certificate_.witness
        with np.errstate(all="ignore"):
            return objective.certificate(self._packed(), self.certificate_.tolerance, witness.get("slopes"))

    def _newton_steps(self, source: Source, engine: Engine) -> Sequence[NewtonStep] | None:
        objective, packed = self._fitted_objective(source, engine), self._packed()
        if packed.shape != objective.shape:  # parameters beside coefficients, of a loss of its own
            return None
        step = newton_step(objective, packed)
        return None if step is None else [step]

    def _adopt(self, learned: Learned, schema: Schema) -> None:
        super()._adopt(learned, schema)
        separated = [finding for finding in self.diagnosis_ if finding.code == "separated-classes"]
        if separated and learned.certificate.holds:
            warn(f"{type(self).__name__}: {separated[0]}", SeparationWarning)


@dataclass(frozen=True, slots=True)
class CheckedTarget:
    """Refuse targets that the loss does not take, as they pass."""

    loss: Loss

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch, codes of two classes as numbers."""
        self.loss.check(batch.y)
        if self.loss.task != "binary" or batch.y is None:
            return batch
        return changed(batch, y=batch.y.astype(np.float64, copy=False))


def outputs_for(loss: Loss, classes: NDArray[Any]) -> int | None:
    """Return how many scores the classes take; refuse numbers of classes that the loss has no place for."""
    if len(classes) < 2:
        raise DataError(
            "This solver needs samples of at least 2 classes in the data, but y holds one class, "
            f"{classes.tolist()[0]!r}: add rows of another class."
        )
    if loss.task == "binary" and len(classes) > 2:
        raise DataError(
            "Only binary classification is supported. "
            f"The {loss.name} loss takes two classes, but y holds {len(classes)}: choose the softmax loss, "
            "as LogisticRegression does, or OneVsRestClassifier."
        )
    return len(classes) if loss.task == "multiclass" else None


def plain_intercept(intercept: Any) -> Any:
    """Return an intercept as a float, or an array for several outputs; 0 where there is none."""
    if intercept is None:
        return 0.0
    return float(intercept) if np.ndim(intercept) == 0 else np.array(intercept)


def loss_evidence(objective: Objective, solution: Solution) -> Mapping[str, Any]:
    """Return the spread of the columns, and how far the loss of classes fell."""
    spread = objective.spread
    found: dict[str, Any] = {
        "column_moments": spread.moments,
        "rows": spread.rows,
        **collinearity(objective),
    }
    loss = objective.loss
    # Only a loss that keeps falling for ever has no finite best answer for classes that can be told apart.
    falls = loss.task == "multiclass" or (loss.task == "binary" and loss.smooth and _still_falls(loss))
    if falls:
        found["separation"] = (solution.value - objective.penalised(solution.x), objective.scale)
    return found | separating_evidence(objective, solution) if falls else found


def _still_falls(loss: Loss) -> bool:
    return float(loss.value(np.ones(1), np.full(1, 30.0))[0]) > 0
