"""Rare levels, put together into one."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

NAME = "infrequent_sklearn"  # scikit-learn's name for what is put together


def infrequent(
    counts: NDArray[np.float64], total: float, min_frequency: Any, max_categories: int | None
) -> NDArray[np.int64] | None:
    """Which levels are too rare, or too many; None for none.

    min_frequency: a count, or a share of the ``total``. max_categories: how many levels may stay, the group
    of the rare ones included; of equal counts, the later ones stay.
    """
    least = 0.0 if min_frequency is None else float(min_frequency)
    if min_frequency is not None and not isinstance(min_frequency, Integral):
        least *= total
    rare = counts < least
    if max_categories is not None and max_categories < len(counts) - rare.sum() + 1:
        rare[np.argsort(counts, kind="stable")[: len(counts) - max_categories + 1]] = True
    return np.flatnonzero(rare) if rare.any() else None


def grouped_codes(levels: int, rare: NDArray[np.int64] | None) -> NDArray[np.int32]:
    """The code of each level after grouping: those that stay keep their order, the group comes last."""
    if rare is None:
        return np.arange(levels, dtype=np.int32)
    stays = np.ones(levels, dtype=bool)
    stays[rare] = False
    return np.where(stays, np.cumsum(stays) - 1, stays.sum()).astype(np.int32)
