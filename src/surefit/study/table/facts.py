"""Facts about every column of a table, from one pass over any source: what kinds are decided from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.data.arrow import countable, kind_of, plain, to_numpy
from surefit.data.batches.batch import Batch
from surefit.data.schema import Column, Kind
from surefit.data.stream import ArrowStream, watched
from surefit.models.prepare.tables.column_plan import MAX_LEVELS
from surefit.stats.sketch import Sketch
from surefit.stats.spread import Spread
from surefit.study.table import spellings
from surefit.study.table.hashing import Hashes, hash_cells

if TYPE_CHECKING:
    import pyarrow as pa


KEPT = 4096  # least hashes; they tell the number of distinct values to 1.6 % (one standard error)


class Tally:
    """Exact counts of up to ``most`` values; beyond that, the number of values from their least hashes.

    The k-th least of d even draws from [0, 1) lies at k / d. Which hashes are kept depends on the values
    alone, so that any order and cut of the rows gives the same number.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.counts: dict[Any, int] | None = {}
        self._least: Hashes = np.zeros(0, dtype=np.uint64)

    def see(self, cells: pa.Array) -> tuple[pa.Array, NDArray[np.int64]]:
        """Take in cells, none of them missing; return the distinct ones and how often each occurs.

        Where there are too many to list, the cells themselves, each once.
        """
        if self.counts is None:
            self._hash(hash_cells(cells))
            return cells, np.ones(len(cells), dtype=np.int64)
        counted = cells.value_counts()
        values, counts = counted.field("values"), counted.field("counts").to_numpy(zero_copy_only=False)
        known = self.counts
        if len(values) <= self.most:
            for value, count in zip(values.to_pylist(), counts.tolist(), strict=True):
                known[value] = known.get(value, 0) + count
        if max(len(known), len(values)) > self.most:
            import pyarrow as pa

            self.counts = None
            self._hash(hash_cells(pa.array(list(known), type=values.type)))
            self._hash(hash_cells(values))
        return values, counts

    def _hash(self, hashes: Hashes) -> None:
        if len(self._least) == KEPT:
            hashes = hashes[hashes < self._least[-1]]
        ordered = np.sort(np.concatenate([self._least, hashes]))
        self._least = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]][:KEPT]

    @property
    def distinct(self) -> int:
        """How many values: exact while they are listed, and while all hashes are kept."""
        if self.counts is not None:
            return len(self.counts)
        if len(self._least) < KEPT:
            return len(self._least)
        return round((KEPT - 1) / (float(self._least[-1]) / 2.0**64))

    @property
    def exact(self) -> bool:
        """Whether ``distinct`` is no estimate."""
        return self.counts is not None or len(self._least) < KEPT


LISTED = 2_000_000  # values over all columns that are counted one by one
FEWEST = 100  # values of a column that are always counted
# Numbers that stand for "not known" in old files, far from what is measured.
SENTINELS = (-99999.0, -9999.0, -999.0, -99.0, -9.0, 999.0, 9999.0, 99999.0, 999999.0)
Watcher = Callable[["pa.RecordBatch", int], None]  # sees every batch, with the number of its first row


@dataclass(slots=True)
class TextFacts:
    """Of the cells that are there: how many could stand for something else, and how long they are."""

    numbers: int = 0
    booleans: int = 0
    dates: int = 0
    slashed: int = 0
    nothing: int = 0
    letters: int = 0
    words: int = 0


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """One column. held: its kind as it is stored. counts: rows of each value, None for too many.

    low, high, mean, variance and the quartiles are those of finite numbers, and of dates in days since 1970.
    """

    name: str
    held: Kind
    declared: bool  # a category by its type
    rows: int
    missing: int
    distinct: int
    exact: bool
    counts: Mapping[Any, int] | None
    infinite: int = 0
    whole: bool = False
    rising: bool = False  # each value above the one before, none missing
    low: float = np.nan
    high: float = np.nan
    mean: float = np.nan
    variance: float = np.nan
    quartiles: tuple[float, float, float] = (np.nan, np.nan, np.nan)
    sentinels: Mapping[float, int] = field(default_factory=dict)
    text: TextFacts | None = None

    @property
    def present(self) -> int:
        """Rows that have a value."""
        return self.rows - self.missing


@dataclass(frozen=True, slots=True)
class TableFacts:
    """All columns by name, and a sketch of those that are numbers and dates, in the order of ``sketched``."""

    rows: int
    columns: Mapping[str, ColumnFacts]
    sketch: Sketch | None
    sketched: tuple[str, ...]


