"""Which solver suits an objective."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from surefit.core.errors import RefusalError
from surefit.core.registry import lookup, members
from surefit.solvers.base import Solver
from surefit.solvers.objective import Objective

# A pass for second derivatives of m coefficients costs about m / 30 passes for first ones, as cores multiply
# some thirty times as fast as memory feeds them; some eight of the former do what 150 of the latter do.
SECOND_ORDER_LARGEST = 500


def suited(objective: Objective) -> list[str]:
    """Return the names of the solvers that take the objective, those that get closest first."""
    ranks = {"exact": 0, "second order": 1, "first order": 2}
    found: list[tuple[int, str]] = []
    known: dict[str, Any] = dict(members("solver"))
    for name, solver in known.items():
        if solver().refusal(objective) is None:
            found.append((ranks[solver.accuracy], name))
    return [name for _, name in sorted(found)]


def choose(objective: Objective, **options: Any) -> Solver:
    """Return the solver that should take the objective soonest to its tolerance.

    >>> from surefit.losses import Logistic
    >>> from surefit.penalties import L1
    >>> choose(Objective.of_arrays([[0.0], [1.0]], [0, 1], Logistic(), L1(0.1))).name
    'proximal_newton'
    """
    known = members("solver")
    for name in _preferred(objective):
        if name in known:
            solver = solver_named(name, **options)
            if solver.refusal(objective) is None:
                return solver
    raise RefusalError(
        f"no solver takes the {objective.loss.name} loss with {type(objective.penalty).__name__} on this "
        "table: choose another loss or penalty, or load the table as one array."
    )


def _preferred(objective: Objective) -> Iterator[str]:
    """Yield names, the cheapest first; those that refuse are passed over."""
    yield "closed_form"
    yield "coordinate_descent"  # least squares with a penalty of single coefficients
    # Second derivatives of K coupled outputs cost K (K + 1) / 2 times those of one, first ones K times.
    coupled = objective.loss.task == "multiclass"
    if objective.shape[0] * ((objective.outputs or 1) + coupled) <= SECOND_ORDER_LARGEST:
        yield "newton"
        yield "proximal_newton"
    if objective.rows is not None and len(objective.rows) < objective.columns:
        yield "row_newton"
    yield "lbfgs"
    yield "column_newton"
    yield "fista"
    yield "proximal_newton"  # where nothing cheaper streams
    yield "frisch_newton"  # losses of straight pieces
    yield "primal_dual"  # losses with kinks
    yield "proximal_gradient"


def solver_named(name: str, **options: Any) -> Solver:
    """Make a solver by its name."""
    found: Any = lookup("solver", name)
    return found(**options)  # type: ignore[no-any-return]
