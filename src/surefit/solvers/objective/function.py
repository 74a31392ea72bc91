r"""A function of one's own as an objective: f(x) plus a penalty, with the face that every solver knows.

.. math:: F(x) = f(x) + pen(x)

A constraint set is a penalty that is 0 inside and infinite outside. What is declared of f stands where the
loss of rows stands; what is not given is found by differences.

What can be proved of a point of a function and a penalty, from one gradient there.

Where f is declared convex, its tangent lies below it, bent by the strong convexity :math:`\mu \ge 0`:

.. math:: F(x) - \min F \le \max_y \; g'(x - y) - \tfrac\mu2 \|x - y\|^2 + pen(x) - pen(y) .

For :math:`\mu > 0` the maximiser is a proximal step of length :math:`1 / \mu`; for :math:`\mu = 0` the
maximum is :math:`g'x + pen(x) + pen^*(-g)`, finite over a bounded set. Elsewhere what is measured is the
length of a proximal gradient step, 0 exactly at points that are stationary. Both are relative to the start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, RefusalError
from surefit.core.trace import Landscape
from surefit.data.batches.batch import Batch
from surefit.penalties.base import Penalty
from surefit.penalties.no_penalty import NoPenalty
from surefit.solvers.conditions.differences import numerical_gradient, numerical_hessian
from surefit.solvers.conditions.optimality import first_order_residual
from surefit.solvers.objective.base import At, Objective
from surefit.stats.spread import Spread

Function = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Shape:
    """What is declared of a function; a solver asks it as it would ask a loss.

    smooth: it has a gradient everywhere. smoothness: a bound on its curvature. strong_convexity: what its
    curvature never goes below.
    """

    name: ClassVar[str] = "function"
    task: ClassVar[str] = "function"

    smooth: bool = True
    convex: bool = False
    strong_convexity: float = 0.0
    smoothness: float | None = None


@dataclass(frozen=True, slots=True)
class Terms:
    """A function as a mean of ``count`` terms, for stochastic methods: gradient(x, i) is that of term i.

    >>> targets = np.array([1.0, 2.0, 6.0])
    >>> Terms(3, lambda x, i: x - targets[i]).mean_gradient(np.zeros(1), np.array([0, 2]))
    array([-3.5])
    """

    count: int
    gradient: Callable[[Vector, int], Any]

    def gradients(self, x: Vector, rows: NDArray[np.intp]) -> Vector:
        """Return the gradients of some terms, one a row."""
        return np.array([np.asarray(self.gradient(x, int(i)), dtype=np.float64) for i in rows])

    def mean_gradient(self, x: Vector, rows: NDArray[np.intp]) -> Vector:
        """Return their mean."""
        mean: Vector = self.gradients(x, rows).mean(axis=0)
        return mean


class FunctionObjective(Objective):
    """A user's function with a penalty or a constraint set; ``passes`` counts the points it was asked at.

    >>> from surefit.penalties import NonNegative
    >>> objective = FunctionObjective(lambda x: (x + 1) @ (x + 1), [2.0], penalty=NonNegative())
    >>> objective.at(np.array([2.0])).gradient.round(9), objective.value(np.array([-1.0]))
    (array([6.]), inf)
    """

    tabular: ClassVar[bool] = False

    def __init__(
        self,
        f: Function,
        start: ArrayLike,
        *,
        gradient: Function | None = None,
        hessian: Function | None = None,
        penalty: Penalty | None = None,
        terms: Terms | None = None,
        shape: Shape | None = None,
    ) -> None:
        self.function, self.gradient, self.hessian, self.terms = f, gradient, hessian, terms
        self.penalty = NoPenalty() if penalty is None else penalty
        self._free = type(self.penalty) is NoPenalty
        stands_for_loss: Any = Shape() if shape is None else shape
        self.loss = stands_for_loss
        self.fit_intercept, self.outputs, self.passes = False, None, 0
        self.start = self._feasible(start)
        self.columns = len(self.start)
        self._seen: tuple[Vector, int, At] | None = None
        self._first: At | None = None
        self._first = self._checked_start()

    def _feasible(self, start: ArrayLike) -> Vector:
        try:
            x = np.atleast_1d(np.array(start, dtype=np.float64))
        except (TypeError, ValueError):
            raise DataError(f"x0 is {start!r}: give one finite number for each variable.") from None
        if x.ndim != 1 or not len(x) or not np.isfinite(x).all():
            raise DataError("x0 must be a vector of finite numbers: give one number for each variable.")
        return x if self.penalty.feasible(x) else np.asarray(self.penalty.prox(x, 1.0), dtype=np.float64)

    @property
    def landscape(self) -> Landscape:
        """What a path is drawn over: the function itself, beyond a constraint set too."""
        if not self.penalty.constraint:
            return Landscape(self.value, self.start)
        return Landscape(
            lambda x: self.at(x, 0).value,
            self.start,
            self.penalty.feasible,
            lambda x: self.penalty.prox(x, 1.0),
        )

    def _checked_start(self) -> At:
        here = self.at(self.start)
        for what, found in (("function", here.value), ("gradient", here.gradient)):
            if not np.isfinite(found).all():
                raise DataError(
                    f"the {what} is not finite at the start, {_shown(self.start)}: "
                    "choose a start where it is finite, or correct it."
                )
        return here

    def at(self, w: Vector, order: Literal[0, 1, 2] = 1) -> At:
        """Evaluate f; the start and the last point are remembered, so that asking again is free."""
        if order < 2 and self._first is not None and np.array_equal(self.start, w):
            return self._first
        if self._seen is None or self._seen[1] < order or not np.array_equal(self._seen[0], w):
            self.passes += 1
            with np.errstate(all="ignore"):  # a trial point may be too far out
                value = self._value(w)
                slope = self._slope(w, value) if order > 0 else np.zeros(0)
                bend = self._bend(w, value) if order > 1 else np.zeros((0, 0))
            self._seen = np.array(w), order, At(value, slope, bend)
        return self._seen[2]

    def _value(self, x: Vector) -> float:
        found = self._called("function", self.function, x)
        if found.size != 1:
            raise DataError(f"the function returns {found.size} numbers: let it return one.")
        return float(found.reshape(()))

    def _slope(self, x: Vector, value: float) -> Vector:
        if self.gradient is None and self.terms is not None:
            return self.terms.mean_gradient(x, np.arange(self.terms.count))
        if self.gradient is None and not np.isfinite(value):
            return np.full(len(x), np.nan)  # there is nothing to take differences of
        if self.gradient is None:
            return numerical_gradient(lambda z: self._called("function", self.function, z), x)
        found = self._called("gradient", self.gradient, x)
        if found.shape != x.shape:
            raise DataError(
                f"the gradient has shape {found.shape} for {len(x)} variables: return one number for each."
            )
        return found

    def _bend(self, x: Vector, value: float) -> Matrix:
        if self.hessian is None and not np.isfinite(value):
            return np.full((len(x), len(x)), np.nan)
        if self.hessian is None:
            return numerical_hessian(self.function, x, self.gradient)
        found = self._called("hessian", self.hessian, x)
        if found.shape != (len(x), len(x)):
            raise DataError(
                f"the hessian has shape {found.shape} for {len(x)} variables: return a square matrix."
            )
        return found

    def _called(self, what: str, function: Function, x: Vector) -> Vector:
        try:
            return np.asarray(function(np.array(x)), dtype=np.float64)  # of a copy, which it may change
        except Exception as error:
            raise DataError(
                f"the {what} raised {type(error).__name__} ({error}) at {_shown(x)}: "
                "let it return a number everywhere, inf outside its domain."
            ) from error

    @property
    def constrained(self) -> bool:
        """Whether there are constraints that have no projection."""
        return False

    @cached_property
    def null(self) -> Vector:
        """The start."""
        return self.start.copy()

    @cached_property
    def scale(self) -> float:
        """How large values are at the start."""
        return max(abs(self.value(self.start)), float(np.finfo(float).tiny))

    @cached_property
    def rows(self) -> Batch | None:
        """None: there are no rows."""
        return None

    @cached_property
    def spread(self) -> Spread:
        """Columns of unit size: nothing is known of the variables' units."""
        one, none = np.ones(self.columns), np.zeros(self.columns)
        return Spread(1, one, none, one, -one, one, none)

    def penalised(self, w: Vector) -> float:
        """Return the penalty of a point."""
        return 0.0 if self._free else float(self.penalty.value(w))

    def accumulate(self, of: Any) -> Any:
        """Refuse: there are no rows to sum over."""
        raise RefusalError("a function has no rows to sum over: choose a solver that takes functions.")

    def certificate(self, w: Vector, tolerance: float, slopes: Vector | None = None) -> Certificate:
        """Bound how far a point is from the minimum, or from being stationary."""
        return certificate(self, w, tolerance)


