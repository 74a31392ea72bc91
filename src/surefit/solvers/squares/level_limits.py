"""Bounds of coefficients, and groups of ordered levels among them, as arrays that solvers walk along."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from surefit.core.arrays import Matrix, Vector

Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class LevelLimits:
    """The set lower ≤ w ≤ upper, in which w does not fall along each group; levels of one are bounded alike.

    >>> LevelLimits(np.full(3, -1.0), np.full(3, 2.0), [[2, 0]]).project(np.array([0.5, 9.0, 1.5]))
    array([1., 2., 1.])
    """

    lower: Vector
    upper: Vector
    groups: list[list[int]]

    @cached_property
    def layout(self) -> Indices:
        """The columns in an order in which every group is in one piece."""
        grouped = [column for group in self.groups for column in group]
        single = np.setdiff1d(np.arange(len(self.lower)), grouped)
        return np.concatenate([np.asarray(grouped, dtype=np.intp), single]).astype(np.intp)

    @cached_property
    def joined(self) -> Flags:
        """Whether a place in the layout is in one group with the next."""
        found = np.zeros(max(len(self.lower) - 1, 0), dtype=bool)
        end = 0
        for group in self.groups:
            found[end : end + len(group) - 1] = True
            end += len(group)
        return found

    @property
    def bound(self) -> Flags:
        """Which columns have a bound, or a level beside them."""
        found = np.isfinite(self.lower) | np.isfinite(self.upper)
        found[[column for group in self.groups for column in group]] = True
        return found

    def project(self, w: Vector) -> Vector:
        """Return the nearest point of the set."""
        found = np.array(w, dtype=np.float64)
        for group in self.groups:
            if (np.diff(found[group]) < 0).any():
                found[group] = isotonic_regression(found[group]).x
        return np.clip(found, self.lower, self.upper)

    def holds(self, w: Vector) -> bool:
        """Whether a point is in the set, exactly."""
        inside = bool(((w >= self.lower) & (w <= self.upper)).all())
        return inside and all(bool((np.diff(w[group]) >= 0).all()) for group in self.groups)

    def rows(self) -> tuple[Matrix, Vector, Vector]:
        """Return A, low and high of low ≤ Aw ≤ high: a row for each bounded column and each two levels."""
        p = len(self.lower)
        single = np.flatnonzero(np.isfinite(self.lower) | np.isfinite(self.upper))
        pairs = [(a, b) for group in self.groups for a, b in pairwise(group)]
        A = np.zeros((len(single) + len(pairs), p))
        A[np.arange(len(single)), single] = 1.0
        for row, (below, above) in enumerate(pairs, len(single)):
            A[row, below], A[row, above] = -1.0, 1.0
        low = np.concatenate([self.lower[single], np.zeros(len(pairs))])
        return A, low, np.concatenate([self.upper[single], np.full(len(pairs), np.inf)])

    def multipliers(self, w: Vector, slope: Vector) -> tuple[Vector, Vector, tuple[Vector, ...]]:
        """Return those of bounds and of each two levels in a row that balance a slope at w best.

        Within equal levels the slope put in order is left to bounds; what that takes away adds up, level by
        level, to numbers that are not negative.
        """
        order, left = [], np.array(slope, dtype=np.float64)
        for group in self.groups:
            between = np.zeros(len(group) - 1)
            ends = np.flatnonzero(np.diff(w[group]) != 0) + 1
            for places in np.split(np.arange(len(group)), ends):
                if len(places) > 1:
                    own = -slope[group][places]
                    even = isotonic_regression(own).x
                    between[places[:-1]] = np.maximum(np.cumsum(own - even)[:-1], 0.0)
                    left[np.asarray(group)[places]] = -even
            order.append(between)
        lower = np.where(w == self.lower, np.maximum(left, 0.0), 0.0)
        return lower, np.where(w == self.upper, np.maximum(-left, 0.0), 0.0), tuple(order)

    def without(self, gone: Flags) -> LevelLimits:
        """Return the limits of the columns that are left where some are zero, which the set must allow.

        A level that is zero bounds those below and above it.
        """
        lower, upper, groups = self.lower.copy(), self.upper.copy(), []
        number = np.cumsum(~gone) - 1
        for group in self.groups:
            zeros = np.flatnonzero(gone[group])
            for place in zeros:
                upper[group[:place]] = np.minimum(upper[group[:place]], 0.0)
                lower[group[place + 1 :]] = np.maximum(lower[group[place + 1 :]], 0.0)
            for part in np.split(np.asarray(group), zeros):
                kept = [int(number[column]) for column in part if not gone[column]]
                groups += [kept] if len(kept) > 1 else []
        return LevelLimits(lower[~gone], upper[~gone], groups)

    def slope_of(self, lower: Vector, upper: Vector, order: tuple[Vector, ...]) -> Vector:
        """Return the slope that multipliers balance."""
        found = np.asarray(lower - upper, dtype=np.float64)
        for group, between in zip(self.groups, order, strict=True):
            found[group] -= np.diff(between, prepend=0.0, append=0.0)
        return found

    def slack_of(self, w: Vector, lower: Vector, upper: Vector, order: tuple[Vector, ...]) -> float:
        """Return multipliers times how far their constraints are from binding, added up; 0 at the answer."""
        below = np.where(lower > 0, w - self.lower, 0.0)
        above = np.where(upper > 0, self.upper - w, 0.0)
        found = float(lower @ below + upper @ above)
        for group, between in zip(self.groups, order, strict=True):
            found += float(between @ np.diff(w[group]))
        return found
