"""What every test can use, and the check that a ``covers`` mark names catalogue items and who covers them."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the top folder of the project."""
    return ROOT


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    known = tomllib.loads((ROOT / "docs" / "coverage.toml").read_text(encoding="utf-8"))["items"]
    for item in items:
        for mark in item.iter_markers("covers"):
            unknown = [name for name in mark.args if name not in known]
            if unknown:
                raise pytest.UsageError(
                    f"{item.nodeid} covers {unknown[0]!r}, no item of docs/coverage.toml: correct the id."
                )
            if not mark.args or set(mark.kwargs) != {"by"} or not isinstance(mark.kwargs["by"], str):
                raise pytest.UsageError(
                    f"{item.nodeid} has a covers mark that does not say who covers what: "
                    'write covers("cs443:4.1", by="LinearRegression").'
                )
