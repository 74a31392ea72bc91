"""What every test can use."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the top folder of the project."""
    return Path(__file__).parent.parent
