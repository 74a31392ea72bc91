"""Pipelines in one file: the same answers after loading, listed and verified step by step."""

from __future__ import annotations

import copy
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from safetensors import safe_open
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline as sklearn_pipeline
from tests.golden import GOLDEN, pipeline, unpacked
from tests.laws.estimators import CLASSES, assert_same_bits, outputs, table
from tests.toys import DescentMean

import surefit
from surefit.core.errors import DataError, FormatError, RefusalError
from surefit.io.model_file import VERSION, read, write

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"size": RNG.normal(50, 10, 90), "kind": RNG.choice(["flat", "house", "barn"], 90)})
PRICE = FRAME["size"].to_numpy() * 3 + (FRAME["kind"] == "barn") * 20 + RNG.normal(size=90)
TABLE = pa.Table.from_pandas(FRAME.assign(price=PRICE))
NUMBERS = table(CLASSES["Ridge"])


def prepared(*steps):
    return surefit.make_pipeline(surefit.TablePreparer(), *steps, surefit.Ridge())


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.safetensors"


@pytest.mark.parametrize("make", [surefit.make_pipeline, sklearn_pipeline], ids=["surefit", "scikit-learn"])
def test_a_file_gives_the_bits_of_the_pipeline(make, path):
    model = make(surefit.TablePreparer(), "passthrough", surefit.StandardScaler(), surefit.Ridge(0.5))
    model.fit(FRAME, PRICE)
    surefit.save(model, path)
    loaded = surefit.load(path)
    assert isinstance(loaded, surefit.Pipeline)
    assert [name for name, _ in loaded.steps] == [name for name, _ in model.steps]
    assert loaded[-1].alpha == 0.5
    assert_same_bits(outputs(loaded, FRAME), outputs(model, FRAME))
    np.testing.assert_array_equal(loaded.predict(TABLE), model.predict(FRAME))


def test_pipelines_within_and_frames_out(path):
    model = pipeline().set_output(transform="pandas").fit(*NUMBERS)
    surefit.save(model, path)
    loaded = surefit.load(path)
    assert_same_bits(outputs(loaded, NUMBERS[0]), outputs(model, NUMBERS[0]))
    assert list(loaded[:-1].transform(NUMBERS[0]).columns) == ["pca0", "pca1"]


def test_inspect_lists_the_steps_without_building(path, monkeypatch):
    surefit.save(prepared(surefit.StandardScaler()).fit(FRAME, PRICE), path)
    for cls in (surefit.Pipeline, surefit.Ridge):
        monkeypatch.setattr(cls, "__init__", None)  # building one would fail
    seen = surefit.inspect(path)
    steps = dict(seen["parameters"]["steps"])
    assert seen["class"] == "Pipeline"
    assert {name: step["class"] for name, step in steps.items()} == {
        "tablepreparer": "TablePreparer",
        "standardscaler": "StandardScaler",
        "ridge": "Ridge",
    }
    assert steps["ridge"]["parameters"]["alpha"] == 1.0
    assert steps["tablepreparer"]["columns"] == 2
    assert all(step["certificate"]["holds"] for step in steps.values())


def test_the_golden_pipeline_still_loads():
    found = list(GOLDEN.glob("v*/Pipeline.txt"))
    assert any(place.parent.name == f"v{VERSION}" for place in found)
    for place in found:
        with unpacked(place) as (file, expected):
            loaded = surefit.load(file)
            np.testing.assert_allclose(loaded.predict(NUMBERS[0][:5]), expected["predict"], rtol=1e-12)
            assert surefit.verify(loaded, *NUMBERS).holds


@pytest.mark.parametrize("form", ["frame", "table"])
def test_verify_names_the_step_that_was_changed(form, path):
    data = (FRAME, PRICE) if form == "frame" else (TABLE, "price")
    model = prepared(surefit.StandardScaler()).fit(*data)
    surefit.save(model, path)
    good = surefit.verify(path, *data)
    assert good.holds
    assert set(good.parts) >= {"tablepreparer", "standardscaler", "ridge"}
    assert good.measure.startswith("step 'ridge': ")
    model = surefit.load(path)
    model[1].mean_[0] += 0.1
    assert surefit.verify(model, *data).measure.startswith("step 'standardscaler': ")
    assert not surefit.verify(model, *data).holds
    model = surefit.load(path)
    model[-1].coef_[0] *= 1.01
    assert surefit.verify(model, *data).measure.startswith("step 'ridge': ")
    assert not surefit.verify(model, *data).holds
    for other in (FRAME.assign(kind="flat", price=PRICE), FRAME.assign(price=PRICE + FRAME["size"])):
        rows = (other[["size", "kind"]], other["price"])
        assert not surefit.verify(path, *(rows if form == "frame" else (pa.table(other), "price"))).holds


def test_verify_with_weights(path):
    weight = RNG.integers(1, 4, 90).astype(float)
    last = prepared().fit(FRAME, PRICE, ridge__sample_weight=weight)
    assert surefit.verify(last, FRAME, PRICE, weight).holds
    assert not surefit.verify(last, FRAME, PRICE).holds
    weighted = TABLE.append_column("w", pa.array(weight))
    every = prepared().fit(surefit.read(weighted, target="price", weight="w"))
    assert surefit.verify(every, weighted, "price", "w").holds
    assert not surefit.verify(every, TABLE, "price").holds


