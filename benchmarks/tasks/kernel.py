"""Kernel ridge, kernel components, and kernel ridge of a million rows on a thousand centres.

Tables are normal noise with a smooth target of five columns; the kernel is Gaussian, with gamma one over the
columns. The quality of a ridge is its squared error, that of components minus the variance that they keep.
"""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task

CHECKED = 500  # rows by which answers are compared


def make(rows: int, columns: int, kind: str, count: int) -> Data:
    """Return noise and a smooth target; kind: "ridge", "centres" or "components"."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, columns))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + np.cos(X[:, 3]) + 0.5 * X[:, 4]
    y += 0.3 * rng.standard_normal(rows)
    return {"X": X, "y": y, "kind": np.array(kind), "count": np.array(count)}


def _answer(data: Data, model: Any) -> np.ndarray:
    if str(data["kind"]) == "components":
        found: np.ndarray = np.asarray(model.fit(data["X"]).eigenvalues_)
        return found
    found = np.asarray(model.fit(data["X"], data["y"]).predict(data["X"][:CHECKED]))
    return found


def surefit_kernel(data: Data) -> np.ndarray:
    """Ours."""
    from surefit import KernelPCA, KernelRidge

    kind, count = str(data["kind"]), int(data["count"])
    if kind == "components":
        return _answer(data, KernelPCA(count, kernel="rbf", random_state=0))
    if kind == "ridge":
        return _answer(data, KernelRidge(alpha=1.0, kernel="rbf"))
    model = KernelRidge(alpha=1.0, kernel="rbf", approximation="nystroem", n_centres=count, random_state=0)
    return _answer(data, model)


def sklearn_kernel(data: Data, solver: str = "arpack") -> np.ndarray:
    """scikit-learn's; on centres its features and its ridge, which hold all features in memory."""
    from sklearn.decomposition import KernelPCA
    from sklearn.kernel_approximation import Nystroem
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    kind, count = str(data["kind"]), int(data["count"])
    if kind == "components":
        return _answer(data, KernelPCA(count, kernel="rbf", eigen_solver=solver, random_state=0))
    if kind == "ridge":
        return _answer(data, KernelRidge(alpha=1.0, kernel="rbf"))
    features = Nystroem(kernel="rbf", gamma=1 / data["X"].shape[1], n_components=count, random_state=0)
    return _answer(data, make_pipeline(features, Ridge(alpha=1.0, fit_intercept=False)))


def two_products(data: Data) -> np.ndarray:
    """The two products that centres need, and nothing else: X C' and K'K, a block of rows at a time."""
    X, count = data["X"], int(data["count"])
    if str(data["kind"]) != "centres":
        raise RuntimeError("this is for centres alone")
    centres, size = X[:count], 4096
    H = np.zeros((count, count))
    for start in range(0, len(X), size):
        K = X[start : start + size] @ centres.T
        H += K.T @ K
    return np.full(CHECKED, data["y"].mean())


def shortfall(data: Data, answer: np.ndarray) -> float:
    """Return the mean squared error of a ridge, or how far the variance of components is from that of all."""
    if str(data["kind"]) == "components":
        return -float(answer.sum()) / len(data["X"])
    return float(np.mean((answer - data["y"][:CHECKED]) ** 2))


def case(name: str, rows: int, columns: int, kind: str, count: int) -> Case:
    """Return a case with its least work."""
    flops = {
        "ridge": rows**3 / 3 + rows**2 * columns,
        "components": rows**2 * columns,
        "centres": 2.0 * rows * count * columns + 2.0 * rows * count**2,
    }[kind]
    return Case(name, partial(make, rows, columns, kind, count), float(flops), 8.0 * rows * columns)


TASK = Task(
    title="Kernel ridge, kernel components, centres; float64, Gaussian kernel",
    cases=[
        case("kernel ridge 1e4 x 20", 10**4, 20, "ridge", 0),
        case("kernel PCA 5e3 x 20, 10 axes", 5000, 20, "components", 10),
        case("Nystroem ridge 1e6 x 20, 1000 centres", 10**6, 20, "centres", 1000),
    ],
    quick=case("kernel ridge 300 x 5", 300, 5, "ridge", 0),
    contenders=[
        Contender("surefit", surefit_kernel, ["surefit.models.kernel.kernel_ridge"], ours=True),
        Contender("scikit-learn", sklearn_kernel, ["sklearn.kernel_ridge"]),
        Contender(
            "scikit-learn randomized",
            partial(sklearn_kernel, solver="randomized"),
            ["sklearn.decomposition"],
        ),
        Contender("two GEMMs alone", two_products, ["numpy"]),
    ],
    quality=Quality("squared error, or minus the variance", shortfall, better="lower", absolute=1e-3),
)
