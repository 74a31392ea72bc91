"""Facts of leaves as digits of one whole number, which stands where a leaf has no column.

How many rows a leaf holds takes a few of the 31 bits there; where it has no right child either, it has 63.
What else has four bytes (a whole weight, the bits of a float32) joins it where all leaves leave room: a fact
is a digit to a base of its own, and the rows, which need none, come last. A fact that stands there is kept as
three int64: its least bits but 0, its base, and 1 for a float32, 0 for a whole number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
Fact = NDArray[Any]
ROOM = 2**31  # numbers from 0 on: the column of a leaf is -1 less its own
BASE, FLOATS = 1, 2  # where they stand in a fact that is kept as least, base and floats of its ``Span``
WIDE = 2**63  # the same with the right child, which has the upper 32 bits


def is_digit(fact: Fact) -> bool:
    """Whether leaves have a fact among their digits; one that stands apart has no such type.

    >>> is_digit(np.array([3, 7, 0])), is_digit(np.array([0.5, 0.25])), is_digit(np.empty(0))
    (True, False, False)
    """
    return fact.dtype == np.int64


@dataclass(frozen=True, slots=True)
class Span:
    """The least and the largest of the bits of a fact, but for 0; of none, the least is above the largest."""

    least: int
    largest: int
    floats: bool

    def __or__(self, other: Span) -> Span:
        return Span(min(self.least, other.least), max(self.largest, other.largest), self.floats)

    @property
    def base(self) -> int:
        """How many digits there are: 0, and each of the others from the least on."""
        return max(self.largest - self.least + 2, 1)


def span_of(fact: Fact) -> Span | None:
    """Return the span of a fact; none where it cannot be a digit.

    >>> span_of(np.array([6, 0, 8], dtype=np.uint32))
    Span(least=6, largest=8, floats=False)
    """
    if fact.dtype not in (np.uint32, np.float32) or len(fact) == 0:
        return None
    bits = _bits(fact)
    some = bits[bits > 0]
    return Span(int(some.min(initial=2 * ROOM)), int(some.max(initial=0)), fact.dtype == np.float32)


def fitting(most: int, spans: Sequence[Span | None], room: int = ROOM) -> list[Span | None]:
    """Return the spans of those facts that fit, in this order, beside up to ``most`` rows."""
    size, kept = most + 1, list[Span | None]()
    for span in spans:
        fits = span is not None and size * span.base <= room
        kept.append(span if fits else None)
        size *= span.base if span is not None and fits else 1
    return kept


def numbers_of(rows: Whole, facts: Sequence[Fact], spans: Sequence[Span | None]) -> Whole:
    """Return a number for each leaf, with those facts in it that have a span."""
    number = rows.copy()
    for fact, span in zip(reversed(facts), reversed(spans), strict=True):
        if span is not None:
            bits = _bits(fact)
            number *= span.base
            number += np.where(bits > 0, bits - (span.least - 1), 0)
    return number


def kept_fact(fact: Fact, span: Span | None) -> Fact:
    """Return a fact as it is kept: apart, or what tells its digits."""
    return fact if span is None else np.array([span.least, span.base, int(span.floats)])


def as_digits(rows: Whole, facts: Sequence[Fact], room: int = ROOM) -> tuple[Whole, list[Fact]]:
    """Return a number for each leaf, and each fact as it is kept: those that fit, in this order, are in it.

    >>> number, kept = as_digits(np.array([5, 9]), [np.array([6, 8], dtype=np.uint32), np.array([0.1, 0.2])])
    >>> number.tolist(), [fact.tolist() for fact in kept]
    ([21, 39], [[6, 4, 0], [0.1, 0.2]])
    """
    spans = fitting(int(rows.max(initial=0)), [span_of(fact) for fact in facts], room)
    return numbers_of(rows, facts, spans), [kept_fact(*each) for each in zip(facts, spans, strict=True)]


def _bits(fact: Fact) -> Whole:
    """The bits of whole numbers, or of floats from 0 on, whose order they have."""
    return np.ascontiguousarray(fact).view(np.uint32).astype(np.int64)


def rows_in(number: Whole, facts: Sequence[Fact]) -> Whole:
    """Return how many rows leaves hold.

    >>> rows_in(np.array([21, 39]), [np.array([6, 4, 0])]).tolist()
    [5, 9]
    """
    for fact in facts:
        number = number // int(fact[BASE]) if is_digit(fact) else number
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
