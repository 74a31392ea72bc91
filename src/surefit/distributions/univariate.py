"""Distributions of one number: tails, quantiles, moments and expectations."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from surefit.core.errors import ParameterError
from surefit.core.parameters import Interval
from surefit.data.batches.batch import Batch
from surefit.distributions.base import Array, Distribution
from surefit.distributions.expectations import integrated, summed
from surefit.stats.base import Statistic
from surefit.stats.category_counts import CategoryCounts

_LARGEST = 2.0**60  # whole numbers are searched this far


class Univariate(Distribution, abstract=True):
    """A distribution of one number; every method takes an array of any shape and answers in that shape.

    discrete: its values are whole numbers.

    >>> from surefit.distributions import Exponential
    >>> Exponential(rate=2.0).cdf([-1.0, 0.0, 1.0]).round(4)
    array([0.    , 0.    , 0.8647])
    """

    discrete: ClassVar[bool] = False

    @property
    def support(self) -> Interval:
        """The values that can occur."""
        return Interval()

    def log_density(self, x: Any) -> Any:
        """Return the logarithm of the density, or of the probability; -inf outside the support."""
        x = np.asarray(x, dtype=np.float64)
        inside = _within(self.support, x)
        if self.discrete:
            inside &= x == np.floor(x)
        with np.errstate(all="ignore"):
            value = self._log_density(np.where(inside, x, self._inner))
        return np.where(inside, value, np.where(np.isnan(x), np.nan, -np.inf))[()]

    @abstractmethod
    def _log_density(self, x: Array) -> Any:
        """Return the log-density at points of the support."""

    def cdf(self, x: Any) -> Any:
        """Return the probability of a value of at most x."""
        return self._tail(x, self._cdf, 0.0, 1.0)

    def survival(self, x: Any) -> Any:
        """Return the probability of a value above x, with all its digits where it is small."""
        return self._tail(x, self._survival, 1.0, 0.0)

    @abstractmethod
    def _cdf(self, x: Array) -> Any: ...

    def _survival(self, x: Array) -> Any:
        return 1.0 - self._cdf(x)

    def _tail(self, x: Any, tail: Callable[[Array], Any], below: float, above: float) -> Any:
        x = np.asarray(x, dtype=np.float64)
        place = np.floor(x) if self.discrete else x
        low, high = self.ends
        with np.errstate(all="ignore"):
            value = tail(np.where((place >= low) & (place < high), place, self._inner))
        value = np.where(place < low, below, np.where(place >= high, above, value))
        return np.where(np.isnan(x), np.nan, value)[()]

    def quantile(self, q: Any) -> Any:
        """Return the least x whose cdf reaches q; NaN for a q outside [0, 1]."""
        q = np.asarray(q, dtype=np.float64)
        low, high = self.ends
        inner = np.where((q > 0) & (q < 1), q, 0.5)
        with np.errstate(all="ignore"):
            value = self._quantile(inner)
        value = np.where(q == 0, low, np.where(q == 1, high, value))
        return np.where((q >= 0) & (q <= 1), value, np.nan)[()]

    def _quantile(self, q: Array) -> Any:
        """Return the quantile of a distribution of numbers; one of counts goes by its cdf."""
        return self._whole_quantile(q)

    def _whole_quantile(self, q: Array) -> Array:
        """Double the reach until the cdf is there, then halve the bracket."""
        low, high = self.ends
        below = np.full(q.shape, low - 1.0)
        reach = np.ones(q.shape)
        short = np.ones(q.shape, dtype=np.bool_)
        while short.any():
            above = np.minimum(below + reach, high)
            short = (self.cdf(above) < q) & (above < high) & (reach < _LARGEST)
            below, reach = np.where(short, above, below), np.where(short, 2.0 * reach, reach)
        above = np.minimum(below + reach, high)
        while (above - below > 1.0).any():
            middle = np.floor(below + (above - below) / 2)
            there = self.cdf(middle) >= q
            below, above = np.where(there, below, middle), np.where(there, middle, above)
        return above

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the support, which may be infinite."""
        low, high = self.support.low, self.support.high
        return -math.inf if low is None else low, math.inf if high is None else high

    @property
    def _inner(self) -> float:
        """Some point of the support."""
        low, high = self.ends
        if self.discrete:
            return low
        if math.isinf(low):
            return 0.0
        return low + 1.0 if math.isinf(high) else low + 0.5 * (high - low)

    @property
    def skewness(self) -> float:
        """The third standardised moment."""
        self._has_no("skewness")

    @property
    def kurtosis(self) -> float:
        """The fourth standardised moment, 3 for a normal distribution: not the excess."""
        self._has_no("kurtosis")

    @property
    def median(self) -> float:
        """The quantile of one half."""
        return float(self.quantile(0.5))

    def expectation(self, function: Callable[[Array], Any]) -> Any:
        r"""Return :math:`E f(X)`, by summation or by quadrature; f takes and returns arrays.

        Quadrature is adaptive: f may jump, and what does not converge to a relative 1e-6 is refused, most
        of the rest is right to 1e-11.

        >>> from surefit.distributions import Poisson
        >>> round(float(Poisson(rate=2.0).expectation(lambda x: x**2)), 9)
        6.0
        """
        integrate = summed if self.discrete else integrated
        return integrate(self, function)

    def moment_generating(self, t: float) -> float:
        r"""Return :math:`E e^{tX}`, whose k-th derivative at 0 is the k-th moment; inf where it diverges.

        >>> from surefit.distributions import Exponential
        >>> Exponential(rate=2.0).moment_generating(1.0), Exponential(rate=2.0).moment_generating(2.0)
        (2.0, inf)
        """
        if not math.isfinite(t):
            raise ParameterError(f"t={t!r} must be a finite number.")
        with np.errstate(over="ignore"):
            return 1.0 if t == 0 else float(self._moment_generating(np.float64(t)))

    def _moment_generating(self, t: Any) -> Any:
        """The mean of exp(tX) for t ≠ 0: by a sum or an integral where the support has two ends."""
        if not all(map(math.isfinite, self.ends)):
            self._has_no("moment-generating function")
        return self.expectation(lambda x: np.exp(t * x))

    @property
    def entropy(self) -> float:
        """Minus the expected log-density, in nats; found by summation or quadrature."""
        return float(self.expectation(lambda x: -self.log_density(x)))

    @classmethod
    def _rows(cls, x: Any, **known: Any) -> Array:
        rows = np.asarray(super()._rows(x)).reshape(-1)
        allowed = _within(cls._fit_support(**known), rows)
        if cls.discrete:
            allowed &= rows == np.floor(rows)
        if not allowed.all():
            noun = "whole numbers" if cls.discrete else "numbers"
            cls._refuse_value(rows, int(np.argmin(allowed)), f"{noun} in {cls._fit_support(**known)}")
        return rows

    @classmethod
    def _fit_support(cls, **known: Any) -> Interval:
        """The values that can be fitted."""
        return cls(**known).support


