"""k-means from a fixed start, for twenty iterations, and to convergence from starts of each library's own.

Rows are normal about planted centres, in single precision. The quality is the cost, over that of the planted
centres.
"""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task


def make(rows: int, columns: int, count: int, iterations: int) -> Data:
    """Return rows, and a start where iterations are limited."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((count, columns))
    label = rng.integers(count, size=rows)
    X = (centres[label] + rng.standard_normal((rows, columns))).astype(np.float32)
    planted = np.square(X - centres[label]).sum()
    return {
        "X": X,
        "start": X[:count].copy() if iterations else X[:0],
        "count": np.array(count),
        "iterations": np.array(iterations or 300),
        "planted": np.array(planted, dtype=np.float64),
    }


def cost(data: Data, centres: np.ndarray) -> float:
    """The cost of the rows, over that of the planted centres."""
    X, total = data["X"], 0.0
    half = np.square(centres).sum(axis=1) / 2
    for start in range(0, len(X), 20_000):
        block = X[start : start + 20_000].astype(np.float64)
        best = (half - block @ centres.T).argmin(axis=1)
        total += float(np.square(block - centres[best]).sum())
    return total / float(data["planted"])


def _settings(data: Data) -> dict[str, Any]:
    limit = int(data["iterations"])
    if len(data["start"]):
        return {"init": data["start"], "n_init": 1, "max_iter": limit, "tol": 0.0}
    return {"n_init": 1, "max_iter": limit, "random_state": 0}


def surefit_kmeans(data: Data) -> np.ndarray:
    """Ours, as it comes."""
    from surefit import KMeans

    return KMeans(int(data["count"]), **_settings(data)).fit(data["X"]).cluster_centers_


def sklearn_kmeans(data: Data) -> np.ndarray:
    """scikit-learn's."""
    from sklearn.cluster import KMeans

    found: np.ndarray = KMeans(int(data["count"]), **_settings(data)).fit(data["X"]).cluster_centers_
    return found.astype(np.float64)


def sklearnex_kmeans(data: Data) -> np.ndarray:
    """oneDAL's."""
    from sklearnex.cluster import KMeans

    found: np.ndarray = KMeans(int(data["count"]), **_settings(data)).fit(data["X"]).cluster_centers_
    return found.astype(np.float64)


def faiss_kmeans(data: Data) -> np.ndarray:
    """faiss's, on all rows; it has no stop, so it makes as many iterations without a start."""
    import faiss

    X, count, limit = data["X"], int(data["count"]), min(int(data["iterations"]), 50)
    model = faiss.Kmeans(X.shape[1], count, niter=limit, seed=0, max_points_per_centroid=len(X))
    model.train(X, init_centroids=data["start"] if len(data["start"]) else None)
    return np.asarray(model.centroids, dtype=np.float64)


def case(name: str, rows: int, columns: int, count: int, iterations: int) -> Case:
    """Return a case with the work of its products."""
    passes = iterations or 40
    flops = 2.0 * rows * columns * count * passes
    return Case(name, partial(make, rows, columns, count, iterations), flops, 4.0 * rows * columns * passes)


TASK = Task(
    title="k-means, float32",
    cases=[
        case("1e6 x 16, k 64, 20 iterations", 10**6, 16, 64, 20),
        case("1e5 x 100, k 256, 20 iterations", 10**5, 100, 256, 20),
        case("1e6 x 16, k 64, to the end", 10**6, 16, 64, 0),
        case("1e5 x 100, k 256, to the end", 10**5, 100, 256, 0),
    ],
    quick=case("2000 x 4, k 5, 20 iterations", 2000, 4, 5, 20),
    contenders=[
        Contender("surefit", surefit_kmeans, ["surefit.models.cluster.kmeans.kmeans"], ours=True),
        Contender("scikit-learn", sklearn_kmeans, ["sklearn.cluster"]),
        Contender("sklearnex", sklearnex_kmeans, ["sklearnex.cluster"]),
        Contender("faiss", faiss_kmeans, ["faiss"]),
    ],
    quality=Quality("cost over planted", cost, better="lower", absolute=2e-2),
)
