"""How many iterations a proved rate of convergence asks for."""

from __future__ import annotations

import math
from collections.abc import Callable

from surefit.core.errors import ParameterError


def iterations_needed(constant: float, gap: float, rate: float = 1.0) -> int:
    r"""The least k with :math:`C / k^{rate} \le gap`: rate 1 of gradient descent, 2 of accelerated methods.

    constant: of descent with step τ, :math:`\|w^0 - \hat w\|^2 / (2\tau)` at most.

    >>> iterations_needed(10.0, 1e-2), iterations_needed(10.0, 1e-2, rate=2)
    (1000, 32)
    """
    _check_gaps(constant, gap, "constant")
    if not rate > 0 or not math.isfinite(rate):
        raise ParameterError(f"rate={rate!r} must be above 0.")
    logarithm = (math.log(constant) - math.log(gap)) / rate if constant > 0 else 0.0
    if logarithm > math.log(2.0**53):
        raise ParameterError(f"gap={gap!r} is out of reach at this rate: ask for a larger one.")
    return _first(math.exp(logarithm), lambda k: constant / k**rate <= gap, at_least=1)


def linear_rate_iterations(first_gap: float, gap: float, condition: float) -> int:
    r"""The least K with :math:`(1 - \kappa^{-2})^K \, gap_0 \le gap`: descent on squares with step s/σ₁².

    condition: κ, the largest over the least singular value of the design.

    >>> linear_rate_iterations(10.0, 1e-2, condition=2.0)
    25
    """
    _check_gaps(first_gap, gap, "first_gap")
    if not condition >= 1 or not math.isfinite(condition):
        raise ParameterError(f"condition={condition!r} must be at least 1.")
    if first_gap <= gap:
        return 0
    if condition == 1:
        return 1
    shrinks = math.log1p(-(condition**-2.0))  # below 0, with its digits for large conditions
    if shrinks > -1e-15:
        raise ParameterError(f"condition={condition!r} is so large that the rate is lost in rounding.")
    wanted = math.log(gap) - math.log(first_gap)
    return _first(wanted / shrinks, lambda k: k * shrinks <= wanted + 1e-12 * abs(wanted))


def _first(about: float, enough: Callable[[int], bool], at_least: int = 0) -> int:
    """The least whole number that is enough, about which a logarithm may be off by rounding."""
    k = max(at_least, math.floor(about * (1 - 1e-12)) - 1)
    while not enough(k):
        k += 1
    return k


def _check_gaps(first: float, gap: float, name: str) -> None:
    if not first >= 0 or not math.isfinite(first):
        raise ParameterError(f"{name}={first!r} must be a number of at least 0.")
    if not gap > 0 or not math.isfinite(gap):
        raise ParameterError(f"gap={gap!r} must be above 0.")
