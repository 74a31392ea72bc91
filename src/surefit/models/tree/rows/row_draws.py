"""Draws that depend on a seed and the number of a row alone, so that no cut into batches changes them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from surefit.core.arrays import Vector
from surefit.core.errors import DataError
from surefit.core.native.trees.node_random import MASK, mixed, mixed_units

MANY = 500.0  # draws of a row from which on a rounded normal number stands for their count


def row_units(seed: int, start: int, rows: int) -> Vector:
    """Return a number in [0, 1) for each of some rows, the first of which is number ``start``.

    >>> row_units(7, 0, 5)[3:].tolist() == row_units(7, 3, 2).tolist()
    True
    """
    return mixed_units(mixed((seed ^ 0xD1B54A32D192ED03) & MASK) + start, rows)


def row_counts(seed: int, start: int, rows: int, rate: float | Vector) -> NDArray[np.uint32]:
    """Return how often each row is drawn, a Poisson number of mean ``rate``.

    >>> counts = row_counts(7, 0, 10_000, 1.0)
    >>> round(counts.mean(), 1), round((counts == 0).mean(), 2)
    (np.float64(1.0), np.float64(0.36))
    """
    unit = row_units(seed, start, rows)
    if np.ndim(rate) == 0 and float(rate) <= MANY:  # one table of probabilities serves all rows
        most = int(rate + 12 * np.sqrt(rate) + 30)
        steps = np.cumprod(np.concatenate([[np.exp(-float(rate))], float(rate) / np.arange(1, most)]))
        return np.searchsorted(np.cumsum(steps), unit, side="right").astype(np.uint32)
    mean = np.broadcast_to(np.asarray(rate, dtype=np.float64), unit.shape)
    found = np.zeros(rows, dtype=np.uint32)
    large = mean > MANY
    with np.errstate(invalid="ignore"):
        normal = mean + np.sqrt(mean) * ndtri(unit)
    found[large] = np.maximum(np.rint(normal[large]), 0).astype(np.uint32)
    chance = np.where(large, 2.0, np.exp(-mean))
    reached, k = chance.copy(), 0
    while len(more := np.flatnonzero(unit >= reached)) and k < MANY * 3:
        k += 1
        found[more] = k
        chance[more] *= mean[more] / k
        reached[more] += chance[more]
    return found


def refuse_empty(rows: int) -> None:
    """Refuse a sample without a row: one of n rows draws none with a chance of exp(-n)."""
    if rows == 0:
        raise DataError(
            "the Poisson bootstrap sample of a tree is empty: give more rows, "
            "another random_state, or bootstrap=False."
        )


@dataclass(frozen=True, slots=True)
class HeldOutRows:
    """Which rows are held out: those of a mask, or a share of them by their numbers."""

    seed: int = 0
    share: float = 0.0
    mask: NDArray[np.bool_] | None = None

    @property
    def any(self) -> bool:
        """Whether there are any."""
        return self.share > 0 if self.mask is None else bool(self.mask.any())

    def among(self, start: int, rows: int) -> NDArray[np.bool_]:
        """Return which of some neighbouring rows are held out."""
        if self.mask is not None:
            return self.mask[start : start + rows]
        if self.share == 0:
            return np.zeros(rows, dtype=bool)
        return np.asarray(row_units(self.seed, start, rows) < self.share)
