"""Levels: one set of codes over all files of a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.diagnosis import listed
from surefit.core.errors import DataError
from surefit.data.arrow import countable, plain
from surefit.data.stream import ArrowStream

if TYPE_CHECKING:
    import pyarrow as pa

MAX_LEVELS = 10_000  # a string column with more distinct values is text


@dataclass(frozen=True, slots=True)
class Levels:
    """The levels of a category, None for too many; whether their order was declared; those that occur."""

    known: NDArray[Any] | None
    ordered: bool
    present: NDArray[Any] | None


@dataclass(frozen=True, slots=True)
class SeenValues:
    """The values that some rows of a column take, None for too many; the order that it declares, and one
    that contradicts it.
    """

    values: frozenset[Any] | None
    declared: tuple[Any, ...] | None = None
    against: tuple[Any, ...] | None = None

    def __add__(self, other: SeenValues) -> SeenValues:
        declared, against = _joined(self.declared, other.declared)
        against = self.against or other.against or against
        if self.values is None or other.values is None:
            return SeenValues(None, declared, against)
        values = self.values | other.values
        return SeenValues(values if len(values) <= MAX_LEVELS + 1 else None, declared, against)


def _joined(
    one: tuple[Any, ...] | None, two: tuple[Any, ...] | None
) -> tuple[tuple[Any, ...] | None, tuple[Any, ...] | None]:
    """The longer of two orders, of which the other must be a part; otherwise the second contradicts."""
    if one is None or two is None or one == two:
        return (two if one is None else one), None
    short, long = sorted((one, two), key=len)
    rest = iter(long)
    return (long, None) if all(level in rest for level in short) else (one, two)


def seen_levels(batches: Iterable[pa.RecordBatch], names: Sequence[str]) -> dict[str, SeenValues]:
    """Look through batches for the values of some columns."""
    import pyarrow.compute as pc

    found = {name: SeenValues(frozenset()) for name in names}
    for batch in batches:
        for name, before in found.items():
            values = batch.column(name)
            ordered = getattr(values.type, "ordered", False)
            declared = tuple(values.dictionary.to_pylist()) if ordered else None
            here = frozenset() if before.values is None else plain(pc.unique(countable(values))).to_pylist()
            found[name] = before + SeenValues(frozenset(here), declared)
    return found


def levels_of(stream: ArrowStream, names: Sequence[str]) -> dict[str, Levels]:
    """Find the levels of columns in one pass that reads nothing else.

    Levels are sorted, so that the order of rows does not matter; an ordered dictionary keeps its own order,
    which must be the same in all files, though some may lack levels of others.
    """
    where_they_lie = getattr(stream, "seen_levels", None)
    pieces = [seen_levels(stream.batches(names), names)] if where_they_lie is None else where_they_lie(names)
    found = {name: sum((piece[name] for piece in pieces), SeenValues(frozenset())) for name in names}
    for name, seen in found.items():
        _check_order(stream, name, seen)
    return {name: _levels(seen) for name, seen in found.items()}


def _levels(seen: SeenValues) -> Levels:
    present = None if seen.values is None else _array(sorted(seen.values - {None}))
    if seen.declared is None:
        return Levels(present, False, present)
    return Levels(_array([level for level in seen.declared if level is not None]), True, present)


def _array(levels: Sequence[Any]) -> NDArray[Any]:
    there = [level for level in levels if level == level]
    if not all(isinstance(level, str) for level in there):
        return np.array(there)
    array = np.empty(len(there), dtype=object)
    array[:] = there
    return array


def _check_order(stream: ArrowStream, name: str, seen: SeenValues) -> None:
    """Refuse files that declare different orders, and values outside of the order."""
    if seen.declared is None:
        return
    order = _shown(seen.declared)
    if seen.against is not None:
        first, second = _where(stream, name, seen.declared), _where(stream, name, seen.against)
        raise DataError(
            f"the files disagree on the order of column {name!r}: {order}{first}, "
            f"but {_shown(seen.against)}{second}; write it with one order."
        )
    outside = (seen.values or frozenset()) - {*seen.declared, None}
    if outside:
        raise DataError(
            f"column {name!r} is ordered, {order}, but some rows hold {_shown(sorted(outside))}: "
            "write it with one order in all files."
        )


def _shown(levels: Sequence[Any]) -> str:
    return listed([str(level) for level in levels])


def _where(stream: ArrowStream, name: str, order: tuple[Any, ...]) -> str:
    """The file that declares an order, where there is one."""
    for part in stream.parts():
        path = getattr(getattr(part, "file", None), "path", None)
        if path is not None and seen_levels(part.batches([name]), [name])[name].declared == order:
            return f" in {path}"
    return ""
