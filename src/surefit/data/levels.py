"""Levels: one set of codes over all files of a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surefit.data.arrow import countable, plain
from surefit.data.stream import ArrowStream

if TYPE_CHECKING:
    import pyarrow as pa

MAX_LEVELS = 10_000  # a string column with more distinct values is text


@dataclass(frozen=True, slots=True)
class Seen:
    """The values that some rows of a column take, None for too many; and the order that it declares."""

    values: frozenset[Any] | None
    declared: tuple[Any, ...] | None = None

    def __add__(self, other: Seen) -> Seen:
        declared = self.declared if self.declared is not None else other.declared
        if self.values is None or other.values is None:
            return Seen(None, declared)
        values = self.values | other.values
        return Seen(values if len(values) <= MAX_LEVELS + 1 else None, declared)


def seen_levels(batches: Iterable[pa.RecordBatch], names: Sequence[str]) -> dict[str, Seen]:
    """Look through batches for the values of some columns."""
    import pyarrow.compute as pc

    found = {name: Seen(frozenset()) for name in names}
    for batch in batches:
        for name, before in found.items():
            values = batch.column(name)
            ordered = getattr(values.type, "ordered", False)
            declared = tuple(values.dictionary.to_pylist()) if ordered else None
            here = frozenset() if before.values is None else plain(pc.unique(countable(values))).to_pylist()
            found[name] = before + Seen(frozenset(here), declared)
    return found


def levels_of(stream: ArrowStream, names: Sequence[str]) -> dict[str, NDArray[Any] | None]:
    """Find the levels of columns in one pass that reads nothing else; None where they are too many.

    Levels are sorted, so that the order of rows does not matter; an ordered dictionary keeps its own order.
    """
    where_they_lie = getattr(stream, "seen_levels", None)
    pieces = [seen_levels(stream.batches(names), names)] if where_they_lie is None else where_they_lie(names)
    found = {name: sum((piece[name] for piece in pieces), Seen(frozenset())) for name in names}
    return {name: _levels(seen) for name, seen in found.items()}


def _levels(seen: Seen) -> NDArray[Any] | None:
    if seen.values is None:
        return None
    levels = seen.declared if seen.declared is not None else sorted(seen.values - {None})
    there = [level for level in levels if level is not None and level == level]
    if not all(isinstance(level, str) for level in there):
        return np.array(there)
    array = np.empty(len(there), dtype=object)
    array[:] = there
    return array
