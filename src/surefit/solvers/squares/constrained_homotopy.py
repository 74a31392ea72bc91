r"""The path of the lasso within bounds and ordered levels: linear in the strength between a few knots.

At a strength, the minimiser lies on a face: runs of equal levels, free or held. While the strength changes,
free runs move along :math:`G_{FF} d = -s_F` and pulls of held ones change in a straight line, so that the
conditions of the answer give the whole stretch of strengths for which the face is right. Stretches are
computed from strengths between those that are known, until they cover the path without a hole: no event has
to be guessed, and several at one strength are nothing special.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from surefit.core.arrays import Vector
from surefit.core.blas_threads import one_blas_thread
from surefit.core.trace import Trace
from surefit.solvers.squares.active_set import ConstrainedQuadratic, Face
from surefit.solvers.squares.homotopy import LassoPath
from surefit.solvers.squares.level_limits import LevelLimits
from surefit.solvers.squares.sums import SquaredSums

_TOGETHER = 1e-10  # of a strength: closer than that, two knots are one


@dataclass(frozen=True, slots=True)
class _Segment:
    """Strengths from high to low for which one face is right; ``d`` is its change for a fall by one."""

    face: Face
    d: Vector
    high: float
    low: float

    def at(self, alpha: float) -> Vector:
        return np.asarray(self.face.x + (self.face.alpha - alpha) * self.d)


def constrained_lasso_path(
    problem: SquaredSums,
    limits: LevelLimits,
    *,
    alpha_min: float = 0.0,
    max_iter: int = 500,
    most_active: int | None = None,
    trace: Trace | None = None,
) -> LassoPath:
    r"""Follow the minimisers of :math:`\frac{1}{2W} \sum_i s_i (y_i - x_i'w - b)^2 + \alpha \|w\|_1` down.

    Every one is the best within the limits. Where these do not let a coefficient be zero, the path begins at
    the bound next to it. most_active: how many coefficients may differ from zero; the path ends before more
    do.

    >>> sums = SquaredSums(np.eye(2), np.array([4.0, 2.0]), 20.0, np.zeros(2), 0.0)
    >>> path = constrained_lasso_path(sums, LevelLimits(np.zeros(2), np.array([1.0, 9.0]), []))
    >>> path.alphas, path.coefs.toarray()
    (array([4., 3., 2., 0.]), array([[0., 1., 1., 1.],
           [0., 0., 0., 2.]]))
    """
    with one_blas_thread():
        walk = _Walk(ConstrainedQuadratic(problem.gram, problem.cross, problem.energy, limits), alpha_min)
        return walk.down(max_iter, most_active, problem.mean_x, Trace() if trace is None else trace)


class _Walk:
    """Knots from strong to weak, and the stretches below that are known already."""

    def __init__(self, quadratic: ConstrainedQuadratic, alpha_min: float) -> None:
        self._quadratic, self._end = quadratic, alpha_min
        self._first = self._largest()
        self._known: list[_Segment] = []

    def _largest(self) -> float:
        """Return the strength above which the smallest point of the set is the best."""
        quadratic = self._quadratic
        face = quadratic.face_at(1.0, quadratic.coef_at_rest())
        pull, noise = quadratic.negative_gradient(face.x), quadratic.noise(face.x)
        pull = np.where(np.abs(pull) <= noise, 0.0, pull)
        sizes = quadratic.pressures(face, np.zeros_like(pull), -1.0)  # how many places each part has
        most = 0.0
        for each, size in zip(quadratic.pressures(face, pull, 0.0), sizes, strict=True):
            share = np.divide(each, size, out=np.zeros_like(each), where=np.isfinite(each))
            most = max(most, float(share.max(initial=0.0)))
        return most

    def down(self, limit: int, most_active: int | None, centre: Vector, trace: Trace) -> LassoPath:
        quadratic = self._quadratic
        alpha = max(self._first, self._end)
        knots = [(alpha, quadratic.least)]
        steps = 0
        for _ in trace.iterations(limit) if alpha > self._end else ():
            stretch = self._below(alpha, knots[-1][1])
            inside = stretch.at(0.5 * (alpha + stretch.low))
            if most_active is not None and np.count_nonzero(inside) > most_active:
                break
            alpha = stretch.low
            knots.append((alpha, self._tidy(stretch, alpha)))
            steps += 1
            size = float(np.abs(knots[-1][1]).sum())
            trace.record(step=alpha, size=size, active=float(np.count_nonzero(knots[-1][1])))
            if alpha <= self._end:
                break
        return self._path(knots, centre, steps)

    def _tidy(self, stretch: _Segment, alpha: float) -> Vector:
        """Return the point of a stretch at a strength; what rounding left beside limits goes to them."""
        quadratic, x = self._quadratic, stretch.at(alpha)
        # A knot is known to the rounding of its strength, and a coefficient to that of the way it has come.
        blur = 1e-10 * (np.abs(stretch.face.x) + np.abs(x - stretch.face.x))
        x[np.abs(x) <= blur] = 0.0
        for bound in (quadratic.lower, quadratic.upper):
            x = np.where(np.abs(x - bound) <= blur, bound, x)  # infinite ones are never near
        limits = quadratic.limits
        w = np.empty_like(x)
        w[limits.layout] = x
        return np.asarray(limits.project(w)[limits.layout])

    def _below(self, alpha: float, x: Vector) -> _Segment:
        """Return the stretch that begins at a strength, down from where the path has come to."""
        while not self._known or self._known[-1].high < (1 - _TOGETHER) * alpha:
            low = self._known[-1].high if self._known else self._end
            self._known.append(self._stretch(0.5 * (alpha + low), x))
        return self._known.pop()

    def _stretch(self, alpha: float, start: Vector) -> _Segment:
        """Solve at a strength, and ask from which to which its face is right."""
        quadratic = self._quadratic
        w = np.empty_like(start)
        w[quadratic.limits.layout] = start
        face = quadratic.solve(alpha, w)
        sign = np.where(face.held, 0.0, face.sign)[face.run]
        d, ends = quadratic.direction(face, sign)
        if not ends:
            d = np.zeros_like(d)
        low, high = self._of_values(face, d)
        least, most = self._of_pulls(face, d)
        return _Segment(face, d, max(min(high, most), alpha), min(max(low, least, self._end), alpha))

    def _of_values(self, face: Face, d: Vector) -> tuple[float, float]:
        """Return the strengths between which free runs stay between bounds, levels and zero."""
        quadratic = self._quadratic
        starts = np.flatnonzero(np.diff(face.run, prepend=-1))
        down, _, _ = quadratic.first_event(face, d[starts], np.inf)
        up, _, _ = quadratic.first_event(face, -d[starts], np.inf)
        return face.alpha - down, face.alpha + up

    def _of_pulls(self, face: Face, d: Vector) -> tuple[float, float]:
        """Return the strengths between which no part of a run is pulled away.

        Every pull is that at strength 0 plus a slope times the strength: written so, columns in small units
        keep their digits beside those in large ones.
        """
        quadratic = self._quadratic
        end = face.x + face.alpha * d
        rest = quadratic.pressures(face, quadratic.negative_gradient(end), 0.0)
        rise = quadratic.pressures(face, quadratic.G @ d, 1.0)
        blur = quadratic.parts(face, quadratic.noise(end))
        starts = np.flatnonzero(np.diff(face.run, prepend=-1))
        last = np.append(starts[1:], len(face.x)) - 1
        low, high = 0.0, np.inf
        for side, edge in ((0, starts), (1, last)):
            over, slope = rest[side] - blur[side], rise[side]
            some = np.isfinite(rest[side])
            some[edge[~face.held]] = False  # a free run as a whole stays where its pull is zero
            falls, rises = some & (slope < 0), some & (slope > 0)
            low = max(low, float(np.max(over[falls] / -slope[falls], initial=0.0)))
            high = min(high, float(np.min(np.maximum(-over[rises], 0.0) / slope[rises], initial=np.inf)))
        return low, high

    def _path(self, knots: list[tuple[float, Vector]], centre: Vector, steps: int) -> LassoPath:
        order = self._quadratic.limits.layout
        coefs = np.empty((len(order), len(knots)))
        for column, (_, x) in enumerate(knots):
            coefs[order, column] = x
        joined = [int(np.argmax(row != 0)) if row.any() else len(knots) for row in coefs]
        there = np.flatnonzero(coefs[:, -1])
        active = there[np.argsort(np.asarray(joined)[there], kind="stable")].astype(np.int64)
        alphas = np.array([alpha for alpha, _ in knots])
        return LassoPath(alphas, sparse.csc_array(coefs), active, centre, steps, alphas[-1] <= self._end)
