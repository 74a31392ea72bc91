"""What a column is does not depend on how the table is stored, and every decision has a reason."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefit
from surefit.core.errors import DataError, ParameterError
from surefit.study.table.decide import decide
from surefit.study.table.facts import KEPT, Tally, gather
from surefit.study.table.kinds import KINDS, USED, decide_kinds
from surefit.study.table.stream import sample, stream_of
from surefit.study.table.task import decide_task
from surefit.study.table.typed import typed

ROWS = 120


def everything() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    days = pd.date_range("2020-01-01", periods=ROWS)
    return pd.DataFrame(
        {
            "row": np.arange(ROWS) + 1000,
            "customer_id": rng.permutation(10**6)[:ROWS],
            "uuid": [f"{place:x}-{rng.integers(10**9)}" for place in range(ROWS)],
            "measure": rng.normal(size=ROWS),
            "single": rng.normal(size=ROWS).astype(np.float32),
            "rating": rng.integers(1, 6, ROWS),
            "zero_one": rng.integers(0, 2, ROWS),
            "spelt": rng.choice(["Yes", " no", "N"], ROWS),
            "money": [f"${value:,.2f}" for value in rng.normal(1e4, 1e3, ROWS)],
            "percent": [f"{value} %" if value < 90 else "n/a" for value in rng.integers(0, 100, ROWS)],
            "code": [f"{value:05d}" for value in rng.integers(1, 40, ROWS)],
            "dotted": days.strftime("%d.%m.%Y"),
            "slashed": rng.choice(["01/02/2020", "03/04/2021"], ROWS),
            "constant": 3.0,
            "empty": np.full(ROWS, np.nan),
            "letter": rng.choice(list("abc"), ROWS),
            "remark": [f"the quick brown fox number {place} jumps over" for place in range(ROWS)],
            "mostly": [float(place) if place < 20 else np.nan for place in rng.permutation(ROWS)],
            "one_or_none": ["x" if place % 3 else None for place in range(ROWS)],
            "mixed": [str(place) if place % 10 else "abc" for place in rng.integers(0, 30, ROWS)],
            "truth": rng.random(ROWS) < 0.5,
            "moment": days,
            "declared": pd.Categorical(rng.choice(["s", "m"], ROWS), categories=["s", "m", "l"]),
        }
    )


EXPECTED = {
    "row": "identifier",
    "customer_id": "identifier",
    "uuid": "identifier",
    "measure": "number",
    "single": "number",
    "rating": "number",
    "zero_one": "boolean",
    "spelt": "boolean",
    "money": "number",
    "percent": "number",
    "code": "category",
    "dotted": "date",
    "slashed": "category",
    "constant": "constant",
    "empty": "constant",
    "letter": "category",
    "remark": "text",
    "mostly": "number",
    "one_or_none": "category",
    "mixed": "category",
    "truth": "boolean",
    "moment": "date",
    "declared": "category",
}


def test_every_kind_is_told() -> None:
    found = decide_kinds(everything())
    assert {column.name: column.kind for column in found} == EXPECTED
    assert set(EXPECTED.values()) == set(KINDS)
    assert all(column.why for column in found)
    assert all(column.used == (column.kind in USED) for column in found)


def test_reasons_and_counts_say_what_was_seen() -> None:
    found = {column.name: column for column in decide_kinds(everything())}
    assert found["percent"].why.startswith("numbers, stored as text, ")
    assert found["percent"].missing == int((everything()["percent"] == "n/a").sum()) > 0
    assert dict(found["money"].summary)["high"] < 20_000
    assert "rating=category" in found["rating"].why
    assert "day and month cannot be told apart" in found["slashed"].why
    assert "cells are numbers" in found["mixed"].why
    assert "83% of its rows are empty" in found["mostly"].why
    assert dict(found["moment"].summary) == {
        "low": "2020-01-01",
        "median": "2020-02-29 12:00:00",
        "high": "2020-04-29",
    }
    assert sum(count for _, count in found["letter"].summary) == ROWS  # type: ignore[misc]


@pytest.mark.parametrize("form", ["polars", "arrow", "one file", "folder", "source", "arrow file"])
def test_the_form_of_a_table_does_not_matter(form: str, tmp_path: Path) -> None:
    frame = everything()
    table = pa.Table.from_pandas(frame, preserve_index=False)
    other: Any = table
    if form == "polars":
        other = pl.from_arrow(table)
    elif form in ("one file", "folder", "source"):
        cuts = (0, ROWS) if form == "one file" else (0, 1, 50, 51, ROWS)
        for start, stop in pairwise(cuts):
            pq.write_table(table.slice(start, stop - start), tmp_path / f"{start:03d}.parquet")
        other = surefit.read(tmp_path) if form == "source" else tmp_path
    elif form == "arrow file":
        with pa.ipc.new_file(tmp_path / "t.arrow", table.schema) as writer:
            writer.write_table(table, max_chunksize=7)
        other = tmp_path / "t.arrow"
    assert decide_kinds(other) == decide_kinds(frame)


def test_an_array_is_a_frame_of_numbers() -> None:
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=ROWS), np.arange(ROWS), rng.integers(0, 2, ROWS), np.zeros(ROWS)])
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2", "x3"])
    expected = decide_kinds(frame)
    assert [column.kind for column in expected] == ["number", "identifier", "boolean", "constant"]
    for other in (np.asfortranarray(X), X.tolist(), np.repeat(X, 2, axis=0)[::2], pd.DataFrame(X).to_numpy()):
        assert decide_kinds(other) == expected
    X.flags.writeable = False
    assert decide_kinds(X) == expected


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_scale_and_offset_do_not_change_a_number(scale: float) -> None:
    values = 1e6 + np.random.default_rng(2).normal(size=ROWS)
    assert decide_kinds(pd.DataFrame({"a": scale * values}))[0].kind == "number"


@settings(derandomize=True, max_examples=40, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.none(), st.text(max_size=8), st.sampled_from(["1,5", "yes", "n/a", "2020-01-01", "0x1", "١"])
        ),
        min_size=1,
        max_size=30,
    )
)
def test_any_words_have_a_kind_and_can_be_read_as_any(cells: list[str | None]) -> None:
    table = pa.table({"a": pa.array(cells, pa.string()), "b": np.arange(len(cells)) % 3 * 1.5})
    (found, _) = decide_kinds(table)
    assert found.kind in KINDS
    for kind in USED:
        (column,) = typed(table.select(["a"]), {"a": kind}).schema.columns or ()
        assert column.kind == kind


def test_kinds_can_be_overruled_and_the_reason_says_so() -> None:
    found = {c.name: c for c in decide_kinds(everything(), overrides={"rating": "category", "row": "number"})}
    assert found["rating"].kind == "category"
    assert found["row"].used
    assert found["row"].why.startswith("as specified; detected as identifier: whole numbers")
    with pytest.raises(ParameterError, match="choose one of number"):
        decide_kinds(everything(), overrides={"rating": "colour"})
    with pytest.raises(DataError, match="no column to override named 'ratng': did you mean 'rating'"):
        decide_kinds(everything(), overrides={"ratng": "number"})


def test_target_weight_and_dropped_columns_are_listed_and_not_used() -> None:
    found = {c.name: c for c in decide_kinds(everything(), "measure", weight="rating", drop=("letter",))}
    assert not any(found[name].used for name in ("measure", "rating", "letter"))
    assert found["measure"].why.endswith("; the target")


@pytest.mark.parametrize(
    ("values", "task", "kind"),
    [
        ([1.5, 2.25, 9.0] * 10, "regression", "number"),
        ([1, 2, 3] * 10, "classification", "category"),
        (list(range(11)) * 4, "regression", "number"),
        (["a", "b"] * 10, "classification", "category"),
        (["yes", "no"] * 10, "classification", "category"),
        (["yes", "no", "y"] * 10, "classification", "boolean"),
        ([True, False] * 10, "classification", "boolean"),
        ([0, 1] * 10, "classification", "boolean"),
        (["1,000", "2,500", "7"] * 10, "regression", "number"),
        (list(range(30)), "regression", "number"),
    ],
    ids=[
        "floats",
        "few",
        "eleven",
        "words",
        "yes-no",
        "spellings",
        "true-false",
        "zero-one",
        "text",
        "range",
    ],
)
def test_the_task_follows_the_target(values: list[Any], task: str, kind: str) -> None:
    table = pa.table({"y": values, "x": np.random.default_rng(0).normal(size=len(values))})
    decided = decide(table, "y")
    assert (decided.task.task, decided.task.kind) == (task, kind)
    assert decided.task.why
    assert decided.used == ("x",)


def test_the_task_can_be_overruled() -> None:
    table = pa.table({"y": [1, 2, 3] * 10, "w": ["a", "b", "c"] * 10, "x": np.arange(30) * 1.5})
    assert decide(table, "y", task="regression").task.task == "regression"
    with pytest.raises(DataError, match="'w' is a category, and regression needs numbers"):
        decide(table, "w", task="regression")
    with pytest.raises(ParameterError, match="must be one of regression"):
        decide(table, "y", task="clustering")


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("constant", "has one value only"),
        ("empty", "no value in any row"),
        ("moment", "holds dates"),
        ("uuid", "hardly classes"),
        ("absent", "no target named 'absent'"),
    ],
)
def test_a_target_that_cannot_be_learnt_is_refused(column: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        decide(everything(), column)


def test_a_table_without_a_column_to_learn_from_is_refused() -> None:
    table = pa.table({"y": [1.5, 2.5] * 20, "c": [1] * 40, "n": np.arange(40)})
    with pytest.raises(DataError, match="no column is left to learn from"):
        decide(table, "y")


def test_reading_as_decided_converts_cells_and_leaves_out_rows_without_a_target() -> None:
    table = pa.table(
        {
            "size": ["1,200", "n/a", "950", "3"] * 6,
            "sold": ["yes", "no", None, "no"] * 6,
            "day": ["2020-01-02", "?", "1 Jan 2020", "-"] * 6,
            "grade": pa.array([1, 2, None, 3] * 6, pa.int8()),
        }
    )
    decided = decide(table, "sold", {"grade": "category"})
    source = decided.read(table)
    assert [(c.name, c.kind) for c in source.schema.columns or ()] == [
        ("size", "number"),
        ("day", "date"),
        ("grade", "category"),
    ]
    (batch,) = list(source)
    assert len(batch) == decided.labelled == 18
    np.testing.assert_array_equal(batch.X.column(0)[:3], [1200.0, np.nan, 3.0])  # type: ignore[union-attr]
    np.testing.assert_array_equal(batch.X.column(1)[:3], [18263.0, np.nan, np.nan])  # type: ignore[union-attr]
    assert source.schema.columns is not None
    assert source.schema.columns[2].levels is not None
    assert source.schema.columns[2].levels.tolist() == ["1", "2", "3"]


def test_numbers_are_not_read_as_dates() -> None:
    with pytest.raises(DataError, match="'a' holds double, which cannot be read as dates"):
        typed(pa.table({"a": [1.0, 2.0]}), {"a": "date"})


def test_many_values_are_counted_by_their_hashes_whatever_the_order() -> None:
    values = np.random.default_rng(0).permutation(np.repeat(np.arange(50_000), 2))
    tallies = []
    for order in (values, np.sort(values)):
        tally = Tally(100)
        for piece in np.array_split(order, 7):
            tally.see(pa.array(piece))
        tallies.append(tally.distinct)
    assert tallies[0] == tallies[1]
    assert abs(tallies[0] / 50_000 - 1) < 5 / np.sqrt(KEPT)  # five standard errors


def test_a_sample_is_drawn_evenly_and_keeps_the_order() -> None:
    stream, _ = stream_of(pa.table({"a": np.arange(200_000)}))
    drawn = sample(stream, 1000, seed=3).column("a").to_numpy()
    assert len(drawn) == 1000
    assert (np.diff(drawn) > 0).all()
    # the mean of 1000 even draws has the standard error 200000 / sqrt(12 * 1000); five of them
    assert abs(drawn.mean() - 99_999.5) < 5 * 200_000 / np.sqrt(12_000)


def test_infinite_and_huge_cells_do_not_spoil_the_facts() -> None:
    column = gather(stream_of(pa.table({"a": [np.inf, -1e300, 1e300, None, 5.0]}))[0]).columns["a"]
    assert (column.infinite, column.missing, column.low, column.high) == (1, 1, -1e300, 1e300)
    assert decide_task(column, "number").task == "regression"


@pytest.mark.parametrize("column", ["row", "uuid"])
def test_an_identifier_that_somebody_wants_is_kept_by_the_preparer(column: str) -> None:
    table = pa.Table.from_pandas(everything()[[column, "measure"]], preserve_index=False)
    kinds = {column: "number" if column == "row" else "category", "measure": "number"}
    source = typed(table, kinds)
    assert not [
        n for n in surefit.TablePreparer().fit(source).get_feature_names_out() if n.startswith(column)
    ]
    keeper = surefit.TablePreparer(identifiers="keep").fit(source)
    assert [name for name in keeper.get_feature_names_out() if name.startswith(column)]
    assert surefit.verify(keeper, source).holds
