r"""Where to look for draws made one after the other, so that their weights differ little.

A coefficient drawn by its own bounds does not know what those of the next ones will ask of it. Its normal
number is drawn about :math:`\mu_k` instead of 0, and weighted for it, with the :math:`\mu` at which the
largest weight is least (Botev's minimax tilting):

.. math:: \psi(x, \mu) = \sum_k \tfrac12 \mu_k^2 - x_k \mu_k + \log P(l_k(x) \le \mu_k + z \le u_k(x))

has no slope there, in x nor in :math:`\mu`. Any other :math:`\mu` would do, with a larger error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import root

from surefit.distributions.normal_between import log_between
from surefit.distributions.special import HALF_LOG_2PI
from surefit.solvers.level_limits import LevelLimits

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

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
