"""The Tweedie losses: variance is a power of the mean; Poisson, gamma and what lies between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Self

import numpy as np

from surefit.core.errors import RefusalError
from surefit.core.parameters import Interval
from surefit.losses.arrays import Array, aligned, by_row, inside
from surefit.losses.base import Loss
from surefit.losses.links import Log
from surefit.losses.root_finding import increasing_root
from surefit.losses.stable import x_log_x

Power = Annotated[float, Interval(None, 0)] | Annotated[float, Interval(1, None)]


class Tweedie(Loss):
    r"""Half the deviance with mean :math:`e^z` and variance a power of it, up to a constant,

    .. math:: f = -y \frac{e^{(1-p)z} - 1}{1-p} + \frac{e^{(2-p)z} - 1}{2-p}.

    It is the Poisson loss at power p = 1 and the gamma loss at p = 2, and runs through both without a break.
    Convex for 1 <= p <= 2 alone, and only there are ``conjugate`` and ``prox``; there is no such distribution
    for 0 < p < 1.

    >>> Tweedie(1.5).gradient([3.0], [np.log(3.0)]).round(12)
    array([0.])
    """

    name = "tweedie"
    link = Log()

    def __init__(self, power: Power = 1.5) -> None:
        self.power = power

    @property
    def domain(self) -> Interval:
        """Any number for p <= 0, above 0 for p >= 2, and with 0 between."""
        return Interval() if self.power <= 0 else Interval(0, None, open_low=self.power >= 2)

    @property
    def convex(self) -> bool:
        """True for 1 <= p <= 2."""
        return 1 <= self.power <= 2

    def _each(self, y: Array, z: Array) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            pull = np.where(y == 0, 0.0, y * _risen(1.0 - self.power, z))
            return _settled(_risen(2.0 - self.power, z) - pull, np.inf)

    def _terms(self, y: Array, z: Array) -> tuple[Array, Array]:
        """Return y exp((1 - p) z), which is 0 for y = 0 however far z is, and exp((2 - p) z)."""
        pull = np.where(y == 0, 0.0, y * np.exp((1.0 - self.power) * z))
        return pull, np.exp((2.0 - self.power) * z)

    def value(self, y: Any, z: Any) -> Array:
        """Return the two terms' difference."""
        y, z = aligned(y, z)
        return by_row(self._each(y, z))

    def gradient(self, y: Any, z: Any) -> Array:
        """Return exp((2 - p) z) - y exp((1 - p) z)."""
        y, z = aligned(y, z)
        with np.errstate(over="ignore", invalid="ignore"):
            pull, push = self._terms(y, z)
            return _settled(push - pull, np.copysign(np.inf, z))

    def value_and_gradient(self, y: Any, z: Any) -> tuple[Array, Array]:
        """Return both from the same two exponentials."""
        y, z = aligned(y, z)
        with np.errstate(over="ignore", invalid="ignore"):
            falling, rising = np.exp((1.0 - self.power) * z), np.exp((2.0 - self.power) * z)
            drop = y * _risen(1.0 - self.power, z, falling)
            pull = np.multiply(y, falling, out=falling)
            nothing = y == 0
            if nothing.any():
                drop[nothing] = pull[nothing] = 0.0
            value = _settled(_risen(2.0 - self.power, z, rising) - drop, np.inf)
            return by_row(value), _settled(np.subtract(rising, pull, out=rising), np.copysign(np.inf, z))

    def curvature(self, y: Any, z: Any) -> Array:
        """Return (2 - p) exp((2 - p) z) - (1 - p) y exp((1 - p) z)."""
        y, z = aligned(y, z)
        with np.errstate(over="ignore", invalid="ignore"):
            pull, push = self._terms(y, z)
            return _settled((2.0 - self.power) * push - (1.0 - self.power) * pull, np.inf)

    def conjugate(self, y: Any, u: Any) -> Array:
        """Return u z - f at the z with f'(z) = u: in closed form where there is one, else by Newton."""
        self._refuse_unless_convex("conjugate")
        y, u = aligned(y, u)
        if self.power == 1:
            v = u + y
            return by_row(inside(x_log_x(v) - v + 1.0, v >= 0))
        if self.power == 2:
            q = 1.0 - u
            return by_row(inside(x_log_x(q) - q * (np.log(y) + 1.0) + y, q >= 0))
        positive = np.where(y > 0, y, 1.0)
        z = increasing_root(
            lambda z: (self.gradient(positive, z) - u, self.curvature(positive, z)), np.zeros_like(u)
        )
        at_zero = inside((x_log_x(u) - u + 1.0) / (2.0 - self.power), u >= 0)
        return by_row(np.where(y > 0, u * z - self._each(positive, z), at_zero))

    def prox(self, y: Any, v: Any, step: float) -> Array:
        """Solve z + step f'(z) = v by Newton's method."""
        self._refuse_unless_convex("prox")
        y, v = aligned(y, v)
        return increasing_root(
            lambda z: (z - v + step * self.gradient(y, z), 1.0 + step * self.curvature(y, z)), v
        )

    def _best_constant(self, y: Array, s: Array) -> float:
        mean = np.average(y, weights=s)
        return float(self.link.forward(max(mean, 0.0)))  # below a mean of 0, the smallest mean is best

    def _refuse_unless_convex(self, what: str) -> None:
        if not self.convex:
            raise RefusalError(
                f"the tweedie loss of power {self.power:g} is not convex and has no {what}: "
                "choose a power between 1 and 2, or a solver that needs none."
            )

    @classmethod
    def variants(cls) -> Iterator[Self]:
        """Yield powers of each kind, both ends of the convex ones among them."""
        yield from (cls(p) for p in (1.0, 1.1, 1.5, 1.9, 2.0, 3.0, 2.5, 0.0, -1.0))


def _risen(a: float, z: Array, exponential: Array | None = None) -> Array:
    """Return (exp(a z) - 1) / a, which is z at a = 0; from exp(a z), if given and a is not small."""
    if a == 0:
        return z
    # Next to 1, an exponential is off by a rounding of 1, and the quotient by that over a.
    return np.expm1(a * z) / a if exponential is None or abs(a) < 0.25 else (exponential - 1.0) / a


def _settled(difference: Array, limit: Any) -> Array:
    """Replace the difference of two infinities by its limit, which the faster term decides."""
    unsettled = np.isnan(difference)
    return np.where(unsettled, limit, difference) if unsettled.any() else difference
