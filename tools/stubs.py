"""Write the stubs of the public packages: what type checkers see, and where ``surefit.<name>`` is found.

``surefit/__init__.pyi`` holds every registered estimator, what is marked with ``@public``, and the doors;
``plots/__init__.pyi`` the charts; the packages of a registered kind hold its members. ``--check`` compares.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import sys
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "surefit"
DOORS = {
    "surefit": (
        "distances distributions errors kernels linalg losses metrics optimize penalties plots probability "
        "report resample theory trees"
    ),
    "surefit.data": "datasets",
    "surefit.distributions": "information",
}
KINDS = {
    "losses": "loss",
    "penalties": "penalty",
    "kernels": "kernel",
    "distances": "distance",
    "distributions": "distribution",
    "resample": "split",
    "metrics": "metric",
}
DRAWING = ("save", "to_html", "to_png", "to_svg")  # of plots/base.py, beside the charts


def import_all() -> None:
    """Import every module, so that everything is registered and marked."""
    package = importlib.import_module("surefit")
    for module in pkgutil.walk_packages(package.__path__, "surefit."):
        if "_native_" not in module.name and not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def line(module: str, name: str) -> str:
    """Return one re-export, in the form that type checkers take for public."""
    return f"from {module} import {name} as {name}"


def top() -> list[str]:
    """Return the names of ``surefit`` itself."""
    from surefit.core.public import marked
    from surefit.core.registry import members

    homes = {
        name: found.__module__ for kind in ("estimator", "chooser") for name, found in members(kind).items()
    }
    lines = [line(module, name) for name, module in {**homes, **marked}.items()]
    lines += [line(package, name) for package, names in DOORS.items() for name in names.split()]
    return [
        *sorted(lines),
        "",
        "__version__: str",
        "__all__: list[str]",
        "",
        "def __dir__() -> list[str]: ...",
    ]


def charts() -> list[str]:
    """Return the functions ``plot_*`` of the modules of plots, and what draws them."""
    lines = [line("surefit.plots.base", name) for name in DRAWING]
    for path in sorted((SOURCE / "plots").rglob("*.py")):
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        lines += [
            line(f"surefit.{module}", node.name)
            for node in ast.parse(path.read_text(encoding="utf-8")).body
            if isinstance(node, ast.FunctionDef) and node.name.startswith("plot_")
        ]
    return [*sorted(lines), "", "__all__: list[str]", "", "def __dir__() -> list[str]: ..."]


def of_kind(folder: str, kind: str) -> list[str]:
    """Return what a package re-exports itself, and the members of its kind."""
    from surefit.core.registry import members

    tree = ast.parse((SOURCE / folder / "__init__.py").read_text(encoding="utf-8"))
    lines = [
        line(str(node.module), alias.name)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    ]
    objects = []
    for name, found in members(kind).items():
        if kind == "metric":  # ready to be called, under its registered name
            lines.append(f"from {found.__module__} import {found.__name__} as _{found.__name__}")
            objects.append(f"{name}: _{found.__name__}")
        else:
            lines.append(line(found.__module__, found.__name__))
    return [*sorted(lines), "", *objects, *([""] * bool(objects)), "def __dir__() -> list[str]: ..."]


def put(folder: Path, body: list[str], check: bool) -> None:
    """Write one stub, or make sure that it is there already."""
    path, text = (
        folder / "__init__.pyi",
        "\n".join(["# Written by `make stubs`; do not edit.", "", *body, ""]),
    )
    if not check:
        path.write_text(text, encoding="utf-8")
    elif not path.exists() or path.read_text(encoding="utf-8") != text:
        sys.exit(f"{path.relative_to(SOURCE.parent)} is out of date: run `make stubs`.")


def main(check: bool) -> None:
    """Write the stubs, or say which of them is out of date."""
    put(SOURCE / "plots", charts(), check)  # first, since others import charts
    import_all()
    put(SOURCE, top(), check)
    for folder, kind in KINDS.items():
        put(SOURCE / folder, of_kind(folder, kind), check)


if __name__ == "__main__":
    main("--check" in sys.argv)
