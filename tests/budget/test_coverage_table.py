"""The catalogue is whole, and the documents made from the tests' marks are those in the tree."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ITEMS = 502


@pytest.fixture(scope="module")
def tool(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("coverage_table", root / "tools" / "coverage_table.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_catalogue_has_all_its_items(tool: ModuleType) -> None:
    catalogue = tool.read_catalogue()  # TOML refuses a key given twice, so the ids are distinct
    assert len(catalogue.items) == ITEMS
    assert all(title.strip() for title in catalogue.items.values())


def test_every_item_has_one_course_and_one_area(tool: ModuleType) -> None:
    catalogue = tool.read_catalogue()
    assert sum(len(catalogue.of_course(course)) for course in catalogue.courses) == ITEMS
    assert {catalogue.area(item) for item in catalogue.items} == set(catalogue.areas)


def test_the_longest_chapter_decides_the_area(tool: ModuleType) -> None:
    catalogue = tool.Catalogue({}, {"wide": ["c:1"], "narrow": ["c:1.2"], "other": ["c:12"]}, {})
    assert [catalogue.area(item) for item in ("c:1.1", "c:1.2", "c:1.2.3", "c:1.20", "c:12.1")] == [
        "wide",
        "narrow",
        "narrow",
        "wide",
        "other",
    ]


def test_covered_and_open_items_are_told_apart(tool: ModuleType) -> None:
    catalogue = tool.Catalogue({"c": "Course"}, {"Area": ["c:1"]}, {"c:1.1": "One | two", "c:1.2": "Three"})
    covers = {"c:1.1": tool.Cover({"Ridge"}, {"tests/test_a.py::test_b"})}
    page = tool.page(catalogue, covers)
    assert "| 1.1 | One \\| two | `Ridge` | `tests/test_a.py::test_b` |" in page
    assert "- 1.2 Three" in page
    assert "- 1.1" not in page
    assert "| Area | 1 of 2 | `Ridge` |" in tool.table(catalogue, covers)


def test_items_with_nothing_to_compute_have_a_word_and_take_no_mark(tool: ModuleType) -> None:
    catalogue = tool.Catalogue(
        {"c": "Course"},
        {"Area": ["c:1"]},
        {"c:1.1": "One", "c:1.2": "Outlook"},
        {"c:1.2": "pointers to books"},
    )
    covers = {"c:1.1": tool.Cover({"Ridge"}, {"tests/test_a.py::test_b"})}
    page = tool.page(catalogue, covers)
    assert "Covered: 1 of 1." in page
    assert "Nothing to compute:\n\n- 1.2 Outlook: pointers to books" in page
    assert "Open:" not in page
    assert "| Area | 1 of 1 | `Ridge` |" in tool.table(catalogue, covers)
    with pytest.raises(tool.CoverageError, match=r"c:1\.2 has nothing to compute"):
        tool.read_marks(catalogue, [tool.Mark("a", ("c:1.2",), "Ridge")])


def test_only_the_block_of_the_readme_changes(tool: ModuleType) -> None:
    text = f"above\n{tool.BEGIN}\nold\n{tool.END}\nbelow\n"
    assert tool.with_table(text, "new") == f"above\n{tool.BEGIN}\nnew\n{tool.END}\nbelow\n"
    with pytest.raises(tool.CoverageError, match="no coverage block"):
        tool.with_table("above\n", "new")


def test_a_public_name_must_exist(tool: ModuleType) -> None:
    assert tool.resolves("config")
    assert tool.resolves("core.threads.available_threads")
    assert not tool.resolves("core.threads.no_such_name")


def test_the_documents_are_up_to_date(root: Path) -> None:
    command = [sys.executable, root / "tools" / "coverage_table.py", "--check"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr


def test_marks_are_read_where_they_stand(tmp_path: Path, tool: ModuleType) -> None:
    (tmp_path / "test_it.py").write_text(
        """
import pytest

@pytest.mark.covers("c:1", by="config")
@pytest.mark.parametrize("case", [1, 2])
def test_both(case): raise RuntimeError

@pytest.mark.covers("c:2", by="config")
def helper(): ...

class TestMore:
    @pytest.mark.covers("c:2", "c:3")
    def test_three(self): raise RuntimeError
