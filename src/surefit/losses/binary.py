"""Targets of two classes: 0 and 1, or -1 and +1; the losses below read both the same way."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from surefit.core.parameters import Interval, validate
from surefit.losses.arrays import Array, aligned, by_row, reals
from surefit.losses.base import Loss
from surefit.losses.cases import ROWS, Case, scores


def share(y: Array) -> Array:
    """Return how much of the target is the positive class: y itself, and 0 for -1."""
    return np.maximum(y, 0.0)


def sign(y: Array) -> Array:
    """Return +1 where y is above 0 and -1 elsewhere."""
    return np.where(y > 0, 1.0, -1.0).astype(y.dtype)


class Binary(Loss):
    """A loss of two classes: 0 and 1, or -1 and +1, but not both kinds in one array."""

    task = "binary"
    domain = Interval(-1, 1)
    soft = False  # whether shares between 0 and 1 are targets too

    def check(self, y: Any) -> None:
        """Raise an error that names the first bad parameter, or the first row that is neither class."""
        validate(self)
        y = reals(y)
        signed = bool((y == -1.0).any())
        between = (y >= 0.0) & (y <= 1.0) if self.soft and not signed else y == 0.0
        wanted = "shares in [0, 1], or -1 and 1" if self.soft else "0 and 1, or -1 and 1, but not both kinds"
        self._refuse(y, ~((y == 1.0) | (y == -1.0 if signed else between)), wanted)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Yield both kinds of classes, and shares where these are allowed."""
        for loss in cls.variants():
            y = rng.integers(2, size=ROWS).astype(np.float64)
            y[:2] = 0.0, 1.0
            yield Case(loss, y, scores(ROWS, rng))
            yield Case(loss, 2.0 * y - 1.0, scores(ROWS, rng))
            if loss.soft:
                yield Case(loss, np.round(rng.random(ROWS), 2), scores(ROWS, rng))


class Margin(Binary):
    """A loss of two classes that depends on the margin m alone: z for the positive class, -z for the other.

    A class below writes all of it as functions of m.
    """

    @abstractmethod
    def _value(self, m: Array) -> Array: ...

    @abstractmethod
    def _slope(self, m: Array) -> Array: ...

    @abstractmethod
    def _bend(self, m: Array) -> Array: ...

    @abstractmethod
    def _conjugate(self, v: Array) -> Array: ...

    @abstractmethod
    def _prox(self, m: Array, step: float) -> Array: ...

    def _slopes(self, m: Array) -> tuple[Array, Array]:
        slope = self._slope(m)
        return slope, slope

    def value(self, y: Any, z: Any) -> Array:
        """Return f, one number a row."""
        y, z = aligned(y, z)
        return by_row(self._value(sign(y) * z))

    def gradient(self, y: Any, z: Any) -> Array:
        """Return the derivative by z."""
        y, z = aligned(y, z)
        side = sign(y)
        return side * self._slope(side * z)

    def subdifferential(self, y: Any, z: Any) -> tuple[Array, Array]:
        """Return the least and the greatest slope by z."""
        y, z = aligned(y, z)
        side = sign(y)
        low, high = (side * slope for slope in self._slopes(side * z))
        return np.minimum(low, high), np.maximum(low, high)

    def curvature(self, y: Any, z: Any) -> Array:
        """Return the curvature by z, of the declared kind."""
        y, z = aligned(y, z)
        return self._bend(sign(y) * z)

    def conjugate(self, y: Any, u: Any) -> Array:
        """Return the conjugate by z, inf outside its domain."""
        y, u = aligned(y, u)
        return by_row(self._conjugate(sign(y) * u))

    def prox(self, y: Any, v: Any, step: float) -> Array:
        """Return the z that minimises step f + (z - v)^2 / 2."""
        y, v = aligned(y, v)
        side = sign(y)
        return side * self._prox(side * v, step)

    def _best_constant(self, y: Array, s: Array) -> float:
        return self._best_of_two(float(s[y > 0].sum()), float(s[y <= 0].sum()))

    @abstractmethod
    def _best_of_two(self, positive: float, negative: float) -> float:
        """Return the best constant for this much weight on either class."""
