"""Any loss with any penalty, linear in the columns: by name, as an object of surefit, or as one's own.

An object of one's own needs two methods. A loss has ``value(y, z)`` and ``gradient(y, z)``; a penalty has
``value(w)`` and ``prox(v, step)``. What else it has (``convex``, ``curvature``, ``conjugate`` ...) is used,
under the names of :class:`~surefit.losses.base.Loss` and :class:`~surefit.penalties.base.Penalty`; without
``convex = True``, an answer can be proved to be stationary only.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if

from surefit.core.errors import ParameterError, RegistryError, SurefitError
from surefit.core.parameters import Count, Has, Tolerance
from surefit.core.registry import lookup
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.losses.base import Loss
from surefit.losses.links import Identity
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.common.mean_loss import MeanLossModel, plain_intercept
from surefit.penalties.base import Penalty
from surefit.penalties.coordinate_table import CoordinateTable
from surefit.penalties.no_penalty import NoPenalty
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Solution, Solver

Array = NDArray[Any]


def loss_of(who: str, given: Any) -> Loss:
    """Return the loss that a parameter stands for."""
    if isinstance(given, Loss):
        return given
    if isinstance(given, str):
        return cast(Loss, _named(who, "loss", given))
    _require(who, "loss", given, {"value": "value(y, z)", "gradient": "gradient(y, z)"})
    return CustomLoss(given)


def penalty_of(who: str, given: Any) -> Penalty:
    """Return the penalty that a parameter stands for; None is no penalty."""
    if given is None:
        return NoPenalty()
    if isinstance(given, Penalty):
        return given
    if isinstance(given, str):
        return cast(Penalty, _named(who, "penalty", given))
    _require(who, "penalty", given, {"value": "value(w)", "prox": "prox(v, step)"})
    return CustomPenalty(given)


def _named(who: str, kind: str, name: str) -> Any:
    try:
        found: Any = lookup(kind, name)
        return found()
    except RegistryError as error:
        raise ParameterError(f"{who}: {error}") from None
    except TypeError:
        raise ParameterError(
            f"{who}: the {kind} {name!r} has parameters without a default: give it as an object."
        ) from None


def _require(who: str, kind: str, given: Any, methods: dict[str, str]) -> None:
    missing = [how for name, how in methods.items() if not callable(getattr(given, name, None))]
    if isinstance(given, type) or missing:
        is_class = isinstance(given, type)
        why = "is a class: make an object of it" if is_class else f"has no {' and no '.join(missing)}"
        named = given.__name__ if is_class else type(given).__name__
        raise ParameterError(
            f"{who}: {kind} must be a name, an object of surefit, or one with "
            f"{' and '.join(methods.values())}, but {named} {why}."
        )


class CustomLoss(Loss):
    """A loss that is known by its value and gradient; the curvature, unless it has one, by differences."""

    def __init__(self, own: Any) -> None:
        self.own = own
        self.name = getattr(own, "name", type(own).__name__)  # type: ignore[misc]
        self.task = getattr(own, "task", "regression")  # type: ignore[misc]
        self.link = getattr(own, "link", Identity())  # type: ignore[misc]

    @property
    def convex(self) -> bool:
        """As the object says; False if it does not."""
        return bool(getattr(self.own, "convex", False))

    @property
    def smooth(self) -> bool:
        """As the object says; True if it does not."""
        return bool(getattr(self.own, "smooth", True))

    @property
    def smoothness(self) -> float | None:
        """As the object says."""
        return getattr(self.own, "smoothness", None)

    def value(self, y: Any, z: Any) -> Array:
        """Return the object's value."""
        return np.asarray(self.own.value(y, z), dtype=np.float64)

    def gradient(self, y: Any, z: Any) -> Array:
        """Return the object's gradient."""
        return np.asarray(self.own.gradient(y, z), dtype=np.float64)

    def curvature(self, y: Any, z: Any) -> Array:
        """Return the object's curvature, or the central difference of its gradient."""
        if hasattr(self.own, "curvature"):
            return np.asarray(self.own.curvature(y, z), dtype=np.float64)
        z = np.asarray(z, dtype=np.float64)
        step = np.cbrt(np.finfo(float).eps) * np.maximum(1.0, np.abs(z))
        bend = (self.gradient(y, z + step) - self.gradient(y, z - step)) / (2.0 * step)
        return np.maximum(bend, 0.0) if self.convex else bend

    def check(self, y: Any) -> None:
        """Leave the target to the object."""
        if hasattr(self.own, "check"):
            self.own.check(y)

    def __getattr__(self, name: str) -> Any:
        if name in ("conjugate", "prox") and "own" in self.__dict__:
            return getattr(self.own, name)
        raise AttributeError(name)


