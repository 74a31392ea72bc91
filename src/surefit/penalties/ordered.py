r"""Coefficients that must not fall from one level to the next, with a penalty of their own.

The ordered vectors are a cone C. A penalty that treats all levels of a group alike keeps the order that a
vector has, so its proximal step after the projection to C is that of both together, and the conjugate of
both is the penalty's at the projection of the slope: what the projection takes away is polar to C, and adds
up to zero on every block of levels that it makes equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError, ParameterError
from surefit.core.parameters import validate
from surefit.penalties.arrays import coefficients, in_type_of, rounding
from surefit.penalties.base import Array, Penalty
from surefit.penalties.coordinate_table import CoordinateTable
from surefit.penalties.elastic_net import ElasticNet
from surefit.penalties.l2 import L2
from surefit.penalties.restricted import Restricted, Tables, tabulated
from surefit.penalties.row_space import ROUNDINGS

Groups = list[Any] | tuple[Any, ...]


class Ordered(Penalty):
    """A penalty plus the constraint that w does not fall along each group of columns.

    groups: lists of column numbers, each in the order of its levels; no column is in two of them, and those
    of one group are penalised and bounded alike.

    ordered_columns: the groups as checked lists. separable_part: the penalty without the order.

    >>> Ordered(L2(1.0), [[0, 1, 2]]).prox([1.0, 4.0, 2.0, -1.0], step=1.0)
    array([ 0.5,  1.5,  1.5, -0.5])
    """

    name = "ordered"

    def __init__(self, penalty: Tables, groups: Groups) -> None:
        self.penalty = penalty
        self.groups = groups
        validate(self)
        self.separable_part = tabulated(type(self).__name__, penalty)
        self.ordered_columns = checked_groups(type(self).__name__, groups)
        self._checked: tuple[int, CoordinateTable] | None = None

    def value(self, w: ArrayLike) -> float:
        """Return the penalty where no level is below the one before, up to rounding; else infinity."""
        point = coefficients(w)
        self.separable_table(len(point))
        slack = 4 * rounding(w) * np.abs(point).max(initial=0.0)
        if any(np.any(np.diff(point[group], axis=0) < -slack) for group in self.ordered_columns):
            return np.inf
        return self.separable_part.value(point)

    def prox(self, v: ArrayLike, step: float) -> Array:
        """Return the proximal point: put in order first."""
        point = coefficients(v)
        return in_type_of(self.separable_table(len(point)).prox(self._put_in_order(point), step), v)

    def conjugate(self, u: ArrayLike) -> float:
        """Return the penalty's conjugate at the slope put in order."""
        return self.separable_part.conjugate(self._slope(u))

    def dual_scaling(self, u: ArrayLike) -> float:
        """Return the factor that brings ``u`` into the conjugate's domain."""
        return self.separable_part.dual_scaling(self._slope(u))

    def beyond(self, w: ArrayLike, u: ArrayLike) -> Vector:
        """Return the shortest vector from the subgradients at ``w`` to a slope: what no multiplier takes.

        Levels that are equal share their slope in one direction, that of the order; what is left of each is
        held against the penalty's own interval.
        """
        point, left = coefficients(w), coefficients(u)
        p = len(point)
        table, flat, slope = self.separable_table(p), point.reshape(p, -1), left.reshape(p, -1).copy()
        blur = 4 * rounding(w) * np.abs(flat).max(axis=0, initial=0.0)
        for group in self.ordered_columns:
            apart = np.diff(flat[group], axis=0) > blur
            for k in range(flat.shape[1]):
                for block in np.split(np.array(group), np.flatnonzero(apart[:, k]) + 1):
                    slope[block, k] = isotonic_regression(slope[block, k]).x
        least, most = table.subgradients(flat)
        return np.asarray(slope - np.clip(slope, least, most)).reshape(left.shape)

    def free_directions(self, p: int, slope: ArrayLike | None = None) -> Array:
        """Return axes of single columns, and blocks of levels, that nothing bends or bounds on that side."""
        table = self.separable_table(p)
        single = np.ones(p, dtype=bool)
        for group in self.ordered_columns:
            single[group] = False
        columns = [None] if slope is None else list(self._slope(slope).reshape(p, -1).T)
        found = []
        for pull in columns:
            free = table.free(pull)
            found += [_indicator(p, [j]) for j in np.flatnonzero(free & single)]
            for group in self.ordered_columns:
                found += [_indicator(p, block) for block in self._blocks(table, group, pull)]
        return _orthonormal(p, found)

    def _blocks(self, table: CoordinateTable, group: list[int], pull: Vector | None) -> Iterator[list[int]]:
        """Yield the blocks of levels that are free together, so that a slope along them is not allowed."""
        if table.free()[group[0]]:
            yield group
        if pull is None:
            return
        for level in np.unique(pull[group]):
            block = [j for j in group if pull[j] == level]
            if level != 0 and table.free(pull)[block[0]]:
                yield block

    def scaled(self, factor: float) -> Self:
        """Return the penalty times a number, in the same order."""
        return self.replace(penalty=self.separable_part.scaled(factor))

    def _put_in_order(self, v: Vector) -> Vector:
        ordered = v.copy()
        for group in self.ordered_columns:
            each = v[group].reshape(len(group), -1)
            if (each[1:] >= each[:-1]).all():
                continue
            near = [isotonic_regression(column).x for column in each.T]
            ordered[group] = np.array(near).T.reshape(v[group].shape)
        return ordered

    def _slope(self, u: ArrayLike) -> Vector:
        """Return the slope put in order, without what is left of zeros by rounding."""
        slope = coefficients(u)
        ordered = self._put_in_order(slope)
        for group in self.ordered_columns:
            blur = ROUNDINGS * np.linalg.norm(slope[group], axis=0)
            ordered[group] = np.where(np.abs(ordered[group]) <= blur, 0.0, ordered[group])
        return ordered

    def separable_table(self, p: int) -> CoordinateTable:
        """Return the numbers of the penalty; refuse groups beyond the columns, or not penalised alike."""
        if self._checked is not None and self._checked[0] == p:  # solvers ask at every step
            return self._checked[1]
        table, who = self.separable_part.table(p), type(self).__name__
        for group in self.ordered_columns:
            if max(group) >= p:
                raise DataError(f"{who}: groups name column {max(group)}, but there are {p} coefficients.")
            for name in ("l1", "l2", "lower", "upper"):
                if len(set(getattr(table, name)[group].tolist())) > 1:
                    raise ParameterError(
                        f"{who}: the columns {group} differ in their penalty or bounds ({name}); give "
                        "the levels of one group the same."
                    )
        self._checked = p, table
        return table

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls(L2(0.8), [[0, 2, 1], [4, 5]])
        yield cls(ElasticNet(1.1, l1_ratio=0.6), [[3, 4, 5]])
        yield cls(Restricted(L2(0.5), -0.5, 0.75), [[5, 4, 3, 2, 1, 0]])


def checked_groups(owner: str, groups: Any) -> list[list[int]]:
    """Return groups as lists of column numbers; refuse what is none, and columns in two places."""
    try:
        found = [[int(j) for j in group] for group in groups]
    except (TypeError, ValueError):
        raise ParameterError(
            f"{owner}: groups={groups!r} must be lists of column numbers, such as [[0, 1, 2]]."
        ) from None
    every = [j for group in found for j in group]
    if not found or min(map(len, found)) < 2 or min(every) < 0:
        raise ParameterError(
            f"{owner}: groups={groups!r} must name two columns each at the least, by number."
        )
    if len(set(every)) < len(every):
        raise ParameterError(f"{owner}: groups={groups!r} name a column twice; give each one place.")
    return found


def _indicator(p: int, members: Any) -> Vector:
    found = np.zeros(p)
    found[members] = 1.0 / np.sqrt(len(members))
    return found


def _orthonormal(p: int, vectors: list[Matrix]) -> Matrix:
    if not vectors:
        return np.zeros((p, 0))
    axes, lengths, _ = np.linalg.svd(np.column_stack(vectors), full_matrices=False)
    kept: Vector = axes[:, lengths > 1e-9]
    return kept
