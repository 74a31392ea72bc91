r"""Which columns a sparse solution can need: those that are safe to leave out, and those to look at next.

A column rests at zero as long as its slope stays between -l1 and l1. The slopes at the optimum lie within
:math:`rms_j \sqrt{2 gap}` of those of the dual point, which shows some columns to be zero for good (gap-safe
screening). Of the others, the nearest to their constraint enter first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.penalties.coordinate_table import CoordinateTable

Indices = NDArray[np.int64]
FEWEST = 64  # columns of the first working set
_SAFE = 1 + 1e-9  # rounding must not screen a column out


def admissible_slopes(table: CoordinateTable, slopes: Vector) -> Vector:
    """Return each slope in the direction in which a coefficient at zero may move.

    >>> one = np.ones(2)
    >>> admissible_slopes(CoordinateTable(one, 0 * one, 0 * one, np.inf * one), np.array([3.0, -3.0]))
    array([ 3., -3.])
    """
    if np.all(table.lower < 0) and np.all(table.upper > 0):
        return np.abs(slopes)
    up = np.where(table.upper > 0, slopes, -np.inf)
    return np.maximum(up, np.where(table.lower < 0, -slopes, -np.inf))


def safe_to_drop(
    table: CoordinateTable, slopes: Vector, factor: float, rms: Vector, gap: float
) -> NDArray[np.bool_]:
    """Return which coefficients are zero in every solution, by the dual point ``factor`` times the residual.

    >>> one, free = np.ones(2), np.full(2, np.inf)
    >>> safe_to_drop(CoordinateTable(one, 0 * one, -free, free), np.array([0.1, 1.0]), 1.0, one, 0.02)
    array([ True, False])
    """
    reach = admissible_slopes(table, factor * slopes) + _SAFE * np.sqrt(2 * gap) * rms
    return np.asarray((reach < table.l1) & (table.lower <= 0) & (table.upper >= 0))


def next_columns(
    table: CoordinateTable,
    slopes: Vector,
    rms: Vector,
    candidates: NDArray[np.bool_],
    support: int,
    fewest: int = FEWEST,
) -> Indices:
    """Return the candidates to let in: those pulled hardest over their constraint, in multiples of rms.

    The hardest pulled come first. There are up to twice as many as there are non-zero coefficients already;
    few violations end the growth.
    """
    open_ = np.flatnonzero(candidates)
    excess = admissible_slopes(table, slopes)[open_] - table.l1[open_]
    violating = int(np.count_nonzero(excess > 0))
    room = min(
        len(open_),
        max(fewest, min(2 * support, violating // 2), support),
        max(violating + violating // 4, 8),
    )
    if room == 0:
        return np.empty(0, dtype=np.int64)
    with np.errstate(divide="ignore", invalid="ignore"):
        score = excess / rms[open_]
    if room < len(open_):
        first = np.argpartition(-score, room - 1)[:room]
        open_, score = open_[first], score[first]
    return open_[np.argsort(-score, kind="stable")]
