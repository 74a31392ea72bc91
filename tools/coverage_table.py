"""Write docs/coverage.md and the README's table from the ``covers`` marks of the tests; ``--check`` compares.

The tests are collected, not run: a mark counts where the test stands in the suite that `make test` runs.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
import tomllib
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BEGIN, END = "<!-- coverage:begin -->", "<!-- coverage:end -->"


class CoverageError(Exception):
    """What keeps the tables from being written, in one sentence."""


@dataclass(frozen=True)
class Catalogue:
    """The items to cover, with the course and the area that each belongs to."""

    courses: dict[str, str]
    areas: dict[str, list[str]]
    items: dict[str, str]

    def of_course(self, course: str) -> list[str]:
        """Return the ids of one course, in order."""
        return [item for item in self.items if item.startswith(course + ":")]

    def area(self, item: str) -> str:
        """Return the area whose chapter is the longest prefix of the id, by whole numbers."""
        fits = [
            (len(chapter), area)
            for area, chapters in self.areas.items()
            for chapter in chapters
            if item == chapter or item.startswith(chapter + ".")
        ]
        if not fits:
            raise CoverageError(f"docs/coverage.toml has no area for {item}: add its chapter to one.")
        return max(fits)[1]


@dataclass
class Cover:
    """The public names that cover one item, and the tests that prove it."""

    names: set[str] = field(default_factory=set)
    tests: set[str] = field(default_factory=set)


class Collector:
    """A pytest plugin that reads the marks of the collected tests."""

    def __init__(self) -> None:
        self.marks: list[tuple[str, pytest.Mark]] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note each mark with its test; the cases of a parametrised test count as one."""
        for item in session.items:
            test = item.nodeid.split("[")[0]
            self.marks += [(test, mark) for mark in item.iter_markers("covers")]


def read_catalogue() -> Catalogue:
    """Return docs/coverage.toml."""
    text = (ROOT / "docs" / "coverage.toml").read_text(encoding="utf-8")
    return Catalogue(**tomllib.loads(text))


def collect() -> list[tuple[str, pytest.Mark]]:
    """Return every mark of the suite, with its test."""
    collector, output = Collector(), io.StringIO()
    arguments = ["--collect-only", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir", str(ROOT)]
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        code = pytest.main([*arguments, str(ROOT / "tests")], plugins=[collector])
    if code not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
        raise CoverageError(
            f"{output.getvalue()}\nThe tests cannot be collected: mend what stands above first."
        )
    return collector.marks


def read_marks(catalogue: Catalogue, marks: list[tuple[str, pytest.Mark]]) -> dict[str, Cover]:
    """Return who covers each item, and refuse a mark that names what does not exist."""
    covers: dict[str, Cover] = defaultdict(Cover)
    for test, mark in marks:
        name = mark.kwargs.get("by")
        if not mark.args or not isinstance(name, str):
            raise CoverageError(f'{test}: write who covers what: covers("cs443:4.1", by="LinearRegression").')
        if not resolves(name):
            raise CoverageError(f"{test}: surefit has no {name!r}: correct the mark's by=.")
        for item in mark.args:
            if item not in catalogue.items:
                raise CoverageError(f"{test}: docs/coverage.toml has no item {item!r}: correct the mark.")
            covers[item].names.add(name)
            covers[item].tests.add(test)
    return covers


def resolves(name: str) -> bool:
    """Whether ``surefit.<name>`` is there: an export (``Ridge``) or a path (``core.config.threads``)."""
    found: object = importlib.import_module("surefit")
    path = "surefit"
    for part in name.split("."):
        path = f"{path}.{part}"
        if hasattr(found, part):
            found = getattr(found, part)
            continue
        try:
            found = importlib.import_module(path)
        except ImportError:
            return False
    return True


def page(catalogue: Catalogue, covers: dict[str, Cover]) -> str:
    """Return docs/coverage.md."""
    lines = [
        "# Coverage of the catalogue",
        "",
        "Written by `make coverage-table` from the `covers` marks of the tests; do not edit.",
        "An item counts as covered when a test marked with it proves it under the public name given.",
        "",
        f"Covered: {len(covers)} of {len(catalogue.items)}.",
    ]
    for course, title in catalogue.courses.items():
        items = catalogue.of_course(course)
        covered = [item for item in items if item in covers]
        lines += ["", f"## {title}", "", f"`{course}`: {len(covered)} of {len(items)} covered.", ""]
        if covered:
            lines += ["| item | title | covered by | tests |", "|---|---|---|---|"]
        for item in covered:
            names = ", ".join(f"`{name}`" for name in sorted(covers[item].names))
            tests = ", ".join(f"`{test}`" for test in sorted(covers[item].tests))
            lines.append(f"| {item.split(':')[1]} | {escape(catalogue.items[item])} | {names} | {tests} |")
        still_open = [item for item in items if item not in covers]
        if still_open:
            lines += [""] * bool(covered) + ["Open:", ""]
        lines += [f"- {item.split(':')[1]} {catalogue.items[item]}" for item in still_open]
    return "\n".join(lines) + "\n"


def table(catalogue: Catalogue, covers: dict[str, Cover]) -> str:
    """Return the README's table: each area with its count and the names that cover it."""
    total: dict[str, int] = defaultdict(int)
    done: dict[str, int] = defaultdict(int)
    names: dict[str, set[str]] = defaultdict(set)
    for item in catalogue.items:
        area = catalogue.area(item)
        total[area] += 1
        if item in covers:
            done[area] += 1
            names[area] |= covers[item].names
    lines = ["| area | works now | names |", "|---|---|---|"]
    for area in catalogue.areas:
        listed = ", ".join(f"`{name}`" for name in sorted(names[area]))
        lines.append(f"| {area} | {done[area]} of {total[area]} | {listed} |")
    lines.append(
        f"| **all** | **{len(covers)} of {len(catalogue.items)}** | [item by item](docs/coverage.md) |"
    )
    return "\n".join(lines)


def escape(text: str) -> str:
    """Return the text as a cell of a Markdown table."""
    return text.replace("|", "\\|")


def with_table(readme: str, block: str) -> str:
    """Return the README with the block between its two markers replaced."""
    if BEGIN not in readme or END not in readme:
        raise CoverageError(
            f"README.md has no coverage block: put the lines {BEGIN} and {END} where the table belongs."
        )
    before, rest = readme.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    return f"{before}{BEGIN}\n{block}\n{END}{after}"


def main(check: bool) -> None:
    """Write both documents, or say which of them is out of date."""
    catalogue = read_catalogue()
    covers = read_marks(catalogue, collect())
    coverage, readme = ROOT / "docs" / "coverage.md", ROOT / "README.md"
    put(coverage, page(catalogue, covers), check)
    put(readme, with_table(readme.read_text(encoding="utf-8"), table(catalogue, covers)), check)
    print(f"{len(covers)} of {len(catalogue.items)} items of the catalogue are covered")


def put(path: Path, text: str, check: bool) -> None:
    """Write the text, or make sure that it is there already."""
    if not check:
        path.write_text(text, encoding="utf-8")
    elif not path.exists() or path.read_text(encoding="utf-8") != text:
        raise CoverageError(f"{path.relative_to(ROOT)} is out of date: run `make coverage-table`.")


if __name__ == "__main__":
    try:
        main("--check" in sys.argv)
    except CoverageError as error:
        sys.exit(str(error))
