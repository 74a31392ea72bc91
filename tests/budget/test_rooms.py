"""A newcomer finds everything from the listing: small folders, whole concepts, one way in, no way round.

The rules of the layout, read from the sources. A folder holds at most twenty modules beside the members of a
registry that live there; a concept is one file, not a file with satellites; what a sub-package shares stands
in its ``__all__``; nobody reads another file's underscored names; imports form no cycle, wherever they stand.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src"
MOST_MODULES, MOST_LINES, MOST_STATEMENT_LINES, SATELLITE, FEWEST_WORDS = 20, 800, 60, 120, 25
CODE = sorted(
    path
    for folder in ("src", "cpp", "tests", "tools", "benchmarks")
    for suffix in ("py", "h", "cpp", "sh")  # stubs (.pyi) are written by a tool, one line a signature
    for path in (ROOT / folder).rglob(f"*.{suffix}")
)
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((SOURCE / "surefit").rglob("*.py"))
}
PACKAGES = {name for name, path in MODULES.items() if path.name == "__init__.py"}
# Methods that are one import downwards, as `trace.plot()`; the test of layers lists them with their reasons.
DOWNWARDS = {("surefit.core.trace", "surefit.plots.trace")}


def parent(module: str) -> str:
    return module.rpartition(".")[0]


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


@cache
def imports(module: str) -> frozenset[tuple[str, str]]:
    """What a module imports, wherever in the file: (module, name), the name empty for a whole module."""
    found = set()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("surefit"):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add((whole, "") if whole in MODULES else (str(node.module), alias.name))
        elif isinstance(node, ast.Import):
            found |= {(alias.name, "") for alias in node.names if alias.name in MODULES}
    return frozenset(found)


@cache
def importers() -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for module in MODULES:
        for name, _ in imports(module):
            found[name].add(module)
    return found


@cache
def registered() -> dict[str, set[str]]:
    """The modules that define members of a registry, by the folder that the registry declares."""
    import importlib

    for module in MODULES:
        if not module.endswith("__main__"):
            importlib.import_module(module)
    from surefit.core import registry

    found: dict[str, set[str]] = defaultdict(set)
    for kind, folder in registry._folders.items():
        found[folder] |= {member.__module__ for member in registry.members(kind).values()}
    return found


@pytest.mark.parametrize("folder", sorted(PACKAGES))
def test_a_folder_opens_with_what_it_is_for(folder: str) -> None:
    words = len((ast.get_docstring(tree(folder)) or "").split())
    assert words >= FEWEST_WORDS, (
        f"{folder} says too little: what lives here, how data flows, how to add one."
    )


def test_a_folder_is_small() -> None:
    """Members of a registry do not count in its own folder: the listing is their table of contents."""
    count: dict[str, int] = defaultdict(int)
    for module in set(MODULES) - PACKAGES:
        count[parent(module)] += module not in registered()[parent(module)]
    large = {folder: number for folder, number in count.items() if number > MOST_MODULES}
    assert not large, f"{large}: group what belongs together into sub-packages."


def test_a_file_is_one_concept_of_readable_length() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in CODE}
    assert len(lengths) > 1000
    long = {path.relative_to(ROOT).as_posix(): n for path, n in lengths.items() if n > MOST_LINES}
    assert not long, f"{long}: cut them where a second concept begins."


def functions(module: str) -> Iterator[tuple[str, int]]:
    """The functions of a module with the lines of their statements, the docstring apart."""
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            yield node.name, body[-1].end_lineno - body[0].lineno + 1 if body else 0


def test_a_function_fits_on_a_screen() -> None:
    long = [
        (module, name, n) for module in MODULES for name, n in functions(module) if n > MOST_STATEMENT_LINES
    ]
    assert not long, f"{long}: name their parts."


def test_a_concept_has_no_satellites() -> None:
    """A short module that one neighbour alone imports is a part of that neighbour."""
    members = set().union(*registered().values())
    satellites = {
        module: users
        for module in set(MODULES) - PACKAGES - members
        if len(users := importers()[module] - PACKAGES) == 1
        and not importers()[module] & PACKAGES
        and parent(next(iter(users))) == parent(module)
        and len(MODULES[module].read_text(encoding="utf-8").splitlines()) < SATELLITE
    }
    assert not satellites, f"{satellites}: merge each into its importer."


def named(package: str) -> set[str]:
    """What a sub-package lets others import: its ``__all__``, and what its ``__init__`` binds."""
    names: set[str] = set()
    for node in tree(package).body:
        if isinstance(node, ast.ImportFrom | ast.Import):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
            if [ast.unparse(target) for target in node.targets] == ["__all__"]:
                names |= set(ast.literal_eval(node.value))
    return names


def subpackages() -> list[str]:
    return sorted(package for package in PACKAGES if package.count(".") >= 2)


def test_only_what_a_sub_package_names_is_imported_from_outside() -> None:
    trespasses, packages = [], set(subpackages())
    for module in MODULES:
        for target, name in imports(module):
            above = accumulate(target.split("."), lambda package, part: f"{package}.{part}")
            for package in packages.intersection(above):
                if f"{module}.".startswith(f"{package}."):
                    continue
                taken = target.removeprefix(package).lstrip(".").partition(".")[0] or name
                if taken and taken not in named(package):
                    trespasses.append(f"{module} imports {taken} of {package}")
    assert not trespasses, (
        f"{trespasses}: name it in the package's __all__, or ask the package for what it shares."
    )


@cache
def private_names() -> dict[str, set[str]]:
    """The underscored names that each file of ours defines: functions, classes, fields and attributes."""
    found: dict[str, set[str]] = defaultdict(set)
    for module in MODULES:
        for node in ast.walk(tree(module)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found[module].add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found[module].add(node.id)
            elif isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("self", "cls"):
                found[module].add(node.attr)
            elif isinstance(node, ast.arg):
                found[module].add(node.arg)
    return {module: {name for name in names if is_private(name)} for module, names in found.items()}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def foreign(module: str) -> list[str]:
    """The underscored names of our other files that a module reads."""
    ours = set().union(*private_names().values())
    found = []
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Attribute) and node.attr in ours - private_names()[module]:
            if ast.unparse(node.value) not in ("self", "cls", "super()"):
                found.append(f"{module}:{node.lineno} {ast.unparse(node)}")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("surefit"):
            found += [
                f"{module}:{node.lineno} {alias.name}" for alias in node.names if is_private(alias.name)
            ]
    return found


def test_nobody_reads_another_files_private_names() -> None:
    found = [place for module in MODULES for place in foreign(module)]
    assert not found, f"{found}: make it public where it is defined, or a method."


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The sets of nodes that reach each other: peel off what points at nothing left, from both ends."""
    left = {node: {other for other in others if other in graph} for node, others in graph.items()}
    changed = True
    while changed:
        targets = set().union(*left.values()) if left else set()
        loose = {node for node, others in left.items() if not others or node not in targets}
        changed = bool(loose)
        left = {node: others - loose for node, others in left.items() if node not in loose}
    return [sorted(left)] if left else []


