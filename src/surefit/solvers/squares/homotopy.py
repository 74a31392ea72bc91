r"""The whole path of the lasso, exactly: its solution is linear in the strength between finitely many knots.

With active columns S of signs s, :math:`w_S(\alpha) = G_{SS}^{-1} (b_S - \alpha s)`. As the strength falls,
the path runs straight until the slope of another column reaches the strength, and the column joins, or a
coefficient reaches zero, and its column is dropped. Without drops it is least angle regression.

The slope of a column on the way down is :math:`c_j(l) = e_j + a_j l`, where :math:`e_j = c_j - \alpha a_j` is
what is left of it at strength 0. It joins at :math:`l = |e_j| / (1 - \mathrm{sign}(e_j) a_j)`, which lies
between 0 and the strength as long as no slope exceeds that. A column that depends on the active ones is
passed over until one of them is dropped. Of events that coincide, the column of the lowest number goes first:
the least-index rule of complementary problems, which cannot cycle.

The Cholesky factor of a Gram matrix whose columns come and go, kept packed.

The slopes that a path of lassos follows, from columns in memory or from sums.

By columns, most of them can be left alone for many steps: the slope of a column moves by no more than its
length times that of what the residual moved by, so that columns far below the strength cannot have reached
it. They are looked at again when that bound no longer tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from surefit.core.arrays import Vector
from surefit.core.blas_threads import one_blas_thread
from surefit.core.errors import ParameterError
from surefit.core.native.columns.column_facts import column_facts
from surefit.core.native.columns.columns_dot import columns_dot, columns_times
from surefit.core.trace import Trace
from surefit.solvers.squares.columns import SquaredColumns
from surefit.solvers.squares.sums import SquaredSums

# Share of a column's square that must lie outside the others: below it, rounding decides what is left.
DEPENDENT = 1e-13


class PackedFactor:
    """The upper factor R of G = R'R by columns, one after the other, so that a new column goes to the end.

    >>> factor = PackedFactor()
    >>> factor.append(np.empty(0), 4.0), factor.append(np.array([2.0]), 2.0)
    (True, True)
    >>> factor.append(np.array([2.0, 2.0]), 2.0)  # the second column once more
    False
    >>> factor.solve(np.array([2.0, 2.0]))
    array([0., 1.])
    >>> factor.remove(0)
    >>> factor.solve(np.array([2.0]))
    array([1.])
    """

    def __init__(self) -> None:
        self.size = 0
        self._packed: Vector = np.zeros(64)

    def append(self, products: Vector, square: float) -> bool:
        """Add a column, given its products with the others and with itself; refuse a dependent one."""
        k = self.size
        start = k * (k + 1) // 2
        new = linalg.blas.dtpsv(k, self._packed, products, trans=1) if k else np.empty(0)
        left = square - float(new @ new)
        if not left > DEPENDENT * square:
            return False
        if start + k + 1 > len(self._packed):
            self._packed = np.concatenate([self._packed, np.zeros(len(self._packed) + k + 1)])
        self._packed[start : start + k] = new
        self._packed[start + k] = np.sqrt(left)
        self.size = k + 1
        return True

    def solve(self, right: Vector) -> Vector:
        """Return G^-1 right."""
        half = linalg.blas.dtpsv(self.size, self._packed, right, trans=1)
        found: Vector = linalg.blas.dtpsv(self.size, self._packed, half, overwrite_x=1)
        return found

    def remove(self, place: int) -> None:
        """Take a column out, and rotate those after it back to a triangle."""
        k = self.size
        after = k - place - 1
        block = np.zeros((after + 1, after + 1))
        for column in range(place, k):
            start = column * (column + 1) // 2
            block[: column - place + 1, column - place] = self._packed[start + place : start + column + 1]
        if after:
            # Only the triangle is wanted; the rotations that make it are collected in a square.
            _, block = linalg.qr_delete(np.eye(after + 1), block, 0, which="col", check_finite=False)
        for column in range(place, k - 1):
            old, new = (column + 1) * (column + 2) // 2, column * (column + 1) // 2
            self._packed[new : new + place] = self._packed[old : old + place]
            self._packed[new + place : new + column + 1] = block[: column - place + 1, column - place]
        self.size = k - 1


Indices = NDArray[np.int64]

_WATCHED = 0.2  # share of the columns that are followed step by step
_FEW = 500  # columns, below which all are followed
_ROUNDING = 32 * np.finfo(float).eps


class Slopes(Protocol):
    """Slopes c = A'Sr/W at a point of the path, and their change a = A'SA_S d/W along a direction d.

    near: the columns whose entries of c and a are current. centre: the means of the columns.
    noise: what rounding may do to each slope.
    """

    centre: Vector
    cross: Vector
    rms: Vector
    noise: Vector
    near: Indices
    c: Vector
    a: Vector

    def products(self, column: int, active: Indices) -> Vector:
        """Return the entries of the Gram matrix for one column and the active ones."""

    def refresh(self, active: Indices, w: Vector) -> None:
        """Compute all slopes afresh from the coefficients."""

    def turn(self, active: Indices, d: Vector) -> None:
        """Take a new direction."""

    def sure(self, step: float, level: float) -> bool:
        """Whether no column outside ``near`` can have reached ``level`` within the step."""

    def move(self, step: float, level: float) -> None:
        """Go along the direction, down to a strength of ``level``."""

    def leave(self, column: int, slope: float) -> None:
        """Follow a column that was active, and has this slope."""


class SlopesOfSums:
    """From the Gram matrix; every column is followed."""

    def __init__(self, sums: SquaredSums) -> None:
        self._gram, self.cross, self.rms = sums.gram, sums.cross, sums.rms
        self.centre = sums.mean_x
        self.noise = _ROUNDING * self.rms * np.sqrt(sums.energy)
        self.near: Indices = np.arange(len(self.cross))
        self.c, self.a = self.cross.copy(), np.zeros(len(self.cross))

    def products(self, column: int, active: Indices) -> Vector:
        """Return the entries of the Gram matrix for one column and the active ones."""
        return np.asarray(self._gram[column, active])

    def refresh(self, active: Indices, w: Vector) -> None:
        """Compute all slopes afresh from the coefficients."""
        self.c = self.cross - self._product(active, w)

    def turn(self, active: Indices, d: Vector) -> None:
        """Take a new direction."""
        self.a = self._product(active, d)

    def sure(self, step: float, level: float) -> bool:
        """Return True, as all columns are followed."""
        return True

    def move(self, step: float, level: float) -> None:
        """Go along the direction."""
        self.c -= step * self.a

    def leave(self, column: int, slope: float) -> None:
        """Set the slope of a column that was active."""
        self.c[column] = slope

    def _product(self, active: Indices, w: Vector) -> Vector:
        if 4 * len(active) < len(self.cross):  # rows are gathered, which costs a copy
            return np.asarray(w @ self._gram[active])
        full = np.zeros(len(self.cross))
        full[active] = w
        return np.asarray(self._gram @ full)


class SlopesOfColumns:
    """From the columns themselves, most of which are left alone for as long as a bound allows."""

    def __init__(self, columns: SquaredColumns, *, positive: bool = False) -> None:
        X = columns.X
        # A path goes through its columns hundreds of times, so that they had better lie one by one.
        self._X = X if sparse.issparse(X) or X.flags.f_contiguous else np.asfortranarray(X)
        self._weight, self._total = columns.weight, columns.total
        self._target, self._positive = columns.target, positive
        facts = column_facts(self._X, self._target, self._weight, columns.fit_intercept)
        self.centre = facts.mean  # zeros without an intercept
        self._centre = facts.mean if columns.fit_intercept else None
        self.rms = np.sqrt(facts.scatter / self._total)
        constant = self.rms <= 4 * np.finfo(float).eps * np.abs(facts.mean)
        self.rms[constant] = 0.0
        self.cross = np.where(constant, 0.0, facts.cross / self._total)
        # Sparse columns are centred in sums, where their means take part.
        reach = np.hypot(self.rms, facts.mean) if sparse.issparse(X) else self.rms
        self.noise = _ROUNDING * reach * np.sqrt(columns.energy)
        self._alive = np.flatnonzero(~constant)
        self.near: Indices = self._alive
        self.c, self.a = self.cross.copy(), np.zeros(len(self.cross))
        self._residual, self._way = self._target.copy(), np.zeros_like(self._target)
        self._before = self._residual
        self._far: Indices = np.empty(0, dtype=np.int64)
        self._far_size, self._far_rms = np.empty(0), np.empty(0)

    def products(self, column: int, active: Indices) -> Vector:
        """Return the entries of the Gram matrix for one column and the active ones."""
        one = columns_times(self._X, np.ones(1), self._centre, [column])
        return self._slopes(one, active)

    def refresh(self, active: Indices, w: Vector) -> None:
        """Compute residual and slopes afresh from the coefficients."""
        self._residual = self._target - columns_times(self._X, w, self._centre, active)
        self.c = np.where(self.rms > 0, self._slopes(self._residual, None), 0.0)
        outside = np.ones(len(self.c), dtype=bool)
        outside[active] = False
        self.near = self._alive[outside[self._alive]]
        self._far = np.empty(0, dtype=np.int64)
        self._far_size = self._far_rms = np.empty(0)

    def turn(self, active: Indices, d: Vector) -> None:
        """Take a new direction."""
        self.near = self.near[self.near != active[-1]]
        self._way = columns_times(self._X, d, self._centre, active)
        self.a[self.near] = self._slopes(self._way, self.near)

    def sure(self, step: float, level: float) -> bool:
        """Whether no column outside ``near`` can have reached ``level`` within the step.

        The bound is convex along the step and the strength linear, so that the end of the step decides.
        """
        if len(self._far) == 0:
            return True
        moved = self._residual - step * self._way - self._before
        square = moved @ moved if self._weight is None else self._weight @ moved**2
        reach = np.sqrt(float(square) / self._total)
        return bool(np.max(self._far_size + self._far_rms * reach) < level)

    def move(self, step: float, level: float) -> None:
        """Go along the direction, and after a look at all columns choose those to follow from here."""
        self._residual -= step * self._way
        self.c[self.near] -= step * self.a[self.near]
        if len(self._far) == 0 and len(self.near) > _FEW:
            size = self.c[self.near] if self._positive else np.abs(self.c[self.near])
            slack = (level - size) / self.rms[self.near]
            watched = int(_WATCHED * len(slack))
            order = np.argpartition(slack, watched)
            self._far, self._far_size = self.near[order[watched:]], size[order[watched:]]
            self._far_rms = self.rms[self._far]
            self.near = np.sort(self.near[order[:watched]])
            self._before = self._residual.copy()

    def leave(self, column: int, slope: float) -> None:
        """Follow a column that was active, and has this slope."""
        self.c[column] = slope
        self.near = np.append(self.near, column)

    def _slopes(self, v: Vector, which: Indices | None) -> Vector:
        scaled = v if self._weight is None else self._weight * v
        return columns_dot(self._X, scaled, self._centre, which) / self._total


Method = Literal["lasso", "lar"]

_TOGETHER = 1e-12  # relative distance of strengths, below which events coincide
_AFRESH = 10  # steps after which slopes and coefficients are cleared of what rounding added up


@dataclass(frozen=True, slots=True)
class LassoPath:
    """Knots from strong to weak: strengths, and coefficients (p, knots), stored where columns are active.

    active: the columns with a coefficient at the end, in the order in which they joined. centre: the means of
    the columns, zeros without an intercept. steps: how often the direction changed. complete: whether the
    path reached the strength, or the radius, that it was to go to.
    """

    alphas: Vector
    coefs: sparse.csc_array
    active: Indices
    centre: Vector
    steps: int
    complete: bool

    def at(self, alpha: float) -> Vector:
        """Return the coefficients at any strength down to the last knot's."""
        if not alpha >= self.alphas[-1]:
            raise ParameterError(
                f"alpha={alpha!r} is below {self.alphas[-1]:.6g}, where the path ends: "
                "compute the path down to a smaller alpha."
            )
        below = min(int(np.searchsorted(-self.alphas, -alpha)), len(self.alphas) - 1)
        return self._between(below, alpha)

    def of_norm(self, radius: float) -> tuple[float, Vector]:
        """Return the largest strength at which the sizes add up to ``radius``, and its coefficients.

        The sum is linear between knots, too. A radius beyond the last knot's gives the last knot.
        """
        norms = np.asarray(abs(self.coefs).sum(axis=0)).ravel()
        reached = np.flatnonzero(norms >= radius)
        if len(reached) == 0:
            return float(self.alphas[-1]), self._knot(len(norms) - 1)
        below = int(reached[0])
        if below == 0:
            return float(self.alphas[0]), self._knot(0)
        share = (radius - norms[below - 1]) / (norms[below] - norms[below - 1])
        high, low = self.alphas[below - 1], self.alphas[below]
        coef = (1 - share) * self._knot(below - 1) + share * self._knot(below)
        return float(high + share * (low - high)), coef

    def active_at(self, knot: int) -> Indices:
        """Return the columns that are active from a knot on."""
        return np.sort(self.coefs.indices[self.coefs.indptr[knot] : self.coefs.indptr[knot + 1]])

    def _knot(self, knot: int) -> Vector:
        return np.asarray(self.coefs[:, [knot]].toarray()).ravel()

    def _between(self, below: int, alpha: float) -> Vector:
        if below == 0:
            return self._knot(0)
        high, low = self.alphas[below - 1], self.alphas[below]
        share = (high - alpha) / (high - low)
        return np.asarray((1 - share) * self._knot(below - 1) + share * self._knot(below))


