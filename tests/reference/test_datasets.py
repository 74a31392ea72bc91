"""The real tables cell by cell as scikit-learn reads them, and the worked examples as a whole."""

import ast
import doctest
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pytest
from sklearn import datasets as shipped

from surefit import datasets
from surefit.core.errors import DataError, ParameterError, RegistryError

KINDS = ["auto", "pandas", "polars", "arrow"]
HERE = Path(__file__).parent


def original(name: str) -> Any:
    return shipped.load_diabetes(scaled=False) if name == "diabetes" else getattr(shipped, f"load_{name}")()


def cells(frame: Any) -> np.ndarray:
    """Return a frame as numbers, categories as the place of their level."""
    columns = []
    for column in nw.from_native(frame, eager_only=True).iter_columns():
        if column.dtype.is_numeric():
            columns.append(column.to_numpy())
        else:
            columns.append(np.array([float(cell) for cell in column.to_list()]))
    return np.column_stack(columns)


@pytest.mark.parametrize("as_", KINDS)
@pytest.mark.parametrize("name", datasets.names())
def test_every_cell_is_the_original(name: str, as_: str) -> None:
    table, source = datasets.load(name, as_=as_), original(name)
    assert np.array_equal(cells(table.X), source.data)
    if name == "linnerud":
        assert np.array_equal(cells(table.y), source.target)
        return
    found = nw.from_native(table.y, series_only=True).to_list()
    expected = source.target if table.task == "regression" else source.target_names[source.target].astype(str)
    assert list(found) == list(expected)


@pytest.mark.parametrize("as_", KINDS)
@pytest.mark.parametrize("name", datasets.names())
def test_the_frame_is_of_the_kind_asked_for(name: str, as_: str) -> None:
    table = datasets.load(name, as_=as_)
    home = {"auto": "pandas", "arrow": "pyarrow"}.get(as_, as_)
    assert type(table.frame).__module__.split(".")[0] == home
    frame = nw.from_native(table.frame, eager_only=True)
    targets = [table.target] if isinstance(table.target, str) else list(table.target)
    assert frame.columns[-len(targets) :] == targets
    assert list(nw.from_native(table.X, eager_only=True).columns) == frame.columns[: -len(targets)]
    rows, columns = frame.shape
    assert f"{rows} rows" in table.description
    assert all(column.islower() and column.isidentifier() for column in frame.columns)
    assert f"{rows} rows, {columns} columns" in repr(table)


@pytest.mark.parametrize("name", datasets.names())
def test_columns_are_typed(name: str) -> None:
    table = datasets.load(name, as_="arrow")
    labels = {column.name for column in table.frame.schema if pa.types.is_dictionary(column.type)}
    wanted = {table.target} if table.task == "classification" else set()
    assert labels == wanted | ({"sex"} if name == "diabetes" else set())
    for column in table.frame.schema:
        if column.name not in labels:
            values = table.frame[column.name].to_numpy()
            assert pa.types.is_integer(column.type) == bool((values == np.round(values)).all())


def test_the_levels_keep_their_order() -> None:
    levels = datasets.load("breast_cancer", as_="pandas").y.cat.categories
    assert list(levels) == ["malignant", "benign"]


def test_diabetes_is_in_physical_units() -> None:
    frame = datasets.load("diabetes", as_="pandas").frame
    assert frame["age"].between(18, 80).all()
    assert frame["bmi"].between(15, 45).all()


def test_an_unknown_table_gets_the_nearest_name() -> None:
    with pytest.raises(RegistryError, match="no table named 'irises': did you mean 'iris'"):
        datasets.load("irises")
    with pytest.raises(RegistryError, match="choose one of"):
        datasets.load("qqqq")


def test_an_unknown_kind_of_frame_is_refused() -> None:
    with pytest.raises(ParameterError, match="as_='excel' is not a kind of frame"):
        datasets.load("iris", as_="excel")


def test_a_missing_frame_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("surefit.data.datasets.frames.find_spec", lambda name: None)
    assert isinstance(datasets.load("iris").frame, pa.Table)
    with pytest.raises(DataError, match="polars is not installed"):
        datasets.load("iris", as_="polars")


def test_surefit_datasets_needs_no_second_import() -> None:
    program = "import surefit, sys; assert 'numpy' not in sys.modules; print(surefit.datasets.load('iris'))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("Dataset('iris'"), done.stderr


@pytest.mark.parametrize("name", datasets.names("fixture"))
def test_a_fixture_cannot_be_changed_and_says_what_it_is(name: str) -> None:
    one = datasets.fixture(name)
    assert one.name == name
    assert one.description.endswith(".")
    assert one.answers
    for values in (one.data, one.answers):
        with pytest.raises(TypeError):
            values["new"] = 1
        assert not any(value.flags.writeable for value in values.values() if isinstance(value, np.ndarray))


def test_the_items_of_the_fixtures_are_in_the_catalogue(root: Path) -> None:
    items = tomllib.loads((root / "docs" / "coverage.toml").read_text(encoding="utf-8"))["items"]
    named = {item for name in datasets.names("fixture") for item in datasets.fixture(name).ids}
    assert named <= set(items)


def test_every_fixture_is_computed_once_more() -> None:
    tests = {
        node.name.removeprefix("test_")
        for file in HERE.glob("test_fixtures_*.py")
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }
    assert set(datasets.names("fixture")) == tests


def test_an_unknown_fixture_gets_the_nearest_name() -> None:
    with pytest.raises(RegistryError, match="did you mean 'rectangle'"):
        datasets.fixture("rectangl")
    with pytest.raises(RegistryError, match="lists them"):
        datasets.fixture("0000")


def test_the_page_lists_everything_and_its_examples_run(root: Path) -> None:
    page = (root / "docs" / "datasets.md").read_text(encoding="utf-8")
    listed = {*datasets.names(), *datasets.names("generator")}
    assert not [name for name in listed if f"`{name}`" not in page]
    themes = {path.name for path in (root / "src/surefit/data/datasets/fixtures").glob("[!_]*.py")} - {
        "base.py"
    }
    assert not [theme for theme in themes if f"`{theme}`" not in page]
    examples = doctest.DocTestParser().get_doctest(
        page.replace("```", ""), {"datasets": datasets}, "docs/datasets.md", None, 0
    )
    assert examples.examples
    assert doctest.DocTestRunner().run(examples).failed == 0
