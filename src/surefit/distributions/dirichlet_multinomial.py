"""The Dirichlet-multinomial distribution: counts whose probabilities are drawn first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from surefit.core.parameters import WholeNumber
from surefit.data.batches.batch import Batch
from surefit.distributions.base import Array, Distribution, Numbers, array_parameter, refuse_parameter
from surefit.distributions.likelihood_newton import climb
from surefit.distributions.multivariate import Multivariate
from surefit.distributions.special import log_gamma
from surefit.distributions.univariate import tally
from surefit.stats.base import Statistic
from surefit.stats.category_counts import CategoryCounts


@dataclass(frozen=True, eq=False, repr=False)
class DirichletMultinomial(Multivariate):
    r"""A multinomial count whose probabilities come from a ``Dirichlet``:

    .. math:: P(x) = \frac{n! \Gamma(A)}{\Gamma(n + A)} \prod_k \frac{\Gamma(x_k + a_k)}{x_k!\, \Gamma(a_k)}.

    Counts that add up to n, of which ``fit`` must be told; A is the sum of the concentration a.

    >>> DirichletMultinomial(trials=2, concentration=[1.0, 1.0]).density([1, 1]).round(6)
    np.float64(0.333333)
    """

    known = ("trials",)

    trials: WholeNumber = 1
    concentration: Numbers = (1.0, 1.0)

    def _prepare(self) -> None:
        if (array_parameter(self, "concentration", 1) <= 0).any():
            refuse_parameter(self, "concentration", "it must hold positive numbers")

    @property
    def event_shape(self) -> tuple[int, ...]:
        """(K,)."""
        return (len(self.concentration),)

    @property
    def _inner(self) -> Any:
        return np.append(np.zeros(len(self.concentration) - 1), self.trials)

    def _inside(self, x: Array) -> Any:
        return ((x >= 0) & (x == np.floor(x))).all(axis=-1) & (x.sum(axis=-1) == self.trials)

    def _log_density(self, x: Array) -> Any:
        a, n = self.concentration, float(self.trials)
        each = log_gamma(x + a) - log_gamma(a) - log_gamma(x + 1.0)
        return each.sum(axis=-1) + log_gamma(n + 1.0) + log_gamma(a.sum()) - log_gamma(n + a.sum())

    def _sample(self, rng: np.random.Generator, n: int) -> Any:
        shares = rng.dirichlet(self.concentration, n)
        return rng.multinomial(self.trials, shares).astype(np.float64)

    @property
    def mean(self) -> Array:
        """n a / A."""
        return np.asarray(self.trials * self.concentration / self.concentration.sum())

    @property
    def covariance(self) -> Array:
        """n (diag(p) - p p') (n + A) / (1 + A) for p = a / A."""
        total = self.concentration.sum()
        p = self.concentration / total
        plain = self.trials * (np.diag(p) - np.multiply.outer(p, p))
        return np.asarray(plain * (self.trials + total) / (1.0 + total))

    @property
    def variance(self) -> Array:
        """The diagonal of the covariance."""
        return np.diagonal(self.covariance)

    @classmethod
    def _rows(cls, x: Any, **known: Any) -> Array:
        return count_rows(cls, super()._rows(x), known["trials"])

    @classmethod
    def _statistic_of(cls, batch: Batch) -> Statistic:
        return CategoryCounts.of(batch)

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        from scipy.special import digamma

        n = float(known["trials"])
        first = cls._by_moments(statistic, **known)
        tables = [tally(statistic, column) for column in range(len(statistic.levels))]

        def likelihood(logs: Array) -> tuple[float, Array]:
            a = np.exp(logs)
            total = a.sum()
            each = [share @ (log_gamma(x + a[k]) - log_gamma(a[k])) for k, (x, share) in enumerate(tables)]
            slope = [share @ digamma(x + a[k]) - digamma(a[k]) for k, (x, share) in enumerate(tables)]
            value = sum(each) + log_gamma(total) - log_gamma(n + total)
            return float(value), a * (np.array(slope) + digamma(total) - digamma(n + total))

        found = climb(likelihood, np.log(first.concentration), f"the likelihood of a {cls.__name__}")
        return cls(known["trials"], np.exp(found))

    @classmethod
    def _by_moments(cls, statistic: Any, **known: Any) -> Self:
        n = known["trials"]
        tables = [tally(statistic, column) for column in range(len(statistic.levels))]
        mean = np.array([share @ x for x, share in tables])
        variance = sum(float(share @ (x - m) ** 2) for (x, share), m in zip(tables, mean, strict=True))
        plain = float((mean * (1.0 - mean / max(n, 1))).sum())
        ratio = variance / plain if plain > 0 else 0.0
        if not 1.0 < ratio < n:
            cls._refuse_fit("the counts vary no more than multinomial ones, or each row has one outcome only")
        return cls(n, mean / n * (n - ratio) / (ratio - 1.0))

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield three outcomes and two."""
        yield from (cls(8, (2.0, 3.0, 1.5)), cls(20, (0.8, 0.6)))


def count_rows(cls: type[Distribution], rows: Array, trials: int) -> Array:
    """Check that every row holds counts that add up to the number of trials."""
    bad = ((rows < 0) | (rows != np.floor(rows))).any(axis=1) | (rows.sum(axis=1) != trials)
    if bad.any():
        cls._refuse_value(rows, int(np.argmax(bad)), f"counts that add up to trials={trials}")
    return rows
