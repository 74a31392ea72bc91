r"""Piecewise-linear losses with absolute and squared penalties: quantiles, hinges and tubes.

An interior point gets near (``interior``), the face that it is near is solved for exactly
(``face``), and the slopes of that face are the dual point that proves it. Of many rows most are
plainly on one side of their kink: a sample tells which, they are aggregated into their mean
(``rows``), and the small problem that is left is solved instead (Portnoy and Koenker, 1997). Rows
that turn out to be on the other side come back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.core.trace import Trace
from surefit.solvers.kinked.face import exact_face, optimal_face, solved_face, vertex, without_tie
from surefit.solvers.kinked.interior import Interior
from surefit.solvers.kinked.rows import AggregatedRows, KinkedRows, capped
from surefit.solvers.kinked.scaling import Units
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.by_output import solve_by_output
from surefit.solvers.objective.solver import Needs, Solution, Solver, Stop

MOST_COLUMNS = 3000  # their square is kept, and solved with
ROUGH = 1e-3  # the gap to which a sample is solved: it is not the answer
NEAR = 1e-3  # the gap from which on a face is looked for
LEAST = 1e-14  # of the first gap: so close, and no face found, the point itself is the answer
MANY = 4000  # rows from which aggregating them pays
ROUNDS = 8
PROGRAMME = 200_000  # numbers in a table that a simplex takes a second or two over, where all else failed


@dataclass(frozen=True, slots=True)
class Point:
    """Where the search is, with flat slopes, and whether it is ready to be proved.

    Value and gap are those of the problem in hand, which may be that of a sample, or have aggregated rows.
    """

    w: Vector
    u: Vector
    value: float
    gap: float
    ready: bool = False
    step: float = 1.0


class FrischNewton(Solver):
    """An interior point, then the face it is near, exactly; one weighted square of the rows an iteration.

    >>> from surefit.losses import Absolute
    >>> from surefit.penalties import NoPenalty
    >>> objective = Objective.of_arrays([[0.0], [1.0], [2.0]], [0.0, 1.0, 9.0], Absolute(), NoPenalty())
    >>> solution = FrischNewton().solve(objective)
    >>> abs(solution.certificate.value) < 1e-12
    True
    """

    name = "frisch_newton"
    needs = Needs(loss=("convex", "kinks", "conjugate"), penalty=("convex", "table", "conjugate"), rows=True)
    accuracy: ClassVar[Literal["exact", "second order", "first order"]] = "second order"

    def _refusal(self, objective: Objective) -> str | None:
        if objective.columns > MOST_COLUMNS:
            return (
                f"solver {self.name!r} forms a Gram matrix of at most {MOST_COLUMNS} columns, "
                f"and there are {objective.columns}."
            )
        table = objective.penalty.table(objective.columns)
        if np.isfinite(table.lower).any() or np.isfinite(table.upper).any():
            return (
                f"solver {self.name!r} does not support bounds, which {type(objective.penalty).__name__} has."
            )
        return None

    def solve(
        self, objective: Objective, start: Vector | None = None, trace: Trace | None = None
    ) -> Solution:
        """Minimise from a packed point, or from the objective's ``null``."""
        self.require(objective)
        trace = Trace() if trace is None else trace
        if objective.outputs is not None:
            return solve_by_output(self, objective, start, trace)
        packed = objective.null if start is None else start
        if objective.value(packed) <= objective.targets.floor / objective.targets.weight:
            return self.finish(objective, np.array(packed), trace, "certificate")  # nothing can be better
        units = Units.of(objective)
        tolerance = self.tolerance * objective.scale / units.value
        first = units.inner(packed)
        search = _searched(units, first, start is not None, tolerance)
        point = Point(first, np.zeros(0), np.inf, np.inf)
        best: tuple[Vector, Vector, Certificate] | None = None
        stopped: Stop = "limit"
        for _ in trace.iterations(self.max_iter):
            objective.passes += 1
            found = next(search, None)
            point = point if found is None else found
            w = units.outer(point.w)
            gap = point.gap * units.value / objective.scale
            if point.ready and found is not None:
                slopes = units.slopes(point.u)
                proof = objective.certificate(w, self.tolerance, slopes)
                gap = proof.value
                if best is None or proof.value < best[2].value:
                    best = w, slopes, proof
            value = point.value * units.value
            trace.record(objective=value, gap=gap, step=point.step, passes=objective.passes)
            if best is not None and best[2].holds:
                stopped = "certificate"
                break
            if found is None:
                stopped = "stalled"
                break
        if best is None:
            last = units.slopes(point.u) if len(point.u) else None
            return self.finish(objective, units.outer(point.w), trace, stopped, slopes=last)
        return self.finish(objective, best[0], trace, stopped, slopes=best[1], proof=best[2])


