"""Mean and scatter of each column, kept exact enough to be joined far from zero."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.config import threads
from surefit.core.native.scores.number_spread import Spread
from surefit.data.batches.batch import Batch
from surefit.stats.base import Statistic

BLOCK = 8_192  # fits the first cache, and is too short for BLAS to wake its threads
MANY = 1_000_000  # rows from which on blocks are shared among threads


def columns(block: Any) -> NDArray[np.float64]:
    """The outputs of (n,) or (n, k) as (k, n), because numpy sums pairwise along contiguous rows only."""
    table = np.asarray(block, dtype=np.float64)
    return table[None] if table.ndim == 1 else np.ascontiguousarray(table.T)


def blocks(rows: int) -> Iterator[slice]:
    """Cut rows into pieces that stay in the cache while several passes go over them."""
    return (slice(start, min(start + BLOCK, rows)) for start in range(0, rows, BLOCK))


def in_blocks(rows: int, of: Callable[[slice], Any]) -> Iterator[Any]:
    """Yield ``of(block)`` for each block in order; many are computed side by side, to the same bits."""
    pieces = list(blocks(rows))
    count = threads()
    if rows < MANY or count == 1:
        yield from map(of, pieces)
        return
    lots = [pieces[start : start + 16] for start in range(0, len(pieces), 16)]
    with ThreadPoolExecutor(count) as pool:
        for answers in pool.map(lambda lot: [of(piece) for piece in lot], lots):
            yield from answers


def sum_of_squares(block: NDArray[np.float64], weight: Vector | None) -> Vector:
    """The weighted sum of squares of each row."""
    return np.asarray(np.vecdot(block, block if weight is None else block * weight))


@dataclass(frozen=True, slots=True)
class Centred(Statistic):
    r"""W, the mean :math:`m`, :math:`\sum_i s_i (x_i - m)^2` and the range, of each output.

    The mean is the sum of ``mean`` and ``low``, the part that rounding left out: at an offset of 1e8 a
    single float has 8 digits for what remains, and the scatter between two joined parts would have no more.
    """

    weight: float
    mean: Vector
    low: Vector
    scatter: Vector
    minimum: Vector
    maximum: Vector

    @classmethod
    def of(cls, batch: Batch, *, values: Any = None, **context: Any) -> Centred:
        """Compute it over ``values``, (n,) or (n, k), with the weights of the batch."""
        table, weight = columns(values), batch.weight
        if weight is not None and not weight.all():
            table, weight = table[:, weight > 0], weight[weight > 0]
        none = np.zeros(len(table))
        found = cls(0.0, none, none, none, none + np.inf, none - np.inf)
        for part in in_blocks(
            table.shape[1],
            lambda rows: cls._of_block(table[:, rows], None if weight is None else weight[rows]),
        ):
            found += part
        return found

    @classmethod
    def _of_block(cls, block: NDArray[np.float64], weight: Vector | None) -> Centred:
        total = float(block.shape[1] if weight is None else weight.sum())
        minimum, maximum = block.min(axis=1), block.max(axis=1)
        mean = _sum(block, weight) / total
        block = block - mean[:, None]
        low = _sum(block, weight) / total
        scatter = sum_of_squares(block, weight) - total * low * low
        return cls(total, mean, low, scatter, minimum, maximum)

    @classmethod
    def found(cls, spread: Spread) -> Centred:
        """Take over what one pass found."""
        weight, *values = spread
        return cls(weight, *(np.array([value]) for value in values))

    def __add__(self, other: Centred) -> Centred:
        if self.weight == 0 or other.weight == 0:
            return other if self.weight == 0 else self
        weight = self.weight + other.weight
        share = other.weight / weight
        shift = (other.mean - self.mean) + (other.low - self.low)
        move = self.low + shift * share
        mean = self.mean + move
        return Centred(
            weight,
            mean,
            move - (mean - self.mean),
            self.scatter + other.scatter + shift * shift * (self.weight * share),
            np.minimum(self.minimum, other.minimum),
            np.maximum(self.maximum, other.maximum),
        )

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Which outputs have one value only."""
        return self.minimum >= self.maximum

    def scatter_about(self, mean: Vector, low: Vector) -> Vector:
        """The sum of squares about another centre."""
        away = (self.mean - mean) + (self.low - low)
        return self.scatter + self.weight * away * away


def _sum(block: NDArray[np.float64], weight: Vector | None) -> Vector:
    return np.asarray(block.sum(axis=1) if weight is None else np.einsum("ij,j->i", block, weight))
