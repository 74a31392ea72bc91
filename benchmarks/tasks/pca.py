"""The leading principal components of tall tables, where the moments of one pass hold all there is.

The tables have k directions that stand out of normal noise, and means that are not zero. The quality is the
share of the best k axes' variance that the axes found do not keep, and what they lack in being orthonormal.
"""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task


def make(rows: int, columns: int, count: int) -> Data:
    """Return noise with ``count`` planted directions, its covariance, and the variance that is best kept."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, columns))
    X += rng.standard_normal((rows, count)) @ (3 * rng.standard_normal((count, columns)) / np.sqrt(columns))
    X += rng.standard_normal(columns)
    covariance = np.cov(X, rowvar=False)
    best = np.linalg.eigvalsh(covariance)[-count:].sum()
    return {"X": X, "covariance": covariance, "best": np.array(best), "count": np.array(count)}


def shortfall(data: Data, axes: np.ndarray) -> float:
    """Return 1 - (variance kept / variance best kept), or the departure from orthonormal if that is more."""
    kept = float(np.einsum("kp,pq,kq->", axes, data["covariance"], axes, optimize=True))
    tilt = float(np.abs(axes @ axes.T - np.eye(len(axes))).max())
    return max(1 - kept / float(data["best"]), tilt)


def surefit_pca(data: Data) -> np.ndarray:
    """Ours, as it comes."""
    from surefit import PCA

    return PCA(int(data["count"])).fit(data["X"]).components_


def sklearn_pca(data: Data, **settings: Any) -> np.ndarray:
    """scikit-learn's, with the solver named."""
    from sklearn.decomposition import PCA

    axes: np.ndarray = PCA(int(data["count"]), random_state=0, **settings).fit(data["X"]).components_
    return axes


def sklearnex_pca(data: Data) -> np.ndarray:
    """oneDAL's, by way of its covariance."""
    from sklearnex.decomposition import PCA

    model = PCA(int(data["count"]), svd_solver="covariance_eigh").fit(data["X"])
    axes: np.ndarray = model.components_
    return axes


def numpy_eigh(data: Data) -> np.ndarray:
    """What one would write by hand: X'X - n m m', and the eigenvectors wanted."""
    from scipy.linalg import eigh

    X, count = data["X"], int(data["count"])
    mean = X.mean(axis=0)
    scatter = X.T @ X
    scatter -= len(X) * np.outer(mean, mean)
    p = len(scatter)
    axes: np.ndarray = eigh(scatter, subset_by_index=[p - count, p - 1])[1].T[::-1]
    return axes


def case(name: str, rows: int, columns: int, count: int) -> Case:
    """Return a case with its least work: one triangle of products, and X read once."""
    flops, bytes_ = rows * columns * (columns + 1.0), 8.0 * rows * columns
    return Case(name, partial(make, rows, columns, count), flops, bytes_)


TASK = Task(
    title="PCA, float64",
    cases=[case("1e6 x 50, 10 axes", 10**6, 50, 10), case("1e5 x 500, 20 axes", 10**5, 500, 20)],
    quick=case("2000 x 20, 3 axes", 2000, 20, 3),
    contenders=[
        Contender("surefit", surefit_pca, ["surefit.models.factor.pca"], ours=True),
        Contender("scikit-learn", sklearn_pca, ["sklearn.decomposition"]),
        Contender(
            "scikit-learn randomized",
            partial(sklearn_pca, svd_solver="randomized"),
            ["sklearn.decomposition"],
        ),
        Contender("sklearnex", sklearnex_pca, ["sklearnex.decomposition"]),
        Contender("numpy, scipy eigh", numpy_eigh, ["numpy", "scipy.linalg"]),
    ],
    quality=Quality("variance missed", shortfall, better="lower", absolute=1e-9),
)
