"""Gaussian kernel densities at 10 000 points of 100 000 rows, to a relative error of 1e-4.

The quality figure is the largest relative error of the first points, against all rows summed.
"""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task

BANDWIDTH, TOLERANCE = 0.2, 1e-4
CHECKED = 50


def make(rows: int, queries: int, columns: int) -> Data:
    """Return normal rows and points."""
    rng = np.random.default_rng(0)
    return {"X": rng.standard_normal((rows, columns)), "Q": rng.standard_normal((queries, columns))}


def off(data: Data, result: Any) -> float:
    """Return the largest relative error of some densities."""
    X, d = data["X"], data["X"].shape[1]
    worst = 0.0
    for query, found in zip(data["Q"][:CHECKED], np.asarray(result)[:CHECKED], strict=False):
        right = np.exp(-0.5 * ((X - query) ** 2).sum(axis=1) / BANDWIDTH**2).mean()
        worst = max(worst, abs(float(found) / (right / (BANDWIDTH * np.sqrt(2 * np.pi)) ** d) - 1))
    return worst


def ours(data: Data) -> Any:
    """Fit and score with surefit."""
    from surefit import KernelDensity

    return np.exp(KernelDensity(bandwidth=BANDWIDTH, rtol=TOLERANCE).fit(data["X"]).score_samples(data["Q"]))


def theirs(data: Data) -> Any:
    """Fit and score with scikit-learn."""
    from sklearn.neighbors import KernelDensity

    return np.exp(KernelDensity(bandwidth=BANDWIDTH, rtol=TOLERANCE).fit(data["X"]).score_samples(data["Q"]))


def mlpack_kde(data: Data) -> Any:
    """Fit and score with mlpack."""
    import mlpack

    found = mlpack.kde(
        reference=data["X"], query=data["Q"], bandwidth=BANDWIDTH, rel_error=TOLERANCE, abs_error=0.0
    )
    return np.asarray(found["predictions"]).ravel()


def case(rows: int, queries: int, columns: int) -> Case:
    """Return a case; the least work is that of a hundredth of all pairs."""
    pairs = 0.01 * rows * queries
    what = f"{rows:.0e} rows, {queries:.0e} points, {columns} columns"
    return Case(what, partial(make, rows, queries, columns), 20 * pairs, 8.0 * rows * columns)


TASK = Task(
    title="Gaussian kernel density, relative error 1e-4, float64",
    cases=[case(10**5, 10**4, 2), case(10**5, 10**4, 5)],
    quick=case(500, 50, 2),
    contenders=[
        Contender("surefit", ours, ["surefit.models.density.kernel_density"], True),
        Contender("scikit-learn", theirs, ["sklearn.neighbors"]),
        Contender("mlpack kde", mlpack_kde, ["mlpack"]),
    ],
    quality=Quality("relative error", off, better="lower", absolute=2e-4),
)
