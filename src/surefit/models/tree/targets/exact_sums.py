"""Sums of numbers without any rounding, so that neither batches nor their order changes a bit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import frexp, isfinite

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.errors import DataError

SCALE = 1200  # a whole number of 2 to its negative holds every float64
LIMB = 40  # bits of each number that are added up at a time
SPREAD = 200  # powers of two between the largest number and those added up with it
BLOCK = 2**18  # so many add up below 63 bits, and stay in cache


def exact_sum(values: Vector) -> int:
    """Return the sum in units of two to the minus ``SCALE``.

    >>> as_float(exact_sum(np.array([1e100, 1.0, -1e100])))
    1.0
    """
    total = 0
    for at in range(0, len(values), BLOCK):
        rest = values[at : at + BLOCK]
        largest = float(np.abs(rest).max(initial=0.0))
        if not isfinite(largest):
            raise DataError("y times sample_weight is too large to be summed: rescale y.")
        tiny = np.abs(rest) < largest * 2.0**-SPREAD
        if rest[tiny].any():  # by themselves, since they would vanish beside the largest
            total += exact_sum(rest[tiny])
            rest = np.where(tiny, 0.0, rest)
        power = LIMB - frexp(largest)[1]
        rest = np.ldexp(rest, power)
        while rest.any():
            whole = np.rint(rest)
            total += int(whole.astype(np.int64).sum()) << (SCALE - power)
            rest, power = (rest - whole) * 2.0**LIMB, power + LIMB
    return total


def as_float(total: int, over: int = 2**SCALE) -> float:
    """Return a sum as the nearest number, divided by another sum if one is given."""
    return total / over


@dataclass(frozen=True, slots=True)
class ExactSums:
    """The weight of rows, and the sums of their targets, or of the weights of each class; exact."""

    weight: int
    sums: tuple[int, ...]

    @classmethod
    def of_rows(cls, y: Vector, weight: Vector | None, classes: int = 0) -> ExactSums:
        """Add rows up; classes: how many there are, 0 for a target of numbers."""
        w = np.ones(len(y)) if weight is None else weight
        if not classes:
            return cls(exact_sum(w), (exact_sum(y if weight is None else w * y),))
        if weight is None:
            return cls(len(y) << SCALE, tuple(int(np.count_nonzero(y == k)) << SCALE for k in range(classes)))
        return cls(exact_sum(w), tuple(exact_sum(w[y == k]) for k in range(classes)))

    def __add__(self, other: ExactSums) -> ExactSums:
        sums = tuple(one + two for one, two in zip(self.sums, other.sums, strict=True))
        return ExactSums(self.weight + other.weight, sums)

    @property
    def means(self) -> Vector:
        """The mean of the target, or the share of each class."""
        return np.array([as_float(own, self.weight) for own in self.sums])


@dataclass(frozen=True, slots=True)
class WholeSums:
    """Whole numbers in arrays, added entry by entry."""

    sums: tuple[NDArray[np.int64], ...]

    def __add__(self, other: WholeSums) -> WholeSums:
        return WholeSums(tuple(a + b for a, b in zip(self.sums, other.sums, strict=True)))


def power_of(total: float, exact: Callable[[], int]) -> float:
    """Return a sum that has the same power of two however it was rounded.

    exact: the sum without rounding, asked for where rounding could have crossed a power of two.

    >>> power_of(4.0 - 1e-12, lambda: exact_sum(np.array([4.0])))
    4.0
    """
    if total == 0 or frexp(total * (1 - 1e-9))[1] == frexp(total * (1 + 1e-9))[1]:
        return total
    return as_float(exact())
