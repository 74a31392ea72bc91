"""Coefficients between bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Self

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError
from surefit.core.parameters import validate
from surefit.penalties.arrays import require_length
from surefit.penalties.base import CASE_COLUMNS, Columns
from surefit.penalties.coordinate_table import CoordinateTable
from surefit.penalties.tabulated import Tabulated


class Box(Tabulated):
    """The constraint lower ≤ w ≤ upper, with one bound for all columns or one each; infinite is no bound.

    >>> Box(0.0, [1.0, 5.0]).prox([2.0, 2.0], step=1.0)
    array([1., 2.])
    """

    name = "box"
    constraint: ClassVar[bool] = True

    def __init__(self, lower: float | Columns = 0.0, upper: float | Columns = 1.0) -> None:
        self.lower = lower
        self.upper = upper
        validate(self)
        self._bounds = np.array(lower, dtype=np.float64), np.array(upper, dtype=np.float64)
        for name, bound in zip(("lower", "upper"), self._bounds, strict=True):
            if bound.ndim > 1 or np.isnan(bound).any():
                raise ParameterError(f"Box: {name} must be one number or one a column, and none of them NaN.")
        shapes = {bound.shape for bound in self._bounds if bound.ndim}
        if len(shapes) > 1:
            raise ParameterError("Box: lower and upper have different lengths; give each one entry a column.")
        low, high = np.broadcast_arrays(*self._bounds)
        if np.any((low > high) | (low == np.inf) | (high == -np.inf)):
            raise ParameterError(
                "Box: no number is between lower and upper in some column; keep lower below upper."
            )

    def table(self, p: int) -> CoordinateTable:
        """Return the four numbers of each coefficient."""
        return CoordinateTable(np.zeros(p), np.zeros(p), self._bound(0, p), self._bound(1, p))

    def _bound(self, which: int, p: int) -> Vector:
        bound = self._bounds[which]
        if bound.ndim:
            require_length("Box", ("lower", "upper")[which], len(bound), p)
        return np.broadcast_to(bound, p)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        lower = rng.normal(size=CASE_COLUMNS)
        upper = lower + rng.uniform(0.0, 2.0, size=CASE_COLUMNS)
        lower[1], upper[2] = -np.inf, np.inf
        upper[4] = lower[4]
        yield cls()
        yield cls(-0.5, 2.0)
        yield cls(lower, upper)
