"""Model files: whatever is done to one, it loads whole or is refused in a sentence."""

from __future__ import annotations

import json
import os
import resource
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save as pack
from tests.golden import pipeline
from tests.laws.estimators import CLASSES, each_estimator, outputs, table
from tests.toys import DescentMean

import surefit
from surefit.core.errors import DataError, FormatError
from surefit.io.model_file import VERSION, read, write


def saved(folder: Path, model: Any, X: Any, y: Any) -> bytes:
    surefit.save(model.fit(X, y), folder / "model.safetensors")
    return (folder / "model.safetensors").read_bytes()


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> bytes:
    data = table(CLASSES["MajorityClassifier"])
    return saved(tmp_path_factory.mktemp("model"), surefit.MajorityClassifier(), *data)


@pytest.fixture(scope="module")
def whole_pipeline(tmp_path_factory) -> bytes:
    return saved(tmp_path_factory.mktemp("pipeline"), pipeline(), *table(CLASSES["Ridge"]))


def refused(path: Path, content: bytes) -> None:
    """Only a FormatError may come out, from each way in."""
    path.write_bytes(content)
    for way in (surefit.load, surefit.inspect):
        with pytest.raises(FormatError) as caught:
            way(path)
        assert "\n" not in str(caught.value)


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """The file with some bytes changed, cut out, repeated, put in, or cut off."""
    data = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        at, size = int(rng.integers(len(data) + 1)), int(rng.integers(1, 20))
        match rng.integers(5):
            case 0:
                data[at : at + size] = rng.bytes(min(size, max(0, len(data) - at)))
            case 1:
                del data[at : at + size]
            case 2:
                data[at:at] = data[at : at + size] or b"x"
            case 3:
                data[at:at] = rng.bytes(size)
            case 4:
                del data[max(1, at) :]
    return bytes(data)


