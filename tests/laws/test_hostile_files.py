"""Files that lie, with a digest that fits: refused, or safe to ask whatever they say."""

from __future__ import annotations

import copy
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.laws.estimators import CLASSES, each_estimator, table
from tests.laws.hostile_files import content, special_models

import surefit
from surefit.core.errors import FormatError
from surefit.core.files import atomic
from surefit.core.registry import members
from surefit.io.model_file import write
from surefit.stats.values import decode


def tried(first: int, last: int) -> list[str]:
    """What went wrong with the mutations of these numbers; one that dies is noted, and the rest goes on."""
    found: list[str] = []
    while first < last:
        done = subprocess.run(
            [sys.executable, "-m", "tests.laws.hostile_files", str(first), str(last)],
            capture_output=True,
            text=True,
            check=False,
        )
        lines = done.stdout.splitlines()
        found += [line for line in lines if line.startswith("failed")]
        begun = [line for line in lines if line.startswith("at ")]
        if done.returncode == 0:
            assert len(begun) == last - first
            break
        assert begun, done.stderr
        died = signal.Signals(-done.returncode).name if done.returncode < 0 else done.stderr[-500:]
        found.append(f"{begun[-1]}: {died}")
        first = int(begun[-1].split()[1]) + 1
    return found


def test_two_thousand_lies_crash_hang_or_grow_nothing():
    assert tried(0, 2000) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(100))
def test_a_million_lies_crash_hang_or_grow_nothing(part):
    assert tried(2000 + 10_000 * part, 12_000 + 10_000 * part) == []


def test_every_class_that_a_file_can_hold_is_lied_about():
    own = {
        name
        for kind in ("estimator", "chooser")
        for name, cls in members(kind).items()
        if cls.__module__.startswith("surefit.")
    }
    assert own <= {*CLASSES, *(type(model).__name__ for _, model, _, _ in special_models())}


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Any]:
    """Header and arrays of each of the special models that is a tree or has some."""
    path = tmp_path_factory.mktemp("files") / "m"
    found = {}
    for name, model, X, y in special_models():
        if name.startswith(("tree", "forest", "boosting")):
            surefit.save(model.fit(X, y), path)
            found[name] = content(path)
    return found


def of(name: str, change: Any) -> Any:
    """A change of one array, by the name that the header has for it."""

    def lie(header: Any, arrays: Any) -> None:
        place = header["state"][name]
        array = np.array(arrays[place["$array"]])
        arrays[place["$array"]] = given = change(array)
        place["shape"] = list(given.shape)

    return lie


def at(which: Any, value: Any) -> Any:
    def change(array: Any) -> Any:
        array[which] = value
        return array

    return change


def node(feature: Any = None, child: Any = None, which: int = 0) -> Any:
    def change(array: Any) -> Any:
        words = array.view(np.int32).reshape(-1, 4)
        for place, value in ((2, feature), (3, child)):
            if value is not None:
                words[which, place] = value
        return array

    return change


def state(**values: Any) -> Any:
    return lambda header, arrays: header["state"].update(values)


