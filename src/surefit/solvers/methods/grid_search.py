"""Grid search over the variables themselves: every combination of candidates, and the best one tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError
from surefit.solvers.methods.base import Method, Move
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Needs

MOST = 10_000_000


class GridSearch(Method):
    """Tries a^D points for a candidates of D variables; promises nothing beyond the points tried.

    ``axes`` are the candidates of each variable. One iteration is a line of the grid, with all candidates of
    the last variable; the point after it is the best so far.

    >>> from surefit.solvers.objective.function import FunctionObjective
    >>> objective = FunctionObjective(lambda x: (x[0] - 1) ** 2 + (x[1] + 1) ** 2, [0.0, 0.0])
    >>> GridSearch(axes=[[-1, 0, 1, 2]] * 2).solve(objective).x
    array([ 1., -1.])
    """

    name = "grid_search"
    needs: ClassVar[Needs] = Needs()
    falls: ClassVar[bool] = False
    proves: ClassVar[bool] = False

    def __init__(self, *, axes: Sequence[ArrayLike] = (), **options: Any) -> None:
        super().__init__(**options)
        self.axes = [np.asarray(axis, dtype=np.float64).ravel() for axis in axes]

    def _refusal(self, objective: Objective) -> str | None:
        if len(objective.shape) > 1:
            return f"solver {self.name!r} supports a single output."
        return None

    def _steps(self, objective: Objective, x: Vector) -> Iterator[Move]:
        if len(self.axes) != len(x) or not all(len(axis) for axis in self.axes):
            raise ParameterError(f"axes must list candidates for each of the {len(x)} variables.")
        points = prod(len(axis) for axis in self.axes)
        if points > MOST:
            raise ParameterError(f"the grid has {points} points: reduce it to at most {MOST}.")
        best, lowest = x, np.inf
        for heads in product(*self.axes[:-1]):
            for last in self.axes[-1]:
                point = np.array([*heads, last])
                value = objective.value(point)
                if value < lowest:
                    best, lowest = point, value
            yield best, 0.0
