"""One door to every method: minimise a function of one's own, and get the answer with its proof."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from surefit.core.errors import ParameterError
from surefit.core.public import public
from surefit.core.registry import members
from surefit.core.trace import Trace
from surefit.penalties.base import Penalty
from surefit.solvers.conditions.problem import ConstrainedProblem
from surefit.solvers.objective.constrained_function import ConstrainedObjective
from surefit.solvers.objective.function import Function, FunctionObjective, Shape, Terms
from surefit.solvers.objective.solver import Solution, Solver

LARGEST_MATRIX = 500  # variables whose square BFGS keeps


@public
def minimize(
    f: Function | ConstrainedProblem,
    x0: ArrayLike,
    *,
    gradient: Function | None = None,
    hessian: Function | None = None,
    constraint: Penalty | None = None,
    terms: Terms | None = None,
    smooth: bool = True,
    convex: bool = False,
    strong_convexity: float = 0.0,
    smoothness: float | None = None,
    solver: str = "auto",
    tolerance: float = 1e-8,
    max_iter: int | None = None,
    callback: Callable[[Trace], bool | None] | None = None,
    keep_points: bool | None = None,
    **options: Any,
) -> Solution:
    """Minimise f from x0, over a constraint set or with a penalty, by a method of choice.

    f: of a vector, or a :class:`~surefit.optimize.ConstrainedProblem`. gradient, hessian: by differences
    where missing. constraint: a set or a penalty of :mod:`surefit.penalties`. terms: f as a mean of terms,
    for stochastic methods. smooth, convex, strong_convexity, smoothness: what is known of f; a proof of
    optimality rests on it. solver: a name of :func:`methods`; ``options`` are its own. callback: called after
    each iteration, true stops. keep_points: for ``trace.plot()`` to draw the path; by default in two
    dimensions.

    >>> rosenbrock = lambda x: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2
    >>> found = minimize(rosenbrock, [-1.2, 1.0])
    >>> found.x.round(6), found.holds
    (array([1., 1.]), True)
    """
    shape = Shape(smooth, convex or strong_convexity > 0, strong_convexity, smoothness)
    objective = (
        ConstrainedObjective(f, x0, shape)
        if isinstance(f, ConstrainedProblem)
        else FunctionObjective(
            f, x0, gradient=gradient, hessian=hessian, penalty=constraint, terms=terms, shape=shape
        )
    )
    keep = objective.columns == 2 if keep_points is None else keep_points
    trace = Trace(keep_learned=keep, watcher=None if callback is None else _Watcher(callback))
    trace.landscape = objective.landscape
    if max_iter is not None:
        options["max_iter"] = max_iter
    name = _suggested(objective) if solver == "auto" else solver
    try:
        return _named(name, tolerance=tolerance, **options).solve(objective, trace=trace)
    finally:
        trace.close()


def methods() -> list[str]:
    """Return the names that ``solver`` takes.

    >>> "bfgs" in methods(), "fista" in methods()
    (True, True)
    """
    return sorted(_known())


def _known() -> dict[str, type[Solver]]:
    """Methods, and those solvers of tables that take functions too; of one name, the method."""
    solvers: Any = {**members("solver"), **members("method")}
    return {name: solver for name, solver in solvers.items() if solver.functions}


def _named(name: str, **options: Any) -> Solver:
    known: Any = _known()
    if name not in known:
        raise ParameterError(f"unknown solver {name!r} for functions: choose {', '.join(sorted(known))}.")
    try:
        solver: Solver = known[name](**options)
    except TypeError as error:
        raise ParameterError(f"solver {name!r} does not accept these options: {error}.") from error
    return solver


def _suggested(objective: FunctionObjective) -> str:
    """Return the method that should need the fewest evaluations."""
    if objective.constrained:
        return "penalty_method"
    if not objective.loss.smooth:
        return "subgradient"
    if objective.penalty.quadratic(objective.columns) is None:
        return "fista" if objective.loss.convex else "projected_gradient"
    if objective.hessian is not None:
        return "newton"
    return "bfgs" if objective.columns <= LARGEST_MATRIX else "lbfgs"


class _Watcher:
    """Calls a function after each iteration."""

    def __init__(self, callback: Callable[[Trace], bool | None]) -> None:
        self._callback = callback

    def begin(self, iteration: int) -> None:
        """Nothing happens when an iteration starts."""

    def end(self, trace: Trace, learned: Callable[[], Any] | None) -> bool:
        """Ask whether to stop."""
        return bool(self._callback(trace))
