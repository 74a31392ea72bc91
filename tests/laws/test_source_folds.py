"""Folds of a source partition its rows, whatever the batches, and read nothing but batches."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse

from surefit.core.errors import ParameterError
from surefit.data.batches.batch import Batch
from surefit.data.batches.cells import Cells
from surefit.data.read import read
from surefit.data.schema import Schema
from surefit.data.source import ArraySource, Source
from surefit.resample import source_folds
from surefit.resample.row_rule import RowRule

ROWS = 103
NUMBERS = np.arange(ROWS, dtype=np.float64)


@dataclass(frozen=True)
class Pieces:
    """Rows numbered in their first column, in batches of some size; each batch is a part."""

    size: int
    known: bool = True
    sparse: bool = False
    first: int = 0
    stop: int = ROWS

    @property
    def schema(self) -> Schema:
        return Schema(2, rows=ROWS if self.known else None, targets=1)

    def __iter__(self) -> Iterator[Batch]:
        for start in range(self.first, self.stop, self.size):
            rows = NUMBERS[start : min(start + self.size, self.stop)]
            X = np.column_stack([rows, -rows])
            yield Batch(scipy.sparse.csr_array(X) if self.sparse else X, 2 * rows, rows + 1, start)

    def parts(self) -> Sequence[Source]:
        starts = range(0, ROWS, self.size)
        return [replace(self, first=start, stop=min(start + self.size, ROWS)) for start in starts]


def rows_of(source: Source) -> list[int]:
    """The rows that a source yields; all that belongs to a row must have come along."""
    found: list[int] = []
    for batch in source:
        X = batch.X.toarray() if scipy.sparse.issparse(batch.X) else batch.X
        assert len(batch) > 0
        assert batch.start == len(found)
        np.testing.assert_array_equal(X[:, 1], -X[:, 0])
        np.testing.assert_array_equal(batch.y, 2 * X[:, 0])
        np.testing.assert_array_equal(batch.weight, X[:, 0] + 1)
        found += X[:, 0].astype(int).tolist()
    return found


WAYS = [
    {"k": 2},
    {"k": 5},
    {"k": 5, "block": 7},
    {"k": 3, "shuffle": True, "random_state": 0},
    {"k": 4, "block": 5, "shuffle": True, "random_state": 1},
]
each_way = pytest.mark.parametrize("way", WAYS, ids=str)


@each_way
@pytest.mark.parametrize(
    "source", [Pieces(10), Pieces(200), Pieces(1), Pieces(13, known=False), Pieces(9, sparse=True)]
)
def test_every_row_is_tested_once_and_learnt_from_otherwise(source: Pieces, way: dict[str, Any]) -> None:
    tested = []
    sizes = []
    for train, test in source_folds(source, **way):
        mine, rest = rows_of(test), rows_of(train)
        assert sorted(mine + rest) == list(range(ROWS))
        assert mine == sorted(mine)
        assert rest == sorted(rest)
        assert test.schema.rows == (len(mine) if source.known else None)
        assert train.schema.rows == (len(rest) if source.known else None)
        tested += mine
        sizes.append(len(mine))
        assert rows_of(test) == mine  # a second pass
    assert sorted(tested) == list(range(ROWS))
    assert max(sizes) - min(sizes) <= way.get("block", 1)


@each_way
def test_the_folds_do_not_depend_on_the_batches(way: dict[str, Any]) -> None:
    one, two = ([rows_of(test) for _, test in source_folds(Pieces(size), **way)] for size in (8, 31))
    assert one == two


@each_way
def test_parts_hold_the_same_rows_at_the_same_places(way: dict[str, Any]) -> None:
    for pair in source_folds(Pieces(10), **way):
        for fold in pair:
            batches = [batch for part in fold.parts() for batch in part]
            assert len(fold.parts()) > 1
            assert [int(x) for batch in batches for x in batch.X[:, 0]] == rows_of(fold)
            assert [b.start for b in batches] == [b.start for b in fold]
    unknown, _ = next(source_folds(Pieces(10, known=False), **way))
    assert len(unknown.parts()) == 1


def test_shuffling_repeats_with_its_seed_and_is_not_the_order_of_the_rows() -> None:
    def folds(seed: Any, shuffle: bool = True) -> list[list[int]]:
        return [rows_of(test) for _, test in source_folds(Pieces(10), 3, shuffle=shuffle, random_state=seed)]

    assert folds(3) == folds(3) != folds(4)
    assert folds(None, shuffle=False)[1] == list(range(1, ROWS, 3))


def test_shuffled_folds_get_each_place_of_a_run_equally_often() -> None:
    """Chi-square over the six orders of three blocks; fails for one seed in a million."""
    from scipy.stats import chisquare

    masks = [RowRule(3, fold, False, seed=11).keeps(0, 30_000).reshape(-1, 3) for fold in range(3)]
    order = sum(fold * mask for fold, mask in enumerate(masks))
    _, counts = np.unique(order @ [9, 3, 1], return_counts=True)
    assert len(counts) == 6
    assert chisquare(counts).pvalue > 1e-6


def test_a_whole_batch_is_passed_on_without_a_copy() -> None:
    source = Pieces(10)
    batches = list(source)
    held = ArraySource(source.schema, batches[0])
    train, _ = next(source_folds(held, 2, block=60, shuffle=False))
    with pytest.raises(StopIteration):
        next(iter(train))  # the ten rows are in the first block, which is tested
    _, test = next(source_folds(held, 2, block=60))
    assert next(iter(test)).X is batches[0].X


def test_a_rule_counts_what_it_keeps() -> None:
    for rule in (RowRule(3, 1, False, 4), RowRule(3, 1, True, 4, seed=9), RowRule(2, 0, True)):
        kept = rule.keeps(0, 60)
        assert [rule.kept_before(row) for row in range(61)] == [0, *np.cumsum(kept).tolist()]
        np.testing.assert_array_equal(np.r_[rule.keeps(0, 17), rule.keeps(17, 43)], kept)
        assert rule.keeps(5, 0).shape == (0,)


def test_cells_of_any_type_are_cut_alike() -> None:
    cells = Cells((NUMBERS, np.array([f"row {i}" for i in range(ROWS)])))
    source = ArraySource(Schema(2, rows=ROWS), Batch(cells))
    for fold in next(source_folds(source, 3)):
        [batch] = fold
        numbers, names = batch.X.columns
        assert len(batch) == len(numbers) == fold.schema.rows
        assert names.tolist() == [f"row {i:.0f}" for i in numbers]


def test_a_typed_table_stays_one() -> None:
    words = np.array(["red", "green", "blue"])[np.arange(ROWS) % 3]
    table = pa.table({"row": NUMBERS, "colour": words, "good": np.arange(ROWS) % 2 == 0})
    source = read(table, target="good")
    for train, test in source_folds(source, 4, block=3, shuffle=True, random_state=0):
        assert type(train) is type(source)
        rows = [[int(x) for batch in fold for x in batch.X.column(0)] for fold in (train, test)]
        assert sorted(rows[0] + rows[1]) == list(range(ROWS))
        assert [fold.schema.rows for fold in (train, test)] == [len(part) for part in rows]
        assert train.schema.columns == source.schema.columns
        in_parts = [int(x) for part in test.parts() for batch in part for x in batch.X.column(0)]
        assert in_parts == rows[1]
        again = pickle.loads(pickle.dumps(test.stream.rule))
        assert again == test.stream.rule


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 1}, "k=1 must be a whole number of at least 2"),
        ({"k": 2.5}, "k=2.5 must be"),
        ({"block": 0}, "block=0 must be"),
        ({"k": 200}, "103 rows cannot fill 200 folds"),
        ({"k": 5, "block": 50}, "cannot fill 5 folds of blocks of 50"),
    ],
)
def test_what_cannot_be_cut_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=f"^source_folds: .*{message}"):
        source_folds(Pieces(10), **options)
