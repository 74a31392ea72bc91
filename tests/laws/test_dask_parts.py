"""Partitions on a cluster that are empty, disagree, vanish or kill their worker: retried, or one sentence."""

from __future__ import annotations

import os
import signal

import numpy as np
import pandas as pd
import pytest
from tests.laws.conftest import LARGEST
from tests.laws.estimators import assert_close, outputs

import surefit
from surefit.core.errors import DataError

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.normal(size=(40, 3)), columns=list("pqr")).assign(y=RNG.integers(0, 2, 40))
MODELS = {
    "LinearRegression": surefit.LinearRegression,
    "Ridge": surefit.Ridge,
    "RidgeCV": lambda: surefit.RidgeCV(cv=3, folds="content"),
    "GaussianNB": surefit.GaussianNB,
    "PCA": surefit.PCA,
    "StandardScaler": surefit.StandardScaler,
    "TablePreparer": surefit.TablePreparer,
}


def partitions(*make):
    """A frame of partitions that are made on the workers."""
    return dd.from_map(lambda one: one(), make, meta=FRAME.iloc[:0])


def known():
    """A fitted model, and what it held."""
    model = surefit.LinearRegression().fit(FRAME[list("pqr")], FRAME["y"])
    return model, dict(model.__dict__)


def refused(message, frame):
    model, before = known()
    with pytest.raises(DataError, match=message) as caught:
        model.fit(frame, "y")
    assert "\n" not in str(caught.value)
    assert all(model.__dict__[name] is value for name, value in before.items())


@pytest.mark.parametrize("name", MODELS)
def test_empty_partitions_change_nothing(name):
    frame = partitions(
        lambda: FRAME[:0], lambda: FRAME[:25], lambda: FRAME[:0], lambda: FRAME[25:], lambda: FRAME[:0]
    )
    X, y = FRAME[list("pqr")], FRAME["y"].to_numpy()
    found = MODELS[name]()
    if found.accepts.target == "none":
        frame, target = frame[list("pqr")], ()
    else:
        target = ("y",)
    with dask.config.set(scheduler="synchronous"):
        found.fit(frame, *target)
        assert surefit.verify(found, frame, *target).holds
    assert_close(outputs(found, X), outputs(MODELS[name]().fit(X, y if target else None), X))


def test_partitions_that_disagree(client):
    refused(
        r"partition 1 has no column 'q', which the frame declares",
        partitions(lambda: FRAME, lambda: FRAME.rename(columns={"q": "Q"})),
    )
    refused(
        r"partition 1 holds \w*string in column 'q', which the frame declares as double",
        partitions(lambda: FRAME, lambda: FRAME.astype({"q": str})),
    )
    alike = partitions(lambda: FRAME, lambda: FRAME[["y", "r", "q", "p"]].astype({"y": float}))
    twice = surefit.LinearRegression().fit(pd.concat([FRAME, FRAME])[list("pqr")], [*FRAME["y"]] * 2)
    np.testing.assert_allclose(surefit.LinearRegression().fit(alike, "y").coef_, twice.coef_, rtol=1e-10)


@pytest.mark.parametrize("when", ["before the rows are counted", "between two passes"])
def test_a_file_that_vanishes(client, when, tmp_path):
    for number in range(2):
        FRAME.to_parquet(tmp_path / f"{number}.parquet")
    frame = dd.from_map(pd.read_parquet, sorted(tmp_path.iterdir()), meta=FRAME.iloc[:0])
    source = surefit.read(frame, target="y") if when.startswith("between") else frame
    (tmp_path / "1.parquet").unlink()
    model, before = known()
    with pytest.raises(DataError, match=r"a file of the table is gone.*1\.parquet; put it back"):
        model.fit(source, *(["y"] if source is frame else []))
    assert all(model.__dict__[name] is value for name, value in before.items())


def test_a_worker_that_dies_while_rows_are_counted_is_replaced(client, tmp_path):
    mark = tmp_path / "died"

    def dying():
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return FRAME

    model, _ = known()
    model.fit(partitions(lambda: FRAME, dying), "y")
    assert mark.exists()
    np.testing.assert_allclose(model.coef_, known()[0].coef_, rtol=1e-10)


@pytest.mark.parametrize("name", ["LinearRegression", "RidgeCV", "GaussianNB", "PCA"])
def test_models_are_fitted_and_verified_where_the_rows_lie(client, watched, name):
    draws = da.random.default_rng(0).normal(size=(6_000, 5), chunks=(3_000, 5))
    target = () if name == "PCA" else ((draws[:, 1] > 0).astype(float),)
    model = MODELS[name]().fit(draws, *target)
    assert surefit.verify(model, draws, *target).holds
    assert not surefit.verify(model, draws[3_000:], *(y[3_000:] for y in target)).holds
    assert 0 < max(watched) <= LARGEST  # a chunk has 120 000 bytes
