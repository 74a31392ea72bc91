"""The Dask engine: same bits on a cluster, nothing but sums comes back, and dead workers are replaced."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pytest
from tests.laws.pieces import Fail, KillWorker, mapped, numbers

import surefit
from surefit.core.errors import DataError, EngineError
from surefit.data.batch import Batch
from surefit.data.schema import Schema
from surefit.engine.base import choose_engine
from surefit.stats.spread import Spread

dask = pytest.importorskip("dask")
LARGEST = 20_000  # bytes that the client may gather at a time; a partition below has twenty times as many


@dataclass(frozen=True)
class Lazy:
    """A matrix in lazy blocks; within a task, Dask has put the block itself in its place."""

    schema: Schema
    blocks: tuple[Any, ...]
    engine = "dask"

    def __iter__(self):
        for block in self.blocks:
            yield Batch(block if isinstance(block, np.ndarray) else block.compute())

    def parts(self):
        return [Lazy(self.schema, (block,)) for block in self.blocks]


def block(seed):
    return np.random.default_rng(seed).normal(size=(10_000, 5))


def lazy(blocks=7):
    return Lazy(Schema(5, rows=10_000 * blocks), tuple(dask.delayed(block)(seed) for seed in range(blocks)))


def spread(source):
    return choose_engine(source).accumulate(Spread.of, source)


def assert_equal_bits(one, two):
    for entry in fields(one):
        np.testing.assert_array_equal(getattr(one, entry.name), getattr(two, entry.name), err_msg=entry.name)


@pytest.fixture
def watched(client, monkeypatch):
    """Fail when the client gathers anything large."""
    from dask.sizeof import sizeof
    from distributed import Client

    gather, sizes = Client._gather_remote, []

    async def checked(self, *arguments, **settings):
        response = await gather(self, *arguments, **settings)
        sizes.extend(sizeof(value) for value in response["data"].values())
        assert max(sizes, default=0) <= LARGEST, f"{max(sizes)} bytes came to the client."
        return response

    monkeypatch.setattr(Client, "_gather_remote", checked)
    return sizes


def test_only_sums_come_back(client, watched):
    with surefit.config(engine="serial"), dask.config.set(scheduler="synchronous"):
        wanted = spread(lazy())
    found = spread(lazy())
    assert_equal_bits(found, wanted)
    assert type(found.mean) is np.ndarray
    assert 0 < sum(watched) <= LARGEST
    means = list(choose_engine(lazy()).map(lambda batch: batch.X.mean(axis=0), lazy()))
    np.testing.assert_array_equal(means, [block(seed).mean(axis=0) for seed in range(7)])
    with pytest.raises(AssertionError, match="bytes came to the client"):
        client.compute(dask.delayed(block)(0)).result()


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


def test_a_model_is_fitted_on_the_cluster_to_the_same_bits(client):
    X = np.random.default_rng(0).normal(size=(500, 3))
    with surefit.config(engine="serial"):
        wanted = surefit.MeanRegressor().fit(X, X[:, 0])
    with surefit.config(engine="dask"):
        found = surefit.MeanRegressor().fit(X, X[:, 0])
    np.testing.assert_array_equal(found.mean_, wanted.mean_)


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
