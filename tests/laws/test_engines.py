"""The laws of engines: the same bits whoever reads, in bounded memory, and a plain word when it fails."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
import weakref
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.sparse import issparse
from tests.laws.estimators import (
    BATCHES_OF_SOURCES,
    assert_close,
    assert_same_bits,
    each_single_target,
    outputs,
    repeatable,
    table,
)
from tests.laws.pieces import Counter, Fail, mapped, numbers, pieces

import surefit
from surefit.core.config import threads
from surefit.core.errors import DataError, RegistryError
from surefit.core.registry import members
from surefit.data.batches.batch import Batch
from surefit.data.schema import Schema
from surefit.data.source import ArraySource, is_source
from surefit.engine.base import choose_engine
from surefit.engine.running_sum import Running, join, tree_sizes
from surefit.engine.threads import OrderedWorkers
from surefit.stats.spread import Spread

ENGINES = list(members("engine"))
each_engine = pytest.mark.parametrize("engine", ENGINES)


@pytest.fixture
def two_threads(monkeypatch):
    """Two threads, on a machine that may have but one core."""
    monkeypatch.setattr("surefit.core.config.available_threads", lambda: 2)


@pytest.fixture
def folder(tmp_path):
    """Write a table to Parquet files of unequal length, one of them empty."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def write(X, y):
        columns = {f"x{j}": column for j, column in enumerate(X.T)} | ({} if y is None else {"y": y})
        whole = pa.table(columns)
        for number, (start, stop) in enumerate([(0, 20), (20, 20), (20, 47), (47, 50), (50, len(X))]):
            pq.write_table(whole.slice(start, stop - start), tmp_path / f"{number}.parquet", row_group_size=9)
        return surefit.read(tmp_path, target=None if y is None else "y")

    return write


def concrete(answer):
    """The rows of an answer that is a source itself, as a transformer's is."""
    if not is_source(answer):
        return answer
    blocks = list(choose_engine(answer).map(lambda batch: batch.X, answer))
    return np.concatenate([b.toarray() if issparse(b) else getattr(b, "numbers", b) for b in blocks])


@each_single_target
def test_every_engine_gives_the_same_bits(cls, folder, two_threads):
    X, y = table(cls)
    source = folder(X, y)
    found = {}
    for engine in ENGINES:
        with surefit.config(engine=engine):
            answers = outputs(repeatable(cls).fit(source), source)
            found[engine] = {name: concrete(answer) for name, answer in answers.items()}
    for engine in ENGINES:
        assert_same_bits(found["serial"], found[engine])
    if cls.__name__ in BATCHES_OF_SOURCES:
        return
    import pandas as pd

    frame = pd.DataFrame(X, columns=source.schema.names)
    assert_close(outputs(repeatable(cls).fit(frame, y), frame), found["serial"])


