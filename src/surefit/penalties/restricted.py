"""A penalty of single coefficients, and bounds besides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Self

import numpy as np

from surefit.core.errors import ParameterError
from surefit.core.parameters import Has, validate
from surefit.penalties.base import CASE_COLUMNS, Columns
from surefit.penalties.box import Box
from surefit.penalties.coordinate_table import CoordinateTable
from surefit.penalties.l1 import L1
from surefit.penalties.l2 import L2
from surefit.penalties.tabulated import Tabulated

Tables = Annotated[object, Has("table")]


class Restricted(Tabulated):
    """A penalty plus the constraint lower ≤ w ≤ upper, with one bound for all columns or one each.

    >>> Restricted(L1(1.0), 0.0, 1.5).prox([3.0, 0.5, -4.0], step=1.0)
    array([1.5, 0. , 0. ])
    """

    name = "restricted"

    def __init__(
        self, penalty: Tables, lower: float | Columns = 0.0, upper: float | Columns = np.inf
    ) -> None:
        self.penalty = penalty
        self.lower = lower
        self.upper = upper
        validate(self)
        self._inner = tabulated("Restricted", penalty)
        self._box = Box(lower, upper)

    def table(self, p: int) -> CoordinateTable:
        """Return the penalty's numbers, and the narrower of its bounds and ours."""
        own, bounds = self._inner.table(p), self._box.table(p)
        lower, upper = np.maximum(own.lower, bounds.lower), np.minimum(own.upper, bounds.upper)
        if (lower > upper).any():
            raise ParameterError(
                f"Restricted: no number is within both bounds of column {int(np.argmax(lower > upper))}; "
                "widen one of them."
            )
        return CoordinateTable(own.l1, own.l2, lower, upper)

    def scaled(self, factor: float) -> Self:
        """Return the penalty times a number, within the same bounds."""
        return self.replace(penalty=self._inner.scaled(factor))

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        lower = np.floor(4 * rng.normal(size=CASE_COLUMNS)) / 4  # quarters are numbers in any precision
        yield cls(L1(0.7))
        yield cls(L2(1.3), lower, lower + 1.0)


def tabulated(owner: str, penalty: Any) -> Tabulated:
    """Return a penalty that treats each coefficient alone; refuse any other."""
    if not isinstance(penalty, Tabulated):
        raise ParameterError(
            f"{owner}: {type(penalty).__name__} is not a separable penalty; give one such as L2()."
        )
    return penalty
