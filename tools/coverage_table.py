"""Write docs/coverage.md and the README's table from the ``covers`` marks of the tests; ``--check`` compares.

The files of the tests are read, not run: a mark is written above its test, in plain strings.
"""

from __future__ import annotations

import ast
import importlib
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

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


class Mark(NamedTuple):
    """One ``@pytest.mark.covers(*items, by=name)``, and the test below it."""

    test: str
    items: tuple[str, ...]
    by: str | None


def read_catalogue() -> Catalogue:
    """Return docs/coverage.toml."""
    text = (ROOT / "docs" / "coverage.toml").read_text(encoding="utf-8")
    return Catalogue(**tomllib.loads(text))


def collect(tests: Path = ROOT / "tests") -> list[Mark]:
    """Return every mark of the tests in a folder."""
    marks = []
    for path in sorted(tests.rglob("test_*.py")):
        name = path.relative_to(tests.parent).as_posix()
        marks += list(_marks(ast.parse(path.read_text(encoding="utf-8"), name), name))
    return marks


def _marks(node: ast.Module | ast.ClassDef, name: str) -> Iterator[Mark]:
    for inner in node.body:
        if isinstance(inner, ast.ClassDef):
            yield from _marks(inner, f"{name}::{inner.name}")
        elif isinstance(inner, ast.FunctionDef) and inner.name.startswith("test_"):
            for call in inner.decorator_list:
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.covers":
                    yield _mark(f"{name}::{inner.name}", call)


def _mark(test: str, call: ast.Call) -> Mark:
    try:
        items = tuple(ast.literal_eval(argument) for argument in call.args)
        named = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
    except ValueError:
        raise CoverageError(f"{test}: write the mark's items and by= as plain strings.") from None
    return Mark(test, items, named.get("by"))


def read_marks(catalogue: Catalogue, marks: list[Mark]) -> dict[str, Cover]:
    """Return who covers each item, and refuse a mark that names what does not exist."""
    covers: dict[str, Cover] = defaultdict(Cover)
    for test, items, name in marks:
        if not items or not isinstance(name, str):
            raise CoverageError(f'{test}: write who covers what: covers("cs443:4.1", by="LinearRegression").')
        if not resolves(name):
            raise CoverageError(f"{test}: surefit has no {name!r}: correct the mark's by=.")
        for item in items:
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
