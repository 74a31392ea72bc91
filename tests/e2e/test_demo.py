"""The demonstration, as a person runs it."""

from __future__ import annotations

import subprocess
import sys


def test_one_screen_tells_the_whole_story():
    done = subprocess.run(
        [sys.executable, "-m", "surefit", "demo"], capture_output=True, text=True, check=True
    )
    assert len(done.stdout.splitlines()) <= 24
    story = " ".join(done.stdout.split())
    assert "goes with 6.0 points of it, 95 % interval 4.6 to 7.4" in story
    assert "within the tolerance" in story
    assert "data: holds" in story
    assert "does NOT hold" in story
    assert "3 columns have one value only: pixel_0_0, pixel_4_0, pixel_4_7." in story
    assert "times as fast" in story
    assert done.stderr == ""
