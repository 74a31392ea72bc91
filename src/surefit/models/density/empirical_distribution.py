"""The distribution that gives each observed value its share, with a band for the true one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.errors import DataError, ParameterError
from surefit.core.public import public
from surefit.data.checks.cells import check_weights


@public
@dataclass(frozen=True)
class EmpiricalDistribution:
    r"""The empirical distribution: :math:`\hat F(x) = \frac1n \#\{x_i \le x\}`.

    values: the distinct values in order. weight: how often each came.

    >>> found = EmpiricalDistribution.fit([3.0, 1.0, 2.0, 2.0])
    >>> found.cdf([0.0, 2.0, 9.0]).tolist(), found.quantile(0.5)
    ([0.0, 0.75, 1.0], 2.0)
    """

    values: Vector
    weight: Vector

    @classmethod
    def fit(cls, x: Any, sample_weight: Any = None) -> Self:
        """Count the values; weights are frequencies."""
        cells = np.asarray(x, dtype=np.float64)
        if cells.ndim != 1 or not np.isfinite(cells).all():
            raise DataError("EmpiricalDistribution.fit takes a list of finite numbers.")
        weight = check_weights(sample_weight, len(cells))
        values, codes = np.unique(cells, return_inverse=True)
        counts = np.bincount(codes, weight, len(values)).astype(np.float64)
        if not counts.any():
            raise DataError("EmpiricalDistribution.fit: there is no value with positive weight.")
        return cls(values[counts > 0], counts[counts > 0])

    @property
    def size(self) -> float:
        """n, the weight of all values."""
        return float(self.weight.sum())

    @property
    def mean(self) -> float:
        """The mean of the values."""
        return float(self.weight @ self.values / self.size)

    @property
    def variance(self) -> float:
        """The variance of the values, divided by n."""
        return float(self.weight @ (self.values - self.mean) ** 2 / self.size)

    def cdf(self, x: Any) -> NDArray[np.float64]:
        """Return the share of values of at most x."""
        below = np.concatenate([[0.0], np.cumsum(self.weight)])
        return np.asarray(below[np.searchsorted(self.values, np.asarray(x), side="right")] / self.size)

    def quantile(self, level: Any) -> Any:
        """Return the least value with a share of at least ``level`` up to it."""
        levels = np.asarray(level, dtype=np.float64)
        if ((levels < 0) | (levels > 1)).any():
            raise ParameterError(f"quantile: level={level!r} must lie between 0 and 1.")
        shares = np.cumsum(self.weight) / self.size
        found = self.values[np.minimum(np.searchsorted(shares, levels - 1e-15), len(self.values) - 1)]
        return float(found) if levels.ndim == 0 else found

    def half_width(self, confidence: float = 0.95) -> float:
        r"""Return :math:`\epsilon = \sqrt{\log(2 / \alpha) / (2 n)}`, of Dvoretzky, Kiefer, Wolfowitz and
        Massart.

        The true distribution function stays within it of the empirical one everywhere, with probability
        ``confidence`` = 1 - alpha at least, whatever the distribution.
        """
        if not 0 < confidence < 1:
            raise ParameterError(f"half_width: confidence={confidence!r} must lie between 0 and 1.")
        return float(np.sqrt(np.log(2 / (1 - confidence)) / (2 * self.size)))

    def band(self, x: Any, confidence: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the lower and the upper end of the confidence band of the distribution function."""
        middle, half = self.cdf(x), self.half_width(confidence)
        return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)

    def sample(self, n: int = 1, random_state: Any = None) -> Vector:
        """Draw values by their shares."""
        rng = np.random.default_rng(random_state)
        return np.asarray(rng.choice(self.values, size=n, p=self.weight / self.size))
