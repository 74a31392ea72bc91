"""What a forest needs to grow, beside its rows and the trees that it keeps, and how small these are."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefit

# In a process of its own: what others gave back to this one would not count.
PROGRAM = """
import re, sys
import numpy as np, surefit
def resident(key):
    return int(re.search(key + r":\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
rng = np.random.default_rng(0)
X = rng.standard_normal((40_000, 28))
y = X[:, 0] * X[:, 1] + rng.standard_normal(len(X))
if sys.argv[1].endswith("Classifier"):
    y = (y > 0).astype(int)
make = getattr(surefit, sys.argv[1])
make(2, n_jobs=2).fit(X[:2000], y[:2000])
open("/proc/self/clear_refs", "w").write("5")  # the peak starts anew
before = resident("VmRSS")
model = make(int(sys.argv[2]), n_jobs=2, max_features=5).fit(X, y)
kept = sum(getattr(model, f"{name}_").nbytes for name in ("nodes", "leaf_weight", "leaf_impurity"))
print((resident("VmHWM") - before - kept) / X.nbytes)
"""
ROWS = 4000
X = np.random.default_rng(0).normal(size=(ROWS, 5))
NUMBERS = X[:, 0] * X[:, 1] + np.random.default_rng(1).normal(size=ROWS)
CLASSES = (NUMBERS > 0).astype(int)
FRACTIONS = np.random.default_rng(2).random(ROWS) + 0.1


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc, which is Linux's")
@pytest.mark.parametrize("name", ["RandomForestClassifier", "RandomForestRegressor"])
@pytest.mark.parametrize("trees", [3, 30])
def test_growing_takes_less_than_twice_the_input(name: str, trees: int) -> None:
    given = [sys.executable, "-c", PROGRAM, name, str(trees)]
    ran = subprocess.run(given, capture_output=True, text=True, check=True)
    assert float(ran.stdout) < 2.0  # however many trees there are


def kept_by(make: Any) -> tuple[Any, int]:
    """A model, and the bytes that it holds on to."""
    make()  # what the first fit leaves behind in caches
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    model = make()
    kept = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return model, kept


def bytes_a_node(make: Any, path: Path, *apart: str) -> float:
    """The most bytes that a fitted model takes a node, in memory or as a file, beside some of its arrays."""
    model, kept = kept_by(make)
    nodes = model.node_start_[-1] if hasattr(model, "node_start_") else len(model.node_feature_)
    surefit.save(model, path)
    beside = 16_000  # schema, certificate, trace, one row of shares a tree: the same for any number of nodes
    beside += sum(getattr(model, f"{name}_").nbytes for name in apart)
    return float((max(kept, path.stat().st_size) - beside) / nodes)


@pytest.mark.parametrize("weight", [None, FRACTIONS], ids=["counted", "weighted"])
@pytest.mark.parametrize("leaf", [1, 5])
@pytest.mark.parametrize(
    "name",
    ["DecisionTreeClassifier", "DecisionTreeRegressor", "RandomForestClassifier", "ExtraTreesRegressor"],
)
def test_a_node_takes_at_most_24_bytes(name: str, leaf: int, weight: Any, tmp_path: Path) -> None:
    y = CLASSES if name.endswith("Classifier") else NUMBERS
    asked = {"min_samples_leaf": leaf} | ({} if name.startswith("Decision") else {"n_estimators": 10})
    taken = bytes_a_node(lambda: getattr(surefit, name)(**asked).fit(X, y, weight), tmp_path / "model")
    assert taken <= 24


@pytest.mark.parametrize("weight", [None, FRACTIONS], ids=["counted", "weighted"])
@pytest.mark.parametrize("leaf", [1, 5])
@pytest.mark.parametrize("name", ["DecisionTreeClassifier", "RandomForestClassifier"])
def test_many_classes_take_no_more(name: str, leaf: int, weight: Any, tmp_path: Path) -> None:
    """Shares are kept once for all leaves that say the same: for few when these are pure, or count rows."""
    y = np.searchsorted(np.quantile(NUMBERS, np.linspace(0, 1, 9)[1:-1]), NUMBERS)
    asked = {"min_samples_leaf": leaf} | ({} if name.startswith("Decision") else {"n_estimators": 10})
    apart = ("leaf_value",) if leaf > 1 else ()
    taken = bytes_a_node(
        lambda: getattr(surefit, name)(**asked).fit(X, y, weight), tmp_path / "model", *apart
    )
    assert taken <= 24


@pytest.mark.parametrize("leaf", [1, 5])
@pytest.mark.parametrize("missing", ["surrogate", "fractional"])
@pytest.mark.parametrize("name", ["DecisionTreeClassifier", "DecisionTreeRegressor"])
def test_detours_of_missing_values_take_no_more(name: str, missing: str, leaf: int) -> None:
    gaps, rng = X[:150].copy(), np.random.default_rng(3)
    gaps[rng.random(gaps.shape) < 0.1] = np.nan
    y = (CLASSES if name.endswith("Classifier") else NUMBERS)[:150]
    model = getattr(surefit, name)(missing=missing, min_samples_leaf=leaf).fit(gaps, y)
    taken = {own: array.nbytes for own, array in vars(model).items() if isinstance(array, np.ndarray)}
    listed = sum(taken.pop(own) for own in list(taken) if own.startswith("surrogate_"))
    most = 24 * len(model.node_feature_) + 8  # there is one leaf more than there are splits
    assert sum(taken.values()) - taken.get("classes_", 0) <= most
    assert listed == 25 * len(model.surrogate_node_)
    assert (listed > 0) == (missing == "surrogate")


MEDIANS = {"counted": None, "quarters": np.round(4 * FRACTIONS + 1) / 4, "weighted": FRACTIONS}


@pytest.mark.parametrize("weight", MEDIANS)
@pytest.mark.parametrize("leaf", [1, 5, 40])
@pytest.mark.parametrize("name", ["DecisionTreeRegressor", "RandomForestRegressor", "ExtraTreesRegressor"])
def test_medians_take_no_more(name: str, leaf: int, weight: str, tmp_path: Path) -> None:
    rows = slice(0, 1500)
    own = None if MEDIANS[weight] is None else MEDIANS[weight][rows]
    asked: dict[str, Any] = {"criterion": "absolute_error", "min_samples_leaf": leaf}
    asked |= {} if name.startswith("Decision") else {"n_estimators": 10}
    apart = () if name.startswith("Decision") else ("row_cumulative",)  # a number a row, none a node
    taken = bytes_a_node(
        lambda: getattr(surefit, name)(**asked).fit(X[rows], NUMBERS[rows], own), tmp_path / "model", *apart
    )
    assert taken <= 24
