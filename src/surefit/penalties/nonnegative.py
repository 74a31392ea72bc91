"""Coefficients that must not be negative."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from surefit.penalties.coordinate_table import CoordinateTable
from surefit.penalties.tabulated import Tabulated


class NonNegative(Tabulated):
    """The constraint w ≥ 0.

    >>> NonNegative().value([1.0, -0.1])
    inf
    """

    name = "non_negative"
    constraint: ClassVar[bool] = True

    def table(self, p: int) -> CoordinateTable:
        """Return the four numbers of each coefficient."""
        return CoordinateTable(np.zeros(p), np.zeros(p), np.zeros(p), np.full(p, np.inf))
