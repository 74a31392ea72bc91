"""Nothing added to the loss."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from surefit.penalties.coordinate_table import CoordinateTable
from surefit.penalties.tabulated import Tabulated


class NoPenalty(Tabulated):
    """Zero for all coefficients, or the constraint that allows them all.

    >>> NoPenalty().value([1e9])
    0.0
    """

    name = "none"
    constraint: ClassVar[bool] = True

    def table(self, p: int) -> CoordinateTable:
        """Return the four numbers of each coefficient."""
        free = np.full(p, np.inf)
        return CoordinateTable(np.zeros(p), np.zeros(p), -free, free)
