"""Every example in a docstring, in the README and in the documents runs and prints what it says."""

from __future__ import annotations

import doctest
import importlib.util
import pkgutil
from pathlib import Path

import pytest

import surefit

NOT_IMPORTED = {"surefit.__main__"}  # importing it runs the command line
NAMES = [found.name for found in pkgutil.walk_packages(surefit.__path__, "surefit.")]
MODULES = [name for name in NAMES if name not in NOT_IMPORTED and "._native_" not in name]
DOCUMENTS = [path for path in [Path("README.md"), *Path("docs").glob("*.md")] if ">>>" in path.read_text()]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def has_examples(name):
    file = importlib.util.find_spec(name).origin
    return ">>>" in Path(file).read_text(encoding="utf-8")


def run(tests):
    """Run what has examples: the runner prepares a debugger for each text, also for those without."""
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for test in tests:
        if test.examples:
            runner.run(test)
    return runner


def test_every_module_can_be_imported():
    for name in MODULES:
        importlib.import_module(name)


@pytest.mark.parametrize("name", [name for name in MODULES if has_examples(name)])
def test_docstrings(name):
    runner = run(doctest.DocTestFinder().find(importlib.import_module(name)))
    assert runner.tries > 0
    assert runner.failures == 0


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_documents(path):
    lines = ["" if line.startswith("```") else line for line in path.read_text().splitlines()]
    examples = doctest.DocTestParser().get_doctest("\n".join(lines), {}, str(path), str(path), 0)
    runner = run([examples])
    assert runner.tries > 0
    assert runner.failures == 0
