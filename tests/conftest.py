"""What every test can use."""

import os
from pathlib import Path

import pytest

# scikit-learn skips its array-API checks unless scipy is told to before it is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the top folder of the project."""
    return Path(__file__).parent.parent