def test_verify_makes_cross_fitted_rows_again():
    steps = surefit.TargetEncoder(cv=KFold(4)), surefit.Ridge()
    model = surefit.make_pipeline(*steps).fit(FRAME[["kind"]], PRICE)
    assert surefit.verify(model, FRAME[["kind"]], PRICE).holds
    source = surefit.read(TABLE, target="price", columns=["kind"])
    assert surefit.verify(
        surefit.make_pipeline(surefit.TargetEncoder(), surefit.Ridge()).fit(source), source
    ).holds
    drawn = surefit.make_pipeline(surefit.TargetEncoder(), surefit.Ridge()).fit(FRAME[["kind"]], PRICE)
    with pytest.raises(RefusalError, match="the step 'targetencoder' drew its folds at random"):
        surefit.verify(drawn, FRAME[["kind"]], PRICE)


def test_what_cannot_be_saved_says_so_and_leaves_nothing(path):
    X, y = NUMBERS
    with pytest.raises(
        FormatError, match="the step 'linearregression' is a LinearRegression of sklearn, and only"
    ):
        surefit.save(surefit.make_pipeline(surefit.StandardScaler(), LinearRegression()).fit(X, y), path)
    with pytest.raises(FormatError, match="the pipeline has a cache"):
        surefit.save(pipeline().set_params(memory=str(path.parent / "cache")).fit(X, y), path)
    with pytest.raises(NotFittedError):
        surefit.save(pipeline(), path)
    model = surefit.make_pipeline(surefit.StandardScaler(), DescentMean()).fit(X, y)
    model[-1].rate = np.square
    with pytest.raises(FormatError, match=r"steps\[1\]\[1\].DescentMean.rate is a ufunc"):
        surefit.save(model, path)
    assert not path.exists()
    with pytest.raises(DataError, match="no step that could be verified"):
        surefit.verify(surefit.make_pipeline("passthrough"), X, y)


def test_steps_of_own_classes_load_only_when_passed_in(path):
    model = surefit.make_pipeline(surefit.StandardScaler(), DescentMean()).fit(*NUMBERS)
    surefit.save(model, path)
    with pytest.raises(FormatError, match=r"class 'DescentMean', not one of surefit's"):
        surefit.load(path)
    assert surefit.load(path, classes=[DescentMean])[-1].center_ == model[-1].center_


def changed(path, change):
    """The same file with something else in its header, under a digest that fits."""
    header, arrays = read(path)
    header = copy.deepcopy(header)
    change(header)
    write(path, {key: value for key, value in header.items() if key != "format"}, arrays)


def steps(header):
    return header["parameters"]["steps"]


LIES = {
    "a cache": lambda header: header["parameters"].update(memory="/tmp"),
    "no steps": lambda header: header["parameters"].update(steps=[]),
    "steps in words": lambda header: header["parameters"].update(steps="abc"),
    "a step that is no pair": lambda header: steps(header).append({"$tuple": ["a"]}),
    "a step that is no model": lambda header: steps(header).append({"$tuple": ["a", 3]}),
    "a step that is an array": lambda header: steps(header).append(
        {"$tuple": ["a", {"$array": "a0", "shape": [1]}]}
    ),
    "a name twice": lambda header: steps(header).append(steps(header)[0]),
    "a predictor in the middle": lambda header: steps(header).reverse(),
    "learnt by itself": lambda header: header["state"].update(coef_=1.0),
    "another parameter": lambda header: header["parameters"].update(n_jobs=1),
    "inputs that are no names": lambda header: header["parameters"].update(transform_input=[1]),
    "a class that is none": lambda header: steps(header)[0]["$tuple"][1]["$model"].update(
        {"class": "os.system"}
    ),
    "a step without values": lambda header: steps(header)[0]["$tuple"][1]["$model"].pop("state"),
    "another output": lambda header: steps(header)[0]["$tuple"][1]["$model"]["state"].update(
        _sklearn_output_config={"transform": "os"}
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_header_that_lies_is_refused(lie, path):
    surefit.save(pipeline().fit(*NUMBERS), path)
    changed(path, lambda header: None)
    surefit.load(path)  # so it is the change that is refused
    changed(path, LIES[lie])
    with pytest.raises(FormatError) as caught:
        surefit.load(path)
    assert "\n" not in str(caught.value)


def test_pipelines_are_nested_only_so_deep(path):
    surefit.save(pipeline().fit(*NUMBERS), path)

    def bury(header):
        record = {key: header[key] for key in ("class", "parameters", "state")}
        for _ in range(30):
            inner = [{"$tuple": ["a", {"$model": record}]}]
            record = {
                "class": "Pipeline",
                "parameters": {**header["parameters"], "steps": inner},
                "state": {},
            }
        header.update(record)

    changed(path, bury)
    for way in (surefit.load, surefit.inspect):
        with pytest.raises(FormatError, match="nested too deeply"):
            way(path)


def test_the_header_of_a_pipeline_is_plain_json(path):
    surefit.save(pipeline().fit(*NUMBERS), path)
    with safe_open(path, framework="numpy") as file:
        header = json.loads(file.metadata()["surefit"])
    assert header["format"] == VERSION == 1
    assert [step["$tuple"][0] for step in steps(header)] == [
        "simpleimputer",
        "passthrough",
        "pipeline",
        "ridge",
    ]
