"""`import surefit` stays light, and every public name is there when asked for."""

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


def test_the_stubs_are_up_to_date(root: Path) -> None:
    """They are what type checkers see and where names are found, so a name is declared in one place."""
    command = [sys.executable, root / "tools" / "stubs.py", "--check"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr


def test_a_name_imports_no_other_family() -> None:
    loaded = modules_after("import surefit; surefit.Ridge; surefit.errors")
    assert "surefit.models.tree" not in loaded
    assert not {module for module in loaded if module.startswith(("surefit.evaluate", "surefit.study"))}


DOORS = {
    "distributions": "Normal",
    "information": "entropy",
    "errors": "CertificateWarning",
    "linalg": "SingularValues",
    "losses": "Huber",
    "metrics": "accuracy_score",
    "optimize": "quadratic_program",
    "penalties": "L1",
    "plots": "plot_roc",
    "resample": "KFold",
    "theory": "hoeffding_probability",
    "trees": "multiway_tree",
    "datasets": "load",
}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_opens_in_a_fresh_process(door: str) -> None:
    """Each on its own: no import of something else may be what makes it reachable."""
    name = DOORS[door]
    program = f"import surefit; surefit.{door}.{name}; assert {name!r} in dir(surefit.{door})"
    subprocess.run([sys.executable, "-c", program], timeout=120, check=True)


@pytest.mark.parametrize("door", ["losses", "metrics", "penalties", "distributions", "resample", "plots"])
def test_a_misspelt_name_of_a_door_gets_the_nearest_one(door: str) -> None:
    name = DOORS[door]
    with pytest.raises(AttributeError, match=f"did you mean '{name}'"):
        getattr(getattr(surefit, door), name + "x")


def test_every_error_and_warning_is_in_errors() -> None:
    import surefit.evaluate.persistence
    import surefit.models.base
    import surefit.solvers.objective.solver  # each declares its kind
    from surefit.core.errors import SurefitError, SurefitWarning
    from surefit.core.registry import members

    members("estimator"), members("chooser"), members("solver")

    def below(found: type) -> set[type]:
        return {found}.union(*(below(each) for each in found.__subclasses__()))

    ours = {
        found
        for found in below(SurefitError) | below(SurefitWarning)
        if found.__module__.startswith("surefit.")
    }
    hidden = {found.__name__ for found in ours if getattr(surefit.errors, found.__name__, None) is not found}
    assert not hidden


def test_the_version_is_the_installed_one() -> None:
    from importlib.metadata import version

    assert surefit.__version__ == version("surefit")


def test_an_unknown_name_gets_the_nearest_one() -> None:
    with pytest.raises(AttributeError, match="'Certifcate': did you mean 'Certificate'"):
        surefit.Certifcate  # noqa: B018
    with pytest.raises(AttributeError, match="dir\\(surefit\\) lists"):
        surefit.zzzzzz  # noqa: B018
