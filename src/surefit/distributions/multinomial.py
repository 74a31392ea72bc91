"""The multinomial distribution: how often each of K outcomes comes in n draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import WholeNumber
from surefit.distributions.base import Array, Distribution, Numbers
from surefit.distributions.binomial import Binomial
from surefit.distributions.conjugacy import Conjugate
from surefit.distributions.dirichlet import Dirichlet
from surefit.distributions.dirichlet_multinomial import DirichletMultinomial, count_rows
from surefit.distributions.exponential_family import ExponentialFamily, xlogx_ratio
from surefit.distributions.multivariate import Multivariate
from surefit.distributions.probability_vector import log_odds, log_sum, prepare_shares, softmax
from surefit.distributions.special import log_gamma


@dataclass(frozen=True, eq=False, repr=False)
class Multinomial(ExponentialFamily, Conjugate, Multivariate):
    r""":math:`P(x) = n! \prod_k p_k^{x_k} / x_k!` for counts that add up to n; ``fit`` must be told n.

    >>> Multinomial(trials=3, probabilities=[0.5, 0.5]).density([1, 2]).round(6)
    np.float64(0.375)
    """

    known = ("trials",)

    trials: WholeNumber = 1
    probabilities: Numbers = (0.5, 0.5)

    def _prepare(self) -> None:
        prepare_shares(self)

    @property
    def event_shape(self) -> tuple[int, ...]:
        """(K,)."""
        return (len(self.probabilities),)

    @property
    def _inner(self) -> Any:
        return np.append(np.zeros(len(self.probabilities) - 1), self.trials)

    def _inside(self, x: Array) -> Any:
        return ((x >= 0) & (x == np.floor(x))).all(axis=-1) & (x.sum(axis=-1) == self.trials)

    def _log_density(self, x: Array) -> Any:
        from scipy.special import xlogy

        return self.log_base(x) + xlogy(x, self.probabilities).sum(axis=-1)

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        return rng.multinomial(self.trials, self.probabilities, n).astype(np.float64)

    @property
    def mean(self) -> Array:
        """n p."""
        return np.asarray(self.trials * self.probabilities)

    @property
    def covariance(self) -> Array:
        """n (diag(p) - p p')."""
        p = self.probabilities
        return np.asarray(self.trials * (np.diag(p) - np.multiply.outer(p, p)))

    @property
    def variance(self) -> Array:
        """n p (1 - p)."""
        return np.diagonal(self.covariance)

    @classmethod
    def _rows(cls, x: Any, **known: Any) -> Array:
        return count_rows(cls, super()._rows(x), known["trials"])

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        return cls(known["trials"], statistic.mean / statistic.mean.sum())

    _by_moments = _likeliest

    @property
    def natural(self) -> Array:
        """The logarithms of the probabilities relative to the last."""
        return log_odds(self.probabilities)

    def with_natural(self, natural: Any) -> Self:
        """Return the distribution of as many trials with these natural parameters."""
        return type(self)(self.trials, softmax(natural))

    def sufficient(self, x: Any) -> Array:
        """Return all counts but the last."""
        return np.asarray(x, dtype=np.float64)[..., :-1]

    def log_base(self, x: Any) -> Any:
        """Return the logarithm of the multinomial coefficient."""
        x = np.asarray(x, dtype=np.float64)
        return log_gamma(self.trials + 1.0) - log_gamma(x + 1.0).sum(axis=-1)

    @property
    def mean_log_base(self) -> float:
        """The expected logarithm of the multinomial coefficient, from the binomial counts."""
        each = (
            Binomial(self.trials, p).expectation(lambda x: log_gamma(x + 1.0)) for p in self.probabilities
        )
        return float(log_gamma(self.trials + 1.0) - sum(each))

    def log_partition(self, natural: Any) -> Any:
        r"""Return :math:`n \log(1 + \sum e^{\eta_k})`."""
        return self.trials * log_sum(natural)

    @property
    def mean_sufficient(self) -> Array:
        """The means of all counts but the last."""
        return self.mean[:-1]

    def divergence(self, other: Self) -> float:
        """Return the Kullback-Leibler divergence to other probabilities in as many trials."""
        if self.trials != other.trials or self.event_shape != other.event_shape:
            self._has_no(f"divergence to {other!r}")
        return self.trials * float(xlogx_ratio(self.probabilities, other.probabilities).sum())

    @classmethod
    def _prior_classes(cls) -> tuple[type[Distribution], ...]:
        return (Dirichlet,)

    @classmethod
    def _updated(cls, prior: Any, statistic: Any, **known: Any) -> Any:
        return Dirichlet(prior.concentration + statistic.weight * statistic.mean)

    @classmethod
    def _predictive(cls, prior: Any, **known: Any) -> Distribution:
        return DirichletMultinomial(known["trials"], prior.concentration)

    @classmethod
    def given(cls, parameter: Any, **known: Any) -> Self:
        """Return the distribution of a vector of probabilities."""
        return cls(known["trials"], parameter)

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield few draws and many."""
        yield from (cls(5, (0.5, 0.3, 0.2)), cls(100, (0.9, 0.1)))
