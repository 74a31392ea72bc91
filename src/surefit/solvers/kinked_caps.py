r"""Kinks far stronger than all that pulls at them, weakened until arithmetic can see the rest.

A row of weight 1e8 among rows of weight 1 is met by the answer, and its slope is what balances the others: a
hundred of a hundred million. Slopes that may be so large leave no digits for the rest. Weakened to a multiple
of all others together, the kink is met at the same coefficients by the same slope, which is within its old
ends as well: an answer that meets all weakened kinks, their slopes inside, is the answer. If one is not met,
the next cap is higher. A column's absolute penalty beyond all that rows can pull by holds its coefficient
at 0, and does so as well at twice that pull.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from surefit.solvers.kinked_rows import KinkedRows

Array = NDArray[np.float64]

BEYOND = 16.0  # times all lighter rows: a slope on the short side of a quantile has room to balance them
HIGHER = 1e3  # by which the next cap is above the last
ENOUGH = 2.0  # times the greatest pull: a slope that holds the coefficient is well inside


def cap_of(weight: Array, coefficients: int) -> float:
    """Return the weight that a row need not exceed; infinity where none is far above the others.

    As many rows as there are coefficients can be met whatever they weigh, so these many are left out of what
    pulls at them.

    >>> cap_of(np.array([1.0, 2.0, 1.0, 1e8]), 1)
    64.0
    >>> cap_of(np.array([1.0, 2.0, 1.0, 8.0]), 1)
    inf
    """
    greatest, total = float(weight.max(initial=0.0)), float(weight.sum())
    if BEYOND * (total - coefficients * greatest) >= greatest or len(weight) <= coefficients:
        return np.inf  # plainly alike: nothing to sort
    light = float(np.sort(weight)[: len(weight) - coefficients].sum())
    return BEYOND * light if 0 < BEYOND * light < greatest else np.inf


def capped(rows: KinkedRows) -> Iterator[KinkedRows]:
    """Yield the problem with its strongest kinks weakened, ever less, and last with all rows as they are."""
    weight = rows.weight
    cap, greatest = cap_of(weight, len(rows.l1)), float(weight.max(initial=0.0))
    while cap < greatest:
        share = np.minimum(1.0, cap / weight)
        yield _held(replace(rows, low=share * rows.low, high=share * rows.high))
        cap *= HIGHER
    yield _held(rows)


def _held(rows: KinkedRows) -> KinkedRows:
    """Return the problem, no absolute penalty beyond twice what all rows together can pull by."""
    if not rows.l1.any():
        return rows
    each = np.maximum(-rows.low, rows.high).sum(axis=0)
    pull = np.sqrt(rows.squared()) * float(np.linalg.norm(each))  # Cauchy and Schwarz
    most = np.where((pull > 0) & np.isfinite(pull), ENOUGH * pull, np.inf)
    return replace(rows, l1=np.minimum(rows.l1, most)) if (rows.l1 > most).any() else rows
