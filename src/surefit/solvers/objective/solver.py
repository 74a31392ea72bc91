"""The contract of a solver of objectives, what it returns, and which solver suits an objective."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.core.diagnosis import Diagnosis, diagnose
from surefit.core.errors import RefusalError
from surefit.core.registry import Registered, lookup, members
from surefit.core.trace import Trace
from surefit.solvers.objective.base import Objective

Stop = Literal["certificate", "limit", "stalled", "asked"]

CLOSE = 1e-6  # of what is left of the loss: a gap of no more is small beside the objective itself
_HOPELESS = 0.5  # of it: so near to the least loss of all, there may be no best point to be close to


def is_close(gap: float, left: float) -> bool:
    """Say whether a gap is small beside what the objective is above the least loss, or cannot be so.

    A tolerance is a share of the loss of a constant, which a good fit leaves little of: solvers for which a
    few digits more cost little go on until the gap is small beside that little, too.

    >>> is_close(1e-8, 1.0), is_close(1e-8, 1e-3), is_close(1e-8, 1e-8)
    (True, False, True)
    """
    return gap <= CLOSE * left or gap >= _HOPELESS * left


@dataclass(frozen=True, slots=True)
class Needs:
    """What a solver calls, and so what loss, penalty and source must have.

    loss, penalty: methods and flags by name. rows: all of them in memory.
    """

    loss: tuple[str, ...] = ()
    penalty: tuple[str, ...] = ()
    rows: bool = False


@dataclass(frozen=True, slots=True)
class Solution:
    """Where a solver ended: the packed point, its proof, and why it stopped.

    x: coefficients, the intercept last. passes: how often the source was read. stopped: by the
    ``certificate``, at the ``limit`` of iterations, ``stalled`` because rounding allows no further step, or
    ``asked`` to by a callback. found: what else the solver learnt, such as the knots of a path.
    """

    x: Vector
    value: float
    certificate: Certificate
    iterations: int
    passes: int
    stopped: Stop
    trace: Trace = field(repr=False)
    found: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def holds(self) -> bool:
        """Whether the certificate holds."""
        return self.certificate.holds

    @property
    def diagnosis(self) -> Diagnosis:
        """What is wrong with the convergence of the solver, if anything."""
        return diagnose({"trace": self.trace, "certificate": self.certificate})


class Solver(Registered, kind="solver", folder="surefit.solvers"):
    """A way to minimise an objective.

    needs: what it calls. accuracy: how close it gets in reasonable time, which the laws hold it to.
    functions: whether it also takes a user's own function, which has no rows. ``solve`` stops when the
    certificate holds for ``tolerance``.
    """

    needs: ClassVar[Needs] = Needs()
    accuracy: ClassVar[Literal["exact", "second order", "first order"]] = "first order"
    functions: ClassVar[bool] = False

    def __init__(self, *, tolerance: float = 1e-6, max_iter: int = 1000) -> None:
        self.tolerance = tolerance
        self.max_iter = max_iter

    @abstractmethod
    def solve(
        self, objective: Objective, start: Vector | None = None, trace: Trace | None = None
    ) -> Solution:
        """Minimise, from a packed point or from the objective's ``null``."""

    def refusal(self, objective: Objective) -> str | None:
        """Return a sentence that says why this solver cannot take the objective; None if it can."""
        loss, penalty = objective.loss, objective.penalty
        who = f"solver {self.name!r}"
        if not (objective.tabular or self.functions):
            return f"{who} needs rows of data, and a function has none."
        for need in self.needs.loss:
            if not _has(loss, need):
                return f"{who} needs {_in_words(need, 'loss')}, which the {loss.name} loss is not."
        for need in self.needs.penalty:
            if not _offered(penalty, need, objective.columns):
                named = type(penalty).__name__
                return f"{who} needs {_in_words(need, 'penalty')}, which {named} is not."
        if self.needs.rows and objective.rows is None:
            return f"{who} needs all rows in memory, but this table is read in batches."
        return self._refusal(objective)

    def _refusal(self, objective: Objective) -> str | None:
        """Return a reason beyond ``needs``."""
        return None

    def require(self, objective: Objective) -> None:
        """Raise the refusal, with the solvers that would do."""
        reason = self.refusal(objective)
        if reason is not None:
            others = [name for name in suited(objective) if name != self.name]
            rest = (
                f"choose {' or '.join(others)}"
                if others
                else "no solver supports this loss with this penalty"
            )
            raise RefusalError(f"{reason[:-1]}: {rest}.")

    def finish(
        self,
        objective: Objective,
        x: Vector,
        trace: Trace,
        stopped: Stop,
        *,
        slopes: Vector | None = None,
        proof: Certificate | None = None,
        found: dict[str, Any] | None = None,
    ) -> Solution:
        """Certify the last point, unless there is a proof of it, and wrap it up."""
        proof = objective.certificate(x, self.tolerance, slopes) if proof is None else proof
        if proof.holds and stopped in ("limit", "stalled"):
            stopped = "certificate"
        return Solution(
            x,
            proof.parts["objective"],
            proof,
            len(trace),
            objective.passes,
            "asked" if trace.asked_to_stop else stopped,
            trace,
            found or {},
        )


def _has(loss: Any, need: str) -> bool:
    return bool(getattr(loss, need, None))


def _offered(penalty: Any, need: str, columns: int) -> bool:
    if need == "quadratic":
        return penalty.quadratic(columns) is not None
    if need in ("convex", "separable"):
        return bool(getattr(penalty, need))
    return bool(penalty.offers(need))


_WORDS = {
    "smooth": "a differentiable {}",
    "convex": "a convex {}",
    "smoothness": "a {} with bounded curvature",
    "observed_curvature": "a {} with second derivatives",
    "table": "a separable elastic-net {}, with or without bounds",
    "quadratic": "a quadratic (L2) {}",
    "separable": "a separable {}",
    "kinks": "a piecewise-linear {}",
    "dual_plan": "a hinge or epsilon-insensitive {}",
    "pieces": "a {} with a free scale",
}


def _in_words(need: str, what: str) -> str:
    return _WORDS.get(need, f"a {{}} with {need}()").format(what)


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
        f"no solver supports the {objective.loss.name} loss with {type(objective.penalty).__name__} on this "
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
    yield "frisch_newton"  # piecewise-linear losses
    yield "primal_dual"  # other losses that are not smooth
    yield "proximal_gradient"


def solver_named(name: str, **options: Any) -> Solver:
    """Make a solver by its name."""
    found: Any = lookup("solver", name)
    return found(**options)  # type: ignore[no-any-return]
