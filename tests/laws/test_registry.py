"""A class is found by being defined, and by nothing else."""

from __future__ import annotations

import subprocess
import sys

import pytest

from surefit.core.errors import RegistryError
from surefit.core.registry import Registered, lookup, members
from surefit.models.base import Estimator


def test_members_are_found_by_a_scan_of_their_folder():
    code = """
import surefit.models.base
from surefit.core.registry import members
print(*members('estimator'))
"""
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert {"MajorityClassifier", "MeanRegressor"} <= set(found)
    assert found == sorted(found)


def test_classes_outside_surefit_are_not_listed():
    class Own(Estimator):
        """A user's class, with a name that could clash."""

    assert "Own" not in members("estimator")
    assert Own.kind == "estimator"


def test_steps_in_between_are_not_listed():
    assert "OneStatistic" not in members("estimator")


def test_an_unknown_name_offers_the_nearest():
    with pytest.raises(RegistryError, match="no engine named 'seral': did you mean 'serial'"):
        lookup("engine", "seral")
    with pytest.raises(RegistryError, match=r"no estimator named 'zzz': choose one of .*MeanRegressor"):
        lookup("estimator", "zzz")
    with pytest.raises(RegistryError, match="there is no kind 'enginee'; the kinds are"):
        lookup("enginee", "x")


def test_a_name_is_taken_once(monkeypatch):
    class Thing(Registered, kind="test-thing", folder="tests.laws"):
        pass

    namespace = {"__module__": "surefit.made_up", "name": "one"}
    first = type("First", (Thing,), namespace)
    assert first.kind == "test-thing"
    with pytest.raises(
        RegistryError, match=r"'one' of surefit.made_up.Second is taken by surefit.made_up.First"
    ):
        type("Second", (Thing,), namespace)
    again = type("First", (Thing,), namespace)  # the same class defined once more, as a reload does
    assert again is not first


def test_threads_that_look_at_once_all_find_everything() -> None:
    code = """
import threading
from surefit.core.registry import members
import surefit.losses, surefit.solvers.objective.solver
found, gate = [], threading.Barrier(4)
def look():
    gate.wait()
    found.append(len(members("solver")))
crew = [threading.Thread(target=look) for _ in range(4)]
[t.start() for t in crew]
[t.join() for t in crew]
assert len(set(found)) == 1, found
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
