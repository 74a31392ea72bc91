"""The absolute penalty, rounded off at zero."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from surefit.core.parameters import Positive, validate
from surefit.penalties.arrays import coefficients, in_type_of
from surefit.penalties.base import Array, Penalty, Strength


class SmoothL1(Penalty):
    r"""Huber's function of each coefficient, :math:`strength \sum_j |w_j|_\tau`: smooth, and close to L1.

    .. math:: |z|_\tau = \max_{|p| \le 1} z p - \tfrac\tau2 p^2
              = z^2 / (2\tau) \text{ for } |z| \le \tau, \; |z| - \tau/2 \text{ beyond}

    Coefficients become small, none exactly 0. It is below ``L1`` by at most strength · τ/2 a coefficient; its
    slope, ``gradient``, changes by at most strength/τ for each unit of w.

    >>> SmoothL1(1.0, tau=1.0).value([-3.0]), SmoothL1(1.0, tau=1.0).value([0.25])
    (2.5, 0.03125)
    """

    name = "smooth_l1"
    separable = True

    def __init__(self, strength: Strength = 1.0, *, tau: Positive = 0.1) -> None:
        self.strength = strength
        self.tau = tau
        validate(self)

    def value(self, w: ArrayLike) -> float:
        """Return the parabolas and lines, summed."""
        size = np.abs(coefficients(w))
        bent = np.minimum(size, self.tau)
        return float(self.strength * np.sum(bent * (bent / self.tau) / 2 + (size - bent)))

    def gradient(self, w: ArrayLike) -> Array:
        """Return the slope, s · clip(w / τ, -1, 1): the p at which the maximum above is attained, times s."""
        return np.asarray(self.strength * np.clip(coefficients(w) / self.tau, -1.0, 1.0))

    def prox(self, v: ArrayLike, step: float) -> Array:
        """Return v shrunk by a factor, or beyond τ by a length."""
        given, v = v, coefficients(v)
        move = step * self.strength
        inner = v * (self.tau / (self.tau + move))
        return in_type_of(np.where(np.abs(v) <= self.tau + move, inner, v - move * np.sign(v)), given)

    def conjugate(self, u: ArrayLike) -> float:
        """Return τ ‖u‖² / (2 s) where no slope is steeper than s."""
        size = np.abs(coefficients(u).ravel())
        if size.max(initial=0.0) > self.strength:
            return np.inf
        return 0.0 if self.strength == 0 else float(self.tau * np.sum(size * (size / self.strength)) / 2)

    def dual_scaling(self, u: ArrayLike) -> float:
        """Return the factor that makes the steepest slope s."""
        most = float(np.abs(coefficients(u)).max(initial=0.0))
        return 1.0 if most <= self.strength else float(self.strength / most * (1 - 2 * np.finfo(float).eps))

    def largest(self, gradient_at_zero: ArrayLike) -> float:
        """Return infinity, or 0 without a slope: a parabola leaves no coefficient at zero."""
        return float(np.inf) if np.any(gradient_at_zero) else 0.0

    def subdifferential_distance(self, w: ArrayLike, gradient: ArrayLike) -> Array:
        """Return the size of each entry of gradient plus slope."""
        return np.asarray(np.abs(coefficients(gradient) + self.gradient(w)))

    def free_directions(self, p: int, slope: ArrayLike | None = None) -> Array:
        """Return all of them at strength 0, none otherwise."""
        return np.eye(p) if self.strength == 0 else np.zeros((p, 0))

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws: nearly L1, and with most points on the parabola."""
        yield cls(0.8, tau=0.05)
        yield cls(1.3, tau=2.0)