def lasso_homotopy(
    problem: SquaredColumns | SquaredSums,
    *,
    method: Method = "lasso",
    alpha_min: float = 0.0,
    radius: float = np.inf,
    max_iter: int | None = None,
    positive: bool = False,
    trace: Trace | None = None,
) -> LassoPath:
    r"""Follow the minimisers of :math:`\frac{1}{2W} \sum_i s_i (y_i - x_i'w - b)^2 + \alpha \|w\|_1` down.

    The path ends at the strength ``alpha_min``, beyond the knot at which the sizes of the coefficients add up
    to ``radius``, after ``max_iter`` steps, or where only rounding is left of the slopes.

    >>> problem = SquaredColumns(np.eye(2), np.array([4.0, 2.0]), fit_intercept=False)
    >>> path = lasso_homotopy(problem)
    >>> path.alphas, path.coefs.toarray()
    (array([2., 1., 0.]), array([[0., 2., 4.],
           [0., 0., 2.]]))
    >>> path.at(0.5), path.of_norm(4.0)
    (array([3., 1.]), (0.5, array([3., 1.])))
    """
    with one_blas_thread():
        if isinstance(problem, SquaredSums):
            slopes: Slopes = SlopesOfSums(problem)
        else:
            slopes = SlopesOfColumns(problem, positive=positive)
        walk = _Walk(slopes, method == "lasso", positive)
        return walk.down(alpha_min, radius, max_iter, Trace() if trace is None else trace)


