r"""Minimise a quadratic with absolute values over bounds and ordered levels, exactly, by active sets.

.. math:: \min_w \tfrac12 w'Gw - c'w + \alpha \|w\|_1, \qquad l \le w \le u, \quad
          w_a \le w_b \text{ along each group}

Levels that are equal form a run and move together. A run is free, or held: at a bound, or at zero, where the
absolute value has a kink. The free runs go to where the quadratic is least for them, as far as the first run
that meets a bound, zero or another run. Where they arrive, the upper part of a run may be pulled up, or its
lower part down, harder than the strength allows: the part that is pulled most is let go. No other direction
is left to look at, as every step that the set allows is a mixture of those.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefit.core.arrays import Matrix, Vector
from surefit.solvers.squares.level_limits import LevelLimits

Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]

UNIT = float(np.finfo(float).eps)
_ROUNDING = 64 * UNIT  # of a pull, beside the lengths that it is made of
_DEPENDENT = 1e-11  # of a pivot: what is left of a column that others tell is rounding


@dataclass(frozen=True, slots=True)
class Face:
    """Where a minimiser is, in the layout of the limits: values, runs by number, which runs are held, signs.

    signs: of free runs, which keep them at zero too; 0 for held runs.
    """

    alpha: float
    x: Vector
    run: Indices
    held: Flags
    sign: Vector

    @property
    def freedom(self) -> int:
        """How many runs are free."""
        return int(np.count_nonzero(~self.held))


class ConstrainedQuadratic:
    """A quadratic and its limits. energy: an upper bound of the squares that G and c were made of.

    >>> limits = LevelLimits(np.zeros(2), np.full(2, np.inf), [[0, 1]])
    >>> problem = ConstrainedQuadratic(np.eye(2), np.array([3.0, 1.0]), 10.0, limits)
    >>> problem.coef(problem.solve(0.0)), problem.coef(problem.solve(1.5))
    (array([2., 2.]), array([0.5, 0.5]))
    """

    def __init__(self, G: Matrix, c: Vector, energy: float, limits: LevelLimits) -> None:
        order = limits.layout
        self.limits = limits
        self.G, self.c = np.ascontiguousarray(G[np.ix_(order, order)]), np.asarray(c[order])
        self.lower, self.upper, self.joined = limits.lower[order], limits.upper[order], limits.joined
        self.rms = np.sqrt(np.maximum(np.diagonal(self.G), 0.0))
        self.energy = energy
        self._reach = float(np.sqrt(energy))
        self.least = np.clip(np.zeros(len(order)), self.lower, self.upper)

    def coef(self, face: Face) -> Vector:
        """Return the coefficients of a face, column by column."""
        found = np.empty_like(face.x)
        found[self.limits.layout] = face.x
        return found

    def negative_gradient(self, x: Vector) -> Vector:
        """Return c - Gx."""
        return np.asarray(self.c - self.G @ x)

    def noise(self, x: Vector) -> Vector:
        """Return what rounding may make of each pull."""
        return np.asarray(_ROUNDING * self.rms * (self._reach + float(np.abs(x) @ self.rms)))

    def face_at(self, alpha: float, w: Vector) -> Face:
        """Return the face of a point of the set: equal levels in one run, held at bounds and at kinks."""
        x = w[self.limits.layout]
        apart = np.ones(len(x), dtype=bool)
        apart[1:] = ~(self.joined & (x[1:] == x[:-1]))
        run = np.cumsum(apart) - 1
        value = x[apart]
        held = (value == self.lower[apart]) | (value == self.upper[apart])
        held |= (value == 0) & (alpha > 0)
        return Face(alpha, x, run, held, np.where(held, 0.0, np.sign(value)))

    def solve(self, alpha: float, start: Vector | None = None, limit: int | None = None) -> Face:
        """Return the face of the minimiser, from a start if one is known; it is brought into the set."""
        w = self.coef_at_rest() if start is None else self.limits.project(start)
        face = self.face_at(alpha, w)
        rounds = 50 * (len(w) + 10) if limit is None else limit
        for _ in range(rounds if len(w) else 0):
            face, arrived = self._moved(face)
            if not arrived:
                continue
            after = self._let_go(face)
            if after is None:
                break
            face = after
        return face

    def coef_at_rest(self) -> Vector:
        """Return the point of the set with the smallest sizes, the answer for very large strengths."""
        found = np.empty_like(self.least)
        found[self.limits.layout] = self.least
        return found

    def direction(self, face: Face, pull: Vector) -> tuple[Vector, bool]:
        """Return where free runs go for a pull a place, spread to places, and whether that has an end."""
        free = np.flatnonzero(~face.held)
        if not len(free):
            return np.zeros(len(face.x)), True
        place = np.full(len(face.held), -1)
        place[free] = np.arange(len(free))
        where = place[face.run]
        inside = np.flatnonzero(where >= 0)
        if len(inside) == len(free):
            H = self.G[np.ix_(inside, inside)]
        else:
            rows = np.zeros((len(free), len(inside)))
            rows[where[inside], np.arange(len(inside))] = 1.0
            H = rows @ self.G[np.ix_(inside, inside)] @ rows.T
        total = np.zeros(len(free))
        np.add.at(total, where[inside], pull[inside])
        step, ends = _step(H, total)
        found = np.zeros(len(face.x))
        found[inside] = step[where[inside]]
        return found, ends

    def _moved(self, face: Face) -> tuple[Face, bool]:
        """Go to where the free runs are best, or to the first that meets something; True on arrival."""
        sign = np.where(face.held, 0.0, face.sign)[face.run]
        d, ends = self.direction(face, self.negative_gradient(face.x) - face.alpha * sign)
        first = _starts(face.run)
        length, what, run = self.first_event(face, d[first], 1.0 if ends else np.inf)
        if not np.isfinite(length):  # a pull along columns that cancel, which only rounding makes
            return face, True
        x = face.x + length * d
        if what == "none":
            return _with(face, x), True
        value = x[first]
        held, signs, label = face.held.copy(), face.sign.copy(), face.run
        if what == "merge":
            still = run if held[run] else run + 1  # of two, the one that is held keeps its place exactly
            x[np.isin(label, (run, run + 1))] = value[still]
            held[run] = held[run] or held[run + 1]
            signs[run] = 0.0 if held[run] else signs[still]
            label = label - (label > run)
            return Face(face.alpha, x, label, np.delete(held, run + 1), np.delete(signs, run + 1)), False
        bounds = {"lower": self.lower[first[run]], "upper": self.upper[first[run]], "zero": 0.0}
        x[label == run] = bounds[what]
        held[run], signs[run] = True, 0.0
        return Face(face.alpha, x, label, held, signs), False

    def first_event(self, face: Face, d: Vector, length: float) -> tuple[float, str, int]:
        """Return how far to go, what is met there, and by which run."""
        first = _starts(face.run)
        x, what, which = face.x[first], "none", -1
        down, up = d < 0, d > 0
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            rooms = {
                "lower": np.where(down, (self.lower[first] - x) / d, np.inf),
                "upper": np.where(up, (self.upper[first] - x) / d, np.inf),
            }
            if face.alpha > 0:
                turns = (face.sign * d < 0) & ~face.held
                rooms["zero"] = np.where(turns, -x / d, np.inf)
            closing = d[:-1] - d[1:]
            beside = self.joined[first[1:] - 1] & (closing > 0)
            rooms["merge"] = np.where(beside, (x[1:] - x[:-1]) / closing, np.inf)
        for name, room in rooms.items():
            if len(room) and float(np.min(room)) < length:
                which = int(np.argmin(room))
                length, what = max(float(room[which]), 0.0), name
        return length, what, which

    def pressures(self, face: Face, pull: Vector, alpha: float) -> tuple[Vector, Vector]:
        """Return the upward pull of the part of each run from a place on, and the downward up to a place.

        Each is a sum over that part, less what the strength takes of it; -inf where a bound is in the way.
        """
        x, label = face.x, face.run
        held = np.where(face.held, 0.0, face.sign)[label]
        up_sign = np.where(held != 0, held, np.where(x >= 0, 1.0, -1.0))
        down_sign = np.where(held != 0, held, np.where(x > 0, 1.0, -1.0))
        up, down = self.parts(face, pull - alpha * up_sign)[0], self.parts(face, alpha * down_sign - pull)[1]
        return np.where(x < self.upper, up, -np.inf), np.where(x > self.lower, down, -np.inf)

    def parts(self, face: Face, values: Vector) -> tuple[Vector, Vector]:
        """Return sums of the part of each run from a place on, and of that up to a place."""
        first = _starts(face.run)
        last = np.append(first[1:], len(face.x)) - 1
        return _from_the_end(values, face.run, last), _from_the_start(values, face.run, first)

    def _let_go(self, face: Face) -> Face | None:
        """Split the run of which a part is pulled most, or let a held one go; None at the answer."""
        pull, noise = self.negative_gradient(face.x), self.noise(face.x)
        up, down = self.pressures(face, pull, face.alpha)
        first = _starts(face.run)
        last = np.append(first[1:], len(face.x)) - 1
        blur_up, blur_down = self.parts(face, noise)
        size = np.where(blur_up > 0, blur_up, 1.0), np.where(blur_down > 0, blur_down, 1.0)
        up, down = np.where(up > blur_up, up / size[0], 0.0), np.where(down > blur_down, down / size[1], 0.0)
        whole = ~face.held[face.run]  # a free run as a whole is where it wants to be
        starts, ends = np.zeros(len(up), dtype=bool), np.zeros(len(up), dtype=bool)
        starts[first], ends[last] = True, True
        up[whole & starts], down[whole & ends] = 0.0, 0.0
        if not len(up) or max(up.max(), down.max()) <= 0:
            return None
        if up.max() >= down.max():
            place = int(np.argmax(up))
            cut, part, sign = place, face.run[place] + (not starts[place]), 1.0
        else:
            place = int(np.argmax(down))
            cut, part, sign = place + 1, face.run[place], -1.0
        label, held, signs = face.run, face.held, face.sign
        old = int(face.run[place])
        if 0 < cut < len(label) and label[cut - 1] == label[cut]:
            label = label + (np.arange(len(label)) >= cut)
            held, signs = np.insert(held, old, held[old]), np.insert(signs, old, signs[old])
        held, signs = held.copy(), signs.copy()
        held[part] = False
        signs[part] = np.sign(face.x[place]) or sign
        return Face(face.alpha, face.x, label, held, signs)


def _with(face: Face, x: Vector) -> Face:
    return Face(face.alpha, x, face.run, face.held, face.sign)


def _starts(run: Indices) -> Indices:
    """Return the first place of each run."""
    return np.flatnonzero(np.diff(run, prepend=-1))


def _from_the_start(values: Vector, run: Indices, first: Indices) -> Vector:
    """Return sums within runs, from the start to each place, without what cancels between runs."""
    if len(first) == len(values):
        return np.array(values)
    found = np.array(values)
    for start, end in zip(first, np.append(first[1:], len(values)), strict=True):
        if end - start > 1:
            found[start:end] = np.cumsum(values[start:end])
    return found


def _from_the_end(values: Vector, run: Indices, last: Indices) -> Vector:
    """Return sums within runs, from each place to the end."""
    backwards = _from_the_start(values[::-1], run[::-1], (len(values) - 1 - last)[::-1])
    return backwards[::-1]


def _step(H: Matrix, pull: Vector) -> tuple[Vector, bool]:
    """Solve Hd = pull; where columns depend on each other and the pull goes along that, follow it alone."""
    size = np.sqrt(np.maximum(np.diagonal(H), 0.0))
    flat = size == 0
    size[flat] = 1.0
    scaled = H / size[:, None] / size
    scaled[flat, flat] = 1.0  # no row tells of such a column, and no pull moves it
    factor, failed = linalg.lapack.dpotrf(scaled, lower=0, clean=0)
    right = np.where(flat, 0.0, pull / size)
    if not failed and np.diagonal(factor).min() ** 2 > _DEPENDENT:
        found, _ = linalg.lapack.dpotrs(factor, right, lower=0)
        found = found + linalg.lapack.dpotrs(factor, right - scaled @ found, lower=0)[0]
        return np.where(flat, 0.0, found / size), True
    values, vectors = np.linalg.eigh(scaled)
    real = values > _DEPENDENT * values[-1]
    along = vectors.T @ right
    rest = vectors[:, ~real] @ along[~real]
    if np.abs(rest).max(initial=0.0) > 1e-9 * np.abs(right).max(initial=0.0) > 0:
        return np.where(flat, 0.0, rest / size), False
    found = vectors[:, real] @ (along[real] / values[real])
    return np.where(flat, 0.0, found / size), True
