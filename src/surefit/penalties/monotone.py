"""Coefficients of ordered levels that must not fall."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Self

import numpy as np

from surefit.penalties.no_penalty import NoPenalty
from surefit.penalties.ordered import Groups, Ordered


class Monotone(Ordered):
    """The constraint that w does not fall along each group of columns, given in the order of their levels.

    >>> Monotone([[0, 1, 2]]).prox([1.0, 4.0, 2.0, -1.0], step=1.0)
    array([ 1.,  3.,  3., -1.])
    """

    name = "monotone"
    constraint: ClassVar[bool] = True

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        super().__init__(NoPenalty(), groups)

    def scaled(self, factor: float) -> Self:
        """Return the same: a constraint has no size."""
        return self

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls([[0, 1, 2, 3, 4, 5]])
        yield cls([[3, 1], [5, 0, 2]])
