"""What draws from a posterior predict: a mixture of normal distributions for each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from surefit.core.errors import ParameterError, RefusalError

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Predictive:
    """A mixture of normal distributions for each row: one a draw, with its plane (n, draws) and its scale.

    Scales of zero, those of the plane itself, leave the draws alone: a distribution in steps, without pdf.

    >>> both = Predictive(np.array([[-1.0, 1.0]]), np.ones(2))
    >>> both.mean(), both.var(), both.cdf(0.0), both.ppf(0.5).round(9) + 0.0
    (array([0.]), array([2.]), array([0.5]), array([0.]))
    """

    planes: Matrix
    scale: Vector

    def mean(self) -> Vector:
        """Return the mean for each row."""
        return self.planes.mean(axis=1)

    def var(self) -> Vector:
        """Return the variance for each row."""
        return self.planes.var(axis=1) + float((self.scale**2).mean())

    def std(self) -> Vector:
        """Return the standard deviation for each row."""
        return np.sqrt(self.var())

    def pdf(self, x: Any) -> Vector:
        """Return the density at x, one number or one a row."""
        if not self.scale.any():
            raise RefusalError("draws of a plane have no density: ask for of='new', or for cdf and ppf.")
        z = (_column(x) - self.planes) / self.scale
        return np.asarray((np.exp(-0.5 * z * z) / (np.sqrt(2 * np.pi) * self.scale)).mean(axis=1))

    def logpdf(self, x: Any) -> Vector:
        """Return the logarithm of the density at x."""
        if not self.scale.any():
            return self.pdf(x)
        z = (_column(x) - self.planes) / self.scale
        logs = -0.5 * z * z - np.log(self.scale)
        most = logs.max(axis=1)
        return np.asarray(most + np.log(np.exp(logs - most[:, None]).mean(axis=1)) - 0.5 * np.log(2 * np.pi))

    def cdf(self, x: Any) -> Vector:
        """Return the probability of at most x."""
        if not self.scale.any():
            return np.asarray((self.planes <= _column(x)).mean(axis=1))
        return np.asarray(ndtr((_column(x) - self.planes) / self.scale).mean(axis=1))

    def sf(self, x: Any) -> Vector:
        """Return the probability of more than x."""
        if not self.scale.any():
            return np.asarray((self.planes > _column(x)).mean(axis=1))
        return np.asarray(ndtr((self.planes - _column(x)) / self.scale).mean(axis=1))

    def ppf(self, q: float) -> Vector:
        """Return the quantile of each row."""
        return self._quantile(float(q), self.cdf, 1.0)

    def isf(self, q: float) -> Vector:
        """Return the number that each row exceeds with a probability."""
        return self._quantile(float(q), self.sf, -1.0)

    def rvs(self, random_state: Any = None) -> Vector:
        """Draw once for each row."""
        rng = np.random.default_rng(random_state)
        rows = np.arange(len(self.planes))
        which = rng.integers(0, self.planes.shape[1], len(rows))
        return np.asarray(self.planes[rows, which] + self.scale[which] * rng.normal(size=len(rows)))

    def _quantile(self, q: float, probability: Any, turn: float) -> Vector:
        if not 0 <= q <= 1:
            raise ParameterError(f"q={q!r} is not allowed; it must be a probability.")
        if not self.scale.any():
            return np.quantile(self.planes, q if turn > 0 else 1.0 - q, axis=1)
        if q in (0.0, 1.0):
            return np.full(len(self.planes), np.inf if (q == 1.0) == (turn > 0) else -np.inf)
        # No quantile of a mixture is beyond those of all its parts.
        each = turn * ndtri(q) * self.scale
        low, high = (self.planes + each).min(axis=1), (self.planes + each).max(axis=1)
        x = np.clip(self.mean() + turn * ndtri(q) * self.std(), low, high)
        for _ in range(200):
            off = turn * (probability(x) - q)
            low, high = np.where(off < 0, x, low), np.where(off < 0, high, x)
            step = x - off / np.maximum(self.pdf(x), np.finfo(float).tiny)
            inside = (step > low) & (step < high)
            after = np.where(inside, step, 0.5 * (low + high))
            done = np.abs(after - x) <= 4 * np.finfo(float).eps * np.maximum(np.abs(x), np.abs(high - low))
            x = np.where(off == 0, x, after)
            if (done | (off == 0) | (low == high)).all():
                break
        return x


def _column(x: Any) -> Matrix:
    return np.atleast_1d(np.asarray(x, dtype=np.float64))[:, None]
