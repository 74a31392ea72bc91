"""The demonstration, as a person runs it."""

from __future__ import annotations

import subprocess
import sys


def test_one_screen_tells_the_whole_story():
    done = subprocess.run(
        [sys.executable, "-m", "surefit", "demo"], capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    assert len(lines) <= 24
    assert "mean 152.1, 95 % interval 144.9 to 159.3" in done.stdout
    assert "within the tolerance" in done.stdout
    assert "holds, gap" in done.stdout
    assert "does NOT hold, gap" in done.stdout
    assert "3 columns have one value only: x0, x32, x39." in done.stdout
    assert "times as fast" in done.stdout
    assert done.stderr == ""
