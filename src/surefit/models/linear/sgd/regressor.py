"""Linear regression by stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from scipy import sparse
from sklearn.base import RegressorMixin

from surefit.core.arrays import Matrix, Vector
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
from surefit.models.linear.common.base import LinearPrediction
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.sgd.base import StochasticLinear
from surefit.models.linear.sgd.objective_parts import NumericTarget

Rate = Literal["constant", "optimal", "invscaling", "adaptive", "pa1", "pa2"]
Penalised = Literal["l2", "l1", "elasticnet"] | None


@dataclass(frozen=True, slots=True)
class SGDRegressorParameters:
    """Coefficients (p,), intercept (1,), epochs, and the number of the next step."""

    coef: Vector
    intercept: Vector
    n_iter: int
    t: float


class SGDRegressor(LinearPrediction, RegressorMixin, StochasticLinear):
    r"""Minimise :math:`\frac1W \sum_i s_i f(y_i, w'x_i + b) + \alpha R(w)` by a step for each row, in epochs.

    Parameters, steps and the rule that ends them are scikit-learn's, and without weights so is every number
    for a given ``random_state``; None stands for 0. Weights are frequencies: a row of weight 2 counts as two.
    A source is read batch by batch, each shuffled in itself. verbose: without effect (nothing is printed).

    Such a fit promises no distance from the minimum: ``certificate_`` states the duality gap that was
    measured at its end. polish: whether to go on from there, by the solver that suits, until the gap relative
    to the loss of a constant is below ``tol``. constraints: as in :class:`~surefit.LinearModel`; each step
    ends in the nearest coefficients that keep them, and the gap is measured within them.

    >>> from surefit import SGDRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 5.0, 7.0]
    >>> model = SGDRegressor(alpha=0.01, polish=True, tol=1e-9).fit(X, y)
    >>> model.coef_.round(3), model.certificate_.holds
    (array([1.984]), True)
    >>> from surefit.penalties import Box
    >>> SGDRegressor(constraints=Box(0.0, 1.5)).fit(X, y).coef_
    array([1.5])
    """

    flat_coef = True
    accepts = Accepts(target="number")
    learns = SGDRegressorParameters

    def __init__(
        self,
        loss: Literal[
            "squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"
        ] = "squared_error",
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
        random_state: RandomState = None,
        learning_rate: Rate = "invscaling",
        eta0: Positive = 0.01,
        power_t: NonNegative = 0.25,
        early_stopping: bool = False,
        validation_fraction: Fraction = 0.1,
        n_iter_no_change: Count = 5,
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
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.average = average
        self.polish = polish
        self.constraints = constraints

    def _targets(self, source: Source, engine: Engine | None) -> Sequence[Callable[[Batch], Batch]]:
        return [NumericTarget()]

    def _parameters(self, coef: Matrix, intercept: Vector, epochs: int, t: float, source: Source) -> Any:
        return SGDRegressorParameters(coef[0], intercept, epochs, t)

    def _linear(self, X: Any) -> Any:
        return self._sparse_scores(X)[:, 0] if sparse.issparse(self.coef_) else super()._linear(X)

    def _score_of(self, y: Vector, z: Vector, weight: Vector | None) -> float:
        from sklearn.metrics import r2_score

        return float(r2_score(y, z, sample_weight=weight))

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take one epoch over some rows and go on from there at the next call."""
        return self._update(X, y, sample_weight)
