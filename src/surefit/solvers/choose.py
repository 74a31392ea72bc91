"""Which solver suits an objective."""

from __future__ import annotations

from typing import Any

from surefit.core.registry import lookup, members
from surefit.solvers.base import Solver
from surefit.solvers.objective import Objective


def suited(objective: Objective) -> list[str]:
    """Return the names of the solvers that take the objective, those that get closest first."""
    ranks = {"exact": 0, "second order": 1, "first order": 2}
    found: list[tuple[int, str]] = []
    known: dict[str, Any] = dict(members("solver"))
    for name, solver in known.items():
        if solver().refusal(objective) is None:
            found.append((ranks[solver.accuracy], name))
    return [name for _, name in sorted(found)]


def solver_named(name: str, **options: Any) -> Solver:
    """Make a solver by its name."""
    found: Any = lookup("solver", name)
    return found(**options)  # type: ignore[no-any-return]
