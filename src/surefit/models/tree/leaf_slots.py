"""Facts of leaves as digits of one whole number, which stands where a leaf has no column.

How many rows a leaf holds takes a few of the 31 bits there; where it has no right child either, it has 63.
What else has four bytes (a whole weight, the bits of a float32) joins it where all leaves leave room: a fact
is a digit to a base of its own, and the rows, which need none, come last. A fact that stands there is kept as
three int64: its least bits but 0, its base, and 1 for a float32, 0 for a whole number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
Fact = NDArray[Any]
ROOM = 2**31  # numbers from 0 on: the column of a leaf is -1 less its own
WIDE = 2**63  # the same with the right child, which has the upper 32 bits


def is_digit(fact: Fact) -> bool:
    """Whether leaves have a fact among their digits; one that stands apart has no such type.

    >>> is_digit(np.array([3, 7, 0])), is_digit(np.array([0.5, 0.25])), is_digit(np.empty(0))
    (True, False, False)
    """
    return fact.dtype == np.int64


def as_digits(rows: Whole, facts: Sequence[Fact], room: int = ROOM) -> tuple[Whole, list[Fact]]:
    """Return a number for each leaf, and each fact as it is kept: those that fit, in this order, are in it.

    >>> number, kept = as_digits(np.array([5, 9]), [np.array([6, 8], dtype=np.uint32), np.array([0.1, 0.2])])
    >>> number.tolist(), [fact.tolist() for fact in kept]
    ([21, 39], [[6, 4, 0], [0.1, 0.2]])
    """
    base, lower, kept = 1, np.zeros(len(rows), dtype=np.int64), list[Fact]()
    most = int(rows.max(initial=0)) + 1
    for fact in facts:
        digit, least, own = _digit(fact)
        if own == 0 or most * base * own > room:
            kept.append(fact)
            continue
        lower += base * digit
        base *= own
        kept.append(np.array([least, own, int(fact.dtype == np.float32)]))
    return rows * base + lower, kept


def _digit(fact: Fact) -> tuple[Whole, int, int]:
    """A fact as digits, its least number but 0, and the base; the latter is 0 where it cannot be one."""
    if fact.dtype not in (np.uint32, np.float32) or len(fact) == 0:
        return np.empty(0, dtype=np.int64), 0, 0
    bits = np.ascontiguousarray(fact).view(np.uint32).astype(np.int64)  # of floats from 0 on, in their order
    some = bits[bits > 0]
    least = int(some.min(initial=ROOM * 2))
    digit = np.where(bits > 0, bits - least + 1, 0)
    return digit, least, int(digit.max()) + 1


def rows_in(number: Whole, facts: Sequence[Fact]) -> Whole:
    """Return how many rows leaves hold.

    >>> rows_in(np.array([21, 39]), [np.array([6, 4, 0])]).tolist()
    [5, 9]
    """
    for fact in facts:
        number = number // int(fact[1]) if is_digit(fact) else number
    return number


def fact_in(number: Whole, facts: Sequence[Fact], which: int) -> Fact:
    """Return one of the facts as it was, be it a digit or apart.

    >>> fact_in(np.array([21, 39]), [np.array([6, 4, 0])], 0).tolist()
    [6, 8]
    """
    if not is_digit(facts[which]):
        return facts[which]
    least, base, floats = facts[which].tolist()
    digit = rows_in(number, facts[:which]) % base
    bits = np.where(digit > 0, digit + (least - 1), 0)
    return bits.astype(np.uint32).view(np.float32 if floats else np.uint32)


def halves(number: Whole) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return a wide number as the column and the right child of a leaf.

    >>> column, right = halves(np.array([5 + 7 * ROOM, WIDE - 1]))
    >>> column.tolist(), right.tolist(), whole_of(column, right).tolist() == [5 + 7 * ROOM, WIDE - 1]
    ([-6, -2147483648], [7, -1], True)
    """
    return (-1 - number % ROOM).astype(np.int32), (number // ROOM).astype(np.uint32).view(np.int32)


def whole_of(column: NDArray[np.int32], right: NDArray[np.int32] | None = None) -> Whole:
    """Return the number of a leaf, given its column, and its right child where the number is wide."""
    upper = 0 if right is None else np.ascontiguousarray(right).view(np.uint32).astype(np.int64)
    return np.asarray(upper * ROOM - 1 - column.astype(np.int64))
