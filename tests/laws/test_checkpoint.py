"""Checkpoints: a process killed with -9 goes on where it was, to the same bits, on the same data only."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from safetensors.numpy import save as pack
from scipy.sparse import csr_array
from tests.laws.estimators import assert_same_bits, each_single_target, outputs, table
from tests.laws.pieces import Counter, mapped, numbers, pieces

import surefit
from surefit.core.errors import CheckpointWarning, EngineError, FormatError, RefusalError
from surefit.engine.base import Checkpointed, choose_engine
from surefit.engine.fingerprint import fingerprint
from surefit.engine.serial import Serial
from surefit.evaluate.cross_validation.fold_store import FoldStore
from surefit.models import rows_in_memory
from surefit.stats.base import Joint, Statistic
from surefit.stats.spread import Spread

# Two passes, of which the second needs the first. ``die`` says after how many batches the process kills
# itself: 6 parts of 3 batches are 18 batches a pass.
PROGRAM = """
import json, os, signal, sys, threading
import surefit
import surefit.core.config
from surefit.data.batches.batch import Batch
from surefit.engine.base import Checkpointed, choose_engine
from surefit.stats.spread import Spread
from tests.laws.pieces import mapped, numbers

surefit.core.config.available_threads = lambda: 2

class Scaled:
    def __init__(self, spread):
        self.scale = spread.scatter
    def __call__(self, batch):
        return Spread.of(Batch(batch.X / self.scale + batch.X, start=batch.start))

class Deadly:
    def __init__(self, of):
        self.of = of
    def __call__(self, batch):
        global read
        with lock:
            if read == die:
                os.kill(os.getpid(), signal.SIGKILL)
            read += 1
        return self.of(batch)

read, lock = 0, threading.Lock()
for line in sys.stdin:
    engine, folder, die, every = json.loads(line)
    if child := os.fork():  # it has all that was imported, and no thread yet
        print(json.dumps(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])), flush=True)
        continue
    Checkpointed.__init__.__defaults__ = (every,)
    source = numbers()
    with surefit.config(engine=engine, checkpoint=folder):
        chosen = choose_engine(source)
        first = chosen.accumulate(Deadly(Spread.of), source)
        second = chosen.accumulate(Deadly(Scaled(first)), source)
    print(read, first.scatter.tobytes().hex(), second.scatter.tobytes().hex(), flush=True)
    os._exit(0)