def _shown(x: Vector) -> str:
    return f"x = {np.array2string(x, precision=4, threshold=6, edgeitems=2)}"


EPS = float(np.finfo(float).eps)
TINY = float(np.finfo(float).tiny)


def certificate(objective: FunctionObjective, x: Vector, tolerance: float) -> Certificate:
    """Certify a point: optimal within a bound where one is finite, else stationary.

    >>> from surefit.solvers.objective.function import Shape
    >>> shape = Shape(convex=True, strong_convexity=2.0)
    >>> objective = FunctionObjective(lambda x: x @ x, [3.0], gradient=lambda x: 2 * x, shape=shape)
    >>> round(certificate(objective, np.array([1e-3]), 1e-6).parts["gap"], 9)
    1e-06
    """
    value = objective.value(x)
    from_start = gap_bound(objective, objective.start)
    if np.isfinite(from_start):
        gap = gap_bound(objective, x)
        size = max(from_start, EPS * abs(objective.value(objective.start)), TINY)
        parts = {"objective": value, "gap": gap, "scale": size}
        return Certificate(
            "optimal", "optimality gap, relative to that of the start", gap / size, tolerance, parts
        )
    first, size = residual(objective, objective.start), _least_slope(objective)
    left = residual(objective, x)
    parts = {"objective": value, "residual": left, "scale": max(first, size)}
    return Certificate("stationary", _measure(objective), left / parts["scale"], tolerance, parts)