def _searched(units: Units, start: Vector, warm: bool, tolerance: float) -> Iterator[Point]:
    """Yield points that get closer; those that are ready may be the answer."""
    squares = bool((units.rows.l2 > 0).any())
    for rows in capped(units.rows):
        if not squares:
            yield from _through(replace(rows, tie=units.tie), start, warm, tolerance)
            warm = False  # the ties were too strong for this problem
        yield from _through(rows, start, warm, tolerance)
        warm = False
    if not squares and units.rows.rows * len(start) <= PROGRAMME:
        for rows in capped(units.rows):
            found = vertex(rows)
            if found is not None:
                value = rows.value(rows.scores(found[0]), found[0])
                yield Point(*found, value, 0.0, True)


def _through(rows: KinkedRows, start: Vector, warm: bool, tolerance: float) -> Iterator[Point]:
    if rows.rows >= max(MANY, 20 * len(start)) and not warm:
        yield from _with_aggregated_rows(rows, start, tolerance)
    else:
        yield from _alone(rows, start, warm, tolerance)


def _alone(rows: KinkedRows, start: Vector, warm: bool, tolerance: float) -> Iterator[Point]:
    inside = Interior(rows, start)
    if warm:
        yield from _same_face(inside)
    size = max(inside.slack, 1e-300)
    gap = size
    while gap > LEAST * size and inside.step():
        gap = inside.slack
        face = exact_face(inside, gap <= tolerance) if gap <= max(NEAR * size, tolerance) else None
        if face is not None and rows.tie.any():
            face = without_tie(rows, face)
        if face is not None and not rows.l2.any():
            face = optimal_face(replace(rows, tie=np.zeros_like(rows.tie)), face)
        if face is None:
            yield Point(inside.w, inside.u, inside.value, gap, False, inside.share)
            continue
        yield Point(face.w, face.u, inside.value, gap, True, inside.share)
    yield Point(inside.w, inside.u, inside.value, gap, True, inside.share)


def _same_face(inside: Interior) -> Iterator[Point]:
    """Yield the answer if the start sits on its kinks already."""
    r = inside.residuals()
    met = np.flatnonzero(np.abs(r) <= 1e-9 * float(np.mean(np.abs(r))))
    face = solved_face(inside.rows, inside.w, 0.5 * (inside.low + inside.high), r, met)
    if face is not None:
        yield Point(face.w, face.u, inside.value, np.inf, True)


def _with_aggregated_rows(rows: KinkedRows, start: Vector, tolerance: float) -> Iterator[Point]:
    n, q = rows.rows, len(start)
    some = min(n // 4, max(1000, int((n * q) ** (2 / 3)) // 2))
    sample = np.sort(np.random.Generator(np.random.Philox(0)).choice(n, some, replace=False))
    # A row that counts for more than a sampled one stands for itself.
    heavy = rows.weight > rows.weight.sum() / some
    sample = np.union1d(sample[~heavy[sample]], np.flatnonzero(heavy))
    inside = Interior(rows.some(sample, np.where(heavy[sample], 1.0, n / some)), start)
    first = inside.slack
    while inside.slack > ROUGH * first and inside.step():
        yield Point(inside.w, np.zeros(0), inside.value, inside.slack, False, inside.share)
    w, keep = inside.w, 2 * some
    z = rows.scores(w)
    close = heavy.copy()
    for _ in range(ROUNDS):
        before = z - rows.at
        nearest = np.abs(before).min(axis=0)
        if keep >= n // 2:
            break
        close |= nearest <= np.partition(nearest, keep)[keep]
        aggregated = AggregatedRows.of(rows, before, close)
        for point in _alone(aggregated.small, w, False, tolerance):
            if not point.ready:
                yield replace(point, u=np.zeros(0))
                continue
            w, z = point.w, rows.scores(point.w)
            back = aggregated.changed(before, z - rows.at)
            if not back.any():
                yield replace(point, u=aggregated.slopes(point.u))
                continue
            yield replace(point, u=np.zeros(0), ready=False)
            close |= back
            keep = 2 * keep if np.count_nonzero(back) > keep // 4 else 0
            break
        else:
            break
    yield from _alone(rows, w, False, tolerance)
