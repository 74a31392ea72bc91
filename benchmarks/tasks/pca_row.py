"""Principal codes of one row at a time, as a service answers them: 1000 calls of ``transform``."""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task

CALLS = 1000


def make(columns: int) -> Data:
    """Return normal data, and the codes of the first rows by plain numpy."""
    X = np.random.default_rng(0).standard_normal((5000, columns)) * np.linspace(2, 1, columns)
    Z = X - X.mean(axis=0)
    axes = np.linalg.svd(Z, full_matrices=False)[2][:5]
    return {"X": X, "codes": Z[:CALLS] @ axes.T}


def fitted(module: str, data: Data) -> tuple[Any, np.ndarray]:
    """Return a model with five axes, fitted before anything is timed, and the rows."""
    return import_module(module).PCA(5).fit(data["X"]), data["X"]


def codes(given: tuple[Any, np.ndarray]) -> np.ndarray:
    """Transform row by row."""
    model, X = given
    return np.vstack([model.transform(X[i : i + 1]) for i in range(CALLS)])


def error(data: Data, found: np.ndarray) -> float:
    """Return the largest difference from the exact codes, up to the sign of an axis."""
    return float(np.abs(np.abs(found) - np.abs(data["codes"])).max())


def contender(name: str, module: str, ours: bool = False) -> Contender:
    """Return one library's ``PCA``."""
    return Contender(name, codes, [module], ours=ours, prepare=partial(fitted, module))


TASK = Task(
    title=f"PCA: transform of {CALLS} rows, one by one",
    cases=[Case("20 columns", partial(make, 20)), Case("500 columns", partial(make, 500))],
    quick=Case("8 columns", partial(make, 8)),
    contenders=[
        contender("surefit", "surefit", ours=True),
        contender("scikit-learn", "sklearn.decomposition"),
        contender("sklearnex", "sklearnex.decomposition"),
    ],
    quality=Quality("error", error, better="lower", absolute=1e-9),
)
