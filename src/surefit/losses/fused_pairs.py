r"""Pairs of family and link whose half deviance is written out in the score, exact however far out it is.

Through the mean, a probability that rounds to 1 has no complement, and a mean that underflows no logarithm.
With :math:`p = \mu(z)`, shares of successes need only the logarithms of p and of 1 - p and their derivatives:
under the complementary log-log link that of 1 - p is :math:`-e^z`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from surefit.losses.arrays import Array
from surefit.losses.stable import sigmoid, sigmoid_slope, softplus, x_log_x

_SERIES = 0.1  # below, 1 - t - t / (exp(t) - 1) cancels, and five terms of its series have all digits
_FAR = -200.0  # below, z plus the hazard cancels, and three terms of its series have ten digits


@dataclass(frozen=True, slots=True)
class Derivatives:
    """Half the deviance of each row, its slope, the expected and the observed curvature."""

    value: Array
    slope: Array
    expected: Array
    observed: Array


@dataclass(frozen=True, slots=True)
class Ends:
    """Logarithms of p and 1 - p, their slopes a > 0 and -b < 0, and how fast a falls and b rises."""

    log_p: Array
    log_rest: Array
    a: Array
    b: Array
    a_falls: Array
    b_rises: Array


def of_shares(y: Array, ends: Ends) -> Derivatives:
    """Return the derivatives of y log(y / p) + (1 - y) log((1 - y) / (1 - p))."""
    rest = 1.0 - y
    value = x_log_x(y) + x_log_x(rest) - _times(y, ends.log_p) - _times(rest, ends.log_rest)
    slope = _times(rest, ends.b) - _times(y, ends.a)
    observed = _times(y, ends.a_falls) + _times(rest, ends.b_rises)
    return Derivatives(value, slope, ends.a * ends.b, observed)


def _times(share: Array, number: Array) -> Array:
    """Return the product, 0 where the share is 0: what has no rows may be infinite."""
    return np.where(share == 0, 0.0, share * number)


def logit_ends(z: Array) -> Ends:
    """Return those of p = 1 / (1 + exp(-z))."""
    p, rest, slope = sigmoid(z), sigmoid(-z), sigmoid_slope(z)
    return Ends(-softplus(-z), -softplus(z), rest, p, slope, slope)


def cloglog_ends(z: Array) -> Ends:
    """Return those of 1 - p = exp(-exp(z))."""
    t = np.exp(z)
    a = np.where(t < 700, np.where(t == 0, 1.0, t / np.expm1(t)), t * np.exp(-t))
    a = np.where(np.isinf(t), 0.0, a)
    small = np.minimum(t, _SERIES)
    near = small * (0.5 + small / 12 - small**3 / 720 + small**5 / 30240 - small**7 / 1209600)
    bends = np.where(t < _SERIES, near, t + a - 1.0)
    log_p = np.where(t < 1.0, z + _log_share(np.minimum(t, 1.0)), np.log1p(-np.exp(-t)))
    return Ends(log_p, -t, a, t, np.where(a == 0, 0.0, a * bends), t)


def _log_share(t: Array) -> Array:
    """Return log((1 - exp(-t)) / t), whose two logarithms cancel where t is small."""
    small = np.minimum(t, 1e-8)  # below, the second term of the series is less than rounding
    return np.where(t < 1e-8, -0.5 * small, np.log(-np.expm1(-t) / np.where(t > 0, t, 1.0)))


def probit_ends(z: Array) -> Ends:
    """Return those of the normal distribution function."""
    from scipy.special import log_ndtr

    a, a_falls = _hazard(z)
    b, b_rises = _hazard(-z)
    return Ends(np.asarray(log_ndtr(z)), np.asarray(log_ndtr(-z)), a, b, a_falls, b_rises)


def _hazard(z: Array) -> tuple[Array, Array]:
    """Return the density over the distribution function, and how fast it falls."""
    from scipy.special import erfcx

    a = np.sqrt(2.0 / np.pi) / np.asarray(erfcx(-z / np.sqrt(2.0)))
    square = np.minimum(z, _FAR) ** -2.0
    return a, np.where(z < _FAR, 1.0 - square + 6.0 * square**2, np.where(a == 0, 0.0, a * (z + a)))


def of_root_counts(y: Array, z: Array) -> Derivatives:
    """Return those of y log(y / z^2) - y + z^2: a mean has two roots, and a count of 0 no wall between."""
    value = x_log_x(y) - y - 2.0 * _times(y, np.log(np.abs(z))) + z**2
    slope = 2.0 * (z - _times(y, 1.0 / z))
    observed = 2.0 + 2.0 * _times(y, z**-2.0)
    return Derivatives(value, slope, np.full_like(z, 4.0), observed)


ENDS: dict[str, Callable[[Array], Ends]] = {
    "logit": logit_ends,
    "cloglog": cloglog_ends,
    "probit": probit_ends,
}


def fused_pair(family: str, link: str) -> Callable[[Array, Array], Derivatives] | None:
    """Return the formulas of a pair; None where it goes through the mean.

    >>> of = fused_pair("binomial", "cloglog")
    >>> of(np.array([0.0]), np.array([5.0])).value  # exp(5), where 1 - p rounds to 0
    array([148.4131591])
    """
    if family == "binomial" and link in ENDS:
        ends = ENDS[link]
        return lambda y, z: of_shares(y, ends(z))
    return of_root_counts if (family, link) == ("poisson", "sqrt") else None
