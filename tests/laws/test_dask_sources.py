"""Dask collections on a cluster: fitted where they lie, and only small things come to the client."""

from __future__ import annotations

import numpy as np
import pytest

import surefit

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
ROWS, LARGEST = 40_000, 20_000  # a partition has 10 000 rows; the client may gather that many bytes at a time


@pytest.fixture
def gathered(client, monkeypatch):
    """The sizes of all that the client gathers."""
    from dask.sizeof import sizeof
    from distributed import Client

    gather, sizes = Client._gather_remote, []

    async def watched(self, *arguments, **settings):
        response = await gather(self, *arguments, **settings)
        sizes.extend(sizeof(value) for value in response["data"].values())
        return response

    monkeypatch.setattr(Client, "_gather_remote", watched)
    return sizes


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(ROWS, 4)), rng.normal(size=ROWS), np.array(["a", "b"])[rng.integers(0, 2, ROWS)]


def frame_of(X, y):
    import pandas as pd

    frame = pd.DataFrame(X, columns=list("pqrs")).assign(y=y)
    return dd.from_pandas(frame, npartitions=4)


@pytest.mark.parametrize("lazily", [True, False], ids=["lazy", "persisted"])
@pytest.mark.parametrize("cls", [surefit.MeanRegressor, surefit.MajorityClassifier])
def test_a_frame_is_fitted_where_it_lies(cls, lazily, rows, gathered):
    X, number, label = rows
    y = label if cls is surefit.MajorityClassifier else number
    frame = frame_of(X, y)
    frame = frame if lazily else frame.persist()
    found = cls().fit(frame, "y")
    assert max(gathered) <= LARGEST
    wanted = cls().fit(X, y)
    attribute = "class_prior_" if cls is surefit.MajorityClassifier else "mean_"
    np.testing.assert_allclose(getattr(found, attribute), getattr(wanted, attribute), rtol=1e-12)
    beside = cls().fit(frame[list("pqrs")], frame["y"])
    np.testing.assert_array_equal(getattr(beside, attribute), getattr(found, attribute))


@pytest.mark.parametrize("cls", [surefit.MeanRegressor, surefit.MajorityClassifier])
def test_an_array_is_fitted_where_it_lies(cls, rows, gathered):
    X, number, label = rows
    y = label if cls is surefit.MajorityClassifier else number
    lazy, target = da.from_array(X, chunks=(10_000, 2)), da.from_array(y, chunks=7_000)
    found = cls().fit(lazy, target, sample_weight=da.ones(ROWS, chunks=9_000))
    assert max(gathered) <= LARGEST
    attribute = "class_prior_" if cls is surefit.MajorityClassifier else "mean_"
    np.testing.assert_allclose(getattr(found, attribute), getattr(cls().fit(X, y), attribute), rtol=1e-12)
    assert found.predict(lazy).shape == (ROWS,)


def test_chunks_of_unknown_size_are_counted(client, rows):
    X, number, _ = rows
    frame = frame_of(X, number)
    model = surefit.MeanRegressor().fit(frame[list("pqrs")].to_dask_array(), frame["y"].to_dask_array())
    np.testing.assert_allclose(model.mean_, number.mean(), rtol=1e-12)
