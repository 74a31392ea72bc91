"""The Dask engine: same bits on a cluster, nothing but sums comes back, and dead workers are replaced."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from tests.laws.conftest import LARGEST
from tests.laws.pieces import Fail, KillWorker, mapped, numbers, pieces

import surefit
from surefit.core.errors import DataError, EngineError
from surefit.engine.base import choose_engine
from surefit.engine.serial import Serial
from surefit.stats.spread import Spread

dask = pytest.importorskip("dask")
pytest.importorskip("dask.array")
pytest.importorskip("dask.dataframe")


def lazy():
    """An array that exists on the workers only: 7 chunks of 120 kilobytes."""
    return dask.array.random.default_rng(0).normal(size=(21_000, 5), chunks=(3_000, 5))


def spread(source):
    return choose_engine(source).accumulate(Spread.of, source)


def assert_equal_bits(one, two):
    for entry in fields(one):
        np.testing.assert_array_equal(getattr(one, entry.name), getattr(two, entry.name), err_msg=entry.name)


def test_only_sums_come_back(client, watched):
    X = lazy()
    with dask.config.set(scheduler="synchronous"):
        here = X.compute()
    blocks = pieces(here, cuts=[[3_000]] * 7)
    source = surefit.read(X)
    assert choose_engine(source).name == "dask"
    found = spread(source)
    assert_equal_bits(found, Serial().accumulate(Spread.of, blocks))
    assert type(found.mean) is np.ndarray
    assert 0 < sum(watched) <= LARGEST
    means = list(choose_engine(source).map(lambda batch: batch.X.mean(axis=0), source))
    np.testing.assert_array_equal(means, [batch.X.mean(axis=0) for batch in blocks])
    with pytest.raises(AssertionError, match="bytes came to the client"):
        client.compute(X.to_delayed()[0, 0]).result()


def test_a_frame_is_fitted_where_it_lies(client, watched):
    X = lazy()
    names = [f"x{j}" for j in range(5)]
    frame = dask.dataframe.from_dask_array(X, columns=names)
    frame["y"] = frame["x0"] * 2 + 1
    frame["label"] = (frame["x1"] > 0).map({True: "up", False: "down"}, meta=("label", object))
    frame = frame.persist()
    mean = surefit.MeanRegressor().fit(frame[[*names, "y"]], "y")
    majority = surefit.MajorityClassifier().fit(frame[[*names, "label"]], "label")
    assert list(majority.classes_) == ["down", "up"]
    assert surefit.verify(mean, frame[[*names, "y"]], "y").holds
    assert surefit.verify(majority, frame[[*names, "label"]], "label").holds
    assert 0 < sum(watched) <= LARGEST
    with dask.config.set(scheduler="synchronous"):
        here = X.compute()
    np.testing.assert_allclose(mean.mean_, [(here[:, 0] * 2 + 1).mean()], rtol=1e-12)
    np.testing.assert_allclose(majority.class_prior_[1], (here[:, 1] > 0).mean(), rtol=1e-12)


def test_more_parts_than_a_tree_holds(client, monkeypatch):
    monkeypatch.setattr("surefit.engine.dask.SMALLEST_TREE", 4)
    source = numbers(parts=23, batches=2)
    with surefit.config(engine="serial"):
        wanted = spread(source)
    with surefit.config(engine="dask"):
        assert_equal_bits(spread(source), wanted)
        assert list(choose_engine(source).map(len, source)) == [50] * 46


@pytest.mark.parametrize("scheduler", ["threads", "synchronous", "processes"])
def test_local_schedulers_give_the_same_bits(scheduler):
    source = numbers(parts=5)
    with surefit.config(engine="serial"):
        wanted = spread(source)
    with surefit.config(engine="dask"), dask.config.set(scheduler=scheduler):
        assert_equal_bits(spread(source), wanted)


def test_a_model_is_fitted_and_asked_on_the_cluster_to_the_same_bits(client):
    X = lazy()
    model = surefit.MeanRegressor().fit(X, X[:, 0])
    with surefit.config(engine="serial"):
        wanted = surefit.MeanRegressor().fit(X, X[:, 0])
    np.testing.assert_array_equal(model.mean_, wanted.mean_)
    answers = model.predict(X)
    assert type(answers) is np.ndarray
    np.testing.assert_array_equal(answers, np.full(21_000, wanted.mean_[0]))


def test_a_worker_keeps_to_its_share_of_threads(client):
    from surefit.core.config import threads
    from surefit.core.threads import available_threads

    source = numbers(parts=3, batches=1)
    with surefit.config(engine="dask", n_threads=1):
        assert set(choose_engine(source).map(lambda batch: threads(), source)) == {1}
    with surefit.config(engine="dask"):
        assert max(choose_engine(source).map(lambda batch: threads(), source)) <= available_threads()


def test_a_worker_that_dies_is_replaced(client, tmp_path):
    source = numbers()
    with surefit.config(engine="serial"):
        wanted = spread(source)
    mark = tmp_path / "died"
    with surefit.config(engine="dask"):
        assert_equal_bits(spread(mapped(source, KillWorker(300, mark))), wanted)
    assert mark.exists()


def test_a_part_that_kills_every_worker_is_given_up(client):
    def allow(failures):
        def change(dask_scheduler):
            before, dask_scheduler.allowed_failures = dask_scheduler.allowed_failures, failures
            return before

        return client.run_on_scheduler(change)

    before = allow(0)
    try:
        source = mapped(numbers(), KillWorker(300))
        with (
            surefit.config(engine="dask"),
            pytest.raises(EngineError, match=r"died.*make the partitions smaller"),
        ):
            spread(source)
    finally:
        allow(before)


def test_an_error_on_a_worker_surfaces_as_itself(client):
    with surefit.config(engine="dask"):
        with pytest.raises(ZeroDivisionError, match=r"^mine$"):
            spread(mapped(numbers(), Fail(300, ZeroDivisionError("mine"))))
        with pytest.raises(DataError, match=r"gone.*sales\.bin"):
            spread(mapped(numbers(), Fail(300, FileNotFoundError(2, "No such file", "sales.bin"))))


def test_without_dask_the_engine_says_what_it_needs(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "dask", None)
    with surefit.config(engine="dask"), pytest.raises(EngineError, match=r"pip install 'surefit\[dask\]'"):
        spread(numbers())
