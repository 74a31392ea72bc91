r"""Rows of coefficients that do not fall along groups of levels, target by target, and their multipliers.

With :math:`(DV)_i = V_{i + 1} - V_i \ge 0` along each group, any :math:`\lambda \ge 0` proves a bound: the
slope that is left to the penalty is :math:`u + D'\lambda`, and :math:`\langle \lambda, DV \rangle` is lost.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from surefit.core.arrays import Matrix

Indices = NDArray[np.intp]
Multipliers = tuple[Matrix, ...]  # of each group: (levels - 1, targets)


class LevelOrder:
    """Groups of row numbers, each in the order of its levels; there may be none.

    >>> order = LevelOrder([[0, 1]])
    >>> order.project(np.array([[3.0, 1.0], [1.0, 2.0]]))
    array([[2., 1.],
           [2., 2.]])
    """

    def __init__(self, groups: Sequence[Sequence[int] | Indices]) -> None:
        self.groups: list[Indices] = [np.asarray(group, dtype=np.intp) for group in groups]
        self.rows: Indices = np.concatenate(self.groups) if self.groups else np.zeros(0, dtype=np.intp)

    def among(self, some: Indices) -> LevelOrder:
        """Return the same order of some rows, which hold all of each group."""
        place = np.full(int(some.max(initial=0)) + 1, -1)
        place[some] = np.arange(len(some))
        return LevelOrder([place[group] for group in self.groups])

    def project(self, V: Matrix) -> Matrix:
        """Return the nearest rows in order."""
        found = V
        for group in self.groups:
            levels = V[group]
            for k in np.flatnonzero((levels[1:] < levels[:-1]).any(axis=0)):
                found = V.copy() if found is V else found
                found[group, k] = isotonic_regression(levels[:, k]).x
        return found

    def transposed_differences(self, multipliers: Multipliers, shape: tuple[int, ...]) -> Matrix:
        """Return D' times the multipliers, D being the differences of levels in a row."""
        found = np.zeros(shape)
        for group, each in zip(self.groups, multipliers, strict=True):
            found[group] = -np.diff(each, axis=0, prepend=0.0, append=0.0)
        return found

    def multipliers(self, taken: Matrix) -> Multipliers:
        """Return the multipliers of what a projection took away, none negative."""
        return tuple(np.maximum(np.cumsum(taken[group], axis=0)[:-1], 0.0) for group in self.groups)

    def slack(self, multipliers: Multipliers, V: Matrix) -> float:
        """Return what multipliers lose to levels that are apart."""
        pairs = zip(self.groups, multipliers, strict=True)
        return float(sum(np.sum(each * np.diff(V[group], axis=0)) for group, each in pairs))

    def fitted_round(self, V: Matrix, fixed: NDArray[np.bool_]) -> Matrix:
        """Return V with levels before a fixed entry no higher than it, and levels after it no lower."""
        found = V.copy()
        for group in self.groups:
            levels, held = V[group], fixed[group]
            cap = np.minimum.accumulate(np.where(held, levels, np.inf)[::-1], axis=0)[::-1]
            floor = np.maximum.accumulate(np.where(held, levels, -np.inf), axis=0)
            found[group] = np.maximum(np.minimum(levels, cap), floor)
        return found

    def pools(self, V: Matrix) -> NDArray[np.intp]:
        """Return a number for each entry; levels in a row that are equal have the same."""
        numbers = np.arange(V.size).reshape(V.shape)
        for group in self.groups:
            new = np.diff(V[group], axis=0, prepend=-np.inf) > 0
            at = np.where(new, np.arange(len(group))[:, None], 0)
            numbers[group] = np.take_along_axis(numbers[group], np.maximum.accumulate(at, axis=0), axis=0)
        return numbers

    def balance(self, V: Matrix, left: Matrix, least: Matrix, most: Matrix, near: Multipliers) -> Multipliers:
        r"""Return multipliers, as near as can be to some, that leave each entry what its penalty takes.

        ``left`` is the slope without the smooth part of the penalty; :math:`left + D'\lambda` is to be
        between ``least`` and ``most``. A chain of intervals tells which multipliers lead to its end, where
        there is none; the way back chooses among them. Levels that are apart have none.
        """
        return tuple(
            _chain(np.diff(V[group], axis=0) > 0, left[group], least[group], most[group], each)
            for group, each in zip(self.groups, near, strict=True)
        )


def _chain(apart: NDArray[np.bool_], r: Matrix, least: Matrix, most: Matrix, near: Matrix) -> Matrix:
    """Return the multipliers of one group: each is the one before plus r minus what the penalty takes."""
    levels, targets = r.shape
    low, high = np.zeros((levels + 1, targets)), np.zeros((levels + 1, targets))
    for j in range(levels - 1):
        low[j + 1] = np.where(apart[j], 0.0, np.maximum(low[j] + r[j] - most[j], 0.0))
        high[j + 1] = np.where(apart[j], 0.0, np.maximum(high[j] + r[j] - least[j], 0.0))
    found = np.zeros((levels + 1, targets))
    for j in range(levels - 1, 0, -1):
        down, up = found[j + 1] - r[j] + least[j], found[j + 1] - r[j] + most[j]
        aim = np.clip(near[j - 1], np.maximum(down, 0.0), np.maximum(up, 0.0))
        found[j] = np.clip(aim, low[j], high[j])
    return found[1:levels]
