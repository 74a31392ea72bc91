r"""The lengths in which a proximal step is short: columns of like size, and an intercept at their means.

.. math:: \|(w, b)\|^2 = \sum_j d_j^2 w_j^2 + (b + m'w)^2

With m the means and d the spreads of the columns, a table in other units gives the same steps. An intercept
is free of penalty, so means can always be taken out; a spread for each column only where the penalty can take
a step of its own for each coefficient.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.penalties.table import CoordinateTable
from surefit.solvers.objective import Objective

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Metric:
    """Squared spreads d^2 and means m of the columns, and a step to begin with.

    table: the penalty's numbers, where it has them; without, the greatest spread stands for all.
    """

    objective: Objective
    squares: Array
    means: Array
    table: CoordinateTable | None
    first_step: float

    @classmethod
    def of(cls, objective: Objective) -> Metric:
        """Read the means and spreads of the columns in one pass."""
        found = objective.spread
        centred = objective.fit_intercept
        squares = found.variance if centred else found.variance + found.mean**2
        varies = squares > 1e-24 * found.mean**2  # else by rounding alone, and is left to the penalty
        largest = float(squares[varies].max(initial=0.0)) or 1.0
        means = found.mean if centred else np.zeros_like(found.mean)
        bend = objective.loss.smoothness or 1.0
        penalty, p = objective.penalty, objective.columns
        if penalty.offers("table"):
            squares = np.where(varies, squares, np.where(found.mean != 0, found.mean**2, 1.0))
            return cls(objective, squares, means, penalty.table(p), 1.0 / bend)
        return cls(objective, np.full(p, largest), means, None, 1.0 / bend)

    def length(self, step: Array) -> float:
        """Return the squared length of a difference of packed points."""
        coef, intercept = self.objective.split(step)
        total = float(np.sum(_rows(self.squares, coef) * coef**2))
        return total if intercept is None else total + float(np.sum((intercept + self.means @ coef) ** 2))

    def inner(self, one: Array, two: Array) -> float:
        """Return the inner product that belongs to the length."""
        (coef, intercept), (other, last) = self.objective.split(one), self.objective.split(two)
        total = float(np.sum(_rows(self.squares, coef) * coef * other))
        if intercept is None:
            return total
        return total + float(np.sum((intercept + self.means @ coef) * (last + self.means @ other)))

    def step(self, point: Array, gradient: Array, step: float) -> Array:
        """Return the proximal point of a gradient step."""
        coef, intercept = self.objective.split(point)
        slope, last = self.objective.split(gradient)
        squares = _rows(self.squares, coef)
        if intercept is not None:
            slope = slope - np.multiply.outer(self.means, last)
        aim = coef - step * slope / squares
        moved: Any
        if self.table is not None:
            moved = self.table.prox(aim, step / squares)
        else:
            moved = self.objective.penalty.prox(aim, step / float(self.squares.max(initial=1e-300)))
        if intercept is None:
            return np.asarray(moved)
        level = intercept - step * last + self.means @ (coef - moved)
        return np.concatenate([moved, np.asarray(level)[None]])


def _rows(column: Array, coef: Array) -> Array:
    return column if coef.ndim == 1 else column[:, None]
