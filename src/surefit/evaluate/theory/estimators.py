"""Estimators as random variables: bias, variance, mean squared error and consistency, by simulation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from surefit.core.arrays import Vector
from surefit.core.errors import DataError, ParameterError, RefusalError


@dataclass(frozen=True)
class EstimatorStudy:
    r"""What simulation tells of an estimator: :math:`\mathrm{MSE} = \mathrm{bias}^2 + \mathrm{variance}`.

    Each has its standard error beside it. The identity holds exactly on the simulated estimates.
    """

    n: int
    truth: float
    estimates: Vector

    @property
    def bias(self) -> float:
        """The mean of the estimates minus the truth."""
        return float(self.estimates.mean() - self.truth)

    @property
    def variance(self) -> float:
        """The mean squared distance of the estimates from their mean."""
        return float(self.estimates.var())

    @property
    def mean_squared_error(self) -> float:
        """The mean squared distance of the estimates from the truth."""
        return float(np.mean((self.estimates - self.truth) ** 2))

    @property
    def bias_error(self) -> float:
        """The standard error of the bias."""
        return math.sqrt(self.variance / (len(self.estimates) - 1))

    @property
    def variance_error(self) -> float:
        """The standard error of the variance."""
        return float(((self.estimates - self.estimates.mean()) ** 2).std() / math.sqrt(len(self.estimates)))

    @property
    def mean_squared_error_error(self) -> float:
        """The standard error of the mean squared error."""
        return float(((self.estimates - self.truth) ** 2).std() / math.sqrt(len(self.estimates)))

    @property
    def unbiased(self) -> bool:
        """Whether the bias is within three of its standard errors of 0."""
        return abs(self.bias) <= 3 * self.bias_error

    def __str__(self) -> str:
        return (
            f"n = {self.n}: bias {self.bias:.4g} ± {self.bias_error:.2g}, variance {self.variance:.4g} ± "
            f"{self.variance_error:.2g}, mean squared error {self.mean_squared_error:.4g} ± "
            f"{self.mean_squared_error_error:.2g}"
        )


def estimator_study(
    estimator: Callable[[Any], float],
    distribution: Any,
    n: int | Sequence[int],
    *,
    truth: float | None = None,
    repeats: int = 10_000,
    random_state: Any = 0,
) -> Any:
    """Draw many samples of n values and study what an estimator makes of them.

    estimator: a function of a sample. distribution: anything with ``sample(n, random_state)``. truth: what is
    estimated; the mean of the distribution if nothing is said. n: a list of sizes gives a study of each,
    with mean squared errors that fall to 0 where the estimator is consistent.

    >>> import numpy as np
    >>> from surefit.distributions import Normal
    >>> found = estimator_study(np.var, Normal(0.0, 2.0), 5, truth=4.0)      # 1/n: its mean is 4 * (1 - 1/5)
    >>> round(found.bias, 1), found.unbiased
    (-0.8, False)
    """
    if not isinstance(n, int | np.integer):
        sizes = list(n)
        return [
            estimator_study(
                estimator, distribution, size, truth=truth, repeats=repeats, random_state=random_state
            )
            for size in sizes
        ]
    if n < 1 or repeats < 2:
        raise ParameterError(f"n={n} must be at least 1 and repeats={repeats} at least 2.")
    target = float(distribution.mean) if truth is None else float(truth)
    rng = np.random.default_rng(random_state)
    drawn = np.asarray(distribution.sample(n * repeats, rng)).reshape(repeats, n, -1)
    rows = drawn[..., 0] if drawn.shape[-1] == 1 else drawn
    return EstimatorStudy(int(n), target, np.array([float(estimator(sample)) for sample in rows]))


def sample_mean(x: Any) -> float:
    """Return the mean of a sample, an unbiased estimate of the expected value."""
    return float(_sample(x).mean())


def sample_variance(x: Any, *, mean: float | None = None) -> float:
    r"""Return :math:`\frac{1}{n-1} \sum_i (x_i - \bar x)^2`, an unbiased estimate of the variance.

    With a known mean it is :math:`\frac1n \sum_i (x_i - \mu)^2`.

    >>> sample_variance([1.0, 2.0, 6.0]), sample_variance([1.0, 2.0, 6.0], mean=2.0)
    (7.0, 5.666666666666667)
    """
    values = _sample(x)
    if mean is not None:
        return float(np.mean((values - mean) ** 2))
    if len(values) < 2:
        raise DataError("the variance of one value is not known: give two, or the mean.")
    return float(values.var(ddof=1))


def sample_covariance(x: Any, y: Any, *, means: tuple[float, float] | None = None) -> float:
    r"""Return :math:`\frac{1}{n-1} \sum_i (x_i - \bar x)(y_i - \bar y)`, or with known means that over n.

    >>> sample_covariance([1.0, 2.0, 6.0], [0.0, 1.0, 2.0])
    2.5
    """
    one, two = _sample(x), _sample(y)
    if len(one) != len(two):
        raise DataError(f"x has {len(one)} values and y {len(two)}: give pairs.")
    if means is not None:
        return float(np.mean((one - means[0]) * (two - means[1])))
    if len(one) < 2:
        raise DataError("the covariance of one pair is not known: give two, or the means.")
    return float(np.sum((one - one.mean()) * (two - two.mean())) / (len(one) - 1))


def method_of_moments(x: Any, moments: Callable[[Vector], Any], start: Any) -> Vector:
    r"""Solve :math:`m_k(\theta) = \frac1n \sum_i x_i^k` for as many parameters as moments.

    moments: a function of the parameters that returns the first moments :math:`E[X], E[X^2], \ldots`; start:
    where the search begins, one number a parameter. ``Distribution.fit(x, method="moments")`` has the closed
    forms of the distributions with a name.

    >>> method_of_moments([1.0, 2.0, 6.0], lambda p: [p[0], p[0] ** 2 + p[1]], start=[1.0, 1.0]).round(6)
    array([3.      , 4.666667])
    """
    values, first = _sample(x), np.atleast_1d(np.asarray(start, dtype=np.float64))
    wanted = np.array([np.mean(values**k) for k in range(1, len(first) + 1)])

    def residuals(parameters: Vector) -> Vector:
        found = np.atleast_1d(np.asarray(moments(parameters), dtype=np.float64))
        if found.shape != wanted.shape:
            raise ParameterError(
                f"moments gives {len(found)} numbers, but there are {len(wanted)} parameters."
            )
        return np.asarray((found - wanted) / np.maximum(1.0, np.abs(wanted)))

    solved = least_squares(residuals, first, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    if not np.abs(solved.fun).max() <= 1e-8:
        raise RefusalError(
            f"no parameters found with the moments of the sample (off by {np.abs(solved.fun).max():.3g}): "
            "choose another start or another distribution."
        )
    return np.asarray(solved.x)


def _sample(x: Any) -> Vector:
    values = np.asarray(x, dtype=np.float64).ravel()
    if not values.size or not np.isfinite(values).all():
        raise DataError("a sample must be at least one finite number.")
    return values