def test_modules_form_no_cycle() -> None:
    """Imports inside functions and for type checkers count as well."""
    graph = {
        module: {
            name for name, _ in imports(module) if name not in PACKAGES and (module, name) not in DOWNWARDS
        }
        for module in set(MODULES) - PACKAGES
    }
    assert not cycles(graph), "move what both need into a module that both import."


def test_sub_packages_form_no_cycle() -> None:
    graphs: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for module in set(MODULES) - PACKAGES:
        for target, _ in imports(module):
            if target in PACKAGES or (module, target) in DOWNWARDS:
                continue
            ours, theirs = module.split("."), target.split(".")
            depth = (
                next(i for i in range(len(ours)) if ours[: i + 1] != theirs[: i + 1])
                if module != target
                else 0
            )
            one, two = ".".join(ours[: depth + 1]), ".".join(theirs[: depth + 1])
            if depth >= 2:  # layers themselves have their own test
                graphs[".".join(ours[:depth])][one].add(two)
                graphs[".".join(ours[:depth])][two] |= set()
    found = {folder: rings for folder, graph in graphs.items() if (rings := cycles(graph))}
    assert not found, f"{found}: one of two sub-packages must not know the other."


@pytest.mark.parametrize(
    ("graph", "rings"),
    [
        ({"a": {"b"}, "b": set()}, []),
        ({"a": {"b"}, "b": {"a"}, "c": {"a"}}, [["a", "b"]]),
        ({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"e"}, "e": {"x"}}, [["a", "b", "c"]]),
    ],
)
def test_the_search_finds_cycles(graph: dict[str, set[str]], rings: list[list[str]]) -> None:
    assert cycles(graph) == rings
