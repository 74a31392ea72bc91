"""What dual coordinate descent reads of a loss: conjugates that differ from row to row by a few numbers."""

from __future__ import annotations

from typing import NamedTuple

from surefit.losses.arrays import Array


class RowConjugates(NamedTuple):
    r"""The conjugate of each row, :math:`u \cdot at + tube\,|u| + bend\,u^2/2` on [low, high]."""

    at: Array
    low: Array
    high: Array
    tube: float
    bend: float