"""


@pytest.fixture(scope="module")
def run(root):
    """What runs the program in a process of its own, and says what it printed."""
    command = [sys.executable, "-c", PROGRAM]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=root, text=True, **pipes) as mother:

        def once(engine, folder, die=-1, every=4):
            print(json.dumps([engine, folder and str(folder), die, every]), file=mother.stdin, flush=True)
            words = [] if die >= 0 else mother.stdout.readline().split()
            assert int(mother.stdout.readline()) == (-signal.SIGKILL if die >= 0 else 0)
            return words

        yield once


# Killed between the passes, and in the middle of each. A batch counts only once it is stored; with threads,
# others may have been read by then.
@pytest.mark.parametrize(
    ("engine", "deaths"), [("serial", {18: 18, 8: 30, 29: 9}), ("threads", {18: 18, 8: 36, 29: 18})]
)
def test_a_killed_process_goes_on_to_the_same_bits(engine, deaths, run, tmp_path):
    read, *wanted = run(engine, None)
    assert read == "36"
    for die, most in deaths.items():
        folder = tmp_path / str(die)
        assert run(engine, folder, die) == []
        read, *found = run(engine, folder)
        assert found == wanted
        assert 0 < int(read) <= most
        assert run(engine, folder) == ["0", *wanted]


def test_a_pass_that_one_engine_began_another_can_end(run, tmp_path):
    _, *wanted = run("serial", None)
    run("serial", tmp_path, die=5, every=1)
    read, *found = run("threads", tmp_path)
    assert found == wanted
    assert read == "31"


def test_dask_goes_on_where_a_thread_left_off(tmp_path, monkeypatch):
    monkeypatch.setattr("surefit.engine.dask.SMALLEST_TREE", 2)
    source = numbers(parts=11, batches=1)
    wanted = Serial().accumulate(Spread.of, source)
    with pytest.raises(ZeroDivisionError):
        Checkpointed(Serial(), tmp_path, every=1).accumulate(Fragile(5), source)
    Fragile.seen = 0
    with surefit.config(engine="dask"):
        found = Checkpointed(choose_engine(source), tmp_path, every=1).accumulate(Fragile(5), source)
    assert found.scatter.tobytes() == wanted.scatter.tobytes()
    assert Fragile.seen == 6


class Fragile:
    """Spread, but the first time round an error after so many batches."""

    seen = 0
    broken = False

    def __init__(self, until):
        self.until = until

    def __call__(self, batch):
        if Fragile.seen == self.until and not Fragile.broken:
            Fragile.broken = True
            raise ZeroDivisionError
        Fragile.seen += 1
        return Spread.of(batch)


# They draw rows, or look at each by itself, and add nothing up.
MAPS = {"Nystroem", "RBFSampler"}


@each_single_target
def test_every_fit_of_a_stream_is_taken_from_its_checkpoint(cls, tmp_path, monkeypatch):
    X, y = table(cls)
    columns = {f"x{j}": column for j, column in enumerate(X.T)} | ({} if y is None else {"y": y})
    source = surefit.read(pa.table(columns), target=None if y is None else "y")
    whole = cls().fit(source)
    with surefit.config(checkpoint=tmp_path):
        first = cls().fit(source)
        files = sorted(tmp_path.iterdir())
        stamps = [file.stat().st_mtime_ns for file in files]
        again = cls().fit(source)
    if not files and cls.__name__ in MAPS:
        return
    if not files:  # no pass added anything up, which only a model that holds all rows may say
        monkeypatch.setattr(rows_in_memory, "MOST_BYTES", 0)
        monkeypatch.setattr("surefit.data.stream.BATCH_BYTES", 400)
        with pytest.raises(RefusalError, match="all rows in memory"):
            cls().fit(surefit.read(pa.table(columns), target=None if y is None else "y"))
        return
    assert files == sorted(tmp_path.iterdir())
    assert [file.stat().st_mtime_ns for file in files] == stamps, "a pass was read again"
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    assert_same_bits(outputs(whole, frame), outputs(first, frame))
    assert_same_bits(outputs(whole, frame), outputs(again, frame))


def test_a_finished_pass_reads_nothing(tmp_path):
    reads = Counter()

    def counted(batch):
        with reads:
            return batch

    with surefit.config(checkpoint=tmp_path, engine="serial"):
        source = mapped(numbers(), counted)
        one = choose_engine(source).accumulate(Spread.of, numbers())
        two = choose_engine(source).accumulate(Spread.of, numbers())
        assert one.scatter.tobytes() == two.scatter.tobytes()
        assert reads.total == 0


def test_other_data_are_not_taken_for_the_same(tmp_path):
    X = np.arange(20.0).reshape(10, 2)
    with surefit.config(checkpoint=tmp_path):
        surefit.MeanRegressor().fit(X, X[:, 0])
        X[3, 0] += 1
        with pytest.warns(
            CheckpointWarning, match="are of other data, or of a file that has changed"
        ) as caught:
            model = surefit.MeanRegressor().fit(X, X[:, 0])
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert model.mean_ == X[:, 0].mean()


def test_a_changed_file_is_other_data(tmp_path):
    import pyarrow.parquet as pq

    path = tmp_path / "table.parquet"
    folder = tmp_path / "checkpoints"
    for value in (1.0, 2.0):
        pq.write_table(pa.table({"x": [0.0, 1.0], "y": [value, value]}), path)
        os.utime(path, ns=(0, int(value)))
        if value == 1.0:
            with surefit.config(checkpoint=folder):
                surefit.MeanRegressor().fit(path, "y")
    with surefit.config(checkpoint=folder), pytest.warns(CheckpointWarning, match="begins at the first row"):
        assert surefit.MeanRegressor().fit(path, "y").mean_ == [2.0]


def test_a_damaged_checkpoint_is_named(tmp_path):
    source = numbers()
    Checkpointed(Serial(), tmp_path).accumulate(Spread.of, source)
    (file,) = tmp_path.iterdir()
    content = file.read_bytes()
    for damaged in (b"", content[:40], content[:-8], content.replace(b"finished", b"finishes")):
        file.write_bytes(damaged)
        with pytest.raises(FormatError, match=r"checkpoint .*pass-0001.* is damaged .*delete it"):
            Checkpointed(Serial(), tmp_path).accumulate(Spread.of, source)


@pytest.mark.parametrize("kind", ["pass", "fold"])
def test_checkpoints_of_another_layout_are_refused(tmp_path, kind):
    """Their names are made of modules that have moved: to begin anew beside them would hide that."""
    (tmp_path / f"{kind}-0001-abc.safetensors").write_bytes(pack({}, metadata={"surefit": "{}"}))
    for begin in (lambda: Checkpointed(Serial(), tmp_path), lambda: FoldStore(tmp_path, "key")):
        with pytest.raises(FormatError, match=r"written by another version of surefit.*delete them"):
            begin()


def test_a_full_disk_is_named_and_leaves_nothing_half_written(tmp_path, monkeypatch):
    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(EngineError, match=r"pass-0001.* could not be written \(No space left"):
        Checkpointed(Serial(), tmp_path).accumulate(Spread.of, numbers())
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_read_again_is_refused_at_once(tmp_path):
    class Own(Statistic):
        @classmethod
        def of(cls, batch, **context):
            return cls()

        def __add__(self, other):
            return self

    with pytest.raises(RefusalError, match="a Own cannot be stored in a checkpoint"):
        Checkpointed(Serial(), tmp_path).accumulate(Own.of, numbers())


def test_a_checkpoint_must_be_a_folder():
    with pytest.raises(surefit.core.errors.ParameterError, match="checkpoint=3 must be a folder"):
        surefit.config(checkpoint=3).__enter__()


def test_answers_are_not_stored(tmp_path):
    source = numbers()
    with surefit.config(checkpoint=tmp_path):
        assert list(choose_engine(source).map(len, source)) == [50] * 18
    assert list(tmp_path.iterdir()) == []


def scaled(batch, scale):
    return batch


VALUES = {
    "array": lambda k: np.arange(5.0) + k,
    "strings": lambda k: np.array(["a", "b" * (k + 1)], dtype=object),
    "nested": lambda k: {"a": [1, (2.0, k)], "b": {k}},
    "partial": lambda k: partial(scaled, scale=np.ones(3) * k),
    "closure": lambda k: lambda batch: (batch, k),
    "method": lambda k: (Spread.of, Joint.of)[k],
    "function": lambda k: (surefit.read, surefit.save)[k],
    "source": lambda k: pieces(np.ones((4, 2)) * k, cuts=[[2], [2]]),
    "arrow table": lambda k: pa.table({"x": [1.0, float(k)]}),
    "arrow schema": lambda k: pa.schema([("x", (pa.int64(), pa.float64())[k])]),
    "sparse": lambda k: csr_array(np.eye(3) * (k + 1)),
    "object": lambda k: Checkpointed(Serial(), f"folder{k}"),
    "estimator": lambda k: surefit.MeanRegressor().fit([[0.0]], [float(k)]),
}


@pytest.mark.parametrize("make", VALUES.values(), ids=VALUES.keys())
def test_a_fingerprint_tells_values_apart_and_nothing_else(make):
    assert fingerprint(make(0)) == fingerprint(make(0))
    assert fingerprint(make(0)) != fingerprint(make(1))
