"""Splitters over tables that are read in batches cut the same rows as over the same table in memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn import model_selection
from sklearn.neighbors import KNeighborsRegressor

import surefit
from surefit import resample
from surefit.core.errors import DataError, ParameterError
from surefit.data.read import read
from surefit.resample.source_split import CountRule, MaskRule, split_source

RNG = np.random.default_rng(0)
ROWS = 90
FRAME = pd.DataFrame(
    {
        "x": RNG.normal(size=ROWS),
        "who": RNG.choice(["ann", "bob", "cid", "dee", "eve", "flo"], ROWS),
        "day": pd.to_datetime("2026-01-01") + pd.to_timedelta(RNG.permutation(ROWS), unit="D"),
        "kind": RNG.choice(["a", "b"], ROWS, p=[0.8, 0.2]),
        "y": RNG.normal(size=ROWS),
    }
)
FRAME["y"] += FRAME["x"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three files, of batches that no fold's border respects."""
    place = tmp_path_factory.mktemp("table")
    for number, piece in enumerate((FRAME[:20], FRAME[20:55], FRAME[55:])):
        table = pa.Table.from_pandas(piece, preserve_index=False)
        pq.write_table(table, place / f"{number}.parquet", row_group_size=13)
    return place


SPLITS = {
    "KFold": (resample.KFold(4, shuffle=True, random_state=1), None),
    "scikit-learn's": (model_selection.KFold(3), None),
    "StratifiedKFold": (resample.StratifiedKFold(4), None),
    "GroupKFold": (resample.GroupKFold(3), "who"),
    "grouped folds": (3, "who"),
    "LeaveOneGroupOut": (resample.LeaveOneGroupOut(), "who"),
    "StratifiedGroupKFold": (resample.StratifiedGroupKFold(2), "who"),
    "RepeatedKFold": (resample.RepeatedKFold(n_splits=2, n_repeats=2, random_state=0), None),
    "ShuffleSplit": (resample.ShuffleSplit(3, test_size=0.3, random_state=0), None),
    "HoldOut": (resample.HoldOut(random_state=0), None),
    "Bootstrap": (resample.Bootstrap(3, random_state=0), None),
    "a long Bootstrap": (resample.Bootstrap(1, size=140, random_state=0), None),
    "TimeSeriesSplit": (resample.TimeSeriesSplit(3, gap=2), None),
    "time by a column": (resample.TimeSeriesSplit(3, order_by="day"), None),
    "pairs": ([(np.arange(60), np.arange(60, 90)), (np.arange(40, 90), np.arange(30))], None),
}


def rows_of(source):
    values = [value for batch in source for value in batch.X.column(0)]
    return [int(np.flatnonzero(FRAME["x"].to_numpy() == value)[0]) for value in values]


@pytest.mark.parametrize("name", SPLITS)
def test_a_split_of_files_is_that_of_memory(name, folder):
    split, groups = SPLITS[name]
    source = read(folder, target="kind")
    found = split_source(source, split, groups, classes=True, random_state=0)
    in_memory = resample.choose.pairs_of(
        split,
        FRAME,
        FRAME["kind"],
        None if groups is None else FRAME[groups],
        classes=True,
        random_state=0,
    )
    assert len(found) == len(in_memory)
    for (parts, sizes), pair in zip(found, in_memory, strict=True):
        assert sizes == (len(pair[0]), len(pair[1]))
        for part, rows in zip(parts, pair, strict=True):
            assert rows_of(part) == sorted(rows)
            assert part.schema.rows == len(rows)
            assert sorted(row for piece in part.parts() for row in rows_of(piece)) == sorted(rows)


