"""What every test can use."""

import gc
import os
from pathlib import Path

import pytest

# scikit-learn skips its array-API checks unless scipy is told to before it is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# What is imported and collected lives to the end: searching it for garbage would take a fifth of collecting.
gc.disable()


def pytest_collection_finish() -> None:
    """Leave what was collected out of every later search for garbage, too."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the top folder of the project."""
    return Path(__file__).parent.parent
