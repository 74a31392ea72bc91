"""Gamma functions and the two counting laws, without losing digits where large numbers cancel."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.losses.arrays import Array

HALF_LOG_2PI = 0.91893853320467274178
_FEW = 64.0  # up to here the plain formula loses no more than two digits
_FAR = 16.0  # from here on, the terms below leave less than the rounding of a float
# B_2j / (2j (2j - 1)): how log Gamma differs from Stirling's formula, in powers of 1 / z^2 after the first.
_RATIOS = ((1, 12), (-1, 360), (1, 1260), (-1, 1680), (1, 1188), (-691, 360360), (1, 156), (-3617, 122400))
_STIRLING = [top / bottom for top, bottom in _RATIOS]


def log_gamma(x: Any) -> Any:
    """Return log Gamma(x) for x > 0; long doubles keep their digits.

    >>> float(log_gamma(5.0))
    3.1780538303479458
    """
    if np.asarray(x).dtype != np.longdouble:
        from scipy.special import gammaln

        return gammaln(x)
    high = np.array(x)
    product = np.zeros_like(high)
    for _ in range(40):  # up to where Stirling's series holds all 19 digits
        low = high < 40
        product = product + np.where(low, np.log(high), 0)
        high = np.where(low, high + 1, high)
    log_2pi = np.log(8 * np.arctan(np.longdouble(1)))
    series = sum(np.longdouble(top) / bottom / high ** (2 * j + 1) for j, (top, bottom) in enumerate(_RATIOS))
    return ((high - np.longdouble(0.5)) * np.log(high) - high + log_2pi / 2 + series - product)[()]


def log_beta(a: Any, b: Any) -> Any:
    """Return log B(a, b); long doubles keep their digits."""
    if np.longdouble in (np.asarray(a).dtype, np.asarray(b).dtype):
        return log_gamma(a) + log_gamma(b) - log_gamma(a + b)
    from scipy.special import betaln

    return betaln(a, b)


def stirling_error(z: Array) -> Array:
    r"""Return :math:`\log \Gamma(z + 1) - (z + \tfrac12) \log z + z - \tfrac12 \log 2\pi` for z > 0."""
    from scipy.special import gammaln

    far = np.maximum(z, _FAR)
    series = np.polynomial.polynomial.polyval(1.0 / far**2, _STIRLING) / far
    if not (z < _FAR).any():
        return np.asarray(series)
    near = np.minimum(z, _FAR)
    return np.where(z < _FAR, gammaln(near + 1) - (near + 0.5) * np.log(near) + near - HALF_LOG_2PI, series)


def deviance_part(k: Array, m: Array) -> Array:
    r"""Return :math:`k \log(k/m) + m - k` for k, m > 0, exact also where k is close to m."""
    d = (m - k) / k
    t = d / (2.0 + d)  # log(1 + d) = 2 artanh t, and 2t - d = -t d
    close = np.abs(t) < 0.1
    t2 = np.where(close, t * t, 0.0)
    tail = np.polynomial.polynomial.polyval(t2, [2 / (2 * j + 3) for j in range(9)]) * t2 * t
    return np.asarray(np.where(close, k * (t * d - tail), k * np.log(k / m) + m - k))


def poisson_log(k: Any, m: Any) -> Array:
    r"""Return :math:`\log(m^k e^{-m} / \Gamma(k + 1))` for real k >= 0 and m >= 0.

    >>> float(poisson_log(3, 2).round(12))
    -1.712317927548
    """
    from scipy.special import gammaln, xlogy

    k, m = np.asarray(k, dtype=np.float64), np.asarray(m, dtype=np.float64)
    if k.max(initial=0.0) <= _FEW:
        return np.asarray(xlogy(k, m) - m - gammaln(k + 1.0))
    with np.errstate(all="ignore"):
        some = np.maximum(k, np.finfo(np.float64).tiny)
        inner = -(HALF_LOG_2PI + 0.5 * np.log(some) + stirling_error(some)) - deviance_part(some, m)
        return np.where((k > 0) & (m > 0), inner, np.where(k == 0, -m, -np.inf))


def binomial_log(k: Any, n: Any, p: Any, q: Any) -> Array:
    r"""Return :math:`\log \binom{n}{k} p^k q^{n-k}` for real 0 <= k <= n, given also q = 1 - p.

    >>> float(np.exp(binomial_log(6, 10, 0.6, 0.4)).round(10))
    0.250822656
    """
    k, n, p, q = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (k, n, p, q)))
    rest = n - k
    with np.errstate(all="ignore"):
        inner = (
            stirling_error(n)
            - stirling_error(k)
            - stirling_error(rest)
            - deviance_part(k, n * p)
            - deviance_part(rest, n * q)
            + 0.5 * np.log(n / k / rest)
            - HALF_LOG_2PI
        )
        none = np.where(n == 0, 0.0, n * np.where(p < 0.5, np.log1p(-p), np.log(q)))
        every = np.where(n == 0, 0.0, n * np.where(q < 0.5, np.log1p(-q), np.log(p)))
        sure = np.where(k == 0, none, every)
        inner = np.where((p == 0) | (q == 0), -np.inf, inner)
        return np.where((k == 0) | (rest == 0), sure, inner)


def log_binomial(n: Any, k: Any) -> Array:
    """Return the logarithm of n over k for real 0 <= k <= n: an entropy, and what Stirling leaves out.

    >>> float(log_binomial(5, 2).round(12))
    2.302585092994
    """
    from scipy.special import entr

    n, k = np.asarray(n, dtype=np.float64), np.asarray(k, dtype=np.float64)
    size = np.where(n > 0, n, 1.0)
    p, q = k / size, (n - k) / size
    return np.asarray(binomial_log(k, n, p, q) + n * (entr(p) + entr(q)))
