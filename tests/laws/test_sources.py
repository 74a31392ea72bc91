"""The same table in any form gives the same fit and the same predictions."""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from tests.laws.estimators import (
    BATCHES_OF_SOURCES,
    CLASSES,
    MANY,
    SINGLE,
    assert_close,
    assert_same_bits,
    each_estimator,
    outputs,
    precision,
    repeatable,
    table,
)
from tests.laws.forms import NAMED, PLAIN

import surefit
from surefit.core.errors import DataError
from surefit.data.batches.table import Table
from surefit.data.matrix import MatrixSource
from surefit.data.source import TableSource, is_source
from surefit.engine.base import choose_engine
from surefit.models.base import Estimator
from surefit.models.neighbors.base import NeighborModel

each_named = pytest.mark.parametrize("form", NAMED.values(), ids=NAMED.keys())
each_plain = pytest.mark.parametrize("form", PLAIN.values(), ids=PLAIN.keys())
NAMES = ["größe", "b c", "x2", "x3"]

# A form is told from others by its reader alone: these take each way there is behind it (as they are, in
# parts, typed by looks, spilled, on a cluster), and every estimator meets them. The others meet some of each
# kind.
WAYS = {
    "pandas",
    "polars lazy",
    "dask frame",
    "Parquet files",
    "CSV folder",
    "Fortran order",
    "strided",
    "CSR matrix",
    "iterator of arrays",
    "iterator of sparse",
    "dask array",
}
SOME = {
    "DecisionTreeClassifier",
    "GaussianNB",
    "LinearRegression",
    "LogisticRegression",
    "MajorityClassifier",
    "OneHotEncoder",
    "PCA",
    "StandardScaler",
    "TablePreparer",
}


def each_pair(classes, forms):
    """Estimators and forms that meet."""
    pairs = {
        f"{name}-{form}": (cls, forms[form])
        for name, cls in classes.items()
        for form in forms
        if form in WAYS or name in SOME
        if name not in BATCHES_OF_SOURCES
    }
    return pytest.mark.parametrize(("cls", "form"), pairs.values(), ids=pairs.keys())


# Axes with any sign and rows in any order, on which no answer depends.
BASES = {"KernelLogisticRegression": ("dual_coef", "X_fit", "coordinates", "coef"), "Nystroem": ("range",)}


def learned(model):
    """The fitted attributes, as arrays; not how the fit went, which rounding decides."""
    found = {}
    for name in model.learns.__dataclass_fields__:
        if name in ("dual_gap", "n_iter", "t", "error"):
            continue
        if name in BASES.get(type(model).__name__, ()):
            continue
        value = getattr(model, f"{name}_", None)  # what has a default may be left out
        if isinstance(model, NeighborModel) and name == "rows":
            value = _rows(model._fit_X)  # sparse ones are held as they are
        if hasattr(value, "toarray"):
            value = value.toarray()
        several = value if isinstance(value, list | tuple) else [value]
        for number, one in enumerate(several):
            inner = learned(one) if isinstance(one, Estimator) else {"": np.asarray(one)}
            found |= {f"{name}{number}{within}": array for within, array in inner.items()}
    return found


def answers(model, X):
    """What the model answers; a transformer's answer to a source is a source itself."""
    return {name: _concrete(value) for name, value in outputs(model, X).items()}


def _concrete(answer):
    if not is_source(answer):
        return answer
    blocks = [_rows(block) for block in choose_engine(answer).map(lambda batch: batch.X, answer)]
    return np.concatenate(blocks)


def _rows(block):
    if isinstance(block, Table):
        return np.column_stack([block.column(j).astype(float) for j in range(block.shape[1])])
    return block.toarray() if hasattr(block, "toarray") else block


def arrow_table(X, y):
    columns = dict(zip(NAMES, X.T, strict=True))
    return pa.table(columns | ({} if y is None else {"y": y}))


@cache
def fit_of_the_frame(cls):
    """What forms of the table are compared with: its parts in memory and what the fit to them gives."""
    X, y = table(cls)
    whole = arrow_table(X, y)
    frame = whole.drop_columns([] if y is None else ["y"]).to_pandas()
    wanted = repeatable(cls).fit(frame, y)
    return whole, () if y is None else ("y",), learned(wanted), answers(wanted, frame)


@each_pair(SINGLE, NAMED)
def test_a_named_form_gives_the_fit_of_the_frame(cls, form, tmp_path):
    whole, target, numbers, wanted = fit_of_the_frame(cls)
    model = repeatable(cls).fit(form(whole, tmp_path), *target)
    assert list(model.feature_names_in_) == NAMES
    assert_close(numbers, learned(model), rtol=precision(cls))
    rows = form(whole.select(NAMES), tmp_path)
    assert_close(wanted, answers(model, surefit.read(rows)), rtol=precision(cls))


@cache
def refuses_sparse(cls):
    X, y = table(cls)
    try:
        cls().fit(csr_array(X), y)
    except (TypeError, ValueError):
        return True
    return False


