"""Any loss with any penalty, linear in the columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if

from surefit.core.certificate import Certificate
from surefit.core.errors import (
    DataError,
    ParameterError,
    RegistryError,
    SeparationWarning,
    SurefitError,
    warn,
)
from surefit.core.parameters import Count, Has, Tolerance
from surefit.core.trace import Trace
from surefit.data.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import ArraySource, MappedSource, Source
from surefit.engine.base import Engine
from surefit.losses.base import Loss
from surefit.models.base import Estimator, Learned
from surefit.models.linear.own_pieces import loss_of, penalty_of
from surefit.solvers.base import Solution, Solver
from surefit.solvers.choose import choose, solver_named
from surefit.solvers.objective import Objective

OwnLoss = Annotated[object, Has("value")]
OwnPenalty = Annotated[object, Has("value")]


@dataclass(frozen=True, slots=True)
class LinearModelParameters:
    """Coefficients and intercept, how they were found, and the labels of a classifier."""

    coef: NDArray[np.float64]
    intercept: Any
    n_iter: int
    solver: str
    classes: NDArray[Any] | None


def _classifies(model: LinearModel) -> bool:
    return model._task() != "regression"


def _has_probabilities(model: LinearModel) -> bool:
    return _classifies(model) and loss_of("LinearModel", model.loss).link.name in (
        "logit",
        "multinomial_logit",
    )


class LinearModel(Estimator):
    r"""Minimise :math:`\frac1W \sum_i s_i f(y_i, w'x_i + b) + pen(w)`, the mean loss plus a penalty.

    loss, penalty: by name, as an object of ``surefit.losses`` and ``surefit.penalties``, or an object of your
    own (see the guide). It is a classifier if the loss is one of classes. solver: "auto" chooses; see the
    guide for what each name runs. fit_intercept: whether b is free, or 0; it is never penalised. tol: the
    duality gap, relative to the loss of a constant, at which to stop. warm_start: whether to go on from the
    last fit.

    ``coef_`` is (p,), or one row an output. ``predict`` gives the mean of y, or the class.

    >>> from surefit import LinearModel
    >>> from surefit.penalties import L1
    >>> X, y = [[-1.0, 0.3], [0.0, -0.2], [1.0, 0.1], [2.0, -0.3]], ["no", "no", "yes", "yes"]
    >>> model = LinearModel("logistic", L1(0.1)).fit(X, y)
    >>> model.coef_.round(3), model.predict([[1.5, 0.0]]), model.solver_
    (array([2.038, 0.   ]), array(['yes'], dtype='<U3'), 'proximal_newton')
    >>> model.certificate_.holds
    True
    """

    accepts = Accepts(target="number", several_targets=True)
    learns = LinearModelParameters

    coef_: NDArray[np.float64]
    intercept_: Any
    n_iter_: int
    solver_: str
    classes_: NDArray[Any] | None

    def __init__(
        self,
        loss: str | OwnLoss = "squared",
        penalty: str | OwnPenalty | None = None,
        *,
        solver: str = "auto",
        fit_intercept: bool = True,
        tol: Tolerance = 1e-6,
        max_iter: Count = 1000,
        warm_start: bool = False,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start

    def _task(self) -> str:
        """What the target is; of a loss that there is not, which fit refuses, a number."""
        try:
            return loss_of("LinearModel", self.loss).task
        except SurefitError:
            return "regression"

    def _positive_only(self) -> bool:
        try:
            low = loss_of("LinearModel", self.loss).domain.low
        except SurefitError:
            return False
        return low is not None and low >= 0

    def _accepted(self) -> Accepts:
        return Accepts(target="class") if _classifies(self) else self.accepts

    def _iteration_limit(self) -> int:
        return self.max_iter

    def _objective(self, source: Source, engine: Engine) -> Objective:
        loss, penalty = loss_of("LinearModel", self.loss), penalty_of("LinearModel", self.penalty)
        schema = source.schema
        outputs = None if schema.target_is_flat else schema.targets
        if schema.classes is not None:
            outputs = _outputs_for(loss, schema.classes)
        checked = _CheckedTarget(loss)
        if isinstance(source, ArraySource):
            source = replace(source, batch=checked(source.batch))
        else:
            source = MappedSource(source, schema, checked)
        return Objective(source, engine, loss, penalty, fit_intercept=self.fit_intercept, outputs=outputs)

    def _solver(self, objective: Objective) -> Solver:
        options: dict[str, Any] = {"tolerance": self.tol, "max_iter": self.max_iter}
        if self.solver == "auto":
            return choose(objective, **options)
        try:
            return solver_named(self.solver, **options)
        except RegistryError as error:
            raise ParameterError(f"LinearModel: {error}") from None

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        objective = self._objective(source, engine)
        solver = self._solver(objective)
        solver.require(objective)
        solution = solver.solve(objective, self._start(objective), trace)
        self._schema = source.schema
        coef, intercept = objective.split(solution.x)
        parameters = LinearModelParameters(
            np.ascontiguousarray(coef.T),
            _number(intercept),
            max(solution.iterations, 1),
            solver.name,
            source.schema.classes,
        )
        return Learned(parameters, solution.certificate, _evidence(objective, solution))

    def _start(self, objective: Objective) -> NDArray[np.float64] | None:
        if not self.warm_start or "certificate_" not in self.__dict__:
            return None
        start = self._packed()
        return start if start.shape == objective.shape else None

    def _packed(self) -> NDArray[np.float64]:
        coef = np.asarray(self.coef_).T
        return np.concatenate([coef, np.asarray(self.intercept_)[None]]) if self.fit_intercept else coef

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        objective, witness = self._objective(source, engine), self.certificate_.witness
        return objective.certificate(self._packed(), self.certificate_.tolerance, witness.get("slopes"))

    def _adopt(self, learned: Learned, schema: Schema) -> None:
        super()._adopt(learned, schema)
        separated = [finding for finding in self.diagnosis_ if finding.code == "separated-classes"]
        if separated and learned.certificate.holds:
            warn(f"LinearModel: {separated[0]}", SeparationWarning)

    def _linear(self, X: Any) -> Any:
        coef = self.coef_
        return X @ (coef if coef.ndim == 1 else coef.T) + self.intercept_

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[Any]:
        """Return the mean of y for each row, or its class; or write them ``to`` a file."""
        outputs = 1 if "coef_" not in self.__dict__ or self.coef_.ndim == 1 else len(self.coef_)
        several = outputs > 1 and not _classifies(self)
        names = [f"prediction{k}" for k in range(outputs)] if several else ["prediction"]
        return self._answer(self._predicted, X, to, names)

    def _predicted(self, X: Any) -> Any:
        z, classes = self._linear(X), self.classes_
        loss = loss_of("LinearModel", self.loss)
        if classes is None:
            return np.asarray(loss.link.inverse(z))
        if loss.task == "ordinal":
            return classes[np.searchsorted(np.asarray(loss.thresholds), z)]  # type: ignore[attr-defined]
        return classes[np.argmax(z, axis=1) if z.ndim == 2 else (z > 0).astype(np.intp)]

    @available_if(_classifies)
    def decision_function(self, X: Any, *, to: str | Path | None = None) -> NDArray[np.float64]:
        """Return the scores, (n,) for two classes and (n, k) for more, or write them ``to`` a file."""
        labels = [str(label) for label in self.__dict__.get("classes_", ())]
        return self._answer(self._scores, X, to, labels if len(labels) > 2 else labels[1:])

    def _scores(self, X: Any) -> Any:
        z = self._linear(X)
        return z[:, 1] - z[:, 0] if z.ndim == 2 and z.shape[1] == 2 else z

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any, *, to: str | Path | None = None) -> NDArray[np.float64]:
        """Return the probability of each class, or write them ``to`` a file."""
        labels = [str(label) for label in self.__dict__.get("classes_", ())]
        return self._answer(self._chances, X, to, labels)

    def _chances(self, X: Any) -> NDArray[np.float64]:
        loss, z = loss_of("LinearModel", self.loss), self._linear(X)
        if loss.task == "ordinal":
            thresholds = np.asarray(loss.thresholds)  # type: ignore[attr-defined]
            above = np.asarray(loss.link.inverse(z[:, None] - thresholds))
            ones, zeros = np.ones((len(z), 1)), np.zeros((len(z), 1))
            return -np.diff(np.hstack([ones, above, zeros]), axis=1)
        if z.ndim == 2:
            return np.asarray(loss.link.inverse(z))
        return np.column_stack([loss.link.inverse(-z), loss.link.inverse(z)])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of right classes, or the share of variance explained."""
        mixin: Any = ClassifierMixin if _classifies(self) else RegressorMixin
        return float(mixin.score(self, X, y, sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        task = self._task()
        tags.target_tags.multi_output = task == "regression"
        if task == "regression":
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
            tags.target_tags.positive_only = self._positive_only()
        else:
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags(multi_class=task != "binary")
        return tags


@dataclass(frozen=True, slots=True)
class _CheckedTarget:
    """Refuse targets that the loss does not take, as they pass."""

    loss: Loss

    def __call__(self, batch: Batch) -> Batch:
        self.loss.check(batch.y)
        if self.loss.task != "binary" or batch.y is None:
            return batch
        return replace(batch, y=batch.y.astype(np.float64, copy=False))


def _outputs_for(loss: Loss, classes: NDArray[Any]) -> int | None:
    """Return how many scores the classes take; refuse numbers of classes that the loss has no place for."""
    if len(classes) < 2:
        raise DataError(f"y holds one class, {classes.tolist()[0]!r}, and a classifier needs at least two.")
    if loss.task == "binary" and len(classes) > 2:
        raise DataError(
            "Only binary classification is supported. "
            f"The {loss.name} loss takes two classes, but y holds {len(classes)}: choose the softmax loss."
        )
    return len(classes) if loss.task == "multiclass" else None


def _number(intercept: Any) -> Any:
    if intercept is None:
        return 0.0
    return float(intercept) if np.ndim(intercept) == 0 else np.array(intercept)


def _evidence(objective: Objective, solution: Solution) -> Mapping[str, Any]:
    spread = objective.spread
    found: dict[str, Any] = {"column_moments": spread.moments, "rows": spread.rows}
    loss = objective.loss
    # Only a loss that keeps falling for ever has no finite best answer for classes that can be told apart.
    falls = loss.task == "multiclass" or (loss.task == "binary" and loss.smooth and _still_falls(loss))
    if falls:
        found["separation"] = (solution.value - objective.penalised(solution.x), objective.scale)
    return found


def _still_falls(loss: Loss) -> bool:
    return float(loss.value(np.ones(1), np.full(1, 30.0))[0]) > 0
