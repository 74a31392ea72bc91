"""How far the risks of all hypotheses of a class can be from the empirical ones, and how many rows help."""

from __future__ import annotations

import math

from surefit.core.errors import ParameterError
from surefit.evaluate.theory.growth import sauer_bound


def vc_probability(
    n: int, eps: float, *, growth: float | None = None, vc_dimension: int | None = None
) -> float:
    r"""Bound the chance that some risk is off by eps or more: :math:`4 \, G(2n) \, e^{-n \epsilon^2 / 8}`.

    growth: G(2n), the growth function at twice the rows; or ``vc_dimension``, which gives Sauer's sum.

    >>> round(vc_probability(1000, 0.5, vc_dimension=3), 6)
    0.000143
    """
    _check(n=n, eps=eps)
    return 4 * _growth(n, growth, vc_dimension, closed=False) * math.exp(-n * eps**2 / 8)


def vc_deviation(
    n: int,
    delta: float = 0.05,
    *,
    vc_dimension: int | None = None,
    growth: float | None = None,
    closed: bool = False,
) -> float:
    r"""Bound how far risks are off, but for a chance delta: :math:`\sqrt{8 (\ln G(2n) + \ln(4/\delta)) / n}`.

    growth: G(2n) itself, the tightest form; or ``vc_dimension``: Sauer's sum, or for ``closed=True`` the
    closed form :math:`\sqrt{8 (d (\ln(2n/d) + 1) + \ln(4/\delta)) / n}`.

    >>> round(vc_deviation(1000, vc_dimension=3, closed=True), 10)
    0.4638007947
    >>> round(vc_deviation(1000, vc_dimension=3), 10)
    0.4507147727
    """
    _check(n=n, delta=delta)
    log_growth = math.log(_growth(n, growth, vc_dimension, closed=closed))
    return math.sqrt(8 * (log_growth + math.log(4 / delta)) / n)


def vc_rows(eps: float, delta: float = 0.05, *, vc_dimension: int, closed: bool = False) -> int:
    """Return how few rows bring ``vc_deviation`` down to eps.

    >>> n = vc_rows(0.1, vc_dimension=3)
    >>> vc_deviation(n, vc_dimension=3) <= 0.1 < vc_deviation(n - 1, vc_dimension=3)
    True
    """
    _check(eps=eps, delta=delta)
    low, high = max(vc_dimension, 1) - 1, max(vc_dimension, 1)
    while vc_deviation(high, delta, vc_dimension=vc_dimension, closed=closed) > eps:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        fits = vc_deviation(middle, delta, vc_dimension=vc_dimension, closed=closed) <= eps
        low, high = (low, middle) if fits else (middle, high)
    return high


def pac_rows(hypotheses: float, eps: float, delta: float = 0.05, *, realizable: bool = False) -> int:
    r"""Return how many rows make a finite class probably approximately correct.

    realizable: the truth is one of the hypotheses, and one without an error on the rows is taken:
    :math:`(\ln |H| + \ln(1/\delta)) / \epsilon`; else :math:`\ln(2 |H| / \delta) / (2 \epsilon^2)`.

    >>> pac_rows(1000, 0.05, realizable=True), pac_rows(1000, 0.05)
    (199, 2120)
    """
    _check(hypotheses=hypotheses, eps=eps, delta=delta)
    if realizable:
        return math.ceil((math.log(hypotheses) + math.log(1 / delta)) / eps)
    return math.ceil(math.log(2 * hypotheses / delta) / (2 * eps**2))


def rademacher_deviation(complexity: float, n: int, delta: float = 0.05) -> float:
    r"""Bound how far all risks exceed the empirical ones: :math:`\hat R + 3 \sqrt{\ln(2/\delta) / 2n}`.

    complexity: the empirical Rademacher complexity :math:`\hat R` of the answers in {-1, 1}, which is twice
    that of the zero-one loss.

    >>> round(rademacher_deviation(0.1, 1000), 4)
    0.2288
    """
    _check(n=n, delta=delta)
    return complexity + 3 * math.sqrt(math.log(2 / delta) / (2 * n))


def _growth(n: int, growth: float | None, vc_dimension: int | None, *, closed: bool) -> float:
    if (growth is None) == (vc_dimension is None):
        raise ParameterError("give either growth=, the growth function at 2n, or vc_dimension=.")
    return float(growth if growth is not None else sauer_bound(2 * n, vc_dimension or 0, closed=closed))


def _check(**numbers: float) -> None:
    for name, value in numbers.items():
        if not value > 0 or not math.isfinite(value):
            raise ParameterError(f"{name}={value!r} must be a finite number above 0.")
    if numbers.get("delta", 0.5) >= 1:
        raise ParameterError(f"delta={numbers['delta']!r} must be a chance below 1.")