LIES = {
    "a child of itself": ("tree by levels", of("node_right_", at(0, 0))),
    "a child that is the other one": ("tree by levels", of("node_right_", at(0, 1))),
    "a child behind the tree": ("tree by levels", of("node_right_", at(0, 2**30))),
    "a child before its parent": ("tree by levels", of("node_right_", lambda a: np.where(a > 3, 1, a))),
    "a column behind the table": ("tree by levels", of("node_feature_", at(0, 4))),
    "words of levels behind their block": ("tree by levels", of("node_level_bits_", lambda a: a[:1])),
    "no children": ("tree by levels", state(node_right_=False)),
    "fewer children than nodes": ("tree by levels", of("node_right_", lambda a: a[:-1])),
    "thresholds of another type": ("tree by levels", of("node_threshold_", lambda a: a.astype(np.float32))),
    "leaves that say two numbers": ("tree by levels", of("leaf_value_", lambda a: a.reshape(0, 2))),
    "weights of some leaves": ("tree by levels", of("leaf_weight_", lambda a: np.ones(2))),
    "digits without a base": ("tree by levels", of("leaf_weight_", lambda a: np.array([1, 0, 0]))),
    "two outputs of one": ("tree by levels", state(n_outputs_=2)),
    "columns that nobody has": ("tree by levels", state(n_features_in_=10**12)),
    "levels of one column": ("tree by levels", lambda h, a: h["state"]["levels_"]["$tuple"].pop()),
    "a surrogate of a leaf": ("tree with surrogates", of("surrogate_node_", at(-1, 2**20))),
    "a surrogate behind the table": ("tree with surrogates", of("surrogate_column_", at(0, 99))),
    "values of some splits": ("tree of absolute errors", of("inner_value_", lambda a: a[:1])),
    "leaves that say no row": ("tree of two outputs", of("node_threshold_", at(-1, 1e9))),
    "no classes": ("tree with surrogates", state(classes_=[])),
    "a child of a forest before its parent": ("forest by levels", of("nodes_", node(child=0))),
    "a child of a forest behind its tree": ("forest by levels", of("nodes_", node(child=10**6))),
    "a forest of columns behind the table": ("forest by levels", of("nodes_", node(feature=77))),
    "trees that begin before others": ("forest by levels", of("node_start_", at(1, -5))),
    "trees without a node": ("forest by levels", of("node_start_", at(1, 0))),
    "leaves that begin behind their end": ("forest by levels", of("leaf_start_", at(1, 10**9))),
    "words that begin behind their end": ("forest by levels", of("level_start_", at(1, 10**9))),
    "a leaf of no number": ("forest by levels", of("nodes_", node(child=10**6, which=-1))),
    "importances of one column": ("forest by levels", of("tree_importance_", lambda a: a[:, :1])),
    "more draws than rows can hold": ("forest by levels", state(draws_=10**15)),
    "rows that nobody counts": ("forest by levels", state(rows_=2**40)),
    "seeds of fewer trees": ("forest by levels", of("tree_seeds_", lambda a: a[:-1])),
    "members behind the rows": ("forest of absolute errors", of("leaf_member_", at(0, 10**6))),
    "fewer members than leaves hold": ("forest of absolute errors", of("leaf_member_", lambda a: a[:-1])),
    "a boosted child of itself": ("boosting by levels", of("node_left_", at(0, 0))),
    "a boosted leaf with a far child": ("boosting by levels", of("node_right_", at(-1, 2**30))),
    "a boosted column behind the table": ("boosting by levels", of("node_column_", at(0, 4))),
    "a root behind the nodes": ("boosting by levels", of("tree_root_", at(-1, 10**6))),
    "levels of a column of numbers": ("boosting by levels", of("node_by_levels_", lambda a: a * 0 + 1)),
    "more rounds than trees": ("boosting by levels", state(n_iter_=10**6)),
    "a baseline of two outputs": ("boosting by levels", of("baseline_", lambda a: np.zeros(2))),
}


@pytest.mark.parametrize("lie", LIES)
def test_arrays_that_are_no_trees_are_refused(lie, files, tmp_path):
    name, change = LIES[lie]
    header, arrays = copy.deepcopy(files[name])
    write(tmp_path / "m", header, arrays)
    surefit.load(tmp_path / "m")  # as it was
    change(header, arrays)
    write(tmp_path / "m", header, arrays)
    with pytest.raises(FormatError) as caught:
        surefit.load(tmp_path / "m")
    assert "\n" not in str(caught.value)
    assert "while decoding" not in str(caught.value)  # it was looked for, not stumbled over


def test_a_long_string_among_many_takes_no_terabyte():
    ends = np.concatenate([np.zeros(1_000_001, dtype=np.int64), [1_000_000]])
    arrays = {"a": np.full(1_000_000, 65, dtype=np.uint8), "b": ends}
    value = {"$strings": "a", "offsets": "b", "shape": [1_000_001], "kind": "str"}
    with pytest.raises(FormatError, match="more memory"):
        decode(value, arrays)


@each_estimator
def test_the_same_bytes_each_time(cls, tmp_path):
    X, y = table(cls)
    model = cls().fit(X, y)
    one, two, three = (tmp_path / name for name in ("one", "two", "three"))
    surefit.save(model, one)
    surefit.save(model, two)
    surefit.save(surefit.load(one), three)
    assert one.read_bytes() == two.read_bytes() == three.read_bytes()


KILLED = """
import os, signal, sys
from surefit.core.files import atomic
with atomic(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_save_left_is_removed_by_the_next(tmp_path):
    path, other = tmp_path / "m", tmp_path / "m2"
    for place in (path, other):
        done = subprocess.run([sys.executable, "-c", KILLED, str(place)], check=False)
        assert done.returncode == -signal.SIGKILL
    assert sorted(entry.suffix for entry in tmp_path.iterdir()) == [".part", ".part"]
    write(path, {"class": "A"}, {})
    left = [entry.name for entry in tmp_path.iterdir() if entry != path]
    assert len(left) == 1  # of the other file
    assert left[0].startswith(".m2.")


def test_who_is_still_writing_is_left_alone(tmp_path):
    path = tmp_path / "m"
    with atomic(path) as slow:
        slow.write(b"slow")
        with atomic(path) as quick:
            quick.write(b"quick")
        assert path.read_bytes() == b"quick"
    assert path.read_bytes() == b"slow"
    assert os.listdir(tmp_path) == ["m"]
    assert not Path(slow.name).exists()
