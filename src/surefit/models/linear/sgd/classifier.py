"""Linear classification by stochastic gradient descent, one class against the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError, RefusalError
from surefit.core.parameters import (
    Count,
    Fraction,
    NonNegative,
    Positive,
    RandomState,
    Strength,
    Tolerance,
    WholeNumber,
)
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.class_weight import ClassWeight, class_factors, given_factors
from surefit.models.linear.common.class_scores import LinearClassification
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.sgd.base import StochasticLinear
from surefit.models.linear.sgd.regressor import Penalised, Rate

ClassLoss = Literal[
    "hinge",
    "log_loss",
    "modified_huber",
    "squared_hinge",
    "perceptron",
    "squared_error",
    "huber",
    "epsilon_insensitive",
    "squared_epsilon_insensitive",
]


@dataclass(frozen=True, slots=True)
class SGDClassifierParameters:
    """Coefficients, one row a problem, intercepts, epochs, the number of the next step, and the labels."""

    coef: Matrix
    intercept: Vector
    n_iter: int
    t: float
    classes: NDArray[Any]


@dataclass(frozen=True, slots=True)
class OneVsRestTarget:
    """The target +1 for one class and -1 for the others; weights of both sides multiply those of the rows."""

    code: int
    positive: float = 1.0
    negative: float = 1.0

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with such a target."""
        own = np.asarray(batch.y) == self.code
        weight = batch.weight
        if (self.positive, self.negative) != (1.0, 1.0):
            factors = np.where(own, self.positive, self.negative)
            weight = factors if weight is None else weight * factors
        return replace(batch, y=np.where(own, 1.0, -1.0), weight=weight)


class StochasticClassifier(LinearClassification, ClassifierMixin, StochasticLinear, abstract=True):
    """What classifiers share: one problem for two classes, one a class for more."""

    regression: ClassVar[bool] = False
    accepts = Accepts(target="class")
    learns = SGDClassifierParameters

    class_weight: ClassWeight
    classes_: NDArray[Any]

    def _targets(self, source: Source, engine: Engine | None) -> Sequence[Callable[[Batch], Batch]]:
        classes = source.schema.classes
        assert classes is not None
        if len(classes) < 2:
            raise DataError(
                f"The number of classes has to be greater than one; got {len(classes)} class, "
                f"{classes.tolist()[0]!r}: give rows of two classes or more."
            )
        factors = (
            given_factors(self.class_weight, classes)
            if engine is None
            else class_factors(self.class_weight, source, engine)
        )
        given = np.ones(len(classes)) if factors is None else factors
        if len(classes) == 2:
            return [OneVsRestTarget(1, float(given[1]), float(given[0]))]
        return [OneVsRestTarget(k, float(given[k])) for k in range(len(classes))]

    def _parameters(self, coef: Matrix, intercept: Vector, epochs: int, t: float, source: Source) -> Any:
        assert source.schema.classes is not None
        return SGDClassifierParameters(coef, intercept, epochs, t, source.schema.classes)

    def _score_of(self, y: Vector, z: Vector, weight: Vector | None) -> float:
        return float(np.average((z > 0) == (y > 0), weights=weight))

    def _linear(self, X: Any) -> Any:
        scores = self._sparse_scores(X) if sparse.issparse(self.coef_) else super()._linear(X)
        return scores.ravel() if scores.shape[1] == 1 else scores

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Take one epoch over some rows; the first call names all ``classes`` that there will ever be."""
        self._check_settings(updating=True)
        if self.class_weight == "balanced":
            raise RefusalError(
                "class_weight 'balanced' is not supported for partial_fit: it depends on all rows "
                "together; give the weights as a dictionary."
            )
        known = self.__dict__.get("classes_")
        if known is None and classes is None:
            raise DataError("classes must be passed on the first call to partial_fit.")
        if known is not None and classes is not None and not np.array_equal(np.unique(classes), known):
            raise DataError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {known!r}"
            )
        return self._update(X, y, sample_weight, known if classes is None else np.unique(classes))


def _has_chances(model: SGDClassifier) -> bool:
    if model.loss not in ("log_loss", "modified_huber"):
        raise AttributeError(
            f"probability estimates are not available for loss={model.loss!r}: choose 'log_loss' or "
            "'modified_huber'."
        )
    return True


class SGDClassifier(StochasticClassifier):
    r"""Minimise :math:`\frac1W \sum_i s_i f(y_i, w'x_i + b) + \alpha R(w)` by a step for each row, in epochs.

    y_i is 1 for a class and -1 for the rest; two classes share one problem. Parameters, steps and the rule
    that ends them are scikit-learn's, and without weights so is every number for a given ``random_state``;
    None stands for 0. Weights are frequencies, and those of classes multiply them. A source is read batch by
    batch, each shuffled in itself. verbose, n_jobs: without effect.

    Such a fit promises no distance from the minimum: ``certificate_`` states the duality gap that was
    measured at its end, the worst of all classes. polish: whether to go on from there, by the solver that
    suits, until the gap relative to the loss of a constant is below ``tol``. constraints: as in
    :class:`~surefit.LinearModel`, for the coefficients of each class; each step ends in the nearest ones that
    keep them, and the gap is measured within them.

    >>> from surefit import SGDClassifier
    >>> X, y = [[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]], ["no", "no", "yes", "yes"]
    >>> model = SGDClassifier(random_state=0).fit(X, y)
    >>> model.predict([[-0.8, -1.0], [3.0, 2.0]]), model.certificate_.claim
    (array(['no', 'yes'], dtype='<U3'), 'optimal')
    """

    def __init__(
        self,
        loss: ClassLoss = "hinge",
        *,
        penalty: Penalised = "l2",
        alpha: Strength = 0.0001,
        l1_ratio: Fraction | None = 0.15,
        fit_intercept: bool = True,
        max_iter: Count = 1000,
        tol: Tolerance | None = 1e-3,
        shuffle: bool = True,
        verbose: WholeNumber | bool = 0,
        epsilon: NonNegative = 0.1,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        learning_rate: Rate = "optimal",
        eta0: Positive = 0.01,
        power_t: NonNegative = 0.5,
        early_stopping: bool = False,
        validation_fraction: Fraction = 0.1,
        n_iter_no_change: Count = 5,
        class_weight: ClassWeight = None,
        warm_start: bool = False,
        average: bool | WholeNumber = False,
        polish: bool = False,
        constraints: Constraints = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.average = average
        self.polish = polish
        self.constraints = constraints

    @available_if(_has_chances)
    def predict_proba(self, X: Any, *, to: str | Path | None = None) -> Matrix:
        """Return the probability of each class, or write them ``to`` a file; of many classes, normalised."""
        return self._answer(self._chances, X, to, self._class_names())

    @available_if(_has_chances)
    def predict_log_proba(self, X: Any) -> Matrix:
        """Return the logarithm of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def _chances(self, X: Any) -> Matrix:
        z = self._linear(X)
        if self.loss == "log_loss":
            from scipy.special import expit

            own = expit(z)
        else:
            own = (np.clip(z, -1.0, 1.0) + 1.0) / 2.0
        if own.ndim == 1:
            return np.column_stack([1.0 - own, own])
        total = own.sum(axis=1, keepdims=True)
        # Where no class claims a row, all are as likely.
        own = np.where(total > 0, own, 1.0)
        return np.asarray(own / own.sum(axis=1, keepdims=True))
