r"""Groups of coefficients that are zero together, between bounds.

With t for the length of a group, both the proximal point and the maximiser of the conjugate are the slope v
made shorter and cut off at the bounds,

.. math:: w = clip(q v), \quad q = \frac{t}{bend \, t + l_1}, \quad \|w\| = t ,

one number q a group. :math:`\|clip(q v)\| (1 - bend \, q) / q` falls in q. The root as it would be if the
same entries stayed at their bounds is the next q to look at, between two ends that close in.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError
from surefit.core.parameters import Has, validate
from surefit.penalties.arrays import axes, by_row, coefficients, in_type_of
from surefit.penalties.base import CASE_COLUMNS, Array, Columns, Penalty
from surefit.penalties.box import Box
from surefit.penalties.group_l1 import GroupL1

Grouped = Annotated[object, Has("group_of_row")]

_STEPS = 200  # halvings from the largest number to the smallest, and more; mostly about three do
_PIECE = 4  # Newton's steps within a piece, between two looks at which entries are at their bounds
_EPS = float(np.finfo(float).eps)


class GroupL1Within(Penalty):
    """The group lasso's penalty plus the constraint lower ≤ w ≤ upper, one bound for all columns or one each.

    In a matrix of coefficients, the bounds of a column hold for each entry of its row.

    >>> GroupL1Within(GroupL1(1.0), 0.0, 2.0).prox([[3.0, 4.0], [-3.0, 4.0]], step=1.0)
    array([[2., 2.],
           [0., 2.]])
    """

    name = "group_l1_within"

    def __init__(
        self, penalty: Grouped, lower: float | Columns = 0.0, upper: float | Columns = np.inf
    ) -> None:
        self.penalty = penalty
        self.lower = lower
        self.upper = upper
        validate(self)
        if not isinstance(penalty, GroupL1):
            raise ParameterError(
                f"GroupL1Within: {type(penalty).__name__} is not a group penalty; give GroupL1()."
            )
        self._inner, self._box = penalty, Box(lower, upper)
        self._known: tuple[int, _Numbers] | None = None

    def value(self, w: ArrayLike) -> float:
        """Return the sum over the groups; infinite outside the bounds."""
        w = coefficients(w)
        of = self.numbers(len(w))
        low, high = of.bounds(w)
        if ((w < low) | (w > high)).any():
            return np.inf
        length = of.length(w)
        return float(length @ (of.l1 + 0.5 * of.l2 * length))

    def prox(self, v: ArrayLike, step: float | Vector) -> Array:
        """Return each group shortened, and cut off at the bounds, for one step or one a group."""
        given, v = v, coefficients(v)
        of = self.numbers(len(v))
        low, high = of.bounds(v)
        point = np.clip(by_row(of.shorter(v, 1 + step * of.l2, step * of.l1)[of.group], v) * v, low, high)
        return in_type_of(point + 0.0, given)

    def conjugate(self, u: ArrayLike) -> float:
        """Return the sum over the groups, each at its maximiser."""
        u = coefficients(u)
        of = self.numbers(len(u))
        low, high = of.bounds(u)
        if (of.length(of.open(u)) > of.l1)[of.l2 == 0].any():
            return np.inf
        q = of.shorter(u, of.l2, of.l1)
        rows = by_row(q[of.group], u)
        with np.errstate(invalid="ignore"):
            aim = np.where(u == 0, 0.0, rows * u)
        best = np.clip(aim, low, high)
        held = best != aim
        cut = np.where(held, best, 0.0)
        pull, size, slope = of.total(u * cut), of.total(cut**2), of.total(np.where(held, 0.0, u) ** 2)
        flat = of.l2 == 0
        # A group that squares do not bend is left by its slope's length alone: its own may be infinite.
        under = np.maximum(of.l1 - np.sqrt(slope), 0.0) * (of.l1 + np.sqrt(slope))
        straight = pull - np.sqrt(size * under)
        q = np.where(flat, 0.0, q)
        length = np.sqrt(slope * q**2 + size)
        alone = np.maximum(np.sqrt(slope) - of.l1, 0.0) ** 2 / np.where(flat, 2.0, 2.0 * of.l2)
        bent = pull + slope * q - (of.l1 + 0.5 * of.l2 * length) * length
        return float(np.sum(np.where(flat, straight, np.where(size > 0, bent, np.where(q > 0, alone, 0.0)))))

    def dual_scaling(self, u: ArrayLike) -> float:
        """Return the factor that brings each group's slope towards open ends into its ball."""
        u = coefficients(u)
        of = self.numbers(len(u))
        size = of.length(of.open(u))
        beyond = (size > of.l1) & (of.l2 == 0)
        if not beyond.any():
            return 1.0
        # A norm of n entries is exact to about n roundings, and is taken once more after the scaling.
        return float(np.min(of.l1[beyond] / size[beyond]) * (1 - (u.size + 4) * _EPS))

    def beyond(self, w: ArrayLike, u: ArrayLike) -> Vector:
        """Return the shortest vector from the subgradients at ``w`` to a slope: what keeps w from resting."""
        w, u = coefficients(w), coefficients(u)
        of = self.numbers(len(w))
        low, high = of.bounds(w)
        size = of.length(w)
        active = size > 0
        pull = by_row((np.where(active, of.l1 / np.where(active, size, 1.0), 0.0) + of.l2)[of.group], w) * w
        left = u - pull
        left = np.where(w == low, np.maximum(left, 0.0), left)  # a bound balances what leads out
        left = np.where(w == high, np.minimum(left, 0.0), left)
        slope = of.length(left)
        kink = np.where(active, 1.0, np.maximum(slope - of.l1, 0.0) / np.where(slope > 0, slope, 1.0))
        return np.asarray(left * by_row(kink[of.group], w))

    def subdifferential_distance(self, w: ArrayLike, gradient: ArrayLike) -> Array:
        """Return the entries of what is left of ``-gradient``; infinite outside the bounds."""
        w = coefficients(w)
        low, high = self.numbers(len(w)).bounds(w)
        distance = np.abs(self.beyond(w, -coefficients(gradient)))
        return np.where((w < low) | (w > high), np.inf, distance)

    def free_directions(self, p: int, slope: ArrayLike | None = None) -> Array:
        """Return the axes of groups without strength that no bound holds back on the side of their slope."""
        of = self.numbers(p)
        free = np.isinf(of.lower) & np.isinf(of.upper)
        if slope is not None:
            both = coefficients(slope).reshape(p, -1)
            free = free | (np.isinf(of.upper) & (both > 0).any(axis=1))
            free = free | (np.isinf(of.lower) & (both < 0).any(axis=1))
        return axes(free & ((of.l1 == 0) & (of.l2 == 0))[of.group])

    def scaled(self, factor: float) -> Self:
        """Return the penalty times a number, within the same bounds."""
        return self.replace(penalty=self._inner.scaled(factor))

    def numbers(self, p: int) -> _Numbers:
        """Return the groups, levels and bounds of p columns; solvers ask at every step."""
        if self._known is None or self._known[0] != p:
            _, l1, l2 = self._inner.group_terms(np.zeros(p))
            box = self._box.table(p)
            self._known = p, _Numbers(self._inner.group_of_row(p), l1, l2, box.lower, box.upper)
        return self._known[1]

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        lower = np.floor(4 * rng.normal(size=CASE_COLUMNS)) / 4  # quarters are numbers in any precision
        upper = lower + np.array([0.0, 0.5, 1.0, 2.0, np.inf, 1.5])
        groups = np.array([0, 1, 0, 2, 2, 0])
        yield cls(GroupL1(0.9))
        yield cls(GroupL1(1.2, groups=groups, l1_ratio=0.7))
        yield cls(GroupL1(0.9, groups=groups), -0.25, 0.5)
        yield cls(GroupL1(0.7, groups=groups, l1_ratio=0.6), lower, upper)
        yield cls(GroupL1(0.8, groups=groups), np.where(np.arange(CASE_COLUMNS) == 1, -np.inf, lower), upper)
        yield cls(GroupL1(0.5, groups=groups, weights=[1.0, 0.0, 2.0], l1_ratio=0.3), -1.0, np.inf)


