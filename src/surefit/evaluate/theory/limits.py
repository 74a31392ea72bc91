"""The two limit theorems as simulations: means settle, and sums of many are nearly normal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import kstwo, norm

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import ParameterError


@dataclass(frozen=True)
class RunningMeans:
    """Means of the first n draws of several independent sequences, and the expected value."""

    n: Vector
    means: Matrix  # (sequences, n)
    expected: float

    @property
    def furthest(self) -> Vector:
        """How far the worst sequence is from the expected value, at each n."""
        return np.asarray(np.abs(self.means - self.expected).max(axis=0))


@dataclass(frozen=True)
class StandardisedSums:
    r"""Draws of :math:`Z_n = (\sum_i X_i - n\mu) / (\sqrt n \sigma)` for several n."""

    n: Vector
    draws: Matrix  # (sizes, repeats), each row in ascending order

    @property
    def distances(self) -> Vector:
        """The greatest distance of each empirical distribution function from the normal one."""
        repeats = self.draws.shape[1]
        normal = norm.cdf(self.draws)
        ranks = np.arange(repeats + 1) / repeats
        return np.asarray(
            np.maximum(np.abs(normal - ranks[:-1]).max(axis=1), np.abs(normal - ranks[1:]).max(axis=1))
        )

    def chance(self, level: float = 0.95) -> float:
        """Return how far draws of the normal distribution itself would be, at a level of confidence."""
        return float(kstwo.ppf(level, self.draws.shape[1]))


def law_of_large_numbers(
    distribution: Any, n: int = 10_000, *, sequences: int = 5, random_state: Any = 0
) -> RunningMeans:
    """Follow the mean of the first draws of a distribution, for several sequences.

    >>> from surefit.distributions import Exponential
    >>> found = law_of_large_numbers(Exponential(rate=0.5), 20_000)
    >>> found.expected, bool(found.furthest[-1] < 0.1 < found.furthest[9])
    (2.0, True)
    """
    if n < 1 or sequences < 1:
        raise ParameterError(f"n={n} and sequences={sequences} must be at least 1.")
    rng = np.random.default_rng(random_state)
    drawn = np.asarray(distribution.sample(n * sequences, rng), dtype=np.float64).reshape(sequences, n)
    counts = np.arange(1.0, n + 1)
    return RunningMeans(counts, np.cumsum(drawn, axis=1) / counts, float(distribution.mean))


def central_limit(
    distribution: Any, n: Any = (1, 2, 5, 30, 100), *, repeats: int = 10_000, random_state: Any = 0
) -> StandardisedSums:
    """Draw standardised sums of n values, for each n.

    >>> from surefit.distributions import Exponential
    >>> found = central_limit(Exponential(rate=1.0), (1, 10, 100))
    >>> bool((np.diff(found.distances) < 0).all())
    True
    """
    sizes = np.atleast_1d(np.asarray(n, dtype=np.int64))
    if (sizes < 1).any() or repeats < 1:
        raise ParameterError("sizes and repeats must be at least 1.")
    mean, spread = float(distribution.mean), float(distribution.variance) ** 0.5
    if not spread > 0 or not np.isfinite(spread):
        raise ParameterError(f"the theorem needs a finite variance above 0, not {spread**2}.")
    rng = np.random.default_rng(random_state)
    rows = []
    for size in sizes:
        total = np.zeros(repeats)
        for start in range(0, int(size), 64):  # so that no more than 64 draws a sum are held at once
            some = min(64, int(size) - start)
            total += np.asarray(distribution.sample(some * repeats, rng)).reshape(some, repeats).sum(axis=0)
        rows.append(np.sort((total - size * mean) / (np.sqrt(size) * spread)))
    return StandardisedSums(sizes.astype(np.float64), np.array(rows))
