"""A pytest plugin: our classes under scikit-learn's names, and a note of how each test that met one ended.

``SUREFIT_SUITE_LOG`` names the file that the notes go to, one line of JSON a test.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sklearn

import surefit
from surefit.models.base import Estimator

PACKAGES = (
    "cluster",
    "mixture",
    "manifold",
    "linear_model",
    "naive_bayes",
    "discriminant_analysis",
    "neighbors",
    "decomposition",
    "preprocessing",
    "impute",
    "svm",
    "multiclass",
    "tree",
    "ensemble",
    "kernel_ridge",
    "kernel_approximation",
    "gaussian_process",
)
HOME = Path(sklearn.__file__).parent
NAME = "name"  # the user property of every test: its path within scikit-learn
MET = "surefit"  # the user property of a test that met one of our classes or functions

_met: list[bool] = [False]
_gathers: list[bool] = [True]  # with several processes, only the one that gathers the reports writes them
_originals: dict[int, Any] = {}  # by the id of theirs: ours
_kept_alive: list[Any] = []


def _meets(call: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(call)
    def noted(*args: Any, **kwargs: Any) -> Any:
        _met[0] = True
        return call(*args, **kwargs)

    return noted


def _made(cls: type, *args: Any, **kwargs: Any) -> Any:
    _met[0] = True
    return object.__new__(cls)


def pytest_configure(config: pytest.Config) -> None:
    """Put our classes and functions under their public names, once and for all tests."""
    _gathers[0] = not hasattr(config, "workerinput")
    Estimator.__new__ = _made  # type: ignore[method-assign]
    Estimator._fit = _meets(Estimator._fit)  # type: ignore[method-assign]
    # All first: some of its modules read the private parts of classes of others while they are imported.
    for module in [importlib.import_module(f"sklearn.{package}") for package in PACKAGES]:
        for name in set(surefit.__all__) & set(getattr(module, "__all__", ())) | (
            set(surefit.__all__) & set(dir(module)) if not hasattr(module, "__all__") else set()
        ):
            theirs, ours = getattr(module, name), getattr(surefit, name)
            if inspect.ismodule(theirs):
                continue
            ours = ours if inspect.isclass(ours) else _meets(ours)
            _kept_alive.append(theirs)
            _originals[id(theirs)] = ours
            setattr(module, name, ours)


@contextmanager
def _private_names_too() -> Iterator[None]:
    """Swap the names inside scikit-learn's private modules, only while a test module imports from them."""
    swapped: list[tuple[Any, str, Any]] = []
    for path, module in list(sys.modules.items()):
        if path.startswith("sklearn.") and path.split(".")[1] in PACKAGES and module is not None:
            for name, value in list(vars(module).items()):
                if id(value) in _originals:
                    swapped.append((module, name, value))
                    setattr(module, name, _originals[id(value)])
    try:
        yield
    finally:
        for module, name, value in swapped:
            setattr(module, name, value)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """Import test modules while every name, private ones included, is ours."""
    if not isinstance(collector, pytest.Module):
        return (yield)
    with _private_names_too():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Note whether the test met one of our classes."""
    _met[0] = False
    try:
        return (yield)
    finally:
        item.user_properties.append((MET, _met[0]))


def pytest_itemcollected(item: pytest.Item) -> None:
    """Call a test by its path within scikit-learn, wherever that is installed."""
    item.user_properties.append((NAME, f"{item.path.relative_to(HOME).as_posix()}::{item.name}"))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Write down how a test ended."""
    path = os.environ.get("SUREFIT_SUITE_LOG")
    if path is None or not _gathers[0] or (report.when != "call" and report.passed):
        return
    crash = getattr(report.longrepr, "reprcrash", None)
    met = dict(report.user_properties).get(MET, report.when == "setup" and report.failed)
    note = {
        "test": dict(report.user_properties).get(NAME, report.nodeid),
        "outcome": "xfailed" if hasattr(report, "wasxfail") and report.skipped else report.outcome,
        "met": met,
        "seconds": round(report.duration, 3),
        "why": crash.message if crash is not None else "",
        "trace": str(report.longrepr)[-6000:] if report.failed else "",
    }
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(note) + "\n")
