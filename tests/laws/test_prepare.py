"""Transformers over sources, and the preparer of typed tables."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from tests.laws.estimators import CLASSES, change_first_number

import surefit
from surefit.core.errors import DataError
from surefit.data.source import is_source
from surefit.models.transformer import Invertible, Transformer

TRANSFORMERS = {name: cls for name, cls in CLASSES.items() if issubclass(cls, Transformer)}
RNG = np.random.default_rng(0)
each_transformer = pytest.mark.parametrize("cls", TRANSFORMERS.values(), ids=TRANSFORMERS.keys())


class Pieces:
    """A source of several batches that counts how often it is read."""

    def __init__(self, rows, y=None):
        table = pa.table(
            {f"c{j}": column for j, column in enumerate(rows.T)} | ({} if y is None else {"y": y})
        )
        self.origin = surefit.read(table, target=None if y is None else "y")
        self.schema, self.passes = self.origin.schema, 0

    def __iter__(self):
        self.passes += 1
        (whole,) = self.origin
        for start in range(0, len(whole), 7):
            rows = slice(start, start + 7)
            y = None if whole.y is None else whole.y[rows]
            yield type(whole)(whole.X.take(rows), y, None, start)

    def parts(self):
        return (self,)


def rows_of(source):
    return np.concatenate([b.X.toarray() if hasattr(b.X, "toarray") else b.X for b in source])


def grid(rows=40):
    return RNG.integers(-3, 4, (rows, 3)) / 2


@each_transformer
def test_a_source_is_read_once_and_mapped_as_it_passes(cls):
    X = grid()
    y = None if cls.accepts.target == "none" else X[:, 0] + 0.25 * RNG.normal(size=len(X))
    source = Pieces(X, y)
    model = cls().fit(source)
    assert source.passes == 1
    frame = pd.DataFrame(X, columns=["c0", "c1", "c2"])
    plain = cls().fit(frame, y)
    mapped = model.transform(source)
    assert is_source(mapped)
    assert source.passes == 1
    expected = plain.transform(frame)
    expected = expected.toarray() if hasattr(expected, "toarray") else expected
    np.testing.assert_allclose(rows_of(mapped), expected, rtol=1e-12, atol=1e-12)
    assert source.passes == 2
    assert mapped.schema.width == expected.shape[1]
    assert list(mapped.schema.names) == [str(name) for name in plain.get_feature_names_out()]
    if y is not None:
        np.testing.assert_array_equal(np.concatenate([batch.y for batch in mapped]), y)
    assert surefit.verify(model, Pieces(X, y)).holds
    model.set_output(transform="pandas")
    assert is_source(model.transform(source))
    assert is_source(model.fit_transform(source))


@each_transformer
def test_the_inverse_over_a_source(cls):
    X = grid()
    model = cls()
    if not issubclass(cls, Invertible):
        return
    if "add_indicator" in model.get_params():
        model.set_params(add_indicator=True)
    source = Pieces(X)
    back = model.fit(source).inverse_transform(model.transform(source))
    assert list(back.schema.names) == ["c0", "c1", "c2"]
    np.testing.assert_allclose(rows_of(back).astype(float), X, atol=1e-12)


@each_transformer
def test_frames_come_out_with_names(cls):
    X = pd.DataFrame(grid(), columns=["a", "b", "c"])
    y = None if cls.accepts.target == "none" else X["a"].to_numpy() + 0.25 * RNG.normal(size=len(X))
    model = cls()
    if "sparse_output" in model.get_params():
        model.set_params(sparse_output=False)
    model.fit(X, y)
    plain = model.transform(X)
    for library, kind in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        out = model.set_output(transform=library).transform(X)
        assert isinstance(out, kind)
        assert list(out.columns) == list(model.get_feature_names_out())
        np.testing.assert_allclose(np.asarray(out, dtype=float), plain.astype(float))


@pytest.mark.parametrize("cls", [c for c in TRANSFORMERS.values() if ".prepare." in c.__module__])
def test_one_row_and_one_column(cls):
    y = None if cls.accepts.target == "none" else np.array([1.5])
    model = cls().fit(np.array([[2.0]]), y)
    assert model.transform(np.array([[2.0]])).shape[0] == 1
    assert surefit.verify(model, np.array([[2.0]]), y).holds


# The preparer of typed tables.


def typed(rows=80, seed=0):
    rng = np.random.default_rng(seed)
    size = np.where(rng.random(rows) < 0.15, np.nan, rng.normal(50, 10, rows))
    colour = rng.choice(np.array(["red", "blue", "green", None], dtype=object), rows, p=[0.5, 0.2, 0.2, 0.1])
    return pd.DataFrame(
        {
            "size": size,
            "colour": colour,
            "new": rng.random(rows) < 0.3,
            "sold": pd.to_datetime(
                [date(2020, 1, 1) + timedelta(days=int(d)) for d in rng.integers(0, 900, rows)]
            ),
            "same": np.full(rows, 3.0),
            "key": np.arange(rows)[::-1] + 100,
            "serial": [f"no {i}" for i in rng.permutation(rows)],
            "nothing": np.full(rows, np.nan),
        }
    )


EXPECTED = {
    "linear": [
        *["size", "size_missing", "colour_blue", "colour_green", "colour_missing", "new", "sold_days"],
        *[f"sold_{part}_{wave}" for part in ("month", "weekday") for wave in ("sin", "cos")],
    ],
    "distance": [
        *["size", "size_missing", "colour_blue", "colour_green", "colour_red", "colour_missing", "new"],
        "sold_days",
        *[f"sold_{part}_{wave}" for part in ("month", "weekday") for wave in ("sin", "cos")],
    ],
    "tree": [
        *["size", "size_missing", "colour", "new", "sold_days", "sold_year", "sold_month", "sold_weekday"],
        "same",
    ],
    "count": [
        *[
            "size",
            "size_missing",
            "colour_blue",
            "colour_green",
            "colour_red",
            "colour_missing",
            "new",
            "sold",
        ],
        "same",
    ],
}
each_purpose = pytest.mark.parametrize("purpose", EXPECTED)


@each_purpose
def test_each_column_by_its_kind(purpose):
    frame = typed()
    model = surefit.TablePreparer(purpose).fit(frame)
    assert list(model.get_feature_names_out()) == EXPECTED[purpose]
    out = pd.DataFrame(model.transform(frame), columns=EXPECTED[purpose])
    assert np.isfinite(out.to_numpy()).all()
    gone = frame["size"].isna()
    height = np.sqrt(0.5) if purpose == "distance" else 1.0
    median, mean, sd = frame["size"].median(), frame["size"].mean(), frame["size"].std(ddof=0)
    filled = frame["size"].fillna(median)
    scaled = purpose in ("linear", "distance")
    np.testing.assert_allclose(out["size"], (filled - mean) / sd if scaled else filled, rtol=1e-12)
    np.testing.assert_array_equal(out["size_missing"], gone.astype(float))
    np.testing.assert_array_equal(out["new"], frame["new"].astype(float))
    if purpose == "tree":
        codes = frame["colour"].map({"blue": 0, "green": 1, "red": 2}).fillna(-1)
        np.testing.assert_array_equal(out["colour"], codes)
        for part, expected in (("year", "year"), ("month", "month"), ("weekday", "day_of_week")):
            np.testing.assert_array_equal(out[f"sold_{part}"], getattr(frame["sold"].dt, expected))
    else:
        np.testing.assert_allclose(out["colour_blue"], height * (frame["colour"] == "blue"))
        np.testing.assert_allclose(out["colour_missing"], height * frame["colour"].isna())
    if scaled:
        angle = 2 * np.pi * frame["sold"].dt.month / 12
        np.testing.assert_allclose(out["sold_month_sin"], np.sin(angle), atol=1e-12)
        assert out["sold_days"].mean() == pytest.approx(0, abs=1e-12)
    if purpose == "count":
        assert (out >= 0).all(axis=None)
    assert surefit.verify(model, frame).holds


def test_what_is_left_out_is_named():
    found = surefit.TablePreparer().fit(typed()).diagnosis_
    assert found.codes() == ("dropped-columns",)
    assert set(found[0].columns) == {"same", "key", "serial", "nothing"}
    assert "key has a distinct value in each row" in str(found)
    assert "same is constant" in str(found)
    remarks = pa.table({"x": np.arange(24_000) % 7, "remark": [f"word {i // 2}" for i in range(24_000)]})
    for table in (remarks, remarks.to_pandas()):
        text = surefit.TablePreparer().fit(table)
        assert list(text.get_feature_names_out()) == ["x"]
        assert "remark is text" in str(text.diagnosis_)


@each_purpose
def test_any_form_of_the_table_gives_the_same(purpose, tmp_path):
    frame = typed()
    expected = surefit.TablePreparer(purpose).fit_transform(frame)
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    polars = pl.from_arrow(arrow)
    np.testing.assert_allclose(surefit.TablePreparer(purpose).fit_transform(polars), expected, atol=1e-12)
    for part in range(2):
        pa.parquet.write_table(arrow.slice(part * 40, 40), tmp_path / f"{part}.parquet")
    for source in (arrow, tmp_path):
        model = surefit.TablePreparer(purpose).fit(source)
        np.testing.assert_allclose(rows_of(model.transform(source)), expected, atol=1e-12)
        np.testing.assert_allclose(model.transform(frame), expected, atol=1e-12)
        assert surefit.verify(model, source).holds
    model.moments_[0, 1] += 0.01
    assert not surefit.verify(model, tmp_path).holds


@each_purpose
def test_rows_in_pieces_give_the_same(purpose):
    """Later rows may bring levels that the first did not have."""
    frame = typed().sort_values("colour")
    whole = surefit.TablePreparer(purpose).fit(frame)
    later = surefit.TablePreparer(purpose).partial_fit(frame[:20]).partial_fit(frame[20:])
    one = surefit.TablePreparer(purpose).fit(frame[:20])
    one.merge(surefit.TablePreparer(purpose).fit(frame[20:]))
    for model in (later, one):
        assert list(model.get_feature_names_out()) == list(whole.get_feature_names_out())
        np.testing.assert_allclose(model.transform(frame), whole.transform(frame), atol=1e-12)


@each_purpose
def test_new_values_and_gaps_are_no_error(purpose):
    frame = typed()
    model = surefit.TablePreparer(purpose).fit(frame)
    new = frame[:3].assign(colour=["pink", None, "red"], new=[True, None, False], sold=[pd.NaT] * 3)
    out = model.transform(new)
    assert out.shape == (3, len(EXPECTED[purpose]))
    assert np.isfinite(out).all()
    with pytest.raises(DataError, match="column 'size' held numbers"):
        model.transform(frame.assign(size="big"))


def test_rare_levels_become_one():
    frame = pd.DataFrame({"town": [f"t{i}" for i in RNG.geometric(0.15, 400)]})
    model = surefit.TablePreparer("count", max_categories=5).fit(frame)
    assert len(model.get_feature_names_out()) == 5
    assert model.get_feature_names_out()[-1] == "town_other"
    out = model.transform(pd.DataFrame({"town": ["t1", "never seen"]}))
    assert out[1].tolist() == [0, 0, 0, 0, 1]
    sparse = surefit.TablePreparer("count", max_categories=5, sparse_output=True).fit(frame).transform(frame)
    np.testing.assert_array_equal(sparse.toarray(), model.transform(frame))


def test_a_saved_preparer_gives_the_same_bits(tmp_path):
    frame = typed()
    model = surefit.TablePreparer("tree").fit(frame)
    surefit.save(model, tmp_path / "model.safetensors")
    again = surefit.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.transform(frame), model.transform(frame))
    assert surefit.verify(again, frame).holds
    change_first_number(again)
    assert not surefit.verify(again, frame).holds


def test_inside_a_fold_nothing_is_learnt_from_the_others():
    frame = typed(200)
    y = (frame["size"].fillna(50) + 10 * (frame["colour"] == "red") > 55).to_numpy()
    model = make_pipeline(surefit.TablePreparer(), LogisticRegression())
    assert cross_val_score(model, frame, y, error_score="raise").mean() > 0.8
