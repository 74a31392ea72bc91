"""`import surefit` stays light, and every public name is there when asked for."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import surefit

# Packages, without the leading underscore of their C halves: `typing`, what it brings, and `importlib`, by
# which an editable install finds us.
ALLOWED = {
    "surefit",
    "typing",
    "importlib",
    "future__",
    "collections",
    "contextlib",
    "copyreg",
    "enum",
    "functools",
}
ALLOWED |= {"heapq", "itertools", "keyword", "operator", "re", "reprlib", "sre", "types", "warnings"}
HEAVY = {"numpy", "scipy", "sklearn", "pyarrow", "dask", "rich", "click", "pandas", "narwhals", "altair"}


def modules_after(statement: str) -> set[str]:
    program = f"import sys; before = set(sys.modules)\n{statement}\nprint(*(set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    return set(done.stdout.split())


def packages(modules: set[str]) -> set[str]:
    return {module.split(".")[0].lstrip("_") for module in modules}


def test_importing_surefit_imports_next_to_nothing() -> None:
    loaded = modules_after("import surefit")
    assert "surefit" in loaded
    assert not loaded & HEAVY
    assert packages(loaded) <= ALLOWED


def test_listing_the_names_imports_nothing_more() -> None:
    loaded = modules_after("import surefit; dir(surefit); surefit.__all__")
    assert packages(loaded) <= ALLOWED


def test_config_does_not_import_numpy() -> None:
    assert not modules_after("from surefit import config") & HEAVY


@pytest.mark.parametrize("name", surefit.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(surefit, name) is not None
    assert name in dir(surefit)


def test_the_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(surefit.__file__).read_text(encoding="utf-8"))
    seen = {
        alias.asname or alias.name: node.module.removeprefix("surefit.")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("surefit.")
        for alias in node.names
    }
    assert seen == surefit._EXPORTS
    assert set(surefit.__all__) == {*surefit._EXPORTS, "__version__"}


def test_the_version_is_the_installed_one() -> None:
    from importlib.metadata import version

    assert surefit.__version__ == version("surefit")


def test_an_unknown_name_gets_the_nearest_one() -> None:
    with pytest.raises(AttributeError, match="'Certifcate': did you mean 'Certificate'"):
        surefit.Certifcate  # noqa: B018
    with pytest.raises(AttributeError, match="dir\\(surefit\\) lists"):
        surefit.zzzzzz  # noqa: B018
