"""Linear models over Parquet files and over Dask, with weights and categories: the fit of rows in memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import surefit
from surefit.core.errors import DataError, RefusalError

dd = pytest.importorskip("dask.dataframe")
ROWS, COLUMNS = 300, ["a", "b"]
TIGHT = {"tol": 1e-10}
MODELS = {
    "ridge": (surefit.Ridge(), "price"),
    "lasso": (surefit.Lasso(alpha=0.01, **TIGHT), "price"),
    "elastic-net": (surefit.ElasticNet(alpha=0.01, **TIGHT), "price"),
    "logistic": (surefit.LogisticRegression(**TIGHT), "sold"),
    "softmax": (surefit.LogisticRegression(**TIGHT), "size"),
    "poisson": (surefit.PoissonRegressor(**TIGHT), "visits"),
    "gamma": (surefit.GeneralizedLinearRegressor("gamma", "log", **TIGHT), "price"),
    "huber": (surefit.HuberRegressor(**TIGHT), "price"),
    "squared-hinge": (surefit.LinearSVC(**TIGHT), "sold"),
    "steps-to-numbers": (surefit.SGDRegressor(polish=True, tol=1e-12, max_iter=25), "price"),
    "steps-to-classes": (
        surefit.SGDClassifier("log_loss", alpha=0.1, polish=True, tol=1e-13, max_iter=25),
        "sold",
    ),
}


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(ROWS, 2)), columns=COLUMNS)
    frame["kind"] = pd.Categorical(rng.choice(["house", "hut", "villa"], ROWS))
    signal = frame["a"] - 0.5 * frame["b"] + 0.7 * (frame["kind"] == "hut") + rng.normal(size=ROWS) * 0.8
    frame["price"] = np.exp(signal / 2)
    frame["visits"] = rng.poisson(np.exp(signal / 3)).astype(float)
    frame["sold"] = (signal > 0).astype(int)
    frame["size"] = np.where(signal > 0.5, "large", np.where(signal < -0.5, "small", "middle"))
    frame["times"] = rng.integers(0, 3, ROWS).astype(float)
    return frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files that Dask would join where few of their columns are read."""
    folder = tmp_path_factory.mktemp("rows")
    for part in range(3):
        rows = table().iloc[100 * part : 100 * part + 100]
        rows.to_parquet(folder / f"{part}.parquet", row_group_size=40, index=False)
    return folder


def opened(folder, kind, target, columns):
    what = folder / "*.parquet" if kind == "files" else dd.read_parquet(folder)
    return surefit.read(what, target=target, weight="times", columns=columns)


@pytest.mark.parametrize("kind", ["files", "dask"])
@pytest.mark.parametrize(("model", "target"), MODELS.values(), ids=MODELS.keys())
def test_weighted_rows_from_files_and_from_dask(model, target, kind, folder):
    rows = table()
    source = opened(folder, kind, target, COLUMNS)
    streamed = clone(model).fit(source)
    whole = clone(model).fit(rows[COLUMNS], rows[target], sample_weight=rows["times"].to_numpy())
    np.testing.assert_allclose(streamed.coef_, whole.coef_, rtol=1e-6, atol=1e-8)
    assert surefit.verify(streamed, source).holds
    unweighted = surefit.read(folder / "*.parquet", target=target, columns=COLUMNS)
    assert not surefit.verify(streamed, unweighted).holds


@pytest.mark.parametrize("kind", ["files", "dask"])
def test_categories_become_numbers_on_the_way(kind, folder):
    def pipeline():
        return surefit.make_pipeline(surefit.TablePreparer(), surefit.LogisticRegression(**TIGHT))

    source = opened(folder, kind, "size", [*COLUMNS, "kind"])
    streamed = pipeline().fit(source)
    rows = table()[[*COLUMNS, "kind", "size", "times"]]
    whole = pipeline().fit(surefit.read(rows, target="size", weight="times"))
    np.testing.assert_allclose(streamed[-1].coef_, whole[-1].coef_, rtol=1e-7)
    assert streamed[-1].n_features_in_ > 3
    assert surefit.verify(streamed, source).holds
    np.testing.assert_array_equal(streamed.predict(source), whole.predict(rows[[*COLUMNS, "kind"]]))
    with pytest.raises(DataError, match=r"works on numbers, but .* 'kind' \(category\)"):
        surefit.LogisticRegression().fit(source)


ONE_BATCH = {
    "median": (surefit.LADRegressor(), "price"),
    "quantile": (surefit.QuantileRegressor(), "price"),
    "hinge": (surefit.LinearSVC(loss="hinge"), "sold"),
    "tube": (surefit.LinearSVR(), "price"),
    "all-margins": (surefit.LinearSVC(multi_class="crammer_singer"), "size"),
}


@pytest.mark.parametrize(("model", "target"), ONE_BATCH.values(), ids=ONE_BATCH.keys())
def test_what_needs_all_rows_joins_them_or_says_that_they_are_too_many(model, target, folder, monkeypatch):
    source = opened(folder, "files", target, COLUMNS)
    whole = clone(model).fit(table()[COLUMNS], table()[target], sample_weight=table()["times"].to_numpy())
    np.testing.assert_allclose(clone(model).fit(source).coef_, whole.coef_, rtol=1e-6, atol=1e-8)
    monkeypatch.setattr("surefit.models.rows_in_memory.MOST_BYTES", 3000)
    with pytest.raises(RefusalError, match=r"needs all rows in memory at once, which takes .* GiB") as told:
        clone(model).fit(source)
    assert str(told.value).count(". ") == 0
    clone(model).fit(table()[COLUMNS], table()[target])  # what is in memory already needs no more
