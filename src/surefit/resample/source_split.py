"""Any split of a table that is read in batches: row numbers are found from one column, rows are not kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError, ParameterError
from surefit.data.source import Source, TableSource
from surefit.resample.choose import Pair, pairs_of
from surefit.resample.sources import Rule, selected

COUNTED_PIECE = 1 << 16  # rows that are counted beforehand


@dataclass(frozen=True, slots=True)
class CountRule:
    """Takes each row so many times, at a byte a row where none is drawn more than 255 times.

    >>> rule = CountRule.of(np.array([3, 0, 3, 4]), 6)
    >>> rule.keeps(2, 3).tolist(), rule.kept_before(4)
    ([0, 2, 1], 3)
    """

    counts: NDArray[Any]
    before: NDArray[np.int64]  # rows taken before each piece

    @classmethod
    def of(cls, rows: NDArray[Any], count: int) -> CountRule:
        """The rule of row numbers, drawn from ``count`` rows."""
        counts = np.bincount(rows, minlength=count)
        pieces = np.add.reduceat(counts, np.arange(0, count, COUNTED_PIECE), dtype=np.int64)
        return cls(counts.astype(np.min_scalar_type(counts.max())), np.append(0, np.cumsum(pieces)))

    def keeps(self, start: int, count: int) -> NDArray[Any]:
        """How often each of the ``count`` rows from number ``start`` on is taken."""
        return self.counts[start : start + count]

    def kept_before(self, row: int) -> int:
        """How many rows are taken before this one."""
        piece = row // COUNTED_PIECE
        return int(self.before[piece]) + int(self.counts[piece * COUNTED_PIECE : row].sum(dtype=np.int64))


PIECE = 1 << 16  # rows whose kept ones are counted beforehand


@dataclass(frozen=True, slots=True)
class MaskRule:
    """Keeps the rows that it was told, at a bit a row.

    >>> rule = MaskRule.of(np.array([0, 3, 4]), 6)
    >>> rule.keeps(2, 3), rule.kept_before(4)
    (array([False,  True,  True]), 2)
    """

    bits: NDArray[np.uint8]
    before: NDArray[np.int64]  # kept rows before each piece

    @classmethod
    def of(cls, rows: NDArray[Any], count: int) -> MaskRule:
        """The rule of some row numbers among ``count``."""
        mask = np.zeros(count, dtype=bool)
        mask[rows] = True
        pieces = np.add.reduceat(mask, np.arange(0, count, PIECE), dtype=np.int64)
        return cls(np.packbits(mask), np.append(0, np.cumsum(pieces)))

    def keeps(self, start: int, count: int) -> NDArray[np.bool_]:
        """Which of the ``count`` rows from number ``start`` on are kept."""
        first = start // 8
        found = np.unpackbits(self.bits[first : (start + count + 7) // 8])
        return found[start - 8 * first : start - 8 * first + count].astype(bool)

    def kept_before(self, row: int) -> int:
        """How many of the rows before this one are kept."""
        piece = row // PIECE
        return int(self.before[piece]) + int(np.count_nonzero(self.keeps(piece * PIECE, row - piece * PIECE)))


def split_source(
    source: Source, split: Any, groups: Any = None, *, classes: bool = False, random_state: Any = 0
) -> list[tuple[tuple[Source, Source], tuple[int, int]]]:
    """Pairs of sources, train and test, and how many rows each has; for a splitter, pairs, or grouped folds.

    One pass reads the column that the split goes by: the target, the column named by ``groups``, or that of
    time. Rows that are drawn several times are read several times, in the order of the table.

    >>> import pyarrow as pa
    >>> from surefit.data.read import read
    >>> table = read(pa.table({"x": [0.0, 1.0, 2.0, 3.0], "who": ["a", "b", "a", "b"]}))
    >>> [sizes for _, sizes in split_source(table, 2, groups="who")]
    [(2, 2), (2, 2)]
    """
    group = named_column(source, groups, "groups") if isinstance(groups, str) else groups
    time = getattr(split, "order_by", None)
    when = None if time is None else named_column(source, time, "order_by")
    y = _target(source)
    rows = _count(source) if y is None else len(y)
    if group is not None and len(group) != rows:
        raise DataError(f"groups has {len(group)} entries and the table has {rows} rows: give one for each.")
    if when is not None:
        split = list(split.in_order(when))
    pairs = pairs_of(split, np.empty((rows, 0)), y, group, classes=classes, random_state=random_state)
    return [(_sources(source, pair, rows), (len(pair[0]), len(pair[1]))) for pair in pairs]


def source_sample(source: Source, rows: int, random_state: Any = None) -> Source:
    """So many rows of a source, drawn without repetition, as a source in the order of the table.

    >>> import pyarrow as pa
    >>> from surefit.data.read import read
    >>> source_sample(read(pa.table({"x": [0.0, 1.0, 2.0, 3.0]})), 2, random_state=0).schema.rows
    2
    """
    count = _count(source)
    if isinstance(rows, bool) or not isinstance(rows, int | np.integer) or not 1 <= rows <= count:
        raise ParameterError(f"source_sample: rows={rows!r} must be a whole number from 1 to {count}.")
    drawn = np.random.default_rng(random_state).choice(count, rows, replace=False)
    return selected(source, MaskRule.of(drawn, count))


def _sources(source: Source, pair: Pair, rows: int) -> tuple[Source, Source]:
    train, test = (selected(source, rule_of(part, rows)) for part in pair)
    return train, test


def rule_of(rows: NDArray[Any], count: int) -> Rule:
    """The rule that takes these rows of ``count``, each as often as it is among them."""
    mask = MaskRule.of(rows, count)
    return mask if mask.kept_before(count) == len(rows) else CountRule.of(rows, count)


def _count(source: Source) -> int:
    return sum(len(batch) for batch in source) if source.schema.rows is None else source.schema.rows


def _target(source: Source) -> NDArray[Any] | None:
    if isinstance(source, TableSource):
        return None if source.target is None else named_column(source, source.target.name, "target")
    columns = [batch.y for batch in source]
    return None if any(column is None for column in columns) else np.concatenate(columns)  # type: ignore[arg-type]


def named_column(source: Source, name: str, what: str) -> NDArray[Any]:
    """A column by its name: numbers and times as numbers, all else as codes."""
    import pyarrow as pa

    if not isinstance(source, TableSource):
        raise ParameterError(f"{what}={name!r} names a column, which this source has none of: give a table.")
    if name not in source.stream.arrow_schema.names:
        raise ParameterError(
            f"{what}={name!r} is not a column of the table, whose columns are "
            f"{', '.join(source.stream.arrow_schema.names[:20])}."
        )
    pieces = [batch.column(name) for batch in source.stream.batches([name])]
    kind = source.stream.arrow_schema.field(name).type
    if pa.types.is_temporal(kind):
        wide = pa.int32() if kind.bit_width == 32 else pa.int64()
        column = pa.chunked_array(pieces, kind).cast(wide)
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        column = pa.chunked_array(pieces, kind)
    else:
        coded = [piece if pa.types.is_dictionary(kind) else piece.dictionary_encode() for piece in pieces]
        column = pa.chunked_array(coded).unify_dictionaries()
    if column.null_count:
        raise DataError(
            f"{what}={name!r} is missing in {column.null_count} rows: fill it, or drop these rows."
        )
    return _sorted_codes(column) if pa.types.is_dictionary(column.type) else column.to_numpy()


def _sorted_codes(column: Any) -> NDArray[Any]:
    """Codes in the order of what they stand for, as they would be in memory."""
    levels = column.chunk(0).dictionary.to_numpy(zero_copy_only=False)
    place = np.empty(len(levels), dtype=np.int32)
    place[np.argsort(levels, kind="stable")] = np.arange(len(levels))
    return place[np.concatenate([chunk.indices.to_numpy() for chunk in column.chunks])]
