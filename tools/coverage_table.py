"""Write docs/coverage.md and the README's table from the ``covers`` marks of the tests; ``--check`` compares.

The files of the tests are read, not run: a mark is written above its test, in plain strings. A mark counts
when its test calls what the mark names, and a page of docs/ says that name.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PACKAGE = "surefit"
BEGIN, END = "<!-- coverage:begin -->", "<!-- coverage:end -->"


class CoverageError(Exception):
    """What keeps the tables from being written, in one sentence."""


@dataclass(frozen=True)
class Catalogue:
    """The items to cover, with the course and the area that each belongs to."""

    courses: dict[str, str]
    areas: dict[str, list[str]]
    items: dict[str, str]
    closed: dict[str, str] = field(default_factory=dict)  # items with nothing to compute, each with a word

    @property
    def computable(self) -> list[str]:
        """The ids of the items that a test can cover."""
        return [item for item in self.items if item not in self.closed]

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
    catalogue = Catalogue(**tomllib.loads(text))
    for item in catalogue.closed:
        if item not in catalogue.items:
            raise CoverageError(f"docs/coverage.toml closes {item!r}, which is no item: correct it.")
    return catalogue


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
            if item in catalogue.closed:
                raise CoverageError(f"{test}: {item} has nothing to compute, as docs/coverage.toml says.")
            covers[item].names.add(name)
            covers[item].tests.add(test)
    return covers


def check_calls(marks: list[Mark], root: Path = ROOT) -> None:
    """Refuse a mark whose test does not reach the object that the mark names."""
    files: dict[str, tuple[ast.Module, MarkedFile]] = {}
    for test, _, name in marks:
        path, *inside = test.split("::")
        if path not in files:
            tree = ast.parse((root / path).read_text(encoding="utf-8"), path)
            files[path] = tree, MarkedFile(tree)
        tree, marked = files[path]
        if not marked.calls(_inner(tree, inside), str(name).split(".")[-1], is_member(str(name))):
            raise CoverageError(
                f"{test}: it does not call {name!r}: call it in the test, or name in by= what the test calls."
            )


def _inner(tree: ast.Module, names: list[str]) -> ast.FunctionDef:
    node: ast.AST = tree
    for name in names:
        node = next(inner for inner in ast.iter_child_nodes(node) if getattr(inner, "name", None) == name)
    assert isinstance(node, ast.FunctionDef)
    return node


def check_documented(marks: list[Mark], docs: Path = ROOT / "docs") -> None:
    """Refuse a mark whose name no page says, but for the page that is written from the marks."""
    text = "\n".join(
        path.read_text(encoding="utf-8") for path in sorted(docs.glob("*.md")) if path.name != "coverage.md"
    )
    for test, _, name in marks:
        last = str(name).split(".")[-1]
        if not re.search(rf"(?<!\w){re.escape(last)}(?!\w)", text):
            raise CoverageError(
                f"{test}: no page of docs/ says {last!r}: describe {name} where its family is."
            )


def is_member(name: str) -> bool:
    """Whether the name belongs to a class (``Lasso.fit``), so that a test reaches it through an object."""
    found: object = importlib.import_module(PACKAGE)
    owner = found
    for part in name.split("."):
        owner, found = found, getattr(found, part, None)
    return isinstance(owner, type)


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


class MarkedFile:
    """One test file: its definitions, and the names in it that stand for parts of surefit.

    A test reaches its body, its decorators but for the marks, and each function, class, fixture or constant
    of the same file that what it reaches refers to, by name or as a parameter.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.definitions: dict[str, list[ast.stmt]] = {}
        self.doors: set[str] = set()  # names bound to surefit, or to something imported from it
        self.imported: dict[str, str] = {}  # local name -> name in surefit
        for statement in tree.body:
            for name in _bound(statement):
                self.definitions.setdefault(name, []).append(statement)
        for node in ast.walk(tree):
            self._note_import(node)

    def _note_import(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == PACKAGE:
                    self.doors.add(alias.asname or PACKAGE)
                    self.imported[alias.asname or PACKAGE] = alias.name.split(".")[-1]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE:
            for alias in node.names:
                self.doors.add(alias.asname or alias.name)
                self.imported[alias.asname or alias.name] = alias.name

    def calls(self, test: ast.FunctionDef, name: str, member: bool) -> bool:
        """Whether the test reaches the name: a ``member`` through any object, anything else from surefit."""
        nodes = [node for root in self._reached(test) for node in _without_marks(root)]
        strings = {node.value for node in nodes if isinstance(node, ast.Constant)}
        for node in nodes:
            if isinstance(node, ast.Name) and self.imported.get(node.id) == name:
                return True
            if (
                isinstance(node, ast.Attribute)
                and node.attr == name
                and (member or self._is_door(node.value))
            ):
                return True
            if name in strings and self._is_door(_asked(node)):
                return True
        return False

    def _reached(self, test: ast.FunctionDef) -> list[ast.stmt]:
        reached: list[ast.stmt] = [test]
        seen = {test.name}
        for root in reached:  # grows while it is walked
            for name in _names(root):
                if name not in seen:
                    seen.add(name)
                    reached += self.definitions.get(name, [])
        return reached

    def _is_door(self, node: ast.AST) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self.doors


def _bound(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))
    elif isinstance(statement, ast.If | ast.For | ast.With | ast.Try):
        for inner in ast.iter_child_nodes(statement):
            if isinstance(inner, ast.stmt):
                yield from _bound(inner)


