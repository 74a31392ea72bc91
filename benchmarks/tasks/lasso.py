"""Lasso, elastic net and the lasso's path, to a duality gap of a millionth of the loss at zero.

Wide and dense (Fortran order), tall and dense, wide and sparse (CSC). The gap is computed by one function for
all; each peer gets the tolerance of its own at which it reaches the gap. skglm compiles in its first call,
which its cold time shows. The paths have no intercept, which the peers' path functions leave out.
"""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task

GAP = 1e-6
STEPS = 100


def dense(rng: np.random.Generator, rows: int, columns: int) -> dict[str, np.ndarray]:
    """Return normal columns in Fortran order."""
    return {"X": rng.standard_normal((columns, rows)).T}


def sparse(rng: np.random.Generator, rows: int, columns: int, stored: int) -> dict[str, np.ndarray]:
    """Return normal entries, so many a column, as the arrays of a CSC matrix."""
    indices = np.sort(rng.integers(0, rows - stored, (columns, stored)), axis=1) + np.arange(stored)
    indptr = np.arange(0, columns * stored + 1, stored, dtype=np.int32)
    values = rng.standard_normal(columns * stored)
    return {"data": values, "indices": indices.ravel().astype(np.int32), "indptr": indptr}


def make(rows: int, columns: int, stored: int, share: float, l1_ratio: float) -> Data:
    """Return columns of which a hundred matter, with a tenth of noise, and strengths from the largest."""
    rng = np.random.default_rng(0)
    data = sparse(rng, rows, columns, stored) if stored else dense(rng, rows, columns)
    X, coef = matrix({**data, "y": np.empty(rows)}), np.zeros(columns)
    chosen = rng.choice(columns, min(100, columns // 4), replace=False)
    coef[chosen] = rng.standard_normal(len(chosen))
    y = X @ coef
    y += rng.standard_normal(rows) * y.std() / np.sqrt(10.0)
    target = y if share == 0 else y - y.mean()
    largest = float(np.abs(X.T @ target).max()) / rows / l1_ratio
    alphas = largest * (np.logspace(0, -2, STEPS) if share == 0 else np.array([share]))
    return {**data, "y": y, "alphas": alphas, "l1_ratio": np.array(l1_ratio), "largest": np.array(largest)}


def matrix(data: Data) -> Any:
    """Return X."""
    if "X" in data:
        return data["X"]
    from scipy.sparse import csc_matrix

    parts = data["data"], data["indices"], data["indptr"]
    return csc_matrix(parts, shape=(len(data["y"]), len(data["indptr"]) - 1))


def prepared(data: Data) -> dict[str, Any]:
    """Return the problem as an estimator takes it."""
    return {
        "X": matrix(data),
        "y": data["y"],
        "alphas": data["alphas"],
        "l1_ratio": float(data["l1_ratio"]),
        "largest": float(data["largest"]),
    }


def gap(data: Data, coefs: np.ndarray) -> float:
    """Return the largest duality gap of the coefficients, one row a strength, over the loss at zero."""
    X, y, alphas, ratio = matrix(data), data["y"], data["alphas"], float(data["l1_ratio"])
    intercept = len(alphas) == 1
    target = y - y.mean() if intercept else y
    loss_at_zero, worst = 0.5 * float(target @ target), 0.0
    for alpha, coef in zip(alphas, coefs, strict=True):
        r = target - X @ coef
        r -= r.mean() if intercept else 0.0
        slopes = np.abs(X.T @ r)
        l1, l2 = len(y) * alpha * ratio, len(y) * alpha * (1 - ratio)
        primal = 0.5 * (r @ r) + l1 * np.abs(coef).sum() + 0.5 * l2 * (coef @ coef)
        if l2 > 0:
            dual = target @ r - 0.5 * (r @ r) - 0.5 * (np.maximum(slopes - l1, 0.0) ** 2).sum() / l2
        else:
            factor = min(max(0.0, target @ r / (r @ r)), l1 / slopes.max())
            dual = factor * (target @ r) - 0.5 * factor**2 * (r @ r)
        worst = max(worst, float(primal - dual))
    return worst / loss_at_zero


def surefit_(given: dict[str, Any]) -> np.ndarray:
    """Ours."""
    from surefit import ElasticNet, lasso_path

    alphas, ratio = given["alphas"], given["l1_ratio"]
    if len(alphas) > 1:
        return np.asarray(lasso_path(given["X"], given["y"], alphas=alphas, tol=GAP)[1].T)
    fitted = ElasticNet(alpha=alphas[0], l1_ratio=ratio, tol=GAP).fit(given["X"], given["y"])
    return np.asarray(fitted.coef_[None, :])


def sklearn_(given: dict[str, Any], **options: Any) -> np.ndarray:
    """scikit-learn's, whose tolerance is relative to twice the loss at zero."""
    from sklearn.linear_model import ElasticNet, lasso_path

    alphas, ratio = given["alphas"], given["l1_ratio"]
    options = {"tol": 0.4 * GAP, "max_iter": 100_000, **options}
    if len(alphas) > 1:
        return np.asarray(lasso_path(given["X"], given["y"], alphas=alphas, **options)[1].T)
    fitted = ElasticNet(alpha=alphas[0], l1_ratio=ratio, **options).fit(given["X"], given["y"])
    return np.asarray(fitted.coef_[None, :])


def celer_(given: dict[str, Any]) -> np.ndarray:
    """celer's, whose tolerance is relative to twice the loss at zero."""
    import celer

    alphas, ratio, tol = given["alphas"], given["l1_ratio"], 0.5 * GAP
    if len(alphas) > 1:
        return np.asarray(
            celer.celer_path(given["X"], given["y"], "lasso", alphas=alphas, tol=0.1 * tol)[1].T
        )
    if ratio == 1:
        model = celer.Lasso(alpha=alphas[0], tol=tol)
    else:
        model = celer.ElasticNet(alpha=alphas[0], l1_ratio=ratio, tol=tol)
    return np.asarray(model.fit(given["X"], given["y"]).coef_[None, :])


def skglm_(given: dict[str, Any], tol: float) -> np.ndarray:
    """skglm's, whose tolerance is on the subgradient; ``tol`` is in units of the largest strength."""
    import skglm

    alphas, ratio, tol = given["alphas"], given["l1_ratio"], tol * given["largest"]
    if len(alphas) > 1:
        model = skglm.Lasso(tol=tol, fit_intercept=False, warm_start=True)
        return np.array([model.set_params(alpha=a).fit(given["X"], given["y"]).coef_.copy() for a in alphas])
    if ratio == 1:
        model = skglm.Lasso(alpha=alphas[0], tol=tol)
    else:
        model = skglm.ElasticNet(alpha=alphas[0], l1_ratio=ratio, tol=tol)
    return np.asarray(model.fit(given["X"], given["y"]).coef_[None, :])


def glum_(given: dict[str, Any]) -> np.ndarray:
    """glum's coordinate descent, for single fits."""
    from glum import GeneralizedLinearRegressor

    (alpha,) = given["alphas"]
    model = GeneralizedLinearRegressor(
        alpha=alpha, l1_ratio=given["l1_ratio"], solver="irls-cd", gradient_tol=1e-6 * given["largest"]
    )
    return np.asarray(model.fit(given["X"], given["y"]).coef_[None, :])


def quiet(call: Callable[..., np.ndarray]) -> Callable[[Any], np.ndarray]:
    """Keep warnings, which cost time to print, to ourselves."""

    def called(given: Any) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call(given)

    return called


def contender(name: str, call: Callable[..., np.ndarray], module: str, *, ours: bool = False) -> Contender:
    """Return a contender that is handed the problem ready made."""
    return Contender(name, quiet(call), [module], ours=ours, prepare=prepared)


SHAPES = {
    "dense 1e3 x 1e4": (1000, 10_000, 0),
    "dense 1e5 x 200": (100_000, 200, 0),
    "sparse 1e4 x 1e5": (10_000, 100_000, 100),
}
PROBLEMS = {
    "lasso 0.1": (0.1, 1.0),
    "lasso 0.01": (0.01, 1.0),
    "elastic net 0.01": (0.01, 0.5),
    "path": (0.0, 1.0),
}


def case(shape: str, problem: str) -> Case:
    """Return a case; the least work is to read the matrix three times, or a Gram matrix of few columns."""
    rows, columns, stored = SHAPES[shape]
    bytes_ = 12.0 * columns * stored if stored else 8.0 * rows * columns
    flops = rows * columns * (columns + 1.0) if columns < rows else 0.0
    passes = STEPS if problem == "path" and columns > rows else 3 if columns > rows else 1
    return Case(
        f"{problem}, {shape}", partial(make, *SHAPES[shape], *PROBLEMS[problem]), flops, passes * bytes_
    )


TASK = Task(
    title="Lasso and elastic net, float64, gap 1e-6",
    cases=[case(shape, problem) for shape in SHAPES for problem in PROBLEMS],
    quick=Case("lasso 0.1, dense 200 x 500", partial(make, 200, 500, 0, 0.1, 1.0), bytes=3 * 8e5),
    contenders=[
        contender("surefit", surefit_, "surefit", ours=True),
        contender("sklearn", sklearn_, "sklearn.linear_model"),
        contender("celer", celer_, "celer"),
        contender("skglm, tol 1e-5", partial(skglm_, tol=1e-5), "skglm"),
        contender("skglm, tol 1e-6", partial(skglm_, tol=1e-6), "skglm"),
        contender("glum", glum_, "glum"),
    ],
    quality=Quality("largest gap over the loss at zero", gap, better="lower", absolute=GAP),
    timeout=120.0,
    budget=60.0,
)
