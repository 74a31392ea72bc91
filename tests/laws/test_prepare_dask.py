"""Preparers on a cluster: fitted, mapped and verified where the rows lie; only sums come to the client."""

from __future__ import annotations

import numpy as np
import pytest
from tests.laws.conftest import LARGEST
from tests.laws.estimators import CLASSES, assert_close, change_first_number, outputs

import surefit

dask = pytest.importorskip("dask")
pytest.importorskip("dask.array")
pytest.importorskip("dask.dataframe")
PREPARERS = {name: cls for name, cls in CLASSES.items() if ".prepare." in cls.__module__}


def lazy():
    """Few distinct numbers that exist on the workers only: 4 chunks of 120 kilobytes, and their target."""
    draws = dask.array.random.default_rng(0).normal(size=(12_000, 5), chunks=(3_000, 5))
    X = dask.array.where(draws > 2.5, np.nan, dask.array.round(2 * draws))
    return X, draws[:, 1]


@pytest.mark.parametrize("cls", PREPARERS.values(), ids=PREPARERS.keys())
def test_no_partition_comes_to_the_client(client, watched, cls):
    X, y = lazy()
    if not cls.accepts.missing:
        X = dask.array.nan_to_num(X)
    target = () if cls.accepts.target == "none" else (y,)
    model = cls().fit(X, *target)
    assert surefit.verify(model, X, *target).holds
    with dask.config.set(scheduler="synchronous"):
        here, labels = X.compute(), y.compute()
    rows = np.nan_to_num(here)
    assert_close(outputs(model, rows), outputs(cls().fit(here, labels if target else None), rows))
    assert not surefit.verify(model, X[3_000:], *(y[3_000:] for y in target)).holds
    assert 0 < max(watched) <= LARGEST < here.nbytes / 4 / 4


STRATEGIES = ["mean", "median", "most_frequent"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_fill_values_are_found_again_on_the_workers(client, watched, strategy):
    X, _ = lazy()
    model = surefit.SimpleImputer(strategy=strategy).fit(X)
    assert surefit.verify(model, X).holds
    model.statistics_[3] += 0.5
    assert not surefit.verify(model, X).holds


def test_a_typed_frame_is_prepared_where_it_lies(client, watched):
    X, y = lazy()
    frame = dask.dataframe.from_dask_array(X, columns=[f"x{j}" for j in range(5)])
    frame["word"] = (frame["x1"] > 0).map({True: "up", False: "down"}, meta=("word", object))
    frame["y"] = dask.dataframe.from_dask_array(y, columns="y")
    frame = frame.persist()
    for model in (surefit.TablePreparer(), surefit.TargetEncoder(), surefit.OneHotEncoder()):
        target = ("y",) if model.accepts.target != "none" else ()
        table = frame if target else frame.drop(columns=["y"])
        model.fit(table, *target)
        assert surefit.verify(model, table, *target).holds
        change_first_number(model)
        assert not surefit.verify(model, table, *target).holds
    assert 0 < max(watched) <= LARGEST
