r"""A normal distribution of coefficients, truncated to bounds and ordered levels, and how likely the set is.

Coefficients are written as :math:`w = m + \sigma D L z`, with deviations D, a triangular L of rows of length
one and independent normal z. One after the other, each has a normal distribution given those before it, cut
by its bounds and by the level before it. Its probability there is a factor of a weight, whose mean over
draws is the probability of the set, without bias (Geweke, Hajivassiliou and Keane).

A coefficient drawn by its own bounds does not know what those of the next ones will ask of it. Its normal
number is drawn about :math:`\mu_k` instead of 0, and weighted for it, with the :math:`\mu` at which the
largest weight is least (Botev's minimax tilting), so that weights differ little:

.. math:: \psi(x, \mu) = \sum_k \tfrac12 \mu_k^2 - x_k \mu_k + \log P(l_k(x) \le \mu_k + z \le u_k(x))

has no slope there, in x nor in :math:`\mu`. Any other :math:`\mu` would do, with a larger error.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg
from scipy.optimize import root
from scipy.special import gammaincinv, logsumexp
from scipy.stats import qmc

from surefit.core.arrays import Matrix, Vector
from surefit.core.blas_threads import one_blas_thread
from surefit.distributions.special import HALF_LOG_2PI
from surefit.distributions.truncated_standard_normal import excess_between, log_between
from surefit.solvers.squares.active_set import ConstrainedQuadratic
from surefit.solvers.squares.level_limits import LevelLimits

MOST_COLUMNS = 100  # for which two equations each are solved


def tilted(m: Vector, D: Vector, L: Matrix, sigma: float, limits: LevelLimits, near: Vector) -> Vector:
    """Return where to draw about, zeros where nothing is gained or the equations have no answer.

    m, D, L: mean, deviations and triangular factor in the layout of the limits. sigma: of the noise. near: a
    likely point of the set, in units of the noise, from which they are solved where they are not from 0.

    >>> limits = LevelLimits(np.zeros(2), np.full(2, np.inf), [])
    >>> tilted(np.zeros(2), np.ones(2), np.eye(2), 1.0, limits, np.zeros(2))
    array([0., 0.])
    """
    p = len(m)
    still = np.zeros(p)
    if p < 2 or p > MOST_COLUMNS:
        return still
    l0, BL, u0, BU, single = _bounds(m, D, L, sigma, limits)
    if not (BL.any() or BU.any()):
        return still

    def slopes(both: Vector) -> Vector:
        x, mu = both[:p], both[p:]
        low, high = l0 - BL @ x - mu, u0 - BU @ x - mu
        with np.errstate(over="ignore", invalid="ignore"):
            high = np.where(single, low, np.maximum(high, low + 1e-8))  # far off, bounds may change places
            log_share = log_between(low, high)
            at_low = np.where(np.isfinite(low), np.exp(-0.5 * low**2 - HALF_LOG_2PI - log_share), 0.0)
            at_high = np.where(np.isfinite(high), np.exp(-0.5 * high**2 - HALF_LOG_2PI - log_share), 0.0)
        at_low, at_high = np.where(single, low, at_low), np.where(single, 0.0, at_high)
        found = np.concatenate([mu - x + at_low - at_high, at_low @ BL - at_high @ BU - mu])
        return np.nan_to_num(found, nan=1e6, posinf=1e6, neginf=-1e6)

    for start in (still, near / sigma):
        found = root(slopes, np.append(start, still), method="hybr")
        if found.success and np.isfinite(found.x).all():
            return np.asarray(found.x[p:])
    return still


def _bounds(m: Vector, D: Vector, L: Matrix, sigma: float, limits: LevelLimits) -> tuple[Any, ...]:
    """Return l0, BL, u0, BU of l = l0 - BL x and u = u0 - BU x, and which coefficients are one point."""
    own = D * np.maximum(np.diagonal(L), np.finfo(float).tiny) * sigma
    lower, upper = limits.lower[limits.layout], limits.upper[limits.layout]
    before = np.tril(L, -1) * (D * sigma / own)[:, None]
    l0, u0, BL, BU = (lower - m) / own, (upper - m) / own, before.copy(), before.copy()
    BL[np.isinf(lower)] = 0.0
    BU[np.isinf(upper)] = 0.0
    for k in np.flatnonzero(limits.joined) + 1:
        l0[k] = (m[k - 1] - m[k]) / own[k]
        BL[k] = before[k] - L[k - 1] * (D[k - 1] * sigma / own[k])
        BL[k, k:] = 0.0
    return l0, BL, u0, BU, lower == upper


SCRAMBLES = 16  # independent ones, whose differences tell the error
MOST_POINTS = 1024  # of one of them
FEWEST_POINTS = 64
WORK = 2e9  # multiplications that a probability may take: fewer points for more columns


@dataclass(frozen=True)
class TruncatedNormal:
    """The normal distribution of (w, h) with mean m and covariance noise RR', w truncated to the limits.

    h, the height of the plane, is the last entry of mean and root where these have one more than the limits.
    shape, scale: of the inverse gamma distribution of the noise before truncation; None and the noise itself
    where that is known.

    >>> limits = LevelLimits(np.zeros(2), np.full(2, np.inf), [])
    >>> quarter = TruncatedNormal(np.zeros(2), np.diag([1.0, 1e9]), limits)
    >>> [round(float(np.exp(number)), 6) for number in quarter.log_probability()]
    [0.25, 1.0]
    """

    mean: Vector
    root: Matrix
    limits: LevelLimits
    shape: float | None = None
    scale: float = 1.0
    # In the layout of the limits: deviations, L, and the way from z to h with what is left of its deviation.
    deviation: Vector = field(init=False)
    L: Matrix = field(init=False)
    slope: Vector = field(init=False)
    rest: float = field(init=False)

    def __post_init__(self) -> None:
        p = len(self.limits.lower)
        rows = self.root[:p][self.limits.layout]
        deviation = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        axes, T = np.zeros((rows.shape[1], 0)), np.zeros((0, 0))
        if p:  # LAPACK takes no empty matrix
            axes, T = linalg.qr((rows / deviation[:, None]).T, mode="economic")
        turn = np.where(np.diagonal(T) < 0, -1.0, 1.0)
        slope, rest = np.zeros(p), 0.0
        if len(self.root) > p:
            slope = turn * (axes.T @ self.root[-1])
            rest = float(np.linalg.norm(self.root[-1] - axes @ (turn * slope)))
        for name, value in (
            ("deviation", deviation),
            ("L", np.ascontiguousarray((turn[:, None] * T).T)),
            ("slope", slope),
            ("rest", rest),
        ):
            object.__setattr__(self, name, value)

    @property
    def middle(self) -> Vector:
        """The mean before truncation, in the layout of the limits."""
        return self.mean[: len(self.limits.lower)][self.limits.layout]

    @cached_property
    def nearest(self) -> Vector:
        """The shortest z in the set."""
        limits, order = self.limits, self.limits.layout
        if not len(order):
            return np.zeros(0)
        inverse = linalg.solve_triangular(self.L, np.eye(len(order)), lower=True) / self.deviation
        mean, precision = self.mean[: len(order)], np.empty((len(order), len(order)))
        precision[np.ix_(order, order)] = inverse.T @ inverse
        right_side = precision @ mean
        size = np.sqrt(np.diagonal(precision))
        problem = ConstrainedQuadratic(precision, right_side, float(size @ np.abs(mean)) ** 2, limits)
        return np.asarray(inverse @ (problem.coef(problem.solve(0.0, mean)) - mean)[order])

    def sigmas(self, uniform: Vector) -> tuple[Vector, Vector]:
        """Return deviations of the noise, larger the farther the set is off, and their log-weights for it."""
        if self.shape is None:
            return np.full(len(uniform), np.sqrt(self.scale)), np.zeros(len(uniform))
        scale = self.scale + 0.5 * float(self.nearest @ self.nearest)  # what the likeliest point costs
        gamma = gammaincinv(self.shape, np.clip(uniform, 1e-300, 1.0))
        weight = self.shape * np.log(self.scale / scale) + gamma * (1.0 - self.scale / scale)
        return np.sqrt(scale / gamma), weight

    @cached_property
    def tilt(self) -> Vector:
        """Where draws in turn look first."""
        typical = float(self.sigmas(np.full(1, 0.5))[0][0])
        return tilted(self.middle, self.deviation, self.L, typical, self.limits, self.nearest)

    def in_turn(self, uniforms: Matrix) -> tuple[Matrix, Vector, Vector]:
        """Draw one coefficient after the other: values in the layout, deviations of the noise, log-weights.

        uniforms: (n, p + 1), the first for the noise.
        """
        limits, m, D, L = self.limits, self.middle, self.deviation, self.L
        lower, upper = limits.lower[limits.layout], limits.upper[limits.layout]
        sigma, weight = self.sigmas(uniforms[:, 0])
        n, p = len(uniforms), len(m)
        z, w = np.zeros((n, p)), np.zeros((n, p))
        for k in range(p):
            centre = m[k] + D[k] * (z[:, :k] @ L[k, :k])
            spread = D[k] * max(float(L[k, k]), np.finfo(float).tiny) * sigma
            about = centre + self.tilt[k] * spread
            low, high = np.full(n, lower[k]), np.full(n, upper[k])
            if k and limits.joined[k - 1]:
                low = np.maximum(low, w[:, k - 1])
            weight += log_between((low - about) / spread, (high - about) / spread)
            if lower[k] == upper[k]:  # a single point has a density, which is per unit of the coefficient
                weight -= np.log(spread)
            w[:, k] = placed(about, spread, low, high, uniforms[:, k + 1])
            x = (w[:, k] - centre) / spread
            weight += self.tilt[k] * (0.5 * self.tilt[k] - x)
            z[:, k] = sigma * x
        return w, sigma, weight

    @one_blas_thread()
    def log_probability(self, seed: int = 0) -> tuple[float, float]:
        """Return the logarithm of the probability of the set before truncation, and its standard error.

        By scrambled points that fill the cube evenly, several times over; the error is that of their mean.
        Where a coefficient is held at one number, the density there takes the place of its probability.
        """
        p = len(self.limits.lower)
        if not p:
            return 0.0, 0.0
        fits = int(WORK / (SCRAMBLES * p * p))
        points = 1 << int(np.log2(np.clip(fits, FEWEST_POINTS, MOST_POINTS)))
        streams = np.random.SeedSequence(seed).spawn(SCRAMBLES)
        logs = []
        for stream in streams:
            cube = qmc.Sobol(p + 1, rng=np.random.default_rng(stream)).random(points)
            cube = np.clip(cube, 0.5 / 2**52, 1 - 0.5 / 2**52)
            logs.append(float(logsumexp(self.in_turn(cube)[2])) - np.log(points))
        found = np.array(logs)
        most = float(found.max())
        if not np.isfinite(most):
            return -np.inf, np.inf
        shares = np.exp(found - most)
        error = float(np.std(shares, ddof=1) / np.sqrt(SCRAMBLES) / shares.mean())
        return most + float(np.log(shares.mean())), error


def placed(centre: Vector, spread: Vector, low: Vector, high: Vector, uniform: Vector) -> Vector:
    """Return normal numbers between bounds, as distances from a bound where that keeps their digits."""
    from_low, excess = excess_between((low - centre) / spread, (high - centre) / spread, uniform)
    step = excess * spread
    finite_low, finite_high = np.isfinite(low), np.isfinite(high)
    near_low = np.where(finite_low, low, centre) + step
    near_high = np.where(finite_high, high, centre) - step
    return np.clip(np.where(from_low, near_low, near_high), low, high)
