"""Lloyd's iterations: every row to its nearest centre, every centre to the mean of its rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.trace import Trace
from surefit.models.cluster.kmeans.passes import Passes, Sums

OUTWARD = 1 + 1e-12  # so that rounding never makes a movement smaller than it is


@dataclass(frozen=True, slots=True)
class Scale:
    """What costs are measured by: the mean of the columns, their scatter about it, and their mean
    variance.
    """

    mean: Vector
    scatter: float
    variance: float


@dataclass(frozen=True, slots=True)
class Found:
    """Where iterations ended: centres, weights of their clusters, and the cost of putting rows to them."""

    centres: Matrix
    weight: Vector
    cost: float
    iterations: int
    shift: float  # by which means of the clusters differ from the centres, in deviations


def means_of(sums: Sums, centres: Matrix) -> Matrix:
    """The mean of each cluster; where it has no weight, its centre as it was."""
    some = sums.weight > 0
    weight = np.where(some, sums.weight, 1.0)[:, None]
    return np.where(some[:, None], sums.columns / weight, centres)


def refilled(sums: Sums, centres: Matrix, passes: Passes) -> Sums:
    """The sums with the rows farthest from their centre, one for each cluster without weight, moved there.

    They are taken in the order of their distance, equal rows together; where no more rows lie off their
    centre, a cluster stays without rows and its centre where it was.
    """
    empty = np.flatnonzero(sums.weight <= 0)
    if not len(empty):
        return sums
    far = passes.farthest(centres, len(empty))
    columns, weight = sums.columns.copy(), sums.weight.copy()
    for cluster, row, label, s in zip(empty, far.X, far.labels, far.weight, strict=False):
        columns[label] -= s * row
        weight[label] -= s
        columns[cluster], weight[cluster] = s * row, s
    gone = (weight <= 1e-12 * sums.weight) & (sums.weight > 0)  # its only row has left
    return Sums(columns, np.where(gone, 0.0, weight), sums.computed)


def cost_of(sums: Sums, centres: Matrix, scale: Scale) -> float:
    r"""The cost of clusters about given centres, from their sums:
    :math:`T - 2 \sum_k S_k \cdot c_k + \sum_k W_k |c_k|^2`, all about the mean of the table.
    """
    shifted, about = sums.columns - sums.weight[:, None] * scale.mean, centres - scale.mean
    cost = scale.scatter + float((about * (sums.weight[:, None] * about - 2.0 * shifted)).sum())
    return max(cost, 0.0)


def lloyd(
    passes: Passes,
    centres: Matrix,
    scale: Scale,
    limit: int,
    tol: float,
    trace: Trace,
    learned: Callable[[Found], Any] | None = None,
) -> Found:
    """Iterate until the centres stay where they are, to ``tol`` mean variances of squared movement."""
    allowed = tol * scale.variance
    sums = passes.step(centres, None)
    done, count, ahead = sums.computed, 0, np.inf
    for _ in trace.iterations(limit):
        count += 1
        target = means_of(refilled(sums, centres, passes), centres)
        halfway = cost_of(sums, target, scale)
        moved = np.linalg.norm(target - centres, axis=1) * OUTWARD
        centres = target
        sums = passes.step(centres, moved)
        done += sums.computed
        ahead = float(np.square(means_of(sums, centres) - centres).sum())
        now = partial(_found, passes, centres, sums, count, np.sqrt(ahead / scale.variance))
        trace.record(
            objective=cost_of(sums, centres, scale),
            gap=ahead / scale.variance,
            step=float(np.linalg.norm(moved)),
            passes=count + 1,
            learned=None if learned is None else _Later(learned, now),
            after_means=halfway,
            distances=float(done),
        )
        if not (sums.weight > 0).all() and passes.farthest(centres, 1).X.size:
            continue  # a cluster is to be filled again
        if ahead == 0.0 or (ahead <= allowed and float(moved @ moved) <= allowed):
            count += ahead == 0.0 and moved.any()  # the iteration that would have changed nothing
            break
    return _found(passes, centres, sums, min(count, limit), np.sqrt(ahead / scale.variance))


def _found(passes: Passes, centres: Matrix, sums: Sums, count: int, shift: float) -> Found:
    return Found(centres, sums.weight, passes.cost(centres), count, float(shift))


@dataclass(frozen=True, slots=True)
class _Later:
    learned: Callable[[Found], Any]
    found: Callable[[], Found]

    def __call__(self) -> Any:
        return self.learned(self.found())
