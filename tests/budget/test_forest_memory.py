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
model = make(3, n_jobs=2, max_features=5).fit(X, y)
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
def test_growing_takes_less_than_twice_the_input(name: str) -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM, name], capture_output=True, text=True, check=True)
    assert float(ran.stdout) < 2.0


def kept_by(make: Any) -> tuple[Any, int]:
    """A model, and the bytes that it holds on to."""
    make()  # what the first fit leaves behind in caches
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    model = make()
    kept = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return model, kept


@pytest.mark.parametrize("weight", [None, FRACTIONS], ids=["counted", "weighted"])
@pytest.mark.parametrize("leaf", [1, 5])
@pytest.mark.parametrize(
    "name",
    ["DecisionTreeClassifier", "DecisionTreeRegressor", "RandomForestClassifier", "ExtraTreesRegressor"],
)
def test_a_node_takes_at_most_24_bytes(name: str, leaf: int, weight: Any, tmp_path: Path) -> None:
    y = CLASSES if name.endswith("Classifier") else NUMBERS
    asked = {"min_samples_leaf": leaf} | ({} if name.startswith("Decision") else {"n_estimators": 10})
    model, kept = kept_by(lambda: getattr(surefit, name)(**asked).fit(X, y, weight))
    nodes = model.node_start_[-1] if hasattr(model, "node_start_") else len(model.node_feature_)
    path = tmp_path / "model.safetensors"
    surefit.save(model, path)
    beside = 16_000  # schema, certificate, trace, one row of shares a tree: the same for any number of nodes
    assert kept - beside <= 24 * nodes
    assert path.stat().st_size - beside <= 24 * nodes
