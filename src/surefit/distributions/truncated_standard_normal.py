r"""A standard normal number between two bounds: how likely it is, and drawn by a uniform one.

Far in a tail the distribution function is 0 or 1 to the last digit. There the number is written as its
nearer bound t plus an excess e, whose survival is

.. math:: P(x > t + e \,|\, x > t) = e^{-te - e^2/2} \frac{m(t + e)}{m(t)}, \qquad
          m(t) = e^{t^2/2} \int_t^\infty e^{-z^2/2} dz,

and solved for by Newton's method, so that all digits of the excess count. Between bounds so near to each
other that their difference cancels, the density is that of an exponential number.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, ndtr, ndtri

from surefit.core.arrays import Vector
from surefit.distributions.special import HALF_LOG_2PI

_TAIL = 2.0  # deviations from which on a number is written as an excess
_NARROW = 1e-6  # of a width: below it the exponential is right to its square, 1e-12 of the density
_STEPS = 6  # of Newton: each doubles the digits, and the first has two
_ROOT_HALF = float(np.sqrt(0.5))
_HAZARD = float(np.sqrt(2.0 / np.pi))


def log_between(low: Vector, high: Vector) -> Vector:
    """Return the logarithm of the probability of [low, high]; that of the density where both are one point.

    >>> log_between(np.array([-np.inf, 40.0, 3.0]), np.array([0.0, np.inf, 3.0])).round(6).tolist()
    [-0.693147, -804.608442, -5.418939]
    """
    low, high = np.broadcast_arrays(np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64))
    near, far = _mirrored(low, high)
    width = far - near
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        tail = _log_tail(np.maximum(near, 0.0)) + np.log(-np.expm1(_log_survival(near, width)))
        body = np.log(ndtr(high) - ndtr(low))
        middle = np.where(np.isfinite(width), near + 0.5 * width, 0.0)
        # The mean of the density is that in the middle, up to the square of the width.
        bent = np.where(width > 0, _log_sinh_ratio(0.5 * middle * width), 0.0)
        narrow = np.where(width > 0, np.log(width), 0.0) - 0.5 * middle**2 - HALF_LOG_2PI + bent
    return np.where(width < _NARROW, narrow, np.where(near > _TAIL, tail, body))


def draw_between(low: Vector, high: Vector, uniform: Vector) -> Vector:
    """Return the quantile ``uniform`` of a standard normal number in [low, high].

    >>> draw_between(np.array([1e8]), np.array([np.inf]), np.array([0.5])) - 1e8
    array([0.])
    >>> float(excess_between(np.array([1e8]), np.array([np.inf]), np.array([0.5]))[1][0])
    6.931471805599453e-09
    """
    from_low, excess = excess_between(low, high, uniform)
    low, high = np.where(np.isfinite(low), low, 0.0), np.where(np.isfinite(high), high, 0.0)
    return np.where(from_low, low + excess, high - excess)


def excess_between(low: Vector, high: Vector, uniform: Vector) -> tuple[NDArray[np.bool_], Vector]:
    """Return the same as a distance from a bound, and whether that is the lower one.

    It is the nearer to zero where both have one sign; elsewhere the finite one. Without a finite bound, the
    distance is the number itself, of 0.
    """
    low, high, uniform = np.broadcast_arrays(
        *(np.asarray(each, dtype=np.float64) for each in (low, high, uniform))
    )
    flipped = (high <= 0) | (np.isinf(low) & np.isfinite(high))
    near, far = np.where(flipped, -high, low), np.where(flipped, -low, high)
    share = np.where(flipped, 1.0 - uniform, uniform)
    with np.errstate(invalid="ignore"):
        width = far - near
    narrow = width < _NARROW
    tail = (near > _TAIL) & ~narrow
    body = ~(tail | narrow)
    found = np.empty(np.shape(width))
    found[body] = _body_excess(near[body], far[body], share[body])
    if tail.any():
        found[tail] = _tail_excess(near[tail], width[tail], share[tail])
    if narrow.any():
        found[narrow] = _exponential(near[narrow] + 0.5 * width[narrow], width[narrow], share[narrow])
    found = np.where(np.isfinite(near), np.clip(found, 0.0, width), found)
    return ~flipped, found


def _mirrored(low: Vector, high: Vector) -> tuple[Vector, Vector]:
    """Return the interval, or its mirror image if that is to the right of zero."""
    flipped = high <= 0
    return np.where(flipped, -high, low), np.where(flipped, -low, high)


def _log_tail(t: Vector) -> Vector:
    """Return log P(x > t) for t not below zero."""
    return np.asarray(np.log(0.5 * erfcx(t * _ROOT_HALF)) - 0.5 * t * t)


def _log_survival(t: Vector, e: Vector) -> Vector:
    """Return log P(x > t + e | x > t) for t not below zero; -inf for an infinite e."""
    finite = np.where(np.isfinite(e), e, 0.0)
    ratio = np.log(erfcx((t + finite) * _ROOT_HALF) / erfcx(t * _ROOT_HALF))
    return np.where(np.isfinite(e), -(t + 0.5 * finite) * finite + ratio, -np.inf)


def _body_excess(near: Vector, far: Vector, share: Vector) -> Vector:
    """Return the distance from the nearer bound, or from 0 if that is infinite, by the quantile function."""
    above = near > 0  # counting from the other side keeps the digits there
    least, most = ndtr(np.where(above, -far, near)), ndtr(np.where(above, -near, far))
    inner = ndtri(least + np.where(above, 1.0 - share, share) * (most - least))
    inner = np.where(above, -inner, inner)
    return np.asarray(inner - np.where(np.isfinite(near), near, 0.0))


def _tail_excess(t: Vector, width: Vector, share: Vector) -> Vector:
    """Return the excess over t below which a share of what is between 0 and the width lies."""
    with np.errstate(divide="ignore"):
        asked = np.log1p(share * np.expm1(_log_survival(t, width)))  # the log-survival of the excess
    asked = np.maximum(asked, -745.0)  # a share of 1 is the end
    rate = np.maximum(t, _TAIL)
    e = -asked / rate  # as if exponential, which is too far out
    for _ in range(_STEPS):
        hazard = _HAZARD / erfcx((t + e) * _ROOT_HALF)
        e = np.maximum(e + (_log_survival(t, e) - asked) / hazard, 0.0)
    return np.asarray(e)


def _exponential(slope: Vector, width: Vector, share: Vector) -> Vector:
    """Return the quantile of the density exp(-slope e) on [0, width]."""
    steep = slope * width
    curved = np.abs(steep) > 1e-12
    safe = np.where(curved, slope, 1.0)
    bent = -np.log1p(share * np.expm1(-np.where(curved, np.maximum(steep, -700.0), 0.0))) / safe
    return np.where(curved, bent, share * width)


def _log_sinh_ratio(x: Vector) -> Vector:
    """Return log(sinh(x) / x) without overflow."""
    size = np.abs(x)
    large = size + np.log(-np.expm1(-2.0 * np.maximum(size, 0.5))) - np.log(2.0 * np.maximum(size, 0.5))
    small = size**2 / 6.0 - size**4 / 180.0 + size**6 / 2835.0
    return np.where(size > 0.5, large, small)