def gap_bound(objective: FunctionObjective, x: Vector) -> float:
    """Return a bound of how far F(x) is above its minimum; infinite where there is none."""
    shape, penalty = objective.loss, objective.penalty
    here = objective.at(x, 1)
    g, own = here.gradient, objective.penalised(x)
    if not (shape.convex and penalty.convex and np.isfinite(own) and np.isfinite(g).all()):
        return np.inf
    bound, bend = np.inf, float(getattr(shape, "strong_convexity", 0.0))
    if bend > 0:
        y = np.asarray(penalty.prox(x - g / bend, 1.0 / bend))
        d = x - y
        bound = float(g @ d) - 0.5 * bend * float(d @ d) + own - float(penalty.value(y))
    if penalty.offers("conjugate"):
        bound = min(bound, float(g @ x) + own + float(penalty.conjugate(-g)))
    return max(bound, 0.0)


def residual(objective: FunctionObjective, x: Vector) -> float:
    """Return the length of a proximal gradient step over its step; without a penalty, of the gradient."""
    g = objective.at(x, 1).gradient
    if not np.isfinite(g).all():
        return np.inf
    return first_order_residual(x, g, objective.penalty, _unit_step(objective))


def _unit_step(objective: FunctionObjective) -> float:
    """A step that moves the start about as far as it is from the origin."""
    slope = float(np.linalg.norm(objective.at(objective.start, 1).gradient))
    return max(float(np.linalg.norm(objective.start)), 1.0) / slope if slope > 0 else 1.0


def _least_slope(objective: FunctionObjective) -> float:
    """Below this a slope is lost in the rounding of values; for a start that is stationary already."""
    size = max(float(np.linalg.norm(objective.start)), 1.0)
    return max(float(EPS**0.5) * abs(objective.value(objective.start)) / size, TINY)


def _measure(objective: FunctionObjective) -> str:
    free = objective.penalty.name == "none"
    return f"{'gradient' if free else 'proximal step'}, relative to that of the start"
