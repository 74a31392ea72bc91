"""Classify by one normal distribution for each class and column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import ParameterError, RefusalError
from surefit.core.native.scores.normal_scores import best_normal, normal_scores
from surefit.core.parameters import Interval, Scale
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.bayes.generative import Generative, dense_blocks, given_prior
from surefit.models.candidate import Candidate
from surefit.resample.streams import seed_of, stream
from surefit.stats import rounding
from surefit.stats.double_double import UNIT
from surefit.stats.grouped_spread import GroupedSpread
from surefit.stats.overflow import refuse_overflow

_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True, slots=True)
class GaussianNBParameters:
    """Labels, weights and shares of the classes; the smoothing; mean and smoothed variance by class and
    column.
    """

    classes: NDArray[Any]
    class_count: Vector
    class_prior: Vector
    epsilon: float
    theta: Matrix
    var: Matrix


class GaussianNB(Generative):
    r"""Naive Bayes with normal columns: :math:`P(c|x) \propto \pi_c \prod_j N(x_j; \theta_{cj}, v_{cj})`.

    priors: the :math:`\pi_c`; None takes the share of each class in the weight. var_smoothing: this share of
    the largest variance of a column over all rows, ``epsilon_``, is added to every variance. unbiased: divide
    by :math:`n_c - 1` in place of :math:`n_c`; a class with no more weight than 1 has variance 0 then.
    binary: "bernoulli" models columns of zeros and ones as Bernoulli variables with Laplace smoothing:
    :math:`p_{cj} = (n_c \theta_{cj} + 1) / (n_c + 2)`.

    A variance that is 0 even after smoothing is taken for its limit: such a class is certain where x is
    exactly its mean and impossible elsewhere. A row that no class can have produced gets the priors.
    The certificate is exact: counting again in two passes gives the same numbers.

    >>> from surefit import GaussianNB
    >>> X, y = [[1], [2], [3], [6], [8], [10]], [0, 0, 0, 1, 1, 1]
    >>> model = GaussianNB(unbiased=True, var_smoothing=0).fit(X, y)
    >>> model.var_.ravel().tolist()
    [1.0, 4.0]
    >>> model.predict_proba([[4], [5]]).round(4)
    array([[0.6667, 0.3333],
           [0.0641, 0.9359]])
    """

    accepts = Accepts(target="class")
    learns = GaussianNBParameters
    candidate = Candidate("Naive Bayes", 8, given={"binary": "bernoulli"}, streams=True)

    class_count_: Vector
    class_prior_: Vector
    epsilon_: float
    theta_: Matrix
    var_: Matrix

    def __init__(
        self,
        *,
        priors: NDArray[Any] | list[Any] | tuple[Any, ...] | None = None,
        var_smoothing: Annotated[float, Interval(0, None), Scale("log")] = 1e-9,
        unbiased: bool = False,
        binary: Literal["normal", "bernoulli"] = "normal",
    ) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.unbiased = unbiased
        self.binary = binary

    def _of(self, schema: Schema) -> Callable[[Batch], GroupedSpread]:
        assert schema.classes is not None
        return partial(GroupedSpread.of, classes=len(schema.classes))

    def _finish(self, statistic: GroupedSpread, schema: Schema) -> Learned:
        assert schema.classes is not None
        if statistic.rows == 0:
            raise RefusalError("no row would be left: keep at least one.")
        with np.errstate(over="ignore", invalid="ignore"):
            weight, overall = statistic.weight, statistic.overall
        refuse_overflow(overall.scatter, schema.width, overall.weight)
        parameters = GaussianNBParameters(
            schema.classes,
            weight,
            self._prior(weight),
            epsilon := self._epsilon(overall.scatter / overall.weight),
            statistic.mean,
            statistic.variance(self._ddof) + epsilon,
        )
        coins = self._coins(parameters.theta, parameters.var, weight, epsilon)
        normal = np.where(coins, 0.0, 1.0)  # the rules look at normal columns alone
        moments = statistic.moments
        evidence = {
            "class_weights": (schema.classes, weight),
            "class_moments": replace(moments, mean=normal * moments.mean, scatter=normal * moments.scatter),
            "column_moments": overall,
            "rows": statistic.rows,
        }
        # Sums of n terms are off by at most n roundings, those of the kernel by far less; a mean is rounded
        # once more when it is written down, unless all its rows are equal; whole weights add up exactly.
        relative = min(rounding.share(statistic.doubt, statistic.scatter), 8 * statistic.rows * UNIT)
        spread = _spread(parameters.theta, parameters.var)
        drift = relative * np.sqrt(statistic.variance()) + 2 * UNIT * np.abs(statistic.mean)
        mean = self._largest(np.where(statistic.scatter > 0, drift / spread, 0.0))
        count = UNIT * (1 if np.array_equal(weight, np.round(weight)) else statistic.rows)
        return Learned(parameters, self._certificate(count, mean, relative), evidence)

    @property
    def _ddof(self) -> float:
        return 1.0 if self.unbiased else 0.0

    def _epsilon(self, variances: Vector) -> float:
        return float(self.var_smoothing * variances.max(initial=0.0))

    def _prior(self, weight: Vector) -> Vector:
        return weight / weight.sum() if self.priors is None else given_prior(self.priors, len(weight))

    @staticmethod
    def _largest(change: Any) -> float:
        """The largest entry; NaN counts as no answer at all, and so does not hold."""
        return float(np.max(change, initial=0.0))

    @staticmethod
    def _certificate(count: float, mean: float, variance: float) -> Certificate:
        parts = {"share of a class": count, "mean, in deviations": mean, "variance, relative": variance}
        value = float(np.max([count, mean, variance]))
        return Certificate("exact", "largest change of a share, mean or variance", value, 1e-8, parts)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Count again, one class after the other, in two passes: means first, then squares about them."""
        weight, sums = self._sums(source, engine, np.zeros_like(self.theta_), power=1)
        shift = np.divide(sums, weight[:, None], out=np.zeros_like(sums), where=weight[:, None] > 0)
        _, scatter = self._sums(source, engine, shift, power=2)
        rows, none = np.zeros(len(weight), dtype=np.int64), np.zeros_like(scatter)
        spread = GroupedSpread(rows, weight, self.theta_ + shift, scatter, none, none)
        overall = spread.overall
        var = spread.variance(self._ddof) + self._epsilon(overall.scatter / overall.weight)
        total = weight.sum()
        changes = [self.class_count_ / total - weight / total, self.class_prior_ - self._prior(weight)]
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.where(shift == 0, 0.0, np.abs(shift) / _spread(self.theta_, var))
            variance = np.where(var == self.var_, 0.0, np.abs(self.var_ - var) / var)
        return self._certificate(self._largest(np.abs(changes)), self._largest(mean), self._largest(variance))

    def _sums(self, source: Source, engine: Engine, shift: Matrix, power: int) -> tuple[Vector, Matrix]:
        """The weight of each class, and the sums of s ((x - theta) - shift)^power of its rows."""
        found = engine.map(partial(_class_sums, self.theta_, shift, power), source)
        weight, sums = np.zeros(len(self.theta_)), np.zeros_like(self.theta_)
        for more_weight, more in found:
            weight, sums = weight + more_weight, sums + more
        return weight, sums

    def _coins(self, theta: Matrix, var: Matrix, weight: Vector, epsilon: float) -> NDArray[np.bool_]:
        """The columns of zeros and ones that are taken for coins: those whose mean square is their mean.

        Of whole numbers no others have that, and of others none but by a chance of rounding.
        """
        if self.binary == "normal":
            return np.zeros(theta.shape[1], dtype=bool)
        here = weight > 0
        kept = 1 - self._ddof / np.maximum(weight[here, None], self._ddof + _TINY)
        spread, mean = (var[here] - epsilon) * np.maximum(kept, 0.0), theta[here]
        wanted = mean * (1 - mean)
        alike = (mean >= 0) & (mean <= 1) & (np.abs(spread - wanted) <= 1e-9 * wanted + 4 * UNIT * epsilon)
        return np.asarray(alike.all(axis=0))

    def _fitted_coins(self) -> NDArray[np.bool_]:
        return self._coins(self.theta_, self.var_, self.class_count_, self.epsilon_)

    def _heads(self, coins: NDArray[np.bool_]) -> Matrix:
        """The probability of a one, by class and coin."""
        count = self.class_count_[:, None]
        found: Matrix = (count * self.theta_[:, coins] + 1) / (count + 2)
        return found

    def _predict(self, X: Any) -> NDArray[Any]:
        densities, otherwise = self._densities(), int(self.class_prior_.argmax())
        if self.binary != "normal" and self._fitted_coins().any():
            scores = self._joint(X)
            return self.classes_[np.where(scores.max(axis=1) > -np.inf, scores.argmax(axis=1), otherwise)]
        if isinstance(X, np.ndarray):
            return self.classes_[best_normal(X, *densities, otherwise)]
        codes = [best_normal(block, *densities, otherwise) for _, block in dense_blocks(X)]
        return self.classes_[np.concatenate(codes)]

    def _densities(self, columns: Any = slice(None)) -> tuple[Matrix, Matrix, Vector]:
        """Mean, 1 / deviation and the logarithm of prior and height at the mean."""
        var = np.maximum(self.var_[:, columns], _TINY)
        height = -0.5 * np.log(2 * np.pi * var).sum(axis=1)
        mean = np.ascontiguousarray(self.theta_[:, columns])
        return mean, np.ascontiguousarray(1.0 / np.sqrt(var)), height + self._log_prior()

    def _log_prior(self) -> Vector:
        prior = self.class_prior_
        return np.log(prior, out=np.full(len(prior), -np.inf), where=prior > 0)

    def _joint(self, X: Any) -> Matrix:
        if isinstance(X, np.ndarray):
            return self._scores(X)
        return np.concatenate([self._scores(block) for _, block in dense_blocks(X)])

    def _scores(self, X: NDArray[Any]) -> Matrix:
        if self.binary == "normal" or not (coins := self._fitted_coins()).any():
            return normal_scores(X, *self._densities())
        heads = self._heads(coins)
        scores: Matrix = X[:, coins] @ (np.log(heads) - np.log1p(-heads)).T + np.log1p(-heads).sum(axis=1)
        mean, inverse, height = self._densities(~coins)
        return scores + normal_scores(np.ascontiguousarray(X[:, ~coins]), mean, inverse, height)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Matrix, NDArray[Any]]:
        """Draw rows and their classes from the fitted distributions.

        >>> model = GaussianNB().fit([[0.0], [1.0], [5.0], [6.0]], ["a", "a", "b", "b"])
        >>> X, y = model.sample(3, random_state=0)
        >>> X.shape, y.shape
        ((3, 1), (3,))
        """
        check_is_fitted(self)
        if n_samples < 1:
            raise ParameterError(f"sample: n_samples={n_samples!r} must be a whole number of at least 1.")
        rng = stream(seed_of(random_state), 0)
        cumulative = np.cumsum(self.class_prior_)
        codes = np.searchsorted(cumulative / cumulative[-1], rng.random(n_samples), side="right")
        noise = rng.standard_normal((n_samples, self.theta_.shape[1]))
        X = self.theta_[codes] + np.sqrt(self.var_[codes]) * noise
        coins = self._fitted_coins()
        if coins.any():
            X[:, coins] = rng.random((n_samples, int(coins.sum()))) < self._heads(coins)[codes]
        return X, self.classes_[codes]


def _spread(mean: Matrix, var: Matrix) -> Matrix:
    """What a change of a mean is measured by: its deviation, and a little of itself, since a mean far from
    zero is rounded.
    """
    return np.maximum(np.sqrt(var) + 1e-7 * np.abs(mean), _TINY)


def _class_sums(theta: Matrix, shift: Matrix, power: int, batch: Batch) -> tuple[Vector, Matrix]:
    weight, sums = np.zeros(len(theta)), np.zeros_like(theta)
    for rows, X in dense_blocks(batch.X):
        assert batch.y is not None
        y, s = batch.y[rows], np.ones(len(X)) if batch.weight is None else batch.weight[rows]
        for c in np.unique(y[s > 0]):
            mine = (y == c) & (s > 0)
            weight[c] += s[mine].sum()
            sums[c] += s[mine] @ ((X[mine] - theta[c]) - shift[c]) ** power
    return weight, sums
