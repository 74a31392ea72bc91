"""Every check finds what it is for, and keeps quiet about a table close to it."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import surefit
from surefit.core.errors import DataError, ParameterError
from surefit.core.registry import members
from surefit.data.schema import Column, Schema
from surefit.data.source import TableSource
from surefit.study.checks.base import Case

CHECKS: dict[str, Any] = members("check")  # type: ignore[assignment]


def audited(case: Case) -> Any:
    return surefit.audit(case.table, case.target, case.against)


@pytest.mark.parametrize("name", CHECKS)
def test_every_check_finds_its_sick_table_and_passes_its_sound_one(name: str) -> None:
    found = [finding for finding in audited(CHECKS[name].triggering_case()) if finding.code == name]
    assert found
    for finding in found:
        assert finding.message[0] == finding.message[0].upper() or finding.message[0] == "'"
        assert finding.message.endswith(".")
        assert set(finding.columns) <= {
            *CHECKS[name].triggering_case().table.column_names,
            *_other(CHECKS[name].triggering_case()),
        }
    assert name not in audited(CHECKS[name].clean_case()).codes()


def _other(case: Case) -> list[str]:
    return [] if case.against is None else case.against.column_names


def numbers(rows: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).normal(size=rows)


def test_the_form_of_a_table_does_not_matter(tmp_path: Path) -> None:
    y = numbers(300)
    table = pa.table({"a": y + 0.001 * numbers(300, 1), "b": ["x", "y", None] * 100, "y": y})
    for start, stop in ((0, 10), (10, 200), (200, 300)):
        pq.write_table(table.slice(start, stop - start), tmp_path / f"{start:03d}.parquet")
    in_memory = surefit.audit(table, "y")
    assert surefit.audit(tmp_path, "y") == in_memory
    assert surefit.audit(table.to_pandas(), "y") == in_memory
    assert set(in_memory.codes()) == {"leaking-columns", "missing-values"}


def test_values_beside_an_array_are_a_target() -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    found = surefit.audit(X, X[:, 1] > 0)
    assert [(finding.code, finding.columns) for finding in found] == [("leaking-columns", ("x1",))]
    assert found.task == "classification"


@pytest.mark.parametrize("classes", [2, 3])
def test_a_category_that_tells_the_class_is_a_leak(classes: int) -> None:
    y = np.random.default_rng(0).integers(0, classes, 400)
    table = pa.table(
        {"code": [f"c{label}{place % 4}" for place, label in enumerate(y)], "y": y, "n": numbers(400)}
    )
    (finding,) = surefit.audit(table, "y")
    assert (finding.code, finding.columns) == ("leaking-columns", ("code",))
    assert finding.evidence["low"] <= finding.evidence["score"] <= finding.evidence["high"]


def test_noise_leaks_nothing_however_many_columns_there_are() -> None:
    rng = np.random.default_rng(0)
    table = pa.table({**{f"n{j}": rng.normal(size=60) for j in range(300)}, "y": rng.integers(0, 2, 60)})
    assert "leaking-columns" not in surefit.audit(table, "y").codes()


def test_the_weight_is_no_feature() -> None:
    y = numbers(80)
    table = pa.table({"w": 10 + 2 * y, "y": y, "b": numbers(80, 1)})
    assert "leaking-columns" in surefit.audit(table, "y").codes()
    assert "leaking-columns" not in surefit.audit(table, "y", weight="w").codes()


def test_an_identifier_like_category_does_not_pass_for_a_leak() -> None:
    rng = np.random.default_rng(0)
    table = pa.table({"zip": [f"z{code}" for code in rng.integers(0, 90, 200)], "y": rng.integers(0, 2, 200)})
    assert "leaking-columns" not in surefit.audit(table, "y").codes()


def test_columns_that_come_after_the_event_are_named() -> None:
    days = np.datetime64("2024-01-01", "D") + np.arange(60)
    table = pa.table(
        {
            "churn": ["yes" if place % 3 == 0 else "no" for place in range(60)],
            "churnDate": days,
            "letter_sent": days + np.random.default_rng(0).integers(1, 9, 60),
            "opened": days - np.random.default_rng(1).integers(1, 9, 60),
            "reason": ["price" if place % 6 else "service" for place in range(60)],
        }
    )
    reason = [value if place % 3 == 0 else None for place, value in enumerate(table["reason"].to_pylist())]
    found = surefit.audit(table.set_column(4, "reason", [reason]), "churn")
    late = {finding.columns[0]: finding.severity for finding in found if finding.code == "late-columns"}
    assert late == {"reason": "problem", "letter_sent": "warning", "churnDate": "note"}


def test_copies_of_rows_and_targets_are_counted_exactly() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 100))
    whole = pa.table({"a": a, "b": b, "c": ["x"] * 99 + ["z"], "y": a > 0})
    doubled = pa.concat_tables([whole, whole.slice(0, 30)])
    flipped = whole.slice(0, 10).set_column(3, "y", [[not flag for flag in (a > 0)[:10]]])
    found = {finding.code: finding for finding in surefit.audit(pa.concat_tables([doubled, flipped]), "y")}
    assert found["duplicate-rows"].evidence["rows"] == 30
    assert found["contradicting-rows"].evidence["rows"] == 30  # ten rows, their copies and their opposites


def test_the_target_among_the_features_is_a_problem() -> None:
    y = numbers(80)
    found = surefit.audit(pa.table({"y": y, "y again": y, "b": numbers(80, 1)}), "y")
    assert {f.code for f in found if f.severity == "problem"} == {"duplicate-columns", "leaking-columns"}


def test_drift_names_what_moved_and_nothing_else() -> None:
    rng = np.random.default_rng(0)

    def table(rows: int, shift: float, common: float, gaps: float) -> pa.Table:
        fixed = {f"n{j}": rng.normal(size=rows) for j in range(20)}
        filled = pa.array(rng.normal(size=rows), mask=rng.random(rows) < gaps)
        words = rng.choice(["x", "y"], rows, p=[common, 1 - common])
        return pa.table({**fixed, "moved": rng.normal(size=rows) + shift, "word": words, "gaps": filled})

    found = surefit.audit(table(2000, 0.5, 0.8, 0.3), against=table(1500, 0.0, 0.5, 0.1))
    drift = {finding.columns[0]: finding for finding in found if finding.code == "drift"}
    assert set(drift) == {"moved", "word", "gaps"}
    assert drift["moved"].evidence["distance"] == pytest.approx(0.197, abs=0.05)  # KS of a shift by half
    assert drift["word"].evidence["distance"] == pytest.approx(0.3, abs=0.05)
    assert all(finding.evidence["p"] < 0.01 for finding in drift.values())


def test_drift_raises_few_false_alarms() -> None:
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(30):
        one, two = ({f"n{j}": rng.normal(size=60) for j in range(10)} for _ in range(2))
        alarms += "drift" in surefit.audit(pa.table(one), against=pa.table(two)).codes()
    assert alarms <= 2  # at a chance of one in a hundred each, three of thirty come once in three hundred


def test_the_distance_of_two_samples_is_that_of_scipy() -> None:
    from scipy.stats import ks_2samp

    one, two = numbers(150), numbers(120, 1) + 1.0
    (finding,) = surefit.audit(pa.table({"a": one}), against=pa.table({"a": two}))
    assert finding.evidence["distance"] == pytest.approx(ks_2samp(one, two).statistic, rel=1e-12)


def test_a_collinear_column_is_written_out() -> None:
    a, b = numbers(100), numbers(100, 1)
    (finding,) = surefit.audit(pa.table({"a": a, "b": b, "c": 3 * a - 2 * b}))
    assert finding.severity == "warning"
    assert set(finding.columns) == {"a", "b", "c"}
    assert "beyond 1e+07" in finding.message


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_scale_and_offset_do_not_matter(scale: float) -> None:
    a, b = numbers(100), numbers(100, 1)
    table = {"a": scale * (1e6 + a), "b": b, "c": a + b + 0.001 * numbers(100, 2)}
    assert surefit.audit(pa.table(table)).codes() == ("collinear-columns",)


def test_what_is_wrong_with_text_is_named() -> None:
    table = pa.table({"city": ["Rome", "rome ", "?", "Oslo"] * 10, "n": ["1", "2", "x", "4"] * 10})
    codes = surefit.audit(table).codes()
    assert set(codes) == {"spelling-variants", "placeholder-values", "mixed-types"}


def test_an_audit_can_be_read_by_people_and_by_machines() -> None:
    import json

    found = surefit.audit(pa.table({"a": [7.0, 7.0], "b": [np.inf, 1.0]}))
    assert found.codes() == ("infinite-values", "constant-columns")
    assert found.worst == "problem"
    assert "problem  infinite-values: 'b' holds 1 infinite cell" in repr(found)
    assert list(found.to_frame()["code"]) == list(found.codes())
    told = json.loads(found.to_json())
    assert [entry["code"] for entry in told["findings"]] == list(found.codes())
    assert {column["name"]: column["kind"] for column in told["columns"]} == {"a": "constant", "b": "number"}
    assert [record.code for record in found.records()] == list(found.codes())
    assert "25 checks found nothing" in str(surefit.audit(pa.table({"a": [1.5, 2.0, 4.0]})))


def test_long_tables_are_sampled_and_the_audit_says_so() -> None:
    table = pa.table({"a": numbers(5000), "y": numbers(5000, 1)})
    found = surefit.audit(table, "y", sample=500)
    assert found.sampled == 500
    assert "500 rows looked at one by one" in repr(found)
    assert surefit.audit(table, "y").sampled is None


def test_bad_calls_are_refused_with_a_sentence() -> None:
    table = pa.table({"a": [1.5, 2.0]})
    with pytest.raises(DataError, match="no target named 'b'"):
        surefit.audit(table, "b")
    with pytest.raises(DataError, match="no column to drop named 'b'"):
        surefit.audit(table, drop=["b"])
    with pytest.raises(DataError, match="no column left"):
        surefit.audit(table, drop=["a"])
    with pytest.raises(ParameterError, match="sample=0"):
        surefit.audit(table, sample=0)
    with pytest.raises(DataError, match="no rows"):
        surefit.audit(table.slice(0, 0))


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"a": [1.0]}),
        pa.table({"a": pa.array([None, None], pa.null())}),
        pa.table({"a": pa.array([None, None], pa.string()), "b": ["x", "x"]}),
        pa.table({"\x1b[31m[red]<b>": ["<script>", "\x00", None]}),
        pa.table({f"c{j}": [float(j), 1.0, None] for j in range(200)}),
        pa.table({"a": pa.array(["x", "y"]).dictionary_encode(), "b": pa.array([1, None], pa.int64())}),
        pa.table({"a": [np.nan, np.inf, -np.inf, 1e308, -1e308]}),
    ],
    ids=["one row", "null type", "empty text", "markup", "wide", "dictionary", "infinite"],
)
def test_odd_tables_are_audited(table: pa.Table) -> None:
    names = table.column_names
    for target in (None, names[0]):
        assert surefit.audit(table, target, against=table).rows == table.num_rows


def test_normal_numbers_have_no_outliers_however_many_there_are() -> None:
    assert "outliers" not in surefit.audit(pa.table({"a": numbers(300_000)})).codes()


class Endless:
    """A table that is made as it is read, and notes what Arrow holds meanwhile."""

    parts_of_it, rows_of_a_part = 24, 20_000

    def __init__(self) -> None:
        self.held: list[int] = []
        self.arrow_schema = self._batch(0).schema
        self.rows = None

    def _batch(self, seed: int) -> pa.RecordBatch:
        rng = np.random.default_rng(seed)
        cells = {f"c{j}": rng.normal(size=self.rows_of_a_part) for j in range(4)}
        return pa.RecordBatch.from_pydict(
            {**cells, "key": rng.integers(0, 10**9, self.rows_of_a_part).astype(str)}
        )

    def batches(self, columns: Any = None) -> Any:
        for seed in range(self.parts_of_it):
            yield self._batch(seed).select(columns or self.arrow_schema.names)
            self.held.append(pa.total_allocated_bytes())

    def parts(self) -> Any:
        return (self,)


def test_memory_does_not_grow_with_the_rows() -> None:
    stream: Any = Endless()
    columns = tuple(Column(field.name) for field in stream.arrow_schema)
    found = surefit.audit(TableSource(stream, Schema(len(columns), columns)), sample=1000)
    assert found.rows == stream.parts_of_it * stream.rows_of_a_part
    assert found.sampled == 1000
    batch = stream._batch(0).nbytes
    assert max(stream.held[12:]) - min(stream.held[4:12]) < 2 * batch  # of 24 that passed
