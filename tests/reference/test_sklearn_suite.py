"""scikit-learn's own tests with our classes in place of theirs: a quick part, and the counting."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tools.sklearn_suite.outcomes import Said, families, notes, tally


def test_a_quick_part_of_the_suite_has_no_failure_that_nothing_is_said_of(root: Path) -> None:
    command = [sys.executable, "-m", "tools.sklearn_suite", "--quick", "--workers", "0"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "A quick look: " in done.stdout
    assert int(done.stdout.split("A quick look: ")[1].split()[0]) > 70


def test_every_line_gives_a_reason_and_every_family_has_modules() -> None:
    said = Said.read()
    assert all(reason.strip() for reason in (*said.private.values(), *said.different.values()))
    assert not set(said.private) & set(said.different)
    assert all(family.modules for family in families())


def test_outcomes_are_counted_by_what_was_said_of_them(tmp_path: Path) -> None:
    log = tmp_path / "log"
    told = [
        ("a.py::test_one[x]", "passed", True),
        ("a.py::test_two[x]", "failed", True),
        ("a.py::test_two[x]", "passed", True),  # the last note counts
        ("a.py::test_three[x-1]", "failed", True),
        ("a.py::test_four", "failed", True),
        ("a.py::test_five", "failed", True),
        ("a.py::test_not_ours", "failed", False),
        ("a.py::test_skipped", "skipped", True),
    ]
    log.write_text(
        "\n".join(json.dumps({"test": test, "outcome": outcome, "met": met}) for test, outcome, met in told)
    )
    said = Said({"*::test_three[x*": "inside"}, {"*::test_four": "by choice", "*::test_six": "gone"})
    found = tally(notes(log), said)
    assert (found.passed, found.private, found.different, found.unexpected) == (2, 1, 1, ("a.py::test_five",))
    assert found.raw == pytest.approx(2 / 5)
    assert found.rate == pytest.approx(2 / 4)
    assert said.met == {"*::test_three[x*", "*::test_four"}
