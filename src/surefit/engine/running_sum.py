"""The sum of a pass so far: which parts are in, and how they were joined.

Batches of a part are added from left to right. Sums of parts are joined in pairs, pairs of pairs, and so on,
always neighbours: a tree that depends on the number of parts alone. So every engine gives the same bits,
wherever a part was read, and rounding grows with the logarithm of the number of parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Generic, TypeVar

from surefit.data.batches.batch import Batch
from surefit.stats.base import Additive

S = TypeVar("S", bound=Additive)


@dataclass(frozen=True, slots=True)
class Tally(Generic[S]):
    """A sum with the number of rows and the weight that went into it."""

    rows: int
    weight: float
    statistic: S

    def __add__(self, other: Tally[S]) -> Tally[S]:
        return Tally(self.rows + other.rows, self.weight + other.weight, self.statistic + other.statistic)


@dataclass(frozen=True, slots=True)
class Tallied(Generic[S]):
    """A function from a batch to a statistic, made to count rows and weight as well."""

    of: Callable[[Batch], S]

    def __call__(self, batch: Batch) -> Tally[S]:
        """Compute all three."""
        weight = float(len(batch)) if batch.weight is None else float(batch.weight.sum())
        return Tally(len(batch), weight, self.of(batch))


def join(left: Tally[S] | None, right: Tally[S] | None) -> Tally[S] | None:
    """Add two neighbours; None stands for no batch at all."""
    if left is None or right is None:
        return left if right is None else right
    return left + right


def part_sum(of: Callable[[Batch], Tally[S]], batches: Iterable[Batch]) -> Tally[S] | None:
    """Add the batches of one part from left to right, one in memory at a time."""
    tallies = map(of, batches)
    first = next(tallies, None)
    return None if first is None else reduce(add, tallies, first)


@dataclass(slots=True)
class Running(Generic[S]):
    """What a pass has added up: ``parts`` whole parts, and ``batches`` of the part that is open."""

    parts: int = 0
    batches: int = 0
    open: Tally[S] | None = None
    trees: list[tuple[int, Tally[S] | None]] = field(default_factory=list)  # (parts below it, its sum)

    def take(self, tally: Tally[S] | None, ended: int) -> None:
        """Take in one step: a batch of the open part (``ended`` 0), or the end of ``ended`` parts.

        Several parts at once must be a tree of their own: an aligned power of two, or the last of the pass.
        """
        if tally is not None:
            self.open = join(self.open, tally)
            self.batches += 1
        if ended:
            size, tree = ended, self.open
            while self.trees and self.trees[-1][0] == size:
                tree = join(self.trees.pop()[1], tree)
                size *= 2
            self.trees.append((size, tree))
            self.parts += ended
            self.batches, self.open = 0, None

    def total(self) -> Tally[S] | None:
        """Join what is left, the youngest first; None without a batch."""
        whole: Tally[S] | None = None
        for _, tree in reversed(self.trees):
            whole = join(tree, whole)
        return whole


def tree_sizes(first: int, parts: int, largest: int) -> Iterable[int]:
    """Cut ``parts`` parts, of which the first is number ``first``, into trees of at most ``largest`` parts.

    >>> list(tree_sizes(3, 12, 4))
    [1, 4, 4, 3]
    """
    last = first + parts
    while first < last:
        aligned = first & -first if first else largest
        size = min(aligned, largest, last - first)
        yield size
        first += size