"""
    )
    where = f"{tmp_path.name}/test_it.py"
    assert tool.collect(tmp_path) == [
        (f"{where}::test_both", ("c:1",), "config"),
        (f"{where}::TestMore::test_three", ("c:2", "c:3"), None),
    ]
    (tmp_path / "test_it.py").write_text("@pytest.mark.covers(ITEM, by='config')\ndef test_it(): ...\n")
    with pytest.raises(tool.CoverageError, match="test_it: write the mark's items and by= as plain strings"):
        tool.collect(tmp_path)


def test_marks_of_one_item_add_up(tool: ModuleType) -> None:
    catalogue = tool.Catalogue({}, {}, {"c:1": "One", "c:2": "Two"})
    marks = [tool.Mark("a", ("c:1", "c:2"), "config"), tool.Mark("b", ("c:1",), "current_config")]
    assert tool.read_marks(catalogue, marks) == {
        "c:1": tool.Cover({"config", "current_config"}, {"a", "b"}),
        "c:2": tool.Cover({"config"}, {"a"}),
    }


@pytest.mark.parametrize(
    ("items", "by", "message"),
    [
        (("cs443:99.9",), "config", "no item 'cs443:99.9'"),
        (("cs443:4.1",), None, "who covers what"),
        ((), "config", "who covers what"),
        (("cs443:4.1",), "NoSuchName", "surefit has no 'NoSuchName'"),
    ],
)
def test_a_wrong_mark_is_refused(
    tool: ModuleType, items: tuple[str, ...], by: str | None, message: str
) -> None:
    with pytest.raises(tool.CoverageError, match=f"^tests/x.py::test_it: .*{message}"):
        tool.read_marks(tool.read_catalogue(), [tool.Mark("tests/x.py::test_it", items, by)])


FILE = """
import numpy as np
import pytest
import surefit
from surefit import Ridge as R, metrics
from surefit.theory import cube_edge

MADE = {"one": surefit.Lasso()}

def helper(): return R()

@pytest.fixture
def fitted(): return helper().fit([[0.0]], [0.0])

def test_alias(): R()
def test_fixture(fitted): fitted.predict([[0.0]])
def test_constant(): MADE["one"].fit([[0.0]], [0.0])
def test_door(): metrics.accuracy_score([1], [1])
def test_long(): surefit.metrics.accuracy_score([1], [1])
def test_function(): cube_edge(0.1, 2)
@pytest.mark.parametrize("name", ["accuracy_score"])
def test_by_name(name): getattr(metrics, name)([1], [1])
@pytest.mark.covers("c:1", by="Ridge")
def test_words(): "Ridge, cube_edge"; Ridge = 1; np.accuracy_score(Ridge); object().predict
"""


@pytest.mark.parametrize(
    ("test", "name", "calls"),
    [
        ("test_alias", "Ridge", True),
        ("test_fixture", "Ridge", True),
        ("test_fixture", "Ridge.predict", True),
        ("test_constant", "Lasso", True),
        ("test_constant", "Ridge", False),
        ("test_door", "metrics.accuracy_score", True),
        ("test_long", "metrics.accuracy_score", True),
        ("test_function", "theory.cube_edge", True),
        ("test_by_name", "metrics.accuracy_score", True),
        ("test_by_name", "metrics.recall_score", False),
        ("test_words", "Ridge", False),
        ("test_words", "theory.cube_edge", False),
        ("test_words", "metrics.accuracy_score", False),
    ],
)
def test_a_mark_counts_if_its_test_calls_what_it_names(
    tmp_path: Path, tool: ModuleType, test: str, name: str, calls: bool
) -> None:
    (tmp_path / "test_it.py").write_text(FILE)
    mark = tool.Mark(f"test_it.py::{test}", ("c:1",), name)
    if calls:
        tool.check_calls([mark], tmp_path)
    else:
        with pytest.raises(tool.CoverageError, match=f"{test}: it does not call '{name}'"):
            tool.check_calls([mark], tmp_path)


def test_a_name_that_no_page_says_is_refused(tmp_path: Path, tool: ModuleType) -> None:
    (tmp_path / "coverage.md").write_text("Ridge")
    (tmp_path / "ridge.md").write_text("`RidgeClassifier`, my_Ridge")
    marks = [tool.Mark("a", ("c:1",), "Ridge")]
    with pytest.raises(tool.CoverageError, match="no page of docs/ says 'Ridge'"):
        tool.check_documented(marks, tmp_path)
    (tmp_path / "ridge.md").write_text("`surefit.Ridge(alpha)`")
    tool.check_documented(marks, tmp_path)