@cache
def fit_of_the_array(cls):
    X, y = table(cls)
    wanted = repeatable(cls).fit(X, y)
    return wanted.n_features_in_, learned(wanted), answers(wanted, X)


@each_pair(CLASSES, PLAIN)
def test_a_plain_form_gives_the_fit_of_the_array(cls, form):
    X, y = table(cls)
    what, beside = form(X, y)
    source = surefit.read(what, **beside)
    if hasattr(next(source.stream.blocks()).X, "toarray") and refuses_sparse(cls):
        with pytest.raises(DataError, match="sparse"):
            cls().fit(source)
        return
    width, numbers, wanted = fit_of_the_array(cls)
    model = repeatable(cls).fit(source)
    assert model.n_features_in_ == width
    assert not hasattr(model, "feature_names_in_")
    assert_close(numbers, learned(model), rtol=precision(cls))
    assert_close(wanted, answers(model, surefit.read(form(X, None)[0])), rtol=precision(cls))


@each_estimator
def test_reading_an_array_changes_no_bit(cls):
    if cls.__name__ in BATCHES_OF_SOURCES:
        pytest.skip("it takes the batches of a source in their order")
    X, y = table(cls, rows=MANY.get(cls.__name__, 3000))
    one, two = repeatable(cls).fit(X, y), repeatable(cls).fit(surefit.read(X, target=y))
    assert_same_bits(learned(one), learned(two))
    assert_same_bits(outputs(one, X), outputs(two, X))


def test_equal_batches_give_equal_bits(tmp_path):
    X, y = table(surefit.MeanRegressor, rows=2000)
    whole = arrow_table(X, y)
    forms = ("arrow table", "pandas", "polars", "CSV", "JSON lines")
    found = [learned(surefit.MeanRegressor().fit(NAMED[name](whole, tmp_path), "y")) for name in forms]
    for other in found[1:]:
        assert_same_bits(found[0], other)


def rows_of(source):
    blocks = [_rows(batch.X) for batch in source]
    starts = [batch.start for batch in source]
    assert starts == list(np.cumsum([0, *map(len, blocks)])[:-1])
    return np.concatenate(blocks)


@each_named
def test_a_named_form_reads_the_same_rows_again_and_in_parts(form, tmp_path):
    X, y = table(surefit.MeanRegressor)
    source = surefit.read(form(arrow_table(X, y), tmp_path), target="y")
    assert isinstance(source, TableSource)
    assert source.schema.names == tuple(NAMES)
    assert source.schema.rows in (None, len(X))
    _same_again(source, X, y)


@each_plain
def test_a_plain_form_reads_the_same_rows_again_and_in_parts(form):
    X, y = table(surefit.MeanRegressor)
    what, beside = form(X, y)
    source = surefit.read(what, **beside)
    assert isinstance(source, MatrixSource)
    assert (source.schema.rows, source.schema.width, source.schema.targets) == (60, 4, 1)
    _same_again(source, X, y)


def _same_again(source, X, y):
    for _ in range(2):
        np.testing.assert_array_equal(rows_of(source), X)
        np.testing.assert_array_equal(np.concatenate([batch.y for batch in source]), y)
    parts = [batch for part in source.parts() for batch in part]
    np.testing.assert_array_equal(np.concatenate([_rows(batch.X) for batch in parts]), X)
    assert [batch.start for batch in parts] == list(np.cumsum([0, *map(len, parts)])[:-1])


def test_small_batches_equal_the_whole(tmp_path, monkeypatch):
    X, y = table(surefit.MeanRegressor, rows=500)
    path = NAMED["Parquet"](arrow_table(X, y), tmp_path)
    whole = surefit.MeanRegressor().fit(path, "y")
    monkeypatch.setattr("surefit.data.stream.BATCH_BYTES", 400)
    monkeypatch.setattr("surefit.data.readers.parquet.BATCH_BYTES", 400)
    source = surefit.read(path, target="y")
    assert max(len(batch) for batch in source) <= 20
    assert_close(learned(whole), learned(surefit.MeanRegressor().fit(source)), rtol=1e-12)
    assert len(source.parts()) == 56  # row groups of nine rows


@pytest.mark.parametrize(
    "dtype", [np.float16, np.float32, np.int8, np.uint16, np.int64, np.uint64, bool, ">f8"]
)
def test_any_number_type(dtype):
    X = np.arange(12).reshape(6, 2).astype(dtype)
    y = np.arange(6).astype(dtype)
    wanted = surefit.MeanRegressor().fit(X.astype(float), y.astype(float)).mean_
    for what in (X, np.asfortranarray(X)):
        np.testing.assert_array_equal(surefit.MeanRegressor().fit(what, y).mean_, wanted)
        np.testing.assert_array_equal(surefit.MeanRegressor().fit(surefit.read(what, target=y)).mean_, wanted)