@each_engine
@pytest.mark.parametrize("cuts", [[[60]], [[0], [60], []], [[1] * 60], [[7, 3]] * 6, [[9], [], [51]]])
def test_any_cut_is_read_by_any_engine_to_the_same_bits(engine, cuts, two_threads):
    X = np.random.default_rng(1).normal(size=(60, 2))
    source = pieces(X, cuts=cuts)
    with surefit.config(engine="serial"):
        wanted = choose_engine(source).accumulate(Spread.of, source)
    with surefit.config(engine=engine):
        chosen = choose_engine(source)
        found = chosen.accumulate(Spread.of, source)
        blocks = list(chosen.map(lambda batch: batch.X, source))
    assert found.scatter.tobytes() == wanted.scatter.tobytes()
    assert found.mean.tobytes() == wanted.mean.tobytes()
    np.testing.assert_allclose(found.scatter, ((X - X.mean(axis=0)) ** 2).sum(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(np.concatenate(blocks), X)


@dataclass(frozen=True)
class Written:
    """A sum that remembers how it was bracketed."""

    text: str

    def __add__(self, other):
        return Written(f"({self.text}{other.text})")


def tree(values):
    """The definition: neighbours in pairs, level by level."""
    while len(values) > 1:
        odd = values[-1:] if len(values) % 2 else []
        values = [join(a, b) for a, b in zip(values[::2], values[1::2], strict=False)] + odd
    return values[0]


@pytest.mark.parametrize("largest", [1, 2, 8])
def test_the_tree_of_parts_depends_on_their_number_alone(largest):
    for count in range(1, 40):
        parts = [Written(f"{k} ") for k in range(count)]
        for done in range(count):
            running = Running()
            for part in parts[:done]:
                running.take(part, 1)
            first = done
            for size in tree_sizes(done, count - done, largest):
                running.take(tree(parts[first : first + size]), size)
                first += size
            assert running.parts == first == count
            assert running.total() == tree(parts)


def test_batches_of_a_part_are_added_from_left_to_right():
    running = Running()
    for letter in "abcd":
        running.take(Written(letter), 0)
    running.take(None, 1)
    running.take(None, 1)  # a part without a batch
    running.take(Written("e"), 1)
    assert running.total() == Written("((((ab)c)d)e)")
    assert Running().total() is None


@each_engine
def test_no_rows_and_no_weight_are_errors(engine):
    with surefit.config(engine=engine):
        for cuts in ([], [[]], [[0]], [[], [0, 0]]):
            empty = pieces(np.empty((0, 2)), cuts=cuts)
            with pytest.raises(DataError, match="the table has no rows"):
                choose_engine(empty).accumulate(Spread.of, empty)
            assert all(rows == 0 for rows in choose_engine(empty).map(len, empty))


@each_engine
def test_an_error_surfaces_as_itself(engine, two_threads):
    source = mapped(numbers(), Fail(300, ZeroDivisionError("mine")))
    with surefit.config(engine=engine):
        with pytest.raises(ZeroDivisionError, match=r"^mine$"):
            choose_engine(source).accumulate(Spread.of, source)
        with pytest.raises(ZeroDivisionError, match=r"^mine$"):
            list(choose_engine(source).map(lambda batch: len(batch), source))


@each_engine
def test_a_file_that_vanishes_is_named(engine, folder, tmp_path, two_threads):
    source = folder(np.ones((60, 2)), np.arange(60.0))
    (tmp_path / "3.parquet").unlink()
    with surefit.config(engine=engine), pytest.raises(DataError, match=r"3\.parquet is gone"):
        surefit.MeanRegressor().fit(source)


@each_engine
def test_a_file_that_a_source_of_ones_own_misses_is_named(engine):
    source = mapped(numbers(), Fail(300, FileNotFoundError(2, "No such file", "sales.bin")))
    with surefit.config(engine=engine), pytest.raises(DataError, match=r"gone.*: sales\.bin; put it back"):
        choose_engine(source).accumulate(Spread.of, source)


def test_the_name_of_an_engine_may_be_misspelt():
    source = numbers()
    with surefit.config(engine="thread"), pytest.raises(RegistryError, match="did you mean 'threads'"):
        choose_engine(source)
    with surefit.config(engine="thread"), pytest.raises(RegistryError, match="did you mean 'threads'"):
        surefit.MeanRegressor().fit([[0.0], [1.0]], [1.0, 2.0])


def test_the_source_chooses_its_engine(folder):
    @dataclass(frozen=True)
    class Afar:
        engine = "dask"
        schema = None

        def parts(self):
            return ()

    assert choose_engine(mapped(mapped(Afar(), len), len)).name == "dask"
    assert choose_engine(folder(np.ones((60, 2)), None)).name == "threads"
    batch = Batch(np.ones((2, 2)))
    assert choose_engine(ArraySource(Schema(2), batch)).name == "serial"


@pytest.mark.parametrize("parts", [1, 6])
def test_threads_hold_few_batches_and_keep_to_their_number(parts, two_threads):
    alive, busy, seen = Counter(), Counter(), []
    second = threading.Event()

    def born(batch):
        fresh = type(batch)(batch.X.copy(), start=batch.start)
        alive.__enter__()
        weakref.finalize(fresh.X, alive.__exit__)
        return fresh

    def of(batch):
        with busy:
            seen.append((threads(), threading.current_thread() is threading.main_thread()))
            if busy.most == 2:
                second.set()
            second.wait(60)  # the first for the second, however late the system starts its thread
            return Spread.of(batch)

    whole = numbers(parts=parts, batches=60 // parts)
    source = mapped(whole, born)
    with surefit.config(engine="threads"):
        choose_engine(source).accumulate(of, source)
        gc.collect()
        assert (alive.total, alive.now) == (60, 0)
        assert alive.most <= 2
        assert busy.most == 2
        assert set(seen) == {(1, False)}
        assert not [thread for thread in threading.enumerate() if thread.name == "surefit"]


def test_one_batch_has_all_threads_to_itself(two_threads):
    seen = []
    source = pieces(np.ones((5, 2)), cuts=[[5]])
    with surefit.config(engine="threads"):
        choose_engine(source).accumulate(lambda batch: seen.append(threads()) or Spread.of(batch), source)
        list(choose_engine(source).map(lambda batch: seen.append(threads()), source))
    assert seen == [2, 2]


def test_answers_wait_for_their_turn_and_are_not_far_ahead(two_threads):
    begun = []
    with surefit.config(engine="threads"):
        source = numbers(parts=1, batches=50)
        answers = choose_engine(source).map(lambda batch: begun.append(batch.start) or batch.start, source)
        assert [next(answers), next(answers)] == [0, 50]
        time.sleep(0.05)
        assert len(begun) <= 2 + 2 * 2 + 2
        answers.close()
        assert not [thread for thread in threading.enumerate() if thread.name == "surefit"]
        assert len(begun) < 50


def test_the_first_error_in_row_order_wins_and_nothing_is_begun_after_it():
    begun = []

    def work(item):
        begun.append(item)
        if item == 3:
            time.sleep(0.02)
        if item >= 3:
            raise ValueError(str(item))
        return item

    answers = iter(OrderedWorkers(work, iter(range(1000)), 2))
    assert [next(answers) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match=r"^3$"):
        next(answers)
    assert len(begun) < 10


INTERRUPTED = """
import os, signal, threading, time
import surefit
from surefit.data.batches.batch import Batch
from surefit.data.schema import Schema
from surefit.data.source import ArraySource, Source
from surefit.engine.base import choose_engine
from tests.laws.pieces import mapped, numbers

first = threading.Lock()

def stall(batch):
    if batch.start:
        if first.acquire(blocking=False):  # a second interrupt would hit the answer to the first
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        threading.Event().wait()  # a batch that would take for ever
    return batch

source = mapped(numbers(), stall)
try:
    with surefit.config(engine="threads", n_threads=2):
        list(choose_engine(source).map(len, source))
except KeyboardInterrupt:
    print("interrupted", flush=True)
    os._exit(0)
"""


def test_an_interrupt_does_not_wait_for_the_batches_under_way(root):
    code = "import surefit.core.config as c; c.available_threads = lambda: 2\n" + INTERRUPTED
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=120)
    assert done.stdout == "interrupted\n", done.stderr


def test_settings_reach_the_threads(two_threads):
    source = numbers(parts=1)
    with surefit.config(engine="threads", progress="off"):
        seen = set(choose_engine(source).map(lambda batch: surefit.current_config().progress, source))
    assert seen == {"off"}