def _names(root: ast.stmt) -> Iterator[str]:
    for node in _without_marks(root):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg  # a fixture is asked for by the name of a parameter
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("usefixtures"):
            yield from (str(fixture.value) for fixture in node.args if isinstance(fixture, ast.Constant))


def _without_marks(root: ast.AST) -> Iterator[ast.AST]:
    if isinstance(root, ast.Call) and ast.unparse(root.func) == "pytest.mark.covers":
        return
    yield root
    for inner in ast.iter_child_nodes(root):
        yield from _without_marks(inner)


def _asked(node: ast.AST) -> ast.AST:
    """What a call ``getattr(this, name)`` asks; nothing for any other node."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "getattr" and node.args:
        return node.args[0]
    return ast.Pass()


def page(catalogue: Catalogue, covers: dict[str, Cover]) -> str:
    """Return docs/coverage.md."""
    lines = [
        "# Coverage of the catalogue",
        "",
        "Written by `make coverage-table` from the `covers` marks of the tests; do not edit.",
        "An item counts as covered when a test marked with it proves it under the public name given.",
        "",
        f"Covered: {len(covers)} of {len(catalogue.computable)}.",
    ]
    for course, title in catalogue.courses.items():
        items = [item for item in catalogue.of_course(course) if item not in catalogue.closed]
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
        closed = [item for item in catalogue.of_course(course) if item in catalogue.closed]
        if closed:
            lines += ["", "Nothing to compute:", ""]
        lines += [
            f"- {item.split(':')[1]} {catalogue.items[item]}: {catalogue.closed[item]}" for item in closed
        ]
    return "\n".join(lines) + "\n"


def table(catalogue: Catalogue, covers: dict[str, Cover]) -> str:
    """Return the README's table: each area with its count and the names that cover it."""
    total: dict[str, int] = defaultdict(int)
    done: dict[str, int] = defaultdict(int)
    names: dict[str, set[str]] = defaultdict(set)
    for item in catalogue.computable:
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
        f"| **all** | **{len(covers)} of {len(catalogue.computable)}** | [item by item](docs/coverage.md) |"
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
    marks = collect()
    covers = read_marks(catalogue, marks)
    check_calls(marks)
    check_documented(marks)
    coverage, readme = ROOT / "docs" / "coverage.md", ROOT / "README.md"
    put(coverage, page(catalogue, covers), check)
    put(readme, with_table(readme.read_text(encoding="utf-8"), table(catalogue, covers)), check)
    print(f"{len(covers)} of {len(catalogue.computable)} items of the catalogue are covered")


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