def gather(
    stream: ArrowStream, names: Sequence[str] | None = None, watchers: Sequence[Watcher] = ()
) -> TableFacts:
    """Read a table once and note the facts; ``watchers`` see the same batches.

    >>> import pyarrow as pa
    >>> from surefit.study.table.stream import stream_of
    >>> facts = gather(stream_of(pa.table({"a": ["1", "2", None], "b": [1.5, 2.0, 2.5]}))[0])
    >>> facts.columns["a"].missing, facts.columns["a"].text.numbers, facts.columns["b"].rising
    (1, 2, True)
    """
    schema = stream.arrow_schema
    chosen = list(schema.names if names is None else names)
    most = int(np.clip(LISTED // max(1, len(chosen)), FEWEST, MAX_LEVELS))
    looks = {name: _Look(name, schema.field(name), most) for name in chosen}
    numeric = [name for name, look in looks.items() if look.kind in ("number", "date")]
    rows, spread, sketch = 0, None, None
    for batch in watched(stream.batches(chosen), "looking at the columns", stream.rows):
        if batch.num_rows == 0:
            continue
        columns = [look.see(batch.column(name)) for name, look in looks.items()]
        if numeric:
            numbers = Batch(np.column_stack([values for values in columns if values is not None]))
            with np.errstate(over="ignore", invalid="ignore"):  # of cells near the largest number there is
                spread = Spread.of(numbers) if spread is None else spread + Spread.of(numbers)
                sketch = Sketch.of(numbers) if sketch is None else sketch + Sketch.of(numbers)
        for watcher in watchers:
            watcher(batch, rows)
        rows += batch.num_rows
    if rows == 0:
        raise DataError("the table has no rows.")
    measured = {} if spread is None or sketch is None else _measured(numeric, spread, sketch)
    found = {name: look.facts(rows, measured.get(name, {})) for name, look in looks.items()}
    return TableFacts(rows, found, sketch, tuple(numeric))


def _measured(names: Sequence[str], spread: Spread, sketch: Sketch) -> dict[str, dict[str, Any]]:
    """Moments and quartiles of each column that has a finite value."""
    quartiles, variance = sketch.quantile([0.25, 0.5, 0.75]), spread.variance
    return {
        name: {
            "low": float(spread.minimum[j]),
            "high": float(spread.maximum[j]),
            "mean": float(spread.mean[j]),
            "variance": float(variance[j]),
            "quartiles": tuple(quartiles[:, j].tolist()),
        }
        for j, name in enumerate(names)
        if spread.weight[j] > 0
    }


class _Look:
    """What has been seen of one column."""

    def __init__(self, name: str, field: pa.Field, most: int) -> None:
        import pyarrow as pa

        self.name = name
        self.kind = kind_of(field)
        self.declared = bool(pa.types.is_dictionary(field.type))
        self.tally = Tally(most)
        self.text = TextFacts() if self.kind == "category" else None
        self.missing = self.infinite = 0
        self.whole = self.kind == "number"
        self.rising = self.kind == "number"
        self.sentinels: dict[float, int] = {}
        self._last = -np.inf

    def see(self, cells: pa.Array) -> NDArray[np.float64] | None:
        """Take in some rows; return numbers and dates as floats, NaN where there is none that is finite."""
        import pyarrow as pa

        if self.kind == "category":
            cells = countable(plain(cells))
            if not pa.types.is_string(cells.type) and not pa.types.is_large_string(cells.type):
                self.text = None  # a dictionary of numbers
            values = None
        else:
            floats = to_numpy(cells, Column(self.name, self.kind))
            values = self._numbers(floats)
            cells = cells if self.kind == "boolean" else pa.array(floats, from_pandas=True)
        self.missing += cells.null_count
        there = cells.drop_null()
        if len(there):
            unique, counts = self.tally.see(there)
            if self.text is not None:
                self._words(unique, counts)
        return values if self.kind in ("number", "date") else None

    def _numbers(self, floats: NDArray[np.float64]) -> NDArray[np.float64]:
        finite = np.isfinite(floats)
        values = floats
        if not finite.all():
            self.infinite += int(np.isinf(floats).sum())
            values = np.where(finite, floats, np.nan)
        if self.kind != "number":
            return values
        self.whole = self.whole and bool((values[finite] == np.rint(values[finite])).all())
        self.rising = self.rising and bool(finite.all())
        if self.rising:
            self.rising = bool(values[0] > self._last and (values[1:] > values[:-1]).all())
            self._last = float(values[-1])
        for sentinel in SENTINELS if self.whole else ():
            count = int(np.count_nonzero(values == sentinel))
            if count:
                self.sentinels[sentinel] = self.sentinels.get(sentinel, 0) + count
        return values

    def _words(self, cells: pa.Array, counts: NDArray[np.int64]) -> None:
        import pyarrow.compute as pc

        def rows(where: pa.Array) -> int:
            return int(counts[where.to_numpy(zero_copy_only=False)].sum())

        assert self.text is not None
        told = self.text
        told.nothing += rows(spellings.are_nothing(cells))
        told.numbers += rows(spellings.are_numbers(cells))
        told.booleans += rows(spellings.are_booleans(cells))
        told.slashed += rows(spellings.are_slashed(cells))
        told.dates += rows(spellings.to_dates(cells).is_valid())
        told.letters += int(pc.utf8_length(cells).to_numpy(zero_copy_only=False) @ counts)
        told.words += int((pc.count_substring(spellings.trimmed(cells), " ").to_numpy() + 1) @ counts)

    def facts(self, rows: int, measured: Mapping[str, Any]) -> ColumnFacts:
        """The facts when all rows are seen."""
        present = rows - self.missing
        rising = self.rising and present > 1
        return ColumnFacts(
            self.name,
            self.kind,
            self.declared,
            rows,
            self.missing,
            present if rising else self.tally.distinct,
            rising or self.tally.exact,
            self.tally.counts,
            self.infinite,
            self.whole and present > 0,
            rising,
            sentinels=self.sentinels,
            text=self.text if present else None,
            **measured,
        )
