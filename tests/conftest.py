"""What every test can use."""

import gc
import os
from collections.abc import Generator
from pathlib import Path

import pytest

# scikit-learn skips its array-API checks unless scipy is told to before it is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Search nothing for garbage that lives to the end: it would take a fifth of collecting."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the top folder of the project."""
    return Path(__file__).parent.parent