class _Numbers:
    """The group of each column, its bounds, and the levels of each group."""

    def __init__(self, group: NDArray[np.intp], l1: Vector, l2: Vector, lower: Vector, upper: Vector) -> None:
        self.group, self.l1, self.l2, self.lower, self.upper = group, l1, l2, lower, upper
        self._open = bool(np.isneginf(lower).all() and np.isposinf(upper).all())
        self._single = bool(len(l1) == len(group) and (group == np.arange(len(group))).all())

    def bounds(self, w: Vector) -> tuple[Vector, Vector]:
        return by_row(self.lower, w), by_row(self.upper, w)

    def total(self, w: Vector) -> Vector:
        """Return the sum of each group."""
        rows = w if w.ndim == 1 else w.sum(axis=1)
        return rows if self._single else np.asarray(np.bincount(self.group, rows, len(self.l1)), np.float64)

    def length(self, w: Vector) -> Vector:
        return np.sqrt(self.total(w**2))

    def open(self, u: Vector) -> Vector:
        """Return a slope without what leads to a bound."""
        low, high = self.bounds(u)
        return np.where(np.isinf(np.where(u > 0, high, low)), u, 0.0)

    def shorter(self, v: Vector, bend: Vector, l1: Vector) -> Vector:
        """Return q of each group; 0 where it rests at zero, infinite where nothing but bounds stops it."""
        if self._open:
            return _of_free_groups(self.length(v), bend, l1)
        low, high = self.bounds(v)
        moving = self.length(np.where(np.where(v > 0, high > 0, low < 0), v, 0.0))
        away = self.total(np.clip(np.zeros_like(v), low, high) ** 2) > 0
        q = _of_free_groups(moving, bend, l1)
        with np.errstate(invalid="ignore"):
            aim = np.where(v == 0, 0.0, v * by_row(q[self.group], v))
        cut = self.total((np.clip(aim, low, high) != aim) & (np.where(v > 0, high, low) != 0)) > 0
        some = np.flatnonzero((cut | away) & ((q > 0) | away) & (l1 > 0))
        if len(some):
            q = q.copy()
            q[some] = self._roots(v, bend, l1, q, some)
        return q

    def _roots(self, v: Vector, bend: Vector, l1: Vector, free: Vector, some: NDArray[np.intp]) -> Vector:
        """Return q of the groups whose bounds matter, from that of free ones."""
        rows = np.isin(self.group, some)
        place = np.full(len(self.l1), -1)
        place[some] = np.arange(len(some))
        own = _Numbers(place[self.group[rows]], l1[some], bend[some], self.lower[rows], self.upper[rows])
        v, l1, bend = v[rows], l1[some], bend[some]
        low, high = own.bounds(v)
        with np.errstate(divide="ignore", over="ignore"):
            top = np.where(bend > 0, 1.0 / np.where(bend > 0, bend, 1.0), np.inf)
        bottom = np.zeros(len(some))
        straight = (bend == 0) & (own.length(own.open(v)) >= l1 * (1 - 4 * _EPS))
        least = own.length(np.clip(np.zeros_like(v), low, high)) / l1
        start = free[some]
        q = np.where(
            (start > 0) & (start < top), start, np.where(least > 0, np.minimum(least, 0.5 * top), 1.0)
        )
        for _ in range(_STEPS):
            aim = v * by_row(q[own.group], v)
            point = np.clip(aim, low, high)
            held = point != aim
            slope, size = own.total(np.where(held, 0.0, v) ** 2), own.total(np.where(held, point, 0.0) ** 2)
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                long = np.sqrt(slope + size / q**2)
                over = long * (1.0 - bend * q) - l1
                bottom, top = np.where(over >= 0, q, bottom), np.where(over <= 0, q, top)
                to = _root_of_piece(q, slope, size, bend, l1)
                half = np.where(np.isinf(top), 2.0 * q, np.where(bottom == 0, top / 16, 0.5 * (bottom + top)))
            still = (np.abs(to - q) <= 4 * _EPS * q) | (top - bottom <= 2 * _EPS * q)
            to = np.where(still, q, np.where((to > bottom) & (to < top), to, half))
            q = to
            if (still | straight).all():
                break
        return np.where(straight, np.inf, q)


