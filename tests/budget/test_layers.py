"""Imports only point up the list of layers, and one file a layer knows Dask.

Every import counts, also those inside functions, those for type checkers and ``import_module("surefit...")``.
"""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent.parent / "src" / "surefit"
LAYERS = [
    "core",
    "data",
    "stats",
    "engine",
    "losses",
    "penalties",
    "kernels",
    "distances",
    "distributions",
    "solvers",
    "metrics",
    "resample",
    "models",
    "evaluate",
    "plots",
    "io",
    "study",
    "report",
    "cli",
    "lab",
]
# Methods that are a one-line import downwards, as `trace.plot()`: (file, module imported) -> reason.
EXCEPTIONS = {
    (
        "core/callbacks/checkpoint.py",
        "surefit.io.save",
    ): "a checkpoint is a model file, written by the one writer",
    ("study/fitted/result.py", "surefit.report"): "study.report() draws the page that the verb draws",
    ("core/trace.py", "surefit.plots.trace"): "trace.plot() draws with the chart that the report draws with",
}
# The package itself, `python -m surefit` and the doors to families of names stand above all layers.
ABOVE = {
    "__init__.py",
    "__main__.py",
    "errors.py",
    "linalg.py",
    "optimize.py",
    "probability.py",
    "theory.py",
    "trees.py",
}
DASK = {"dask", "distributed"}
DASK_FILES = {"engine/dask.py", "data/dask.py", "data/readers/dask.py"}

FILES = sorted(path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py"))
FOLDERS = sorted({file.split("/")[0] for file in FILES})


@cache
def imports_of(file: str) -> tuple[str, ...]:
    return tuple(imports(file, (SOURCE / file).read_text(encoding="utf-8")))


def imports(file: str, text: str) -> Iterator[str]:
    """Yield the full name of every module that the text imports, relative ones resolved."""
    package = ["surefit", *Path(file).parent.parts]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level + 1]] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            # `from surefit import data` imports a layer, though the module named is the package.
            yield from (f"{module}.{alias.name}" if module == "surefit" else module for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            argument = node.args[0] if node.args else None
            if isinstance(argument, ast.JoinedStr) and argument.values:
                argument = argument.values[0]
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                yield argument.value.rstrip(".")


def trespasses(file: str, modules: Iterable[str]) -> list[str]:
    """Return the imports that point down the list, or at the package above it."""
    if file in ABOVE:
        return []
    own = LAYERS.index(file.split("/")[0])
    found = []
    for module in modules:
        parts = module.split(".")
        if parts[0] != "surefit" or (file, module) in EXCEPTIONS:
            continue
        target = parts[1] if len(parts) > 1 else ""
        if target not in LAYERS or LAYERS.index(target) > own:
            found.append(module)
    return found


def test_every_folder_is_a_layer() -> None:
    assert set(FOLDERS) - ABOVE <= set(LAYERS)


@pytest.mark.parametrize("folder", FOLDERS)
def test_imports_point_up(folder: str) -> None:
    files = [file for file in FILES if file.split("/")[0] == folder]
    below = {file: found for file in files if (found := trespasses(file, imports_of(file)))}
    assert not below, f"{below}: move one of the two, a layer may use only those before it."


def test_every_exception_is_still_needed() -> None:
    used = {(file, module) for file in FILES for module in imports_of(file)}
    assert set(EXCEPTIONS) <= used


def test_dask_is_imported_in_its_own_files_only() -> None:
    importers = {file for file in FILES for module in imports_of(file) if module.split(".")[0] in DASK}
    assert importers <= DASK_FILES


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from surefit.core.trace import Trace", []),
        ("from surefit.stats import moments", []),
        ("from surefit.engine import serial", ["surefit.engine"]),
        ("def f():\n    import surefit.models.base", ["surefit.models.base"]),
        ("if TYPE_CHECKING:\n    from surefit.solvers import newton", ["surefit.solvers"]),
        ("from ..engine import serial", ["surefit.engine"]),
        ("from .. import engine", ["surefit.engine"]),
        ("from . import counts", []),
        ("from surefit import engine, core", ["surefit.engine"]),
        ("import surefit", ["surefit"]),
        ("from surefit import config", ["surefit.config"]),
        ("import_module('surefit.lab')", ["surefit.lab"]),
        ("importlib.import_module(f'surefit.lab.{name}')", ["surefit.lab"]),
    ],
)
def test_the_check_sees_every_kind_of_import(text: str, found: list[str]) -> None:
    assert trespasses("stats/moments.py", imports("stats/moments.py", text)) == found