def fuzz(whole: bytes, path: Path, times: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    tried = 0
    while tried < times:
        content = mutated(whole, rng)
        if content != whole:
            refused(path, content)
            tried += 1


def test_two_thousand_mutations(whole, tmp_path):
    fuzz(whole, tmp_path / "m.safetensors", 2000, seed=0)


def test_a_thousand_mutations_of_a_pipeline(whole_pipeline, tmp_path):
    fuzz(whole_pipeline, tmp_path / "m.safetensors", 1000, seed=2)


@pytest.mark.slow
def test_a_hundred_thousand_mutations(whole, tmp_path):
    fuzz(whole, tmp_path / "m.safetensors", 100_000, seed=1)


@pytest.mark.slow
def test_twenty_thousand_mutations_of_a_pipeline(whole_pipeline, tmp_path):
    fuzz(whole_pipeline, tmp_path / "m.safetensors", 20_000, seed=3)


@settings(max_examples=200, deadline=None)
@given(content=st.binary(max_size=300))
def test_any_bytes(content, tmp_path_factory):
    refused(tmp_path_factory.mktemp("any") / "m.safetensors", content)


TAGS = [
    "$array",
    "$strings",
    "$tuple",
    "$float",
    "$statistic",
    "$schema",
    "$joint",
    "$objects",
    "$certificate",
    "$loss",
    "$penalty",
    "options",
    "$column",
    "$model",
    "class",
    "parameters",
    "state",
    "steps",
    "shape",
    "offsets",
    "fields",
    "members",
    "a",
    "mean_",
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-1e9, 1e9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(TAGS),
        inner,
        max_size=3,
    ),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(name=st.sampled_from(["MeanRegressor", "Pipeline"]), parameters=VALUES, state=VALUES)
def test_hostile_headers_with_a_good_digest(name, parameters, state, tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "m.safetensors"
    header = {"class": name, "parameters": parameters, "state": state}
    write(path, header, {"a": np.arange(3.0), "b": np.arange(3, dtype=np.uint8)})
    with pytest.raises(FormatError):
        surefit.load(path)


@pytest.mark.parametrize(
    "header",
    [
        {"class": "os.system", "parameters": {}, "state": {}},
        {"class": ["MeanRegressor"], "parameters": {}, "state": {}},
        {"class": "Estimator", "parameters": {}, "state": {}},
        {"class": "MeanRegressor", "parameters": {"nothing": 1}, "state": {}},
        {"class": "MeanRegressor", "parameters": {}, "state": {"__class__": 1}},
        {"class": "MeanRegressor", "parameters": {}},
        {},
    ],
    ids=str,
)
def test_headers_that_lie(header, tmp_path):
    write(tmp_path / "m.safetensors", header, {})
    with pytest.raises(FormatError):
        surefit.load(tmp_path / "m.safetensors")


def test_deep_large_and_foreign_headers(whole, tmp_path):
    path = tmp_path / "m.safetensors"
    deep = json.dumps({"__metadata__": {"surefit": "[" * 200_000, "digest": ""}}).encode()
    refused(path, struct.pack("<Q", len(deep)) + deep)
    refused(path, struct.pack("<Q", 2**63) + b"{}")
    refused(path, struct.pack("<Q", 10**9) + b"{}" * 100)
    refused(path, pack({"a": np.ones(2)}))
    refused(path, pack({"a": np.ones(2)}, metadata={"surefit": "{}", "digest": ""}))
    refused(path, b"")
    refused(path, whole[:-1])
    nested: dict = {}
    for _ in range(50):
        nested = {"a": nested}
    write(path, {"class": "MeanRegressor", "parameters": nested, "state": {}}, {})
    with pytest.raises(FormatError, match="nested too deeply"):
        surefit.load(path)


def test_a_newer_version_says_so(tmp_path):
    path = tmp_path / "m.safetensors"
    write(path, {"class": "MeanRegressor", "format": VERSION + 1}, {})
    with pytest.raises(FormatError, match=f"format version {VERSION + 1}.*install a newer surefit"):
        surefit.load(path)


def test_memory_stays_bounded_whatever_the_header_claims(tmp_path):
    """A small file that claims terabytes is refused by a process that could not hold a gigabyte more."""
    path = tmp_path / "m.safetensors"
    claim = {"dtype": "F64", "shape": [10**12], "data_offsets": [0, 8 * 10**12]}
    outer = json.dumps({"a": claim, "__metadata__": {"surefit": '{"format": 1}', "digest": ""}}).encode()
    path.write_bytes(struct.pack("<Q", len(outer)) + outer + b"\0" * 64)
    code = f"""
import resource, surefit, surefit.io.load
from safetensors.numpy import load_file
from surefit.core.errors import DataError, FormatError
used = int(open('/proc/self/statm').read().split()[0]) * {resource.getpagesize()}
resource.setrlimit(resource.RLIMIT_AS, (used + 2**30, used + 2**30))
try:
    surefit.load({str(path)!r})
except FormatError as error:
    print("refused", error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("refused"), done.stderr


def test_own_classes_load_only_when_passed_in(tmp_path):
    path = tmp_path / "m.safetensors"
    surefit.save(DescentMean().fit([[0.0], [1.0]], [1.0, 2.0]), path)
    with pytest.raises(
        FormatError, match=r"class 'DescentMean', not one of surefit's: pass classes=\[DescentMean\]"
    ):
        surefit.load(path)
    assert surefit.load(path, classes=[DescentMean]).center_ == pytest.approx(1.5, abs=1e-4)


def test_what_cannot_be_written_is_refused_and_nothing_is_left(tmp_path):
    model = DescentMean().fit([[0.0], [1.0]], [1.0, 2.0])
    model.rate = np.square
    with pytest.raises(FormatError, match=r"DescentMean.rate is a ufunc.*never code"):
        surefit.save(model, tmp_path / "m.safetensors")
    with pytest.raises(FormatError, match="only surefit's own estimators"):
        surefit.save({"a": 1}, tmp_path / "m.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "m.safetensors"
    write(path, {"class": "A"}, {})
    before = path.read_bytes()

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match=r"could not be written .No space left.*nothing was changed there"):
        write(path, {"class": "B"}, {})
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["m.safetensors"]


def test_strided_arrays_are_not_scrambled(tmp_path):
    path = tmp_path / "m.safetensors"
    model = surefit.MeanRegressor().fit(np.zeros((4, 2)), np.arange(12.0).reshape(4, 3))
    model.mean_ = np.arange(6.0)[::2]
    surefit.save(model, path)
    np.testing.assert_array_equal(surefit.load(path).mean_, [0, 2, 4])


@each_estimator
def test_inspect_lists_without_building(cls, tmp_path, monkeypatch):
    X, y = table(cls)
    model = cls().fit(X, y)
    surefit.save(model, tmp_path / "m.safetensors")
    monkeypatch.setattr(cls, "__init__", None)  # building one would fail
    seen = surefit.inspect(tmp_path / "m.safetensors")
    assert seen["class"] == cls.__name__
    assert seen["columns"] == X.shape[1]
    assert seen["certificate"]["statement"] == model.certificate_.statement


@each_estimator
def test_a_flipped_bit_is_noticed(cls, tmp_path):
    X, y = table(cls)
    path = tmp_path / "m.safetensors"
    surefit.save(cls().fit(X, y), path)
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    refused(path, bytes(content))


@each_estimator
def test_golden_files_still_load(cls):
    from tests.golden import GOLDEN, unpacked

    found = [path for path in GOLDEN.glob("v*/*.txt") if path.stem == cls.__name__]
    assert any(path.parent.name == f"v{VERSION}" for path in found), (
        "run `python -m tests.golden` to write it"
    )
    X, _ = table(cls)
    for path in found:
        with unpacked(path) as (file, expected):
            got = outputs(surefit.load(file), X[:5])
            assert got.keys() == expected.keys()
            for name, value in got.items():
                if np.asarray(value).dtype.kind == "f":
                    np.testing.assert_allclose(value, expected[name], rtol=1e-12, atol=1e-12)
                else:
                    assert np.asarray(value).tolist() == expected[name]


def test_the_header_is_readable_json(whole, tmp_path):
    (tmp_path / "m").write_bytes(whole)
    header, arrays = read(tmp_path / "m")
    assert header["class"] == "MajorityClassifier"
    assert all(array.dtype.kind in "biuf" for array in arrays.values())
