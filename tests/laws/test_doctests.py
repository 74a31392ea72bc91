"""Every example in a docstring, in the README and in the documents runs and prints what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import surefit

SKIPPED = {"surefit.__main__"}  # importing it runs the command line
MODULES = [m.name for m in pkgutil.walk_packages(surefit.__path__, "surefit.") if m.name not in SKIPPED]
DOCUMENTS = [path for path in [Path("README.md"), *Path("docs").glob("*.md")] if ">>>" in path.read_text()]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("name", [name for name in MODULES if "._native_" not in name])
def test_docstrings(name):
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert failed == 0


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_documents(path):
    lines = ["" if line.startswith("```") else line for line in path.read_text().splitlines()]
    examples = doctest.DocTestParser().get_doctest("\n".join(lines), {}, str(path), str(path), 0)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(examples)
    assert runner.tries > 0
    assert runner.failures == 0
