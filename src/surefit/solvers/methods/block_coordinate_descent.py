"""Coordinate descent: each variable, or block of them, is minimised in turn, the others at their newest.

For a smooth convex f plus a sum of convex functions of single variables it finds the minimum. Where a kink
couples variables it may stall: no single move helps, though a joint one would.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import optimize

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError
from surefit.solvers.methods.base import EPS, Method, Move
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Needs

LONGER, MOST = 2.0, 1000  # how a bracket grows
CLOSE = 1e-10  # of a step: values alone tell a minimum to half their digits, a kink to all


class CoordinateDescent(Method):
    """Minimises exactly along one coordinate after the other; ``blocks`` groups some that move together.

    A block of one is minimised by golden sections and parabolas, so that no gradient is needed and the
    function need not be smooth; a larger block by its own coordinates, then along the sum of their moves.

    >>> from surefit.solvers.objective.function import FunctionObjective, Shape
    >>> kinked = lambda x: abs(x[0] + x[1]) + 3 * abs(x[0] - x[1])
    >>> stuck = FunctionObjective(kinked, [1.0, 1.0], shape=Shape(smooth=False, convex=True))
    >>> CoordinateDescent(max_iter=50).solve(stuck).value
    2.0
    """

    name = "coordinate_descent"
    needs: ClassVar[Needs] = Needs()

    def __init__(self, *, blocks: Sequence[Sequence[int]] | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.blocks = blocks

    def _steps(self, objective: Objective, x: Vector) -> Iterator[Move]:
        x, value = x.copy(), objective.value(x)
        reach = np.maximum(np.abs(x.ravel()), 1.0)
        blocks = self._blocks(x.size)
        while True:
            before = x.copy()
            for block in blocks:
                own = x.copy()
                for j in block:
                    value, moved = self._along(objective, x, _unit(x, j), value, float(reach[j]))
                    reach[j] = max(0.5 * reach[j], 2 * abs(moved), 1e-8 * (1 + abs(x.ravel()[j])))
                if len(block) > 1 and (x != own).any():
                    value, _ = self._along(objective, x, x - own, value, 1.0)
            yield x.copy(), float(np.linalg.norm(x - before))

    def _along(
        self, objective: Objective, x: Vector, direction: Vector, value: float, reach: float
    ) -> tuple[float, float]:
        """Move x along a direction to the least value; return it, and how far x went."""

        def phi(t: float) -> float:
            found = objective.value(x + t * direction)
            return found if np.isfinite(found) else np.inf

        step, lowest = minimise_scalar(phi, value, reach)
        if lowest < value:
            x += step * direction
            return lowest, step
        return value, 0.0

    def _blocks(self, size: int) -> list[list[int]]:
        if self.blocks is None:
            return [[j] for j in range(size)]
        blocks = [[int(j) for j in block] for block in self.blocks]
        if sorted(j for block in blocks for j in block) != list(range(size)):
            raise ParameterError(f"blocks must hold each of the {size} variables exactly once.")
        return blocks


def minimise_scalar(phi: Any, value: float, reach: float) -> tuple[float, float]:
    """Return where a function of a step is least around 0, and its value there.

    >>> step, lowest = minimise_scalar(lambda t: abs(t - 0.3), 0.3, 1.0)
    >>> round(step, 9)
    0.3
    """
    for sign in (1.0, -1.0):
        t = reach
        while phi(sign * t) >= value and t > EPS * reach:
            t *= 0.125
        if phi(sign * t) < value:
            a, b, c = 0.0, sign * t, sign * LONGER * t
            lowest = phi(b)
            for _ in range(MOST):
                high = phi(c)
                if not high < lowest:
                    break
                a, b, c, lowest = b, c, c + LONGER * (c - b), high
            found = optimize.minimize_scalar(
                phi, bounds=sorted((a, c)), method="bounded", options={"xatol": CLOSE * abs(b)}
            )
            return (float(found.x), float(found.fun)) if found.fun < lowest else (b, lowest)
    return 0.0, value


def _unit(x: Vector, j: int) -> Vector:
    direction = np.zeros_like(x)
    direction.reshape(-1)[j] = 1.0
    return direction
