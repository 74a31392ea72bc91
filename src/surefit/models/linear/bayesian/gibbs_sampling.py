"""Draws from a normal distribution truncated to bounds and ordered levels, by Gibbs sampling of many chains.

Chains begin at draws made one coefficient after the other, taken by their weights. A sweep draws every
coefficient given all others; then the levels of a group from one on, moved together, which is quick where
rows press them against each other; then every axis of the untruncated distribution, which is quick where
columns depend on each other and bounds are wide. All leave the distribution that is asked for as it is.
Sweeps between two draws are doubled until chains no longer differ in their means by more than independent
draws do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefit.core.arrays import Matrix, Vector
from surefit.core.blas_threads import one_blas_thread
from surefit.models.linear.bayesian.truncated_normal import TruncatedNormal, placed
from surefit.solvers.squares.level_limits import LevelLimits

CHAINS = 256
ROUNDS = 16  # draws of a chain
# Of the variance of chains' means beside that of independent draws: 256 chains know it to 0.3 for any of a
# thousand columns, and a few draws that tell the same do no harm.
SETTLED = 1.7
DOUBLINGS = 7
SPREAD_OUT = 64  # columns for each sweep along coefficients that one along axes, which costs more, waits for


@dataclass(frozen=True, slots=True)
class Draws:
    """Coefficients (n, p), heights and noise variances; the standard error of the coefficients' means.

    variance_ratio: of chains' means over that of independent draws, for the worst coefficient.
    sweeps: between two draws of a chain.
    """

    coef: Matrix
    height: Vector
    noise: Vector
    error: Vector
    variance_ratio: float
    sweeps: int


@one_blas_thread()
def draw(normal: TruncatedNormal, rng: np.random.Generator, n: int, sweeps: int | None = None) -> Draws:
    """Draw n times; ``sweeps`` between two draws of a chain if that is known, else as many as are needed.

    >>> from surefit.solvers.squares.level_limits import LevelLimits
    >>> limits = LevelLimits(np.zeros(1), np.full(1, np.inf), [])
    >>> half = draw(TruncatedNormal(np.zeros(1), np.eye(1), limits), np.random.default_rng(0), 4096)
    >>> bool(abs(half.coef.mean() - np.sqrt(2 / np.pi)) < 4 * half.error[0])
    True
    """
    chains = _Chains(normal, rng, min(CHAINS, n) if sweeps is not None else CHAINS)
    rounds = -(-n // chains.count) if sweeps is not None else max(ROUNDS, -(-n // CHAINS))
    pause = 2 if sweeps is None else sweeps
    chains.sweep(8 * pause)
    for doubling in range(DOUBLINGS + 1):
        kept = []
        for _ in range(rounds):
            chains.sweep(pause)
            kept.append((chains.w.copy(), chains.height(), chains.sigma**2))
        W = np.stack([one[0] for one in kept])  # (rounds, chains, p)
        variance_ratio, error = _between(W)
        if sweeps is not None or variance_ratio <= SETTLED or doubling == DOUBLINGS:
            break
        pause *= 2
    coef = np.empty((W.shape[0] * W.shape[1], W.shape[2]))
    coef[:, normal.limits.layout] = W.reshape(coef.shape)
    whole = np.empty(W.shape[2])
    whole[normal.limits.layout] = error
    height, noise = (np.concatenate([one[k] for one in kept]) for k in (1, 2))
    return Draws(coef[:n], height[:n], noise[:n], whole, variance_ratio, pause)


def _between(W: Matrix) -> tuple[float, Vector]:
    """Return the variance ratio of the chains, and the standard error of the mean."""
    rounds, chains, p = W.shape
    if chains < 2 or not p:
        return 1.0, np.full(p, np.nan if p else 0.0)
    centred = W - W.mean(axis=(0, 1))  # exact differences, however far from zero
    means = centred.mean(axis=0)
    between = means.var(axis=0, ddof=1)
    total = (centred**2).mean(axis=(0, 1))
    ratio = np.divide(rounds * between, total, out=np.zeros(p), where=total > 0)
    return float(ratio.max()), np.sqrt(between / chains)


class _Chains:
    """Where the chains are, in the layout of the limits."""

    def __init__(self, normal: TruncatedNormal, rng: np.random.Generator, count: int) -> None:
        self._normal, self._rng, self.count = normal, rng, count
        limits, L, D = normal.limits, normal.L, normal.deviation
        self._lower, self._upper = limits.lower[limits.layout], limits.upper[limits.layout]
        self._m = normal.middle
        p = len(self._m)
        self._inverse = np.asarray(linalg.solve_triangular(L, np.eye(p), lower=True) if p else L)
        self._precision = self._inverse.T @ self._inverse
        A, self._low, self._high = limits.rows()
        self._rows = A[:, limits.layout]
        self._axes = (self._rows * D) @ L
        size = np.abs(self._rows * D).sum(axis=1)
        self._axes[np.abs(self._axes) <= 1e-14 * size[:, None]] = 0.0  # what rounding left of zeros
        self._together = [_JointLevels(normal, self._precision, *ends) for ends in _tails(limits)]
        self._turn = max(1, p // SPREAD_OUT)
        self._done = 0
        w, sigma, weight = normal.in_turn(rng.random((4 * count, p + 1)))
        chosen = _by_weight(weight, count, rng)
        self.w, self.sigma = w[chosen], sigma[chosen]

    def sweep(self, times: int) -> None:
        """Draw everything anew, several times."""
        for _ in range(times):
            self._done += 1
            self._along_coefficients()
            for tail in self._together:
                tail.draw(self.w, self.sigma, self._rng)
            if self._done % self._turn == 0:
                self._along_axes()
            self._noise()

    def height(self) -> Vector:
        """Draw the height of the plane, given the coefficients and the noise."""
        normal = self._normal
        if len(normal.mean) == len(self._m):
            return np.zeros(self.count)
        other = normal.rest * self.sigma * self._rng.normal(size=self.count)
        return np.asarray(normal.mean[-1] + self._z() @ normal.slope + other)

    def _z(self) -> Matrix:
        return np.asarray(((self.w - self._m) / self._normal.deviation) @ self._inverse.T)

    def _noise(self) -> None:
        normal = self._normal
        if normal.shape is None:
            return
        z = self._z()
        squares = np.einsum("ij,ij->i", z, z)
        gamma = self._rng.gamma(normal.shape + 0.5 * len(self._m), size=self.count)
        self.sigma = np.sqrt((normal.scale + 0.5 * squares) / gamma)

    def _along_coefficients(self) -> None:
        D, Q, joined = self._normal.deviation, self._precision, self._normal.limits.joined
        v = (self.w - self._m) / D
        uniform = self._rng.random(v.shape)
        for k in range(len(D)):
            own = Q[k, k]
            centre = self._m[k] + D[k] * (v[:, k] - (v @ Q[k]) / own)
            low, high = np.full(self.count, self._lower[k]), np.full(self.count, self._upper[k])
            if k and joined[k - 1]:
                low = np.maximum(low, self.w[:, k - 1])
            if k < len(joined) and joined[k]:
                high = np.minimum(high, self.w[:, k + 1])
            self.w[:, k] = placed(centre, self.sigma * (D[k] / np.sqrt(own)), low, high, uniform[:, k])
            v[:, k] = (self.w[:, k] - self._m[k]) / D[k]

    def _along_axes(self) -> None:
        normal, z = self._normal, self._z()
        values = self.w @ self._rows.T
        uniform = self._rng.random(z.shape)
        for k in range(z.shape[1]):
            step = self._axes[:, k]
            some = np.flatnonzero(step)
            low, high = np.full(self.count, -np.inf), np.full(self.count, np.inf)
            if len(some):
                ways = step[some]
                ends = (self._low[some] - values[:, some]) / ways, (self._high[some] - values[:, some]) / ways
                low = np.minimum(np.where(ways > 0, *ends).max(axis=1), 0.0)
                high = np.maximum(np.where(ways > 0, ends[1], ends[0]).min(axis=1), 0.0)
            new = placed(np.zeros(self.count), self.sigma, z[:, k] + low, z[:, k] + high, uniform[:, k])
            values[:, some] += np.multiply.outer(new - z[:, k], step[some])
            z[:, k] = new
        self.w = self._inside(self._m + normal.deviation * (z @ normal.L.T))

    def _inside(self, w: Matrix) -> Matrix:
        """Return points with what rounding led out of the set brought back."""
        w = np.clip(w, self._lower, self._upper)
        for k in np.flatnonzero(self._normal.limits.joined):
            w[:, k + 1] = np.maximum(w[:, k + 1], w[:, k])
        return w


def _tails(limits: LevelLimits) -> Iterator[tuple[int, int, int]]:
    """Yield first place, beginning and end of the upper parts of each group, in the layout."""
    start = 0
    for group in limits.groups:
        end = start + len(group)
        yield from ((start, place, end) for place in range(start, end - 1))
        start = end


class _JointLevels:
    """The levels of a group from one on, which move by the same step."""

    def __init__(self, normal: TruncatedNormal, precision: Matrix, first: int, begin: int, end: int) -> None:
        limits = normal.limits
        self._places, self._first = slice(begin, end), begin == first
        self._lower = float(limits.lower[limits.layout[begin]])
        self._upper = float(limits.upper[limits.layout[begin]])
        self._m, self._D = normal.middle, normal.deviation
        self._pull = precision[:, self._places] @ (1.0 / self._D[self._places])
        self._bend = float(self._pull[self._places] @ (1.0 / self._D[self._places]))

    def draw(self, w: Matrix, sigma: Vector, rng: np.random.Generator) -> None:
        """Move the levels, in place."""
        begin, end = self._places.start, self._places.stop
        centre = -(((w - self._m) / self._D) @ self._pull) / self._bend
        below = self._lower if self._first else w[:, begin - 1]
        low, high = np.minimum(below - w[:, begin], 0.0), np.maximum(self._upper - w[:, end - 1], 0.0)
        step = placed(centre, sigma / np.sqrt(self._bend), low, high, rng.random(len(w)))
        w[:, self._places] = np.clip(w[:, self._places] + step[:, None], self._lower, self._upper)
        if not self._first:  # rounding must not lead it below the level before
            w[:, begin] = np.maximum(w[:, begin], w[:, begin - 1])
            for k in range(begin, end - 1):
                w[:, k + 1] = np.maximum(w[:, k + 1], w[:, k])


def _by_weight(weight: Vector, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Choose by weights, evenly: one of every stretch of the cumulative weight."""
    shares = np.exp(weight - weight.max()) if np.isfinite(weight.max()) else np.ones(len(weight))
    ends = np.cumsum(shares / shares.sum())
    places = (np.arange(count) + rng.random()) / count
    return rng.permutation(np.minimum(np.searchsorted(ends, places), len(weight) - 1))
