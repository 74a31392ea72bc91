"""A real browser for the pages: required in CI, elsewhere where there is one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The system's Chromium, driven by playwright; nothing is downloaded."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        why = "there is no Chromium here: sudo apt-get install chromium"
        if os.environ.get("CI"):
            pytest.fail(f"{why}; in CI these tests are required")
        pytest.skip(why)
    from playwright.sync_api import sync_playwright

    # As root Chromium refuses its sandbox; small shared memory is common in containers.
    with sync_playwright() as driver:
        launched = driver.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        yield launched
        launched.close()
