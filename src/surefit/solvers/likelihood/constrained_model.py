"""The feasible set of the coefficients, where more than coefficients is learnt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.penalties.coordinate_table import CoordinateTable
from surefit.penalties.ordered import Ordered
from surefit.solvers.newton.ordered_quadratic_model import minimise_ordered
from surefit.solvers.newton.quadratic_model import minimise_table
from surefit.solvers.objective.base import Objective


@dataclass(frozen=True, slots=True)
class ConstrainedModel:
    """What coefficients may be, one set of numbers each, and which must not fall; all else is free."""

    table: CoordinateTable
    groups: list[list[int]]

    @classmethod
    def of(cls, objective: Objective, more: int) -> ConstrainedModel | None:
        """Return the constraints, with so many free parameters more; None where there are none."""
        table, penalty = numbers(objective), objective.penalty
        if table is None or penalty.quadratic(objective.columns) is not None:
            return None
        none, free = np.zeros(objective.columns + more), np.full(more, np.inf)
        lower, upper = np.append(table.lower, -free), np.append(table.upper, free)
        groups = penalty.ordered_columns if isinstance(penalty, Ordered) else []
        return cls(CoordinateTable(none, none, lower, upper), groups)  # the squares are in the model

    def minimiser(
        self, square: Matrix, gradient: Vector, x: Vector, last: tuple[float, float] = (-np.inf, np.inf)
    ) -> Vector | None:
        """Return the minimiser of a model around a point, with bounds for its last parameter.

        None where the matrix does not determine one.
        """
        lower, upper = self.table.lower.copy(), self.table.upper.copy()
        lower[-1], upper[-1] = max(lower[-1], last[0]), min(upper[-1], last[1])
        table = CoordinateTable(self.table.l1, self.table.l2, lower, upper)
        linear = square @ x - gradient
        if self.groups:
            return minimise_ordered(square, linear, table, self.groups, x)
        return minimise_table(square, linear, table, x)


def numbers(objective: Objective) -> CoordinateTable | None:
    """Return the numbers of the penalty, whatever the order; None for a penalty that has none."""
    penalty = objective.penalty
    if isinstance(penalty, Ordered):
        return penalty.separable_table(objective.columns)
    return penalty.table(objective.columns) if penalty.offers("table") else None


def refusal(solver: str, objective: Objective) -> str | None:
    """Say why a model of squares within constraints is not one of this objective; None where it is."""
    table = numbers(objective)
    if table is not None and not table.l1.any():
        return None
    named = type(objective.penalty).__name__
    return f"solver {solver!r} needs an L2 penalty, with or without bounds or order, which {named} is not."
