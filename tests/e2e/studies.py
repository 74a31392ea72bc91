"""Real tables that lie inside packages, and a quick study of them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

import surefit
from surefit.study.fitted.result import Study

QUICK: dict[str, Any] = {"budget": 600.0, "repeats": 1, "folds": 5}  # ends by itself, on any machine


def quick(table: Any, target: Any, **options: Any) -> Study:
    """A study that depends on no clock."""
    return surefit.learn(table, target, **{**QUICK, **options})


def inside(package: str, file: str) -> Path:
    """A file inside a package, which is not imported: its own imports may be missing here."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        pytest.skip(f"{package} is not installed: make test installs it")
    return Path(found.submodule_search_locations[0]) / file
