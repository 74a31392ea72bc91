"""The categorical distribution: one of K outcomes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import Interval
from surefit.distributions.base import Array, Distribution, Numbers
from surefit.distributions.conjugacy import Conjugate
from surefit.distributions.dirichlet import Dirichlet
from surefit.distributions.exponential_family import ExponentialFamily, xlogx_ratio
from surefit.distributions.probability_vector import log_odds, log_sum, prepare_shares, softmax
from surefit.distributions.univariate import Tallied, tally


@dataclass(frozen=True, eq=False, repr=False)
class Categorical(ExponentialFamily, Conjugate, Tallied):
    r"""Outcome k = 0, ..., K - 1 with probability :math:`p_k`.

    ``fit`` takes as many categories as it sees, or ``categories=`` where some may be missing.

    >>> Categorical.fit([0, 1, 1, 1], categories=3)
    Categorical(probabilities=[0.25, 0.75, 0.0])
    """

    discrete = True
    hints = ("categories",)

    probabilities: Numbers = (0.5, 0.5)

    def _prepare(self) -> None:
        prepare_shares(self)

    @property
    def support(self) -> Interval:
        """0 to K - 1."""
        return Interval(0, len(self.probabilities) - 1)

    def _log_density(self, x: Array) -> Any:
        return np.log(self.probabilities)[x.astype(np.int64)]

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        cumulative = np.cumsum(self.probabilities)
        found = np.searchsorted(cumulative, rng.random(n) * cumulative[-1], side="right")
        return np.minimum(found, np.flatnonzero(self.probabilities)[-1]).astype(np.float64)

    def _cdf(self, x: Array) -> Any:
        return np.cumsum(self.probabilities)[x.astype(np.int64)]

    def _survival(self, x: Array) -> Any:
        return np.append(np.cumsum(self.probabilities[:0:-1])[::-1], 0.0)[x.astype(np.int64)]

    def _moment(self, order: int) -> float:
        codes = np.arange(len(self.probabilities))
        return float(self.probabilities @ (codes - self.mean) ** order)

    @property
    def mean(self) -> float:
        """The mean of the codes."""
        return float(self.probabilities @ np.arange(len(self.probabilities)))

    @property
    def variance(self) -> float:
        """The variance of the codes."""
        return self._moment(2)

    @property
    def mode(self) -> float:
        """The likeliest outcome, the first of several."""
        return float(np.argmax(self.probabilities))

    @property
    def skewness(self) -> float:
        """The third standardised moment of the codes."""
        return self._moment(3) / self.variance**1.5 if self.variance else math.nan

    @property
    def kurtosis(self) -> float:
        """The fourth standardised moment of the codes."""
        return self._moment(4) / self.variance**2 if self.variance else math.nan

    @property
    def entropy(self) -> float:
        r""":math:`-\sum p_k \log p_k`."""
        from scipy.special import entr

        return float(entr(self.probabilities).sum())

    @classmethod
    def _fit_support(cls, **known: Any) -> Interval:
        categories = known.get("categories")
        return Interval(0, None if categories is None else categories - 1)

    @classmethod
    def _weights(cls, statistic: Any, categories: int | None) -> Array:
        codes, share = tally(statistic)
        return np.asarray(
            np.bincount(codes.astype(np.int64), share * statistic.weight, categories or 0), dtype=np.float64
        )

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        weights = cls._weights(statistic, known.get("categories"))
        return cls(weights / weights.sum())

    _by_moments = _likeliest

    @property
    def natural(self) -> Array:
        """The logarithms of the probabilities relative to the last."""
        return log_odds(self.probabilities)

    def with_natural(self, natural: Any) -> Self:
        """Return the distribution with these natural parameters."""
        return type(self)(softmax(natural))

    def sufficient(self, x: Any) -> Array:
        """Return which of all outcomes but the last it is, as ones and zeros."""
        return np.asarray(
            (np.asarray(x)[..., None] == np.arange(len(self.probabilities) - 1)).astype(np.float64)
        )

    def log_partition(self, natural: Any) -> Any:
        r"""Return :math:`\log(1 + \sum e^{\eta_k})`."""
        return log_sum(natural)

    @property
    def mean_sufficient(self) -> Array:
        """The probabilities of all outcomes but the last."""
        return np.array(self.probabilities[:-1])

    def divergence(self, other: Self) -> float:
        """Return the Kullback-Leibler divergence to other probabilities of as many outcomes."""
        if len(self.probabilities) != len(other.probabilities):
            self._has_no(f"divergence to {other!r}")
        return float(xlogx_ratio(self.probabilities, other.probabilities).sum())

    @classmethod
    def _prior_classes(cls) -> tuple[type[Distribution], ...]:
        return (Dirichlet,)

    @classmethod
    def _updated(cls, prior: Any, statistic: Any, **known: Any) -> Any:
        return Dirichlet(prior.concentration + cls._weights(statistic, len(prior.concentration)))

    @classmethod
    def _predictive(cls, prior: Any, **known: Any) -> Distribution:
        return cls(prior.mean)

    @classmethod
    def given(cls, parameter: Any, **known: Any) -> Self:
        """Return the distribution of a vector of probabilities."""
        return cls(parameter)

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield several outcomes, a rare one among them, and one that never comes."""
        yield from (cls((0.5, 0.25, 0.25)), cls((0.3, 0.01, 0.69)), cls((0.5, 0.0, 0.5)))
