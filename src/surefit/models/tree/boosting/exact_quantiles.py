"""Medians and quantiles of the errors in leaves, of rows that do not fit in memory, without any rounding.

Numbers are told apart by their bits, some sixteen at a time: each pass adds up the weights of rows by the
next bits, within those that the number sought begins with. Weights are whole numbers of some power of two, so
that sums are exact in any order, and what is found is what all errors in memory would give, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import frexp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector

Whole = NDArray[np.int64]
Keys = NDArray[np.uint64]
MOST_PLACES = 2**21  # of all leaves together, 24 bytes each
SIGN = np.uint64(1 << 63)


def weight_unit(rows: int, largest: float) -> float:
    """The power of two by which weights become whole numbers that add up below 62 bits.

    >>> weight_unit(3, 1.0) * 3 < 2**62
    True
    """
    return float(2.0 ** min(61 - rows.bit_length() - frexp(largest)[1], 1000))


def whole_weights(weight: Vector, unit: float) -> Whole:
    """Weights as whole numbers; none of those that count vanishes.

    >>> whole_weights(np.array([0.5, 1e-300]), 4.0)
    array([2, 1])
    """
    return np.asarray(np.maximum(np.rint(weight * unit), 1.0).astype(np.int64))


def quantile_of(values: Vector, whole: Whole, unit: float, rank: float) -> float:
    """The quantile of values whose weights count as repetitions.

    >>> quantile_of(np.array([3.0, 1.0]), np.array([4, 12]), 4.0, 0.5)
    1.0
    """
    order = np.argsort(values, kind="stable")
    values = values[order]
    first = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    each = np.add.reduceat(whole[order], first)
    ends = np.cumsum(each)
    place = _place(int(each[0]), int(each[-1]), int(ends[-1]), unit, rank)
    at = _first(_reach(ends, each, unit), place)
    before = None if at == 0 else (float(values[first[at - 1]]), int(each[at - 1]))
    return _between(before, (float(values[first[at]]), int(each[at])), int(ends[at]), unit, place)


def _place(first: int, last: int, total: int, unit: float, rank: float) -> float:
    """Where the quantile lies among repetitions: a value of weight w takes the places of its w."""
    low = 0.0 if first >= unit else (first / unit - 1.0) / 2.0
    high = total / unit - (1.0 if last >= unit else (last / unit + 1.0) / 2.0)
    return low + rank * (high - low)


def _reach(ends: Any, each: Any, unit: float) -> Any:
    """The last place of values that end there and weigh as much."""
    return ends / unit - np.minimum(1.0, (each / unit + 1.0) / 2.0)


def _first(reach: Vector, place: float) -> int:
    """The first that reaches a place; the last where rounding leaves none."""
    return min(int(np.searchsorted(reach, place)), len(reach) - 1)


def _between(
    before: tuple[float, int] | None, found: tuple[float, int], end: int, unit: float, place: float
) -> float:
    """The number at a place: that of ``found``, or on the way to it from the value before it."""
    value, weight = found
    begins = (end - weight) / unit + min(0.0, (weight / unit - 1.0) / 2.0)
    if before is None or place >= begins:
        return value
    leaves = float(_reach(end - weight, before[1], unit))
    share = (place - leaves) / (begins - leaves)
    return float(np.quantile([before[0], value], share))


def keys_of(values: Vector) -> Keys:
    """Whole numbers in the order of the values.

    >>> np.diff(keys_of(np.array([-2.0, -1.0, 0.0, 1e-300, 7.0])).astype(object)).min() > 0
    True
    """
    bits = (values + 0.0).view(np.uint64)  # -0 becomes 0
    return np.where(bits & SIGN, ~bits, bits | SIGN)


def value_of(key: int) -> float:
    """The value of a key.

    >>> value_of(int(keys_of(np.array([-1.5]))[0]))
    -1.5
    """
    bits = key ^ (1 << 63) if key >> 63 else ~key & ((1 << 64) - 1)
    return float(np.array([bits], dtype=np.uint64).view(np.float64)[0])


@dataclass(frozen=True, slots=True)
class Window:
    """Which keys of leaves are told apart: from ``start``, ``places`` of two to the ``shift`` each."""

    start: Keys
    shift: int
    places: int


@dataclass(frozen=True, slots=True)
class RankSums:
    """By leaf and place: the weight of rows, their greatest key and its weight. low, high: ends of leaves."""

    weight: Whole
    top: Keys
    top_weight: Whole
    low: Keys
    low_weight: Whole
    high: Keys
    high_weight: Whole

    @classmethod
    def of_rows(cls, leaf: NDArray[np.intp], values: Vector, whole: Whole, window: Window) -> RankSums:
        """Add rows up."""
        leaves, keys = len(window.start), keys_of(values)
        far = keys - window.start[leaf]  # wraps for keys below, which are then too far
        place = far >> np.uint64(window.shift)
        inside = (keys >= window.start[leaf]) & (place < np.uint64(window.places))
        at = leaf[inside] * window.places + place[inside].astype(np.intp)
        found = np.zeros(leaves * window.places, dtype=np.int64)
        np.add.at(found, at, whole[inside])
        top, top_weight = _extreme(at, keys[inside], whole[inside], len(found))
        high, high_weight = _extreme(leaf, keys, whole, leaves)
        low, low_weight = _extreme(leaf, ~keys, whole, leaves)
        return cls(found, top, top_weight, low, low_weight, high, high_weight)

    def __add__(self, other: RankSums) -> RankSums:
        return RankSums(
            self.weight + other.weight,
            *_greater(self.top, self.top_weight, other.top, other.top_weight),
            *_greater(self.low, self.low_weight, other.low, other.low_weight),
            *_greater(self.high, self.high_weight, other.high, other.high_weight),
        )


def _extreme(group: NDArray[np.intp], keys: Keys, whole: Whole, groups: int) -> tuple[Keys, Whole]:
    top, weight = np.zeros(groups, dtype=np.uint64), np.zeros(groups, dtype=np.int64)
    np.maximum.at(top, group, keys)
    last = keys == top[group]
    np.add.at(weight, group[last], whole[last])
    return top, weight


def _greater(one: Keys, w1: Whole, two: Keys, w2: Whole) -> tuple[Keys, Whole]:
    weight = np.where(one == two, w1 + w2, np.where(one > two, w1, w2))
    return np.maximum(one, two), weight


def leaf_quantiles(add_up: Callable[[Window], RankSums], leaves: int, unit: float, rank: float) -> Vector:
    """Return the quantile of the values in each leaf; add_up makes a pass over all rows.

    >>> y, one = np.array([3.0, 1.0, 2.0]), np.ones(3, dtype=np.int64)
    >>> def add_up(window):
    ...     return RankSums.of_rows(np.zeros(3, dtype=np.intp), y, one, window)
    >>> leaf_quantiles(add_up, 1, 1.0, 0.5)
    array([2.])
    """
    bits = min(16, max(1, (MOST_PLACES // leaves).bit_length() - 1))
    shift = 64 - bits
    start, below = np.zeros(leaves, dtype=np.uint64), np.zeros(leaves, dtype=np.int64)
    before: list[tuple[int, int] | None] = [None] * leaves
    places, found = np.zeros(leaves), [(0, 0)] * leaves
    first = True
    while True:
        window = Window(start.copy(), shift, 1 << min(bits, 64 - shift))
        sums = add_up(window)
        weight = sums.weight.reshape(leaves, -1)
        top, top_weight = sums.top.reshape(leaves, -1), sums.top_weight.reshape(leaves, -1)
        for k in range(leaves):
            held = np.flatnonzero(weight[k])
            ends = below[k] + np.cumsum(weight[k, held])
            if first:
                low, high = int(sums.low_weight[k]), int(sums.high_weight[k])
                places[k] = _place(low, high, int(ends[-1]), unit, rank)
            at = _first(_reach(ends, top_weight[k, held], unit), float(places[k]))
            if at > 0:
                before[k] = (int(top[k, held[at - 1]]), int(top_weight[k, held[at - 1]]))
            below[k] = ends[at] - weight[k, held[at]]
            start[k] += np.uint64(int(held[at]) << shift)
            found[k] = (int(top[k, held[at]]), int(weight[k, held[at]]))
        first = False
        if shift == 0:
            break
        shift = max(0, shift - bits)
    answer = np.empty(leaves)
    for k, (key, own) in enumerate(found):
        previous = before[k]
        above = None if previous is None else (value_of(previous[0]), previous[1])
        answer[k] = _between(above, (value_of(key), own), int(below[k]) + own, unit, float(places[k]))
    return answer