class Tallied(Univariate, abstract=True):
    """A distribution without a sufficient statistic of fixed size: its statistic is the table of values.

    The table merges as the averages do, but is as long as there are distinct values.
    """

    @classmethod
    def _statistic_of(cls, batch: Batch) -> Statistic:
        return CategoryCounts.of(batch)


def tally(statistic: CategoryCounts, column: int = 0) -> tuple[Array, Array]:
    """Return the distinct values, in order, and their shares of the weight."""
    values = np.asarray(statistic.levels[column], dtype=np.float64)
    share = np.asarray(statistic.counts[column], dtype=np.float64)
    return values, share / share.sum()


def moments_of(statistic: CategoryCounts) -> tuple[float, float]:
    """Return mean and biased variance of a table of values."""
    values, share = tally(statistic)
    shift = values[0]
    mean = float(shift + share @ (values - shift))
    return mean, float(share @ (values - mean) ** 2)


def _within(support: Interval, x: Array) -> Any:
    low, high = support.low, support.high
    inside = np.isfinite(x)
    if low is not None:
        inside &= (x > low) if support.open_low else (x >= low)
    if high is not None:
        inside &= (x < high) if support.open_high else (x <= high)
    return inside


def covers(large: Univariate, small: Univariate) -> bool:
    """Whether the support of one distribution contains that of the other."""
    (low, high), (first, last) = large.ends, small.ends
    return low <= first and last <= high