@pytest.mark.parametrize("cls", [surefit.MeanRegressor, surefit.MajorityClassifier])
@pytest.mark.parametrize(
    "form", ["pandas", "arrow table", "Parquet", "CSV", "iterator of tables", "dask frame"]
)
def test_weights_and_labels_by_name_or_beside(cls, form, tmp_path):
    X, y = table(cls)
    weight = np.random.default_rng(5).integers(0, 3, len(X)).astype(float)
    wanted = cls().fit(X, y, sample_weight=weight)
    whole = arrow_table(X, y).append_column("w", pa.array(weight))
    model = cls().fit(NAMED[form](whole, tmp_path), "y", sample_weight="w")
    assert_close(learned(wanted), learned(model), rtol=1e-12)
    if form in ("pandas", "arrow table"):
        given = NAMED[form](whole.drop_columns(["y"]), tmp_path)
        assert_close(learned(wanted), learned(cls().fit(given, y, sample_weight="w")), rtol=1e-12)
        given = NAMED[form](whole.drop_columns(["w"]), tmp_path)
        assert_close(learned(wanted), learned(cls().fit(given, "y", sample_weight=weight)), rtol=1e-12)


def test_triples_of_an_iterator_carry_weights():
    X, y = table(surefit.MajorityClassifier)
    weight = np.linspace(0.0, 1.0, len(X))
    batches = ((X[a : a + 7], y[a : a + 7], weight[a : a + 7]) for a in range(0, len(X), 7))
    model = surefit.MajorityClassifier().fit(batches)
    wanted = surefit.MajorityClassifier().fit(X, y, weight)
    np.testing.assert_allclose(model.class_prior_, wanted.class_prior_, rtol=1e-12)


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow"])
@pytest.mark.parametrize("cls", [surefit.MeanRegressor, surefit.MajorityClassifier])
def test_predictions_are_streamed_into_a_file(cls, ending, tmp_path):
    X, y = table(cls)
    (tmp_path / "in").mkdir()
    path = NAMED["Parquet files"](arrow_table(X, y), tmp_path / "in")
    model = cls().fit(path, "y")
    out = tmp_path / f"out.{ending}"
    assert model.predict(path, to=out) is None
    written = surefit.read(out, columns=["prediction"])
    assert written.schema.names == ("prediction",)
    found = np.concatenate([_labels(batch, written) for batch in written])
    np.testing.assert_array_equal(found, model.predict(path))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", out.name]


def _labels(batch, source):
    column = source.schema.columns[0]
    stored = batch.X.column(0)
    return stored if column.levels is None else column.levels[stored]


def test_a_source_takes_another_target_and_refuses_what_it_cannot():
    whole = pa.table({"a": [1.0, 2.0], "b": [3.0, 5.0], "w": [1.0, 0.0]})
    source = surefit.read(whole)
    assert surefit.MeanRegressor().fit(source, "b").mean_ == 4.0
    assert surefit.MeanRegressor().fit(source, "b", sample_weight="w").mean_ == 3.0
    assert surefit.read(surefit.read(whole, target="b"), columns=["w"]).schema.names == ("w",)
    plain = surefit.read(np.ones((2, 2)))
    with pytest.raises(DataError, match="give them to surefit"):
        surefit.MeanRegressor().fit(plain, "b")


@pytest.mark.parametrize(
    "labels", [[True, False, True], [2, 7, 2], [0.5, 1.5, 0.5], ["b", "a", "b"]], ids=str
)
@pytest.mark.parametrize("form", ["pandas", "Parquet", "CSV", "JSON lines", "iterator of tables"])
def test_labels_of_any_kind_are_classes(labels, form, tmp_path):
    model = surefit.MajorityClassifier().fit(
        NAMED[form](pa.table({"x": [1.0, 2.0, 3.0], "y": labels}), tmp_path), "y"
    )
    wanted = surefit.MajorityClassifier().fit([[1.0], [2.0], [3.0]], [str(label) for label in labels])
    assert model.classes_.tolist() == sorted(set(labels))
    assert model.predict(pa.table({"x": [1.0]})).tolist() == [labels[0]]
    np.testing.assert_array_equal(np.sort(model.class_prior_), np.sort(wanted.class_prior_))


def test_a_long_pass_shows_a_bar(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr("surefit.core.progress.PATIENCE", 0.0)
    monkeypatch.setenv("COLUMNS", "120")
    path = NAMED["CSV"](pa.table({"x": np.arange(200_000.0), "y": np.arange(200_000.0)}), tmp_path)
    with surefit.config(progress="on"):
        surefit.MeanRegressor().fit(path, "y")
    shown = capfd.readouterr().err
    assert "finding types" in shown
    assert "reading" in shown
    with surefit.config(progress="off"):
        surefit.MeanRegressor().fit(path, "y")
    assert capfd.readouterr().err == ""


def test_every_reader_is_in_the_laws():
    from surefit.core.registry import members

    assert set(members("reader")) == {
        "array",
        "arrow-dataset",
        "arrow-reader",
        "arrow-table",
        "dask",
        "frame",
        "iterator",
        "lazy-frame",
        "path",
        "sparse",
    }
    assert NAMED.keys() | PLAIN.keys() >= WAYS
    assert CLASSES.keys() >= SOME
