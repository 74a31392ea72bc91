r"""Dykstra's projection to the intersection of convex sets, sped up, and the proof of where it ended.

The nearest common point of the sets to v is :math:`w = v - \sum_i u_i`, where the corrections :math:`u_i`
maximise the dual :math:`\langle v, \sum u_i \rangle - \frac12 \|\sum u_i\|^2 - \sum_i \sigma_i(u_i)`, with
the support functions of the sets. Dykstra's round maximises over one correction after the other. It may
stand still for as long as v is far away, and near the answer it gains the same few digits a round; so the
rounds are mixed as Anderson's method mixes those of any fixed point; a mixture counts where the dual rises.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.penalties.arrays import coefficients
from surefit.penalties.base import Penalty

DIRECT = 200  # rounds before stages are tried
STRIDE = 8.0  # from one stage to the next, corrections grow with the distance or stay
MEMORY = 8  # rounds that are mixed; more gain little
ROUNDING = 8 * float(np.finfo(np.float64).eps)  # a round is a handful of sums and projections

BLUR, PATIENCE = 1e-11, 20  # so near that only roundings may be left; rounds to wait there for half the way


@dataclass(frozen=True, slots=True)
class Round:
    """Corrections after a round, the point that they lead to, and the dual that they reach."""

    corrections: Matrix  # one set after the other
    point: Vector
    dual: float
    moved: float  # the largest change of a coordinate by a set
    size: float  # the largest number met


@dataclass(frozen=True, slots=True)
class Projection:
    """A point, and what each set took away on the way to it: the point given is the sum of them all."""

    point: Vector
    corrections: Matrix
    rounds: int
    settled: bool


def one_round(sets: Sequence[Penalty], v: Vector, corrections: Matrix) -> Round:
    """Give each set in turn back what it took away, and project; any corrections may be the start."""
    point = v - corrections.sum(axis=0)
    taken, moved, supports = np.empty_like(corrections), 0.0, 0.0
    size = float(np.abs(v).max(initial=0.0))
    for index, each in enumerate(sets):
        asked = point + corrections[index]
        nearest = coefficients(each.prox(asked, 1.0))
        taken[index] = asked - nearest
        moved = max(moved, float(np.abs(nearest - point).max(initial=0.0)))
        size = max(size, float(np.abs(asked).max(initial=0.0)))
        supports += float(np.sum(taken[index] * nearest))  # what is taken is normal to the set there
        point = nearest
    total = taken.sum(axis=0)
    dual = float(np.sum((v - 0.5 * total) * total)) - supports
    return Round(taken, point, dual, moved, size)


def nearest_common_point(sets: Sequence[Penalty], v: Vector, max_rounds: int) -> Projection:
    """Run rounds until no set moves the point by more than roundings; a far point is come to in stages."""
    found = _rounds(sets, v, np.zeros((len(sets), *v.shape)), min(DIRECT, max_rounds))
    if found.settled:
        return found
    near = _some_common_point(sets, v)
    way, size = v - near, np.abs(near).max(initial=0.0)
    far = np.abs(way).max(initial=0.0) / size if size > 0 else 1.0
    stages = max(int(np.ceil(np.log(max(far, 1.0)) / np.log(STRIDE))), 0)
    corrections = np.zeros((len(sets), *v.shape))
    for stage in range(stages, -1, -1):
        limit = max_rounds if stage == 0 else min(DIRECT, max_rounds)
        found = _rounds(sets, near + way / STRIDE**stage, STRIDE * corrections, limit)
        corrections = found.corrections
    return found


def _some_common_point(sets: Sequence[Penalty], v: Vector) -> Vector:
    """Project to one set after the other: whatever the distance, this leads near a common point at once."""
    for _ in range(50):
        before = v
        for each in sets:
            v = coefficients(each.prox(v, 1.0))
        if np.abs(v - before).max(initial=0.0) <= 1e-3 * np.abs(v).max(initial=0.0):
            break
    return v


def _rounds(sets: Sequence[Penalty], v: Vector, before: Vector, max_rounds: int) -> Projection:
    """Run rounds from given corrections: mixed ones while that helps, else in ever longer strides."""
    now = one_round(sets, v, before)
    starts: deque[Matrix] = deque(maxlen=MEMORY)
    ends: deque[Matrix] = deque(maxlen=MEMORY)
    mixing, rounds, least, since = True, 1, now.moved, 0
    while rounds < max_rounds and now.moved > ROUNDING * now.size and since < PATIENCE:
        # Among the roundings there is no way on, and where the sets meet at a flat angle they are many.
        since = 0 if now.moved < 0.5 * least or now.moved > BLUR * now.size else since + 1
        least = min(least, now.moved)
        starts.append(before)
        ends.append(now.corrections)
        candidate = _mixture(starts, ends) if mixing else _stride(starts, ends)
        tried = one_round(sets, v, candidate)
        rounds += 1
        rise, blur = tried.dual - now.dual, ROUNDING * v.size * now.size**2
        # Where rounding hides the dual, a mixture has to calm the sets; a stride may find them as they were.
        calm = 0.95 if mixing and len(starts) > 2 else 1 + 1e-6
        if rise > blur or (rise >= -blur and tried.moved <= calm * now.moved):
            before, now = candidate, tried
            continue
        starts.clear()
        ends.clear()
        mixing = not mixing
        before, now = now.corrections, one_round(sets, v, now.corrections)
        rounds += 1
    return Projection(now.point, now.corrections, rounds, now.moved <= BLUR * now.size)


def _stride(starts: deque[Matrix], ends: deque[Matrix]) -> Vector:
    """Return where twice the way since the last round leads, so that each stride is thrice the one before.

    Between ends of rounds, as what a start has off the sets' normals would grow along with the strides.
    """
    since = ends[-2] if len(ends) > 1 else starts[-1]
    return ends[-1] + 2 * (ends[-1] - since)


def _mixture(starts: deque[Matrix], ends: deque[Matrix]) -> Vector:
    """Return the mixture of the last rounds whose steps cancel best."""
    steps = [end - start for start, end in zip(starts, ends, strict=True)]
    if len(steps) == 1:
        return ends[-1]
    change = np.array([(steps[-1] - step).ravel() for step in steps[:-1]]).T
    lengths = np.linalg.norm(change, axis=0)
    lengths[lengths == 0] = 1.0
    shares = np.linalg.lstsq(change / lengths, steps[-1].ravel(), rcond=1e-12)[0] / lengths
    moves = np.array([(ends[-1] - end).ravel() for end in list(ends)[:-1]]).T
    mixed: Vector = ends[-1] - (moves @ shares).reshape(steps[-1].shape)
    return mixed


def projection_certificate(
    sets: Sequence[Penalty],
    v: ArrayLike,
    point: ArrayLike,
    corrections: Sequence[ArrayLike] | Matrix,
    tolerance: float = 1e-10,
) -> Certificate:
    r"""Recompute how far a point can be from the projection of v to all sets, from projections alone.

    With :math:`z_i = P_i(w + u_i)`, what is taken away, :math:`u_i' = w + u_i - z_i`, is normal to set i at
    :math:`z_i`, so that :math:`u'` is a dual point: no common point of the sets lowers :math:`\frac12\|w -
    v\|^2` by more than :math:`\sum_i \langle u_i', z_i - w \rangle + \frac12 \|w - v + \sum_i u_i'\|^2`.
    """
    start, w = coefficients(v), coefficients(point)
    gap, rest, distances = 0.0, w - start, []
    for each, given in zip(sets, corrections, strict=True):
        asked = w + np.asarray(given, dtype=np.float64)
        nearest = coefficients(each.prox(asked, 1.0))
        gap += float(np.sum((asked - nearest) * (nearest - w)))
        rest = rest + (asked - nearest)
        distances.append(float(np.linalg.norm(w - each.prox(w, 1.0))))
    gap += 0.5 * float(np.sum(rest**2))
    length = max(float(np.linalg.norm(start)), float(np.linalg.norm(w))) or 1.0
    return Certificate(
        "optimal",
        "gap of the projection or distance to a set, relative to the length of the point",
        max(abs(gap) / length**2, max(distances) / length),
        tolerance,
        {"gap": gap} | {f"distance to sets[{i}]": distance for i, distance in enumerate(distances)},
        {"point": w, "corrections": tuple(corrections)},
    )