@pytest.mark.parametrize(
    ("split", "groups"),
    [
        (resample.TimeSeriesSplit(3, order_by="day"), None),
        (3, "who"),
        (resample.Bootstrap(3, random_state=0), None),
    ],
    ids=["time", "groups", "bootstrap"],
)
def test_scores_are_those_of_rows_in_memory(split, groups, folder):
    model = surefit.make_pipeline(surefit.TablePreparer(), surefit.Ridge())
    given = {"split": split, "metrics": "mean_squared_error"}
    streamed = surefit.cross_validate(model, folder, "y", groups=groups, **given)
    rows = FRAME.drop(columns="y")
    memory = surefit.cross_validate(
        model, rows, FRAME["y"], groups=None if groups is None else FRAME[groups], **given
    )
    name = "mean_squared_error"
    np.testing.assert_allclose(streamed.scores[name], memory.scores[name], rtol=1e-9)
    assert [tuple(pair) for pair in streamed.sizes] == [tuple(pair) for pair in memory.sizes]
    grid = {"ridge__alpha": [0.1, 10.0]}
    options = {"scoring": name, "split": split}
    search = surefit.GridSearch(model, grid, **options).fit(folder, "y", groups=groups)
    plain = surefit.GridSearch(model, grid, **options).fit(
        rows, FRAME["y"], groups=None if groups is None else FRAME[groups]
    )
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], rtol=1e-9
    )


def test_time_by_a_column_learns_from_the_past_alone():
    split = resample.TimeSeriesSplit(4, order_by="day")
    assert repr(split).endswith("order_by='day')")
    for train, test in split.split(FRAME):
        assert FRAME["day"].iloc[train].max() < FRAME["day"].iloc[test].min()
    numbers = np.column_stack([np.arange(20), np.random.default_rng(1).permutation(20)])
    for train, test in resample.TimeSeriesSplit(3, order_by=1).split(numbers):
        assert numbers[train, 1].max() < numbers[test, 1].min()


def test_what_cannot_be_split_says_so(folder):
    model = surefit.Ridge()
    table = read(pa.Table.from_pandas(FRAME[["x", "y"]]), target="y")
    with pytest.raises(ParameterError, match="groups='team' is not a column of the table"):
        surefit.cross_validate(model, table, split=3, groups="team")
    with pytest.raises(ParameterError, match="must be a number of folds, an object with a method split"):
        surefit.cross_validate(model, table, split="five")
    holes = pa.Table.from_pandas(FRAME[["x", "y"]].assign(who=[None, *FRAME["who"][1:]]))
    with pytest.raises(DataError, match="groups='who' is missing in 1 rows"):
        surefit.cross_validate(model, read(holes, target="y", columns=["x"]), split=2, groups="who")


@pytest.mark.parametrize("count", [1, 8, 65_536, 150_001])
def test_masks_count_across_their_pieces(count):
    kept = np.sort(np.random.default_rng(count).choice(count, max(1, count // 3), replace=False))
    rule = MaskRule.of(kept, count)
    mask = np.isin(np.arange(count), kept)
    for start in {0, 1, count // 2, max(0, count - 9)}:
        stop = min(count, start + 70_000)
        np.testing.assert_array_equal(rule.keeps(start, stop - start), mask[start:stop])
        assert rule.kept_before(start) == mask[:start].sum()
    assert rule.kept_before(count) == len(kept)


@pytest.mark.parametrize("count", [1, 8, 65_536, 150_001])
def test_counts_of_rows_add_up_across_their_pieces(count):
    drawn = np.random.default_rng(count).integers(count, size=count + 300)
    rule, counts = CountRule.of(drawn, count), np.bincount(drawn, minlength=count)
    for start in {0, 1, count // 2, max(0, count - 9), count}:
        np.testing.assert_array_equal(rule.keeps(start, 70_000), counts[start : start + 70_000])
        assert rule.kept_before(start) == counts[:start].sum()


def test_a_bootstrap_of_a_source_needs_no_weights_of_the_model(folder):
    """Rows drawn again are read again, so that a model that takes no weights learns from them."""
    split = resample.Bootstrap(2, random_state=3)
    given = {"split": split, "metrics": "mean_squared_error"}
    model = KNeighborsRegressor(3)
    streamed = surefit.cross_validate(model, read(folder, target="y", columns=["x"]), **given)
    memory = surefit.cross_validate(model, FRAME[["x"]], FRAME["y"], **given)
    np.testing.assert_allclose(
        streamed.scores["mean_squared_error"], memory.scores["mean_squared_error"], rtol=1e-9
    )
