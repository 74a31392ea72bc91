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
    assert "goes with 6.0 points of it, 95 % interval 4.6 to 7.4" in done.stdout
    assert "within the tolerance" in done.stdout
    assert "data: holds" in done.stdout
    assert "does NOT hold" in done.stdout
    assert "3 columns have one value only: pixel_0_0, pixel_4_0, pixel_4_7." in done.stdout
    assert "times as fast" in done.stdout
    assert done.stderr == ""
