"""What a forest needs to grow, beside its rows and the trees that it keeps."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
grown = make(3, n_jobs=2, max_features=5).fit(X, y)._grown()
kept = sum(getattr(grown, name).nbytes for name in ("nodes", "value", "weight", "impurity", "rows"))
print((resident("VmHWM") - before - kept) / X.nbytes)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc, which is Linux's")
@pytest.mark.parametrize("name", ["RandomForestClassifier", "RandomForestRegressor"])
def test_growing_takes_less_than_twice_the_input(name: str) -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM, name], capture_output=True, text=True, check=True)
    assert float(ran.stdout) < 2.0