class CustomPenalty(Penalty):
    """A penalty that is known by its value and prox."""

    def __init__(self, own: Any) -> None:
        self.own = own
        self.convex = bool(getattr(own, "convex", False))  # type: ignore[misc]
        self.separable = bool(getattr(own, "separable", False))  # type: ignore[misc]

    def value(self, w: ArrayLike) -> float:
        """Return the object's value."""
        return float(self.own.value(w))

    def prox(self, v: ArrayLike, step: float) -> Array:
        """Return the object's proximal point."""
        return np.asarray(self.own.prox(v, step), dtype=np.float64)

    def offers(self, method: str) -> bool:
        """Whether the object has a method; a conjugate is of use only with its scaling."""
        needed = ("conjugate", "dual_scaling") if method == "conjugate" else (method,)
        return all(hasattr(self.own, name) for name in needed)

    def conjugate(self, u: ArrayLike) -> float:
        """Return the object's conjugate."""
        return float(self.own.conjugate(u))

    def dual_scaling(self, u: ArrayLike) -> float:
        """Return the object's scaling."""
        return float(self.own.dual_scaling(u))

    def table(self, p: int) -> CoordinateTable:
        """Return the object's table."""
        found: CoordinateTable = self.own.table(p)
        return found

    def subdifferential_distance(self, w: ArrayLike, gradient: ArrayLike) -> Array:
        """Return the object's distance."""
        return np.asarray(self.own.subdifferential_distance(w, gradient))

    def free_directions(self, p: int, slope: ArrayLike | None = None) -> Array:
        """Return the object's free directions; none if it does not say."""
        own = getattr(self.own, "free_directions", None)
        return super().free_directions(p, slope) if own is None else np.asarray(own(p, slope))

    def quadratic(self, p: int) -> Array | None:
        """Return the object's squares, if it says so."""
        own = getattr(self.own, "quadratic", None)
        return None if own is None else own(p)


LossLike = Annotated[object, Has("value")]
PenaltyLike = Annotated[object, Has("value")]


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


class LinearModel(MeanLossModel):
    r"""Minimise :math:`\frac1W \sum_i s_i f(y_i, w'x_i + b) + pen(w)`, the mean loss plus a penalty.

    loss, penalty: by name, as an object of ``surefit.losses`` and ``surefit.penalties``, or an object of your
    own (see the guide). It is a classifier if the loss is one of classes. solver: "auto" chooses; see the
    guide for what each name runs. fit_intercept: whether b is free, or 0; it is never penalised. tol: the
    duality gap, relative to the loss of a constant, at which to stop. warm_start: whether to go on from the
    last fit. constraints: ``Box``, ``NonNegative`` or ``Monotone`` of ``surefit.penalties``, or several.

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

    n_iter_: int
    solver_: str
    classes_: NDArray[Any] | None

    def __init__(
        self,
        loss: str | LossLike = "squared",
        penalty: str | PenaltyLike | None = None,
        *,
        solver: str = "auto",
        fit_intercept: bool = True,
        tol: Tolerance = 1e-6,
        max_iter: Count = 1000,
        warm_start: bool = False,
        constraints: Constraints = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.constraints = constraints

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

    def _loss(self, schema: Schema) -> Loss:
        return loss_of("LinearModel", self.loss)

    def _penalty(self, objective: Objective) -> Penalty:
        return penalty_of("LinearModel", self.penalty)

    def _solver(self, objective: Objective) -> Solver:
        return self._solver_called(self.solver, objective)

    def _parameters(self, objective: Objective, solution: Solution, solver: Solver) -> LinearModelParameters:
        coef, intercept = objective.split(solution.x)
        return LinearModelParameters(
            np.ascontiguousarray(coef.T),
            plain_intercept(intercept),
            max(solution.iterations, 1),
            solver.name,
            objective.source.schema.classes,
        )

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
        labels = self._class_names()
        return self._answer(self._scores, X, to, labels if len(labels) > 2 else labels[1:])

    def _scores(self, X: Any) -> Any:
        z = self._linear(X)
        return z[:, 1] - z[:, 0] if z.ndim == 2 and z.shape[1] == 2 else z

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any, *, to: str | Path | None = None) -> NDArray[np.float64]:
        """Return the probability of each class, or write them ``to`` a file."""
        labels = self._class_names()
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
        """Return the accuracy of a classifier, or the R2 of a regression."""
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