def _of_free_groups(length: Vector, bend: Vector, l1: Vector) -> Vector:
    """Return q of groups of slopes with such lengths that no bound stops."""
    with np.errstate(divide="ignore", invalid="ignore"):
        q = np.where(l1 == 0, 1.0 / bend, np.maximum(1.0 - l1 / length, 0.0) / bend)
    return np.where((length <= l1) & (l1 > 0), 0.0, q)


def _root_of_piece(q: Vector, slope: Vector, size: Vector, bend: Vector, l1: Vector) -> Vector:
    r"""Return q with :math:`\sqrt{slope + size / q^2} (1 - bend \, q) = l_1`, or nearer to it than before.

    Newton's steps are for 1/q, in which the length is nearly straight; without bend the root is known.

    >>> float(_root_of_piece(*np.array([[1.0], [9.0], [4.0], [0.0], [5.0]]))[0])
    0.5
    """
    straight = np.sqrt(size / np.maximum(l1 - np.sqrt(slope), 0.0) / (l1 + np.sqrt(slope)))
    if not bend.any():
        return straight
    r = 1.0 / q
    for _ in range(_PIECE):
        long = np.sqrt(slope + size * r**2)
        over = long * (1.0 - bend / r) - l1
        r = np.maximum(r - over / (size * r / long * (1.0 - bend / r) + long * bend / r**2), bend)
    return np.where(bend > 0, 1.0 / r, straight)
