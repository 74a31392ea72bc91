"""Densities of two numbers at once: marginals, conditional densities, expectations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from surefit.core.errors import DataError

_NODES = 64  # of Gauss-Legendre in each piece: smooth functions are integrated to rounding
_PIECES = 8
_ROUNDING = 1e-6  # how far the integral of a density may be from 1


class JointDensity:
    r"""A density :math:`p(x, y)` on a rectangle, integrated by Gauss and Legendre's rule.

    density: a function of two arrays. x, y: the ends of the rectangle, which must be finite: cut tails where
    the density has vanished. The density must integrate to one.

    >>> pair = JointDensity(lambda x, y: x + y, x=(0, 1), y=(0, 1))
    >>> round(pair.expectation(lambda x, y: x * y), 10), round(float(pair.marginal_x(0.5)), 10)
    (0.3333333333, 1.0)
    >>> round(float(pair.conditional(0.0, given_y=0.5)), 10)   # p(x=0 | y=0.5)
    0.5
    """

    def __init__(
        self,
        density: Callable[[Any, Any], Any],
        x: tuple[float, float],
        y: tuple[float, float],
    ) -> None:
        for name, (low, high) in (("x", x), ("y", y)):
            if not (np.isfinite([low, high]).all() and low < high):
                raise DataError(f"{name}=({low}, {high}) must be two finite numbers, the lower one first.")
        self.density = density
        self._x, self._wx = _rule(*x)
        self._y, self._wy = _rule(*y)
        values = self._values(density)
        if values.min() < 0:
            raise DataError("the density is negative somewhere on the rectangle.")
        self._mass = values * np.outer(self._wx, self._wy)
        total = float(self._mass.sum())
        if abs(total - 1) > _ROUNDING:
            raise DataError(f"the density integrates to {total:.9g} over the rectangle, but must to 1.")

    def _values(self, function: Callable[[Any, Any], Any]) -> Any:
        at_x, at_y = np.meshgrid(self._x, self._y, indexing="ij")
        return np.broadcast_to(np.asarray(function(at_x, at_y), dtype=np.float64), at_x.shape)

    def expectation(self, function: Callable[[Any, Any], Any]) -> float:
        r"""Return :math:`\iint f(x, y) p(x, y) dx dy`; that of an indicator is a probability."""
        return float((self._values(function) * self._mass).sum())

    def marginal_x(self, x: Any) -> Any:
        r"""Return :math:`p(x) = \int p(x, y) dy`."""
        points = np.asarray(x, dtype=np.float64)
        return (self.density(points[..., None], self._y) * self._wy).sum(axis=-1)

    def marginal_y(self, y: Any) -> Any:
        r"""Return :math:`p(y) = \int p(x, y) dx`."""
        points = np.asarray(y, dtype=np.float64)
        return (self.density(self._x, points[..., None]) * self._wx).sum(axis=-1)

    def conditional(self, x: Any, given_y: float) -> Any:
        r"""Return :math:`p(x \mid y) = p(x, y) / p(y)`."""
        whole = float(self.marginal_y(given_y))
        if whole == 0:
            raise DataError(f"y={given_y} has density 0, so x has no density given it.")
        return np.asarray(self.density(np.asarray(x, dtype=np.float64), given_y)) / whole

    def conditional_expectation(self, given_y: float) -> float:
        r"""Return :math:`E[X \mid Y = y] = \int x \, p(x \mid y) dx`."""
        return float((self._x * self.conditional(self._x, given_y) * self._wx).sum())

    @property
    def covariance(self) -> float:
        """The covariance of x and y."""
        means = self.expectation(lambda x, y: x), self.expectation(lambda x, y: y)
        return self.expectation(lambda x, y: (x - means[0]) * (y - means[1]))

    @property
    def independent(self) -> bool:
        """Whether the density is the product of its marginals, at every node to rounding."""
        product = np.outer(self.marginal_x(self._x), self.marginal_y(self._y))
        values = self._values(self.density)
        return bool(np.abs(values - product).max() <= 1e-9 * max(1.0, float(values.max())))


def _rule(low: float, high: float) -> tuple[Any, Any]:
    """Nodes and weights of the composite rule of an interval."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    edges = np.linspace(low, high, _PIECES + 1)
    half = np.diff(edges) / 2
    return (
        (edges[:-1, None] + half[:, None] * (nodes + 1)).ravel(),
        (half[:, None] * weights).ravel(),
    )
