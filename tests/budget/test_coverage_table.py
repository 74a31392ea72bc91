"""The catalogue is whole, and the documents made from the tests' marks are those in the tree."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytest_plugins = ["pytester"]
ITEMS = 456


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


def test_marks_are_collected_without_running_a_test(pytester: pytest.Pytester, tool: ModuleType) -> None:
    pytester.makeini("[pytest]\nmarkers = covers: items")
    pytester.makepyfile(
        test_it="""
        import pytest
        @pytest.mark.covers("c:1", by="config")
        @pytest.mark.parametrize("case", [1, 2])
        def test_both(case): raise RuntimeError
        """
    )
    collector = tool.Collector()
    pytester.inline_run("--collect-only", "-p", "no:xdist", plugins=[collector])
    assert {(test, mark.args, mark.kwargs["by"]) for test, mark in collector.marks} == {
        ("test_it.py::test_both", ("c:1",), "config")
    }


def test_marks_of_one_item_add_up(tool: ModuleType) -> None:
    catalogue = tool.Catalogue({}, {}, {"c:1": "One", "c:2": "Two"})
    covers = pytest.mark.covers
    marks = [("a", covers("c:1", "c:2", by="config").mark), ("b", covers("c:1", by="current_config").mark)]
    assert tool.read_marks(catalogue, marks) == {
        "c:1": tool.Cover({"config", "current_config"}, {"a", "b"}),
        "c:2": tool.Cover({"config"}, {"a"}),
    }


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        (pytest.mark.covers("cs443:99.9", by="config"), "no item 'cs443:99.9'"),
        (pytest.mark.covers("cs443:4.1"), "who covers what"),
        (pytest.mark.covers(by="config"), "who covers what"),
        (pytest.mark.covers("cs443:4.1", by="NoSuchName"), "surefit has no 'NoSuchName'"),
    ],
)
def test_a_wrong_mark_is_refused(tool: ModuleType, mark: pytest.MarkDecorator, message: str) -> None:
    with pytest.raises(tool.CoverageError, match=f"^tests/x.py::test_it: .*{message}"):
        tool.read_marks(tool.read_catalogue(), [("tests/x.py::test_it", mark.mark)])