class _Walk:
    """A walk down the path: where it is, and what it has passed."""

    def __init__(self, slopes: Slopes, drops: bool, positive: bool) -> None:
        self._slopes, self._drops, self._positive = slopes, drops, positive
        self._factor = PackedFactor()
        self._active: Indices = np.empty(0, dtype=np.int64)
        self._signs, self._w, self._d = np.empty(0), np.empty(0), np.empty(0)
        self._blocked = np.abs(slopes.cross) <= slopes.noise
        self._blocked[slopes.rms > 0] = False
        self._left = -1  # the column dropped last, until the next event
        size = slopes.cross if positive else np.abs(slopes.cross)
        size = np.where(np.abs(slopes.cross) <= slopes.noise, 0.0, size)
        self.alpha = float(np.max(size, initial=0.0))
        self._first = int(np.argmax(size >= (1 - _TOGETHER) * self.alpha)) if self.alpha > 0 else -1
        self._knots: list[tuple[float, Indices, Vector]] = []

    def down(self, alpha_min: float, radius: float, max_iter: int | None, trace: Trace) -> LassoPath:
        if self.alpha <= alpha_min:
            self.alpha = max(self.alpha, alpha_min)
            self._note(fresh=True)
            return self._path(0, True)
        self._join(self._first, 1.0 if self._slopes.cross[self._first] > 0 else -1.0)
        self._note(fresh=True)
        done, steps = radius <= 0.0, 0
        limit = 16 * len(self._slopes.cross) + 1000 if max_iter is None else max_iter
        for _ in trace.iterations(limit) if not done else ():
            idle = self._step(alpha_min, steps)
            steps += 1
            size = float(np.abs(self._w).sum())
            trace.record(step=float(self._knots[-1][0]), size=size, active=float(len(self._active)))
            done = self.alpha <= alpha_min or size >= radius
            if done or idle:
                break
        return self._path(steps, done)

    def _step(self, alpha_min: float, steps: int) -> bool:
        """Go to the next knot; True if events at one strength never end, which rounding can do."""
        for _ in range(4 * len(self._active) + 100):
            before = self.alpha
            if self._event(alpha_min, afresh=steps % _AFRESH == _AFRESH - 1):
                moved = self.alpha < before
                self._note(fresh=moved)
                if moved:
                    return False
        return True

    def _event(self, alpha_min: float, afresh: bool) -> bool:
        """Go to the next event and let it happen; False if a column was passed over instead."""
        slopes = self._slopes
        if afresh:
            self._clear()
        self._d = self._factor.solve(self._signs)
        slopes.turn(self._active, self._d)
        level, column, sign = self._next(alpha_min)
        if not slopes.sure(self.alpha - level, level):
            self._clear()
            slopes.turn(self._active, self._d)
            level, column, sign = self._next(alpha_min)
        self._w = self._w + (self.alpha - level) * self._d
        slopes.move(self.alpha - level, level)
        self.alpha = level
        self._left = -1
        if column < 0:
            self._clear()
            return True
        if sign:
            return self._join(column, sign)
        self._drop(column)
        return True

    def _next(self, alpha_min: float) -> tuple[float, int, float]:
        """Return the strength of the next event, its column (-1: the end), and the sign if it joins."""
        join, signs = self._joining()
        drop = self._dropping()
        near = self._slopes.near
        level = max(float(np.max(join, initial=0.0)), float(np.max(drop, initial=0.0)))
        if level <= alpha_min or level == 0.0:
            return alpha_min, -1, 0.0
        bound = (1 - _TOGETHER) * level
        joins, drops = np.flatnonzero(join >= bound), np.flatnonzero(drop >= bound)
        first = int(near[joins].min()) if len(joins) else len(self._slopes.cross)
        gone = int(self._active[drops].min()) if len(drops) else len(self._slopes.cross)
        if gone < first:
            return level, gone, 0.0
        return level, first, float(signs[joins[int(np.argmin(near[joins]))]])

    def _joining(self) -> tuple[Vector, Vector]:
        """Return at which strength each column that is followed would join, 0 for never, and its sign."""
        near, alpha = self._slopes.near, self.alpha
        a = self._slopes.a[near]
        e = self._slopes.c[near] - alpha * a
        sign = np.sign(e)
        size = np.abs(e)
        with np.errstate(divide="ignore", invalid="ignore"):
            level = size / (1 - sign * a)
        # Up to rounding no slope exceeds the strength; one that reaches it goes next.
        level[~((level >= 0) & (level <= alpha))] = alpha
        level[(size <= self._slopes.noise[near]) | self._blocked[near]] = 0.0
        level[np.isin(near, self._active)] = 0.0
        if self._positive:
            level[e < 0] = 0.0
        if self._left >= 0:  # just dropped, it is inside; what rounding says of its old side is no event
            place = np.flatnonzero(near == self._left)
            level[place[sign[place] == self._left_sign]] = 0.0
        return level, sign

    def _dropping(self) -> Vector:
        """Return at which strength each active coefficient reaches zero; 0 for never."""
        level = np.zeros(len(self._active))
        if self._drops:
            shrinks = self._signs * self._d < 0
            reached = self.alpha + self._w[shrinks] / self._d[shrinks]
            level[shrinks] = np.clip(reached, 0.0, self.alpha)
        return level

    def _join(self, column: int, sign: float) -> bool:
        square = float(self._slopes.rms[column]) ** 2
        if not self._factor.append(self._slopes.products(column, self._active), square):
            self._blocked[column] = True
            return False
        self._active = np.append(self._active, column)
        self._signs = np.append(self._signs, sign)
        self._w = np.append(self._w, 0.0)
        return True

    def _drop(self, column: int) -> None:
        place = int(np.flatnonzero(self._active == column)[0])
        self._left, self._left_sign = column, float(self._signs[place])
        self._factor.remove(place)
        self._active = np.delete(self._active, place)
        self._signs, self._w = np.delete(self._signs, place), np.delete(self._w, place)
        self._slopes.leave(column, self._left_sign * self.alpha)
        self._blocked[self._slopes.rms > 0] = False  # what depended on it may be free now

    def _clear(self) -> None:
        """Compute slopes afresh, and move the coefficients to where the active ones are as they should."""
        self._slopes.refresh(self._active, self._w)
        off = self._slopes.c[self._active] - self.alpha * self._signs
        self._w = self._w + self._factor.solve(off)

    def _note(self, fresh: bool) -> None:
        """Write a knot down; events at one strength share it."""
        if not fresh:
            self._knots.pop()
        self._knots.append((self.alpha, self._active.copy(), self._w.copy()))

    def _path(self, steps: int, complete: bool) -> LassoPath:
        alphas, active, values = zip(*self._knots, strict=True)
        ends = np.cumsum([0, *(len(part) for part in active)])
        shape = (len(self._slopes.cross), len(alphas))
        coefs = sparse.csc_array((np.concatenate(values), np.concatenate(active), ends), shape=shape)
        at_end = self._active[self._w != 0.0]  # without a column that has only just joined
        return LassoPath(np.array(alphas), coefs, at_end, self._slopes.centre, steps, complete)
