"""The ten nearest rows of other rows, exactly: index and queries together.

Rows are normal and independent in all columns, where trees can leave out least. The quality is the largest
relative difference of the distances from those of comparing all pairs of a sample in float64; float32 peers
miss by rounding.
"""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task

K = 10
SAMPLE = 200


def make(rows: int, columns: int, queries: int) -> Data:
    """Return rows, queries and the true distances of a sample of the queries."""
    rng = np.random.default_rng(0)
    X, Q = rng.standard_normal((rows, columns)), rng.standard_normal((queries, columns))
    true = np.empty((SAMPLE, K))
    for i, q in enumerate(Q[:SAMPLE]):
        true[i] = np.sqrt(np.sort(np.partition(((X - q) ** 2).sum(axis=1), K)[:K]))
    return {"X": X, "Q": Q, "true": true}


def miss(data: Data, distance: np.ndarray) -> float:
    """Return the largest relative difference from the true distances."""
    found = np.asarray(distance, dtype=np.float64)[:SAMPLE]
    return float((np.abs(found - data["true"]) / data["true"]).max())


def surefit_neighbors(data: Data) -> np.ndarray:
    """Ours, as it comes."""
    from surefit import NearestNeighbors

    found: np.ndarray = NearestNeighbors(n_neighbors=K).fit(data["X"]).kneighbors(data["Q"])[0]
    return found


def sklearn_neighbors(data: Data, algorithm: str) -> np.ndarray:
    """scikit-learn's, with the algorithm named."""
    from sklearn.neighbors import NearestNeighbors

    model = NearestNeighbors(n_neighbors=K, algorithm=algorithm, n_jobs=-1).fit(data["X"])
    found: np.ndarray = model.kneighbors(data["Q"])[0]
    return found


def sklearnex_neighbors(data: Data, algorithm: str) -> np.ndarray:
    """oneDAL's."""
    from sklearnex.neighbors import NearestNeighbors

    model = NearestNeighbors(n_neighbors=K, algorithm=algorithm).fit(data["X"])
    found: np.ndarray = np.asarray(model.kneighbors(data["Q"])[0])
    return found


def faiss_flat(data: Data) -> np.ndarray:
    """faiss's exact index, in float32."""
    import faiss

    index = faiss.IndexFlatL2(data["X"].shape[1])
    index.add(data["X"].astype(np.float32))
    squares = index.search(data["Q"].astype(np.float32), K)[0]
    found: np.ndarray = np.sqrt(np.maximum(squares, 0))
    return found


def scipy_tree(data: Data) -> np.ndarray:
    """scipy's k-d tree, with all threads."""
    from scipy.spatial import cKDTree

    found: np.ndarray = cKDTree(data["X"]).query(data["Q"], K, workers=-1)[0]
    return found


def case(name: str, rows: int, columns: int, queries: int) -> Case:
    """Return a case with its least work: one product of all pairs, or a descent for each query."""
    if columns > 5:
        return Case(
            name,
            partial(make, rows, columns, queries),
            2.0 * rows * queries * columns / 2,
            8.0 * rows * columns,
        )
    leaves = 8 * 16 * columns * 3.0
    return Case(
        name,
        partial(make, rows, columns, queries),
        queries * leaves + 20.0 * rows * columns,
        8.0 * rows * columns,
    )


TASK = Task(
    title="Ten nearest rows, exact: index and queries",
    cases=[
        case("1e5 x 10, 1e4 queries", 10**5, 10, 10**4),
        case("1e5 x 50, 1e4 queries", 10**5, 50, 10**4),
        case("1e6 x 3, 1e5 queries", 10**6, 3, 10**5),
    ],
    quick=case("2000 x 3, 300 queries", 2000, 3, 300),
    contenders=[
        Contender("surefit", surefit_neighbors, ["surefit.models.neighbors.unsupervised"], ours=True),
        Contender(
            "scikit-learn k-d tree", partial(sklearn_neighbors, algorithm="kd_tree"), ["sklearn.neighbors"]
        ),
        Contender("scikit-learn brute", partial(sklearn_neighbors, algorithm="brute"), ["sklearn.neighbors"]),
        Contender(
            "sklearnex k-d tree", partial(sklearnex_neighbors, algorithm="kd_tree"), ["sklearnex.neighbors"]
        ),
        Contender(
            "sklearnex brute", partial(sklearnex_neighbors, algorithm="brute"), ["sklearnex.neighbors"]
        ),
        Contender("faiss flat, float32", faiss_flat, ["faiss"]),
        Contender("scipy cKDTree", scipy_tree, ["scipy.spatial"]),
    ],
    quality=Quality("largest relative error of distances", miss, better="lower", absolute=1e-2),
)
