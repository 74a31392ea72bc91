"""Linear support vector classification, hinge and squared hinge, dense and sparse, at C = 1.

A peer's tolerance bounds a gradient: each gets the loosest that reaches a millionth of the best objective.
"""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task


def make(rows: int, columns: int, stored: int, squared: bool) -> Data:
    """Return normal columns, or so many entries a row, and two classes that overlap."""
    rng = np.random.default_rng(0)
    if stored:
        indices = np.sort(rng.integers(0, columns - stored, (rows, stored)), axis=1) + np.arange(stored)
        data: dict[str, np.ndarray] = {
            "data": rng.standard_normal(rows * stored),
            "indices": indices.ravel().astype(np.int32),
            "indptr": np.arange(0, rows * stored + 1, stored, dtype=np.int32),
            "columns": np.array(columns),
        }
    else:
        data = {"X": rng.standard_normal((rows, columns))}
    z = matrix(data) @ (rng.standard_normal(columns) * (rng.random(columns) < 0.5))
    y = (z + 0.5 * z.std() * rng.standard_normal(rows) > 0).astype(np.int64)
    return {**data, "y": y, "squared": np.array(squared)}


def matrix(data: Data) -> Any:
    """Return X."""
    if "X" in data:
        return data["X"]
    from scipy.sparse import csr_matrix

    parts = data["data"], data["indices"], data["indptr"]
    return csr_matrix(parts, shape=(len(data["indptr"]) - 1, int(data["columns"])))


def prepared(data: Data) -> dict[str, Any]:
    """Return the problem as an estimator takes it."""
    loss = "squared_hinge" if bool(data["squared"]) else "hinge"
    return {"X": matrix(data), "y": data["y"], "loss": loss}


def objective(data: Data, found: np.ndarray) -> float:
    """Return half the squares plus the sum of losses, divided by the rows."""
    side = 2.0 * data["y"] - 1.0
    h = np.maximum(1 - side * (matrix(data) @ found[:-1] + found[-1]), 0.0)
    return float(0.5 * found @ found + (h**2 if bool(data["squared"]) else h).sum()) / len(h)


def packed(model: Any) -> np.ndarray:
    """Return what a fitted model says."""
    return np.append(model.coef_[0], model.intercept_[0])


def surefit_(given: dict[str, Any]) -> np.ndarray:
    """Ours."""
    from surefit import LinearSVC

    return packed(LinearSVC(loss=given["loss"]).fit(given["X"], given["y"]))


def sklearn_(given: dict[str, Any], tol: float, dual: Any = "auto") -> np.ndarray:
    """scikit-learn's, by liblinear; the hinge has only the dual."""
    from sklearn.svm import LinearSVC

    dual = True if given["loss"] == "hinge" else dual
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LinearSVC(loss=given["loss"], tol=tol, dual=dual, max_iter=2000)
        return packed(model.fit(given["X"], given["y"]))


SHAPES = {"1e5 x 100": (100_000, 100, 0), "sparse 1e4 x 1e5": (10_000, 100_000, 1000)}


def case(shape: str, squared: bool) -> Case:
    """Return a case; the least work is to read the rows three times."""
    rows, columns, stored = SHAPES[shape]
    cells = rows * (stored or columns)
    name = f"{'squared hinge' if squared else 'hinge'}, {shape}"
    return Case(
        name,
        partial(make, rows, columns, stored, squared),
        6.0 * cells,
        3 * (12.0 if stored else 8.0) * cells,
    )


TASK = Task(
    title="Linear support vectors, float64, suboptimality 1e-6",
    cases=[case(shape, squared) for shape in SHAPES for squared in (True, False)],
    quick=Case("squared hinge, 2e3 x 5", partial(make, 2000, 5, 0, True), 6e4, 2.4e5),
    contenders=[
        Contender("surefit", surefit_, ["surefit"], ours=True, prepare=prepared),
        Contender("liblinear, tol 1e-4", partial(sklearn_, tol=1e-4), ["sklearn.svm"], prepare=prepared),
        Contender("liblinear, tol 1e-6", partial(sklearn_, tol=1e-6), ["sklearn.svm"], prepare=prepared),
    ],
    quality=Quality("objective a row", objective, better="lower", relative=1e-6),
    timeout=120.0,
    budget=60.0,
)
