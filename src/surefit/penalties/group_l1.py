"""Groups of coefficients that are zero together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import ParameterError
from surefit.core.parameters import Fraction, validate
from surefit.penalties.arrays import axes, by_row, checked_numbers, coefficients, in_type_of, require_length
from surefit.penalties.base import CASE_COLUMNS, Array, Columns, Penalty, Strength


class GroupL1(Penalty):
    r"""The group lasso's penalty, with :math:`\rho` for ``l1_ratio``.

    .. math:: strength \sum_g weight_g \left( \rho \|w_g\| + \tfrac12 (1 - \rho) \|w_g\|^2 \right)

    groups: a label a column, or a list of arrays of column numbers in which each column occurs once; None
    makes each column a group. weights: one a group, in the order of the list or of the sorted labels. In a
    matrix of coefficients a group is all entries of its rows, so that None is the multi-task penalty.

    >>> GroupL1(1.0, groups=["a", "a", "b"]).prox([3.0, 4.0, 0.5], step=1.0)
    array([2.4, 3.2, 0. ])
    """

    name = "group_l1"

    def __init__(
        self,
        strength: Strength = 1.0,
        *,
        groups: Columns | None = None,
        weights: Columns | None = None,
        l1_ratio: Fraction = 1.0,
    ) -> None:
        self.strength = strength
        self.groups = groups
        self.weights = weights
        self.l1_ratio = l1_ratio
        validate(self)
        self._group_of_row = None if groups is None else _group_of_row(groups)
        if weights is not None:
            given = checked_numbers("GroupL1", "weights", weights, low=0.0)
            if self._group_of_row is not None and len(given) != self._group_of_row.max() + 1:
                raise ParameterError(
                    f"GroupL1: there are {len(given)} weights for {self._group_of_row.max() + 1} groups; "
                    "give one a group."
                )

    def group_of_row(self, p: int) -> NDArray[np.intp]:
        """Return the number of the group that each of the p columns is in."""
        if self._group_of_row is None:
            return np.arange(p)
        require_length("GroupL1", "groups", len(self._group_of_row), p)
        return self._group_of_row

    def value(self, w: ArrayLike) -> float:
        """Return the sum over the groups."""
        w = coefficients(w)
        norm, l1, l2 = self.group_terms(w)
        return float(np.sum(l1 * norm + 0.5 * l2 * norm**2))

    def prox(self, v: ArrayLike, step: float) -> Array:
        """Return each group shortened, in its own direction."""
        given, v = v, coefficients(v)
        norm, l1, l2 = self.group_terms(v)
        kept = norm > step * l1
        factor = np.where(kept, 1 - step * l1 / np.where(kept, norm, 1.0), 0.0) / (1 + step * l2)
        return in_type_of(v * self._to_rows(factor, v) + 0.0, given)

    def conjugate(self, u: ArrayLike) -> float:
        """Return the sum over the groups of what the slope exceeds the L1 part by, squared, over twice l2."""
        norm, l1, l2 = self.group_terms(coefficients(u))
        excess = np.maximum(norm - l1, 0.0)
        if np.any(excess[l2 == 0] > 0):
            return np.inf
        return float(np.sum(0.5 * excess[l2 > 0] ** 2 / l2[l2 > 0]))

    def dual_scaling(self, u: ArrayLike) -> float:
        """Return the factor that brings each group's slope into its ball."""
        u = coefficients(u)
        norm, l1, l2 = self.group_terms(u)
        beyond = (norm > l1) & (l2 == 0)
        if not beyond.any():
            return 1.0
        # A norm of n entries is exact to about n roundings, and is taken once more after the scaling.
        return float(np.min(l1[beyond] / norm[beyond]) * (1 - (u.size + 4) * np.finfo(float).eps))

    def largest(self, gradient_at_zero: ArrayLike) -> float:
        """Return the largest slope of a group at zero, each divided by its weight."""
        norm, level, _ = self.replace(strength=1.0).group_terms(coefficients(gradient_at_zero))
        with np.errstate(divide="ignore"):
            return float(np.max(norm[norm > 0] / level[norm > 0], initial=0.0))

    def free_directions(self, p: int, slope: ArrayLike | None = None) -> Array:
        """Return the axes of the groups with weight or strength 0."""
        _, l1, l2 = self.group_terms(np.zeros(p))
        return axes(((l1 == 0) & (l2 == 0))[self.group_of_row(p)])

    def subdifferential_distance(self, w: ArrayLike, gradient: ArrayLike) -> Array:
        """Return the entries of what is left of ``-gradient`` after its group's nearest subgradient."""
        w, gradient = coefficients(w), coefficients(gradient)
        norm, l1, l2 = self.group_terms(w)
        slope, _, _ = self.group_terms(gradient)
        active = norm > 0
        pull = self._to_rows(np.where(active, l1 / np.where(active, norm, 1.0), 0.0) + l2, w) * w
        inside = np.where(active, 1.0, np.maximum(slope - l1, 0.0) / np.where(slope > 0, slope, 1.0))
        left: Matrix = np.abs(gradient * self._to_rows(inside, w) + pull)
        return left

    def group_terms(self, w: Vector) -> tuple[Matrix, Matrix, Matrix]:
        """Return the norm of each group, and its weights of the norm and of half its square."""
        squares = w**2 if w.ndim == 1 else np.sum(w**2, axis=1)
        norm = np.sqrt(np.bincount(self.group_of_row(len(w)), weights=squares))
        weights = np.ones(len(norm)) if self.weights is None else np.asarray(self.weights, dtype=np.float64)
        require_length("GroupL1", "weights", len(weights), len(norm))
        level = self.strength * weights
        return norm, level * self.l1_ratio, level * (1 - self.l1_ratio)

    def _to_rows(self, of_group: Vector, w: Vector) -> Vector:
        return by_row(of_group[self.group_of_row(len(w))], w)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls(0.9)
        yield cls(0.9, groups=np.array([0, 1, 0, 2, 2, 0])[:CASE_COLUMNS])
        yield cls(0.5, groups=[[5, 1], (0,), np.array([2, 3, 4])], weights=[1.4, 1.0, 1.7])
        yield cls(0.5, groups=["b", "a", "b", "a", "a", "c"], weights=[1.0, 0.0, 2.0])
        yield cls(0.7, groups=["b", "a", "b", "a", "a", "c"], l1_ratio=0.6)


def _group_of_row(groups: Any) -> NDArray[np.intp]:
    """Turn labels, or lists of column numbers, into one group number a column."""
    if not len(groups):
        raise ParameterError("GroupL1: groups is empty; give a label a column or lists of column numbers.")
    if np.ndim(groups[0]) == 0:
        labels = np.asarray(groups)
        if labels.ndim != 1:
            raise ParameterError("GroupL1: groups mixes labels and lists; give one or the other.")
        return np.unique(labels, return_inverse=True)[1]
    numbers = [np.asarray(group) for group in groups]
    if any(group.ndim != 1 or not np.issubdtype(group.dtype, np.integer) for group in numbers):
        raise ParameterError(
            "GroupL1: each entry of groups must be a list of column numbers that is not empty."
        )
    columns = np.concatenate(numbers)
    if not np.array_equal(np.sort(columns), np.arange(len(columns))):
        raise ParameterError(
            f"GroupL1: groups must hold each of the column numbers 0 to {len(columns) - 1} once; "
            "leave none out and repeat none."
        )
    group_of_row = np.empty(len(columns), dtype=np.intp)
    for number, group in enumerate(numbers):
        group_of_row[group] = number
    return group_of_row
