"""Bounds and ordered levels that coefficients keep: a convex set as the kernels read it, and its projection.

The levels of a group share their bounds. Neighbours that fall are pooled to their mean, which gives the
nearest levels in order; clipping by common bounds keeps an order, so that the two together are the nearest
point that is in order and within the bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector

Columns = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class CoefficientSet:
    """One bound a column on either side, infinite for none, and the columns of each group of ordered levels.

    members: the columns of the first group in the order of their levels, then those of the next. starts:
    where each group begins among them, and where the last one ends.

    >>> ordered = CoefficientSet.of(np.full(3, -np.inf), np.full(3, 2.5), [[0, 1, 2]])
    >>> ordered.project(np.array([1.0, 4.0, 2.0]))
    array([1. , 2.5, 2.5])
    """

    lower: Vector
    upper: Vector
    members: Columns
    starts: Columns

    @classmethod
    def of(cls, lower: Vector, upper: Vector, groups: Sequence[Sequence[int]] = ()) -> CoefficientSet:
        """Return the set of these bounds and groups, as arrays that a kernel can read."""
        members = np.array([j for group in groups for j in group], dtype=np.int64)
        starts = np.cumsum([0, *map(len, groups)], dtype=np.int64)
        return cls(
            np.array(lower, dtype=np.float64, order="C"), np.array(upper, dtype=np.float64), members, starts
        )

    @property
    def cone(self) -> bool:
        """Whether every multiple of a point of the set is in it."""
        bounds = np.concatenate([self.lower, self.upper])
        return not np.any(np.isfinite(bounds) & (bounds != 0))

    def project(self, w: Vector) -> Vector:
        """Return the nearest point of the set: exactly at a bound, or equal to the level before, if held."""
        near = np.array(w, dtype=np.float64)
        for start, end in zip(self.starts[:-1], self.starts[1:], strict=True):
            group = self.members[start:end]
            near[group] = pooled(near[group])
        return np.minimum(np.maximum(near, self.lower), self.upper)

    def owing(self, w: Vector) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which coefficients owe an absolute penalty for being above 0, and which for being below.

        A side that a coefficient cannot be on owes nothing: the projection takes it all.
        """
        return (w > 0) & (self.upper > 0), (w < 0) & (self.lower < 0)

    def paid(self, w: Vector, before: Vector, owed: float) -> Vector:
        """Return what coefficients moved to w have paid of an absolute penalty: all that their side owes.

        Debts of the side that a coefficient came from would press it for ever.
        """
        above, below = (w > 0) | ((w == 0) & (self.lower >= 0)), (w < 0) | (self.upper <= 0)
        return np.where(above, -owed, np.where(below, owed, before))


def pooled(levels: Vector) -> Vector:
    """Return the nearest levels in order: neighbours that fall are pooled to their mean.

    >>> pooled(np.array([1.0, 4.0, 2.0, 5.0]))
    array([1., 3., 3., 5.])
    """
    pools: list[tuple[float, float, int]] = []  # mean, sum and size
    for level in levels.tolist():
        pools.append((level, level, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (_, last, more), (_, total, size) = pools.pop(), pools.pop()
            pools.append(((total + last) / (size + more), total + last, size + more))
    return np.repeat([mean for mean, _, _ in pools], [size for _, _, size in pools])
