r"""The penalty method: a constraint becomes a cost, :math:`f(x) + \tfrac\rho2 d(x)^2`, that grows.

d is the distance to a set, or the violations of constraints that are functions. For each weight the minimum
lies a little outside, by about 1 / rho; it is the start for the next weight.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError
from surefit.solvers.methods.base import Method, Move
from surefit.solvers.methods.bfgs import Bfgs
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.constrained_function import ConstrainedObjective
from surefit.solvers.objective.function import FunctionObjective
from surefit.solvers.objective.solver import Needs

MOST = 1e12  # beyond this weight rounding of the cost hides the function


class PenaltyMethod(Method):
    """Minimises f plus a weight times the squared distance to the set, for weights that grow tenfold.

    For a set, the points reported are the projections of these minima; for constraints that are functions,
    the minima themselves, which violate them less and less.

    >>> from surefit.penalties import L2Ball
    >>> far = FunctionObjective(lambda x: (x - [3, 4]) @ (x - [3, 4]), [0.0, 0.0], penalty=L2Ball(1.0))
    >>> PenaltyMethod().solve(far).x.round(5)
    array([0.6, 0.8])
    """

    name = "penalty_method"
    needs: ClassVar[Needs] = Needs(loss=("smooth",), penalty=("prox",))
    falls: ClassVar[bool] = False
    constraints: ClassVar[bool] = True

    def __init__(self, *, weight: float = 1.0, growth: float = 10.0, **options: Any) -> None:
        super().__init__(**options)
        if not (weight > 0 and growth > 1):
            raise ParameterError("weight must be positive and growth above 1.")
        self.weight, self.growth = weight, growth

    def _refusal(self, objective: Objective) -> str | None:
        if objective.tabular or not objective.penalty.constraint:
            return f"solver {self.name!r} supports functions with a constraint set only."
        return None

    def _steps(self, objective: Objective, x: Vector) -> Iterator[Move]:
        weight = self.weight
        while weight <= MOST:
            x = Bfgs(tolerance=min(self.tolerance, 1e-8), max_iter=500).solve(_soft(objective, x, weight)).x
            held = isinstance(objective, ConstrainedObjective)
            yield (x if held else objective.prox(x, 1.0)), weight
            weight *= self.growth


def _soft(objective: Objective, x: Vector, weight: float) -> FunctionObjective:
    """Return f plus the cost of leaving the set."""

    def violation(z: Vector) -> tuple[float, Vector]:
        if isinstance(objective, ConstrainedObjective):
            return objective.violation(z)
        outside = z - objective.prox(z, 1.0)
        return 0.5 * float(outside @ outside), outside

    return FunctionObjective(
        lambda z: objective.at(z, 0).value + weight * violation(z)[0],
        x,
        gradient=lambda z: objective.at(z, 1).gradient + weight * violation(z)[1],
    )
