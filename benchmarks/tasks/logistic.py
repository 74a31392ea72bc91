"""Logistic and softmax regression, with squared and absolute penalties, to a millionth of the objective.

The quality is the objective over the least that any contender reaches, less one; peers get the tolerance of
their own at which they come that close. skglm compiles in its first call, which its cold time shows.
celer's has no intercept, so it is left out.
"""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task

CLOSE = 1e-6


def make(rows: int, columns: int, classes: int, stored: int, l1: bool) -> Data:
    """Return normal columns, or sparse ones with so many entries each, and classes that follow from some."""
    rng = np.random.default_rng(0)
    data: dict[str, np.ndarray]
    if stored:
        indices = np.sort(rng.integers(0, rows - stored, (columns, stored)), axis=1) + np.arange(stored)
        data = {
            "data": rng.standard_normal(columns * stored),
            "indices": indices.ravel().astype(np.int32),
            "indptr": np.arange(0, columns * stored + 1, stored, dtype=np.int32),
        }
    else:
        data = {"X": rng.standard_normal((rows, columns))}
    X = matrix({**data, "y": np.empty(rows)})
    coef = np.zeros((columns, max(classes - 1, 1) if classes == 2 else classes))
    chosen = rng.choice(columns, min(100, columns), replace=False)
    coef[chosen] = rng.standard_normal((len(chosen), coef.shape[1]))
    z = np.asarray(X @ coef)
    z *= 2.0 / z.std()
    if classes == 2:
        y = (rng.random(rows) < 1 / (1 + np.exp(-z[:, 0]))).astype(np.int64)
    else:
        y = np.argmax(z + rng.gumbel(size=z.shape), axis=1)
    largest = float(np.abs(X.T @ (y - y.mean())).max()) / rows
    strength = 0.1 * largest if l1 else 1.0 / rows
    return {**data, "y": y, "strength": np.array(strength), "l1": np.array(float(l1))}


def matrix(data: Data) -> Any:
    """Return X."""
    if "X" in data:
        return data["X"]
    from scipy.sparse import csc_matrix

    parts = data["data"], data["indices"], data["indptr"]
    return csc_matrix(parts, shape=(len(data["y"]), len(data["indptr"]) - 1))


def prepared(data: Data) -> dict[str, Any]:
    """Return the problem as an estimator takes it."""
    given = {"X": matrix(data), "y": data["y"], "strength": float(data["strength"]), "l1": float(data["l1"])}
    return {**given, "C": 1.0 / (len(data["y"]) * given["strength"])}


def objective(data: Data, found: np.ndarray) -> float:
    """Return mean loss plus penalty, of one row a class with the intercept last."""
    X, y, strength = matrix(data), data["y"], float(data["strength"])
    z = np.asarray(X @ found[:, :-1].T) + found[:, -1]
    if len(found) == 1:
        loss = np.logaddexp(0.0, z[:, 0]) - y * z[:, 0]
    else:
        top = z.max(axis=1)
        loss = top + np.log(np.exp(z - top[:, None]).sum(axis=1)) - z[np.arange(len(y)), y]
    coef = found[:, :-1]
    penalty = np.abs(coef).sum() if data["l1"] else 0.5 * np.sum(coef**2)
    return float(loss.mean() + strength * penalty)


def packed(model: Any) -> np.ndarray:
    """Return coefficients with the intercept last."""
    coef = np.atleast_2d(model.coef_)
    return np.column_stack([coef, np.broadcast_to(np.ravel(model.intercept_), len(coef))])


def surefit_(given: dict[str, Any]) -> np.ndarray:
    """Ours."""
    from surefit import LogisticRegression

    return packed(LogisticRegression(C=given["C"], l1_ratio=given["l1"]).fit(given["X"], given["y"]))


def sklearn_(given: dict[str, Any], solver: str, tol: float) -> np.ndarray:
    """scikit-learn's."""
    from sklearn.linear_model import LogisticRegression

    options = {"C": given["C"], "l1_ratio": given["l1"], "solver": solver, "tol": tol, "max_iter": 10_000}
    if given["l1"] and solver not in ("saga", "liblinear"):
        raise ValueError("squares alone")
    X = given["X"]
    return packed(LogisticRegression(**options).fit(X.tocsr() if hasattr(X, "tocsr") else X, given["y"]))


def intelex_(given: dict[str, Any]) -> np.ndarray:
    """scikit-learn-intelex's L-BFGS."""
    from sklearnex.linear_model import LogisticRegression

    if given["l1"]:
        raise ValueError("squares alone")
    return packed(LogisticRegression(C=given["C"], tol=1e-6, max_iter=10_000).fit(given["X"], given["y"]))


def two_classes(given: dict[str, Any]) -> None:
    """Refuse more."""
    if len(np.unique(given["y"])) > 2:
        raise ValueError("two classes alone")


def glum_(given: dict[str, Any]) -> np.ndarray:
    """glum's."""
    from glum import GeneralizedLinearRegressor

    two_classes(given)
    options = {"alpha": given["strength"], "l1_ratio": given["l1"], "gradient_tol": 1e-7}
    return packed(GeneralizedLinearRegressor(family="binomial", **options).fit(given["X"], given["y"]))


def skglm_(given: dict[str, Any]) -> np.ndarray:
    """skglm's sparse logistic regression."""
    from skglm import SparseLogisticRegression

    two_classes(given)
    if not given["l1"]:
        raise ValueError("absolute penalties alone")
    tol = 1e-5 * 10 * given["strength"]
    return packed(SparseLogisticRegression(alpha=given["strength"], tol=tol).fit(given["X"], given["y"]))


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
    "1e5 x 100": (100_000, 100, 2, 0),
    "1e6 x 50": (1_000_000, 50, 2, 0),
    "sparse 1e4 x 1e5": (10_000, 100_000, 2, 100),
    "10 classes, 1e5 x 100": (100_000, 100, 10, 0),
    "10 classes, 1e6 x 50": (1_000_000, 50, 10, 0),
}


def case(shape: str, l1: bool) -> Case:
    """Return a case; the least work is to read the matrix three times."""
    rows, columns, _, stored = SHAPES[shape]
    bytes_ = 12.0 * columns * stored if stored else 8.0 * rows * columns
    return Case(f"{'l1' if l1 else 'l2'}, {shape}", partial(make, *SHAPES[shape], l1), bytes=3 * bytes_)


TASK = Task(
    title="Logistic and softmax regression, float64, within 1e-6 of the least objective",
    cases=[case(shape, l1) for shape in SHAPES for l1 in (False, True) if not (l1 and "classes" in shape)],
    quick=Case("l2, 2000 x 10", partial(make, 2000, 10, 2, 0, False), bytes=3 * 1.6e5),
    contenders=[
        contender("surefit", surefit_, "surefit", ours=True),
        contender("sklearn lbfgs", partial(sklearn_, solver="lbfgs", tol=1e-5), "sklearn.linear_model"),
        contender(
            "sklearn newton-cholesky",
            partial(sklearn_, solver="newton-cholesky", tol=1e-4),
            "sklearn.linear_model",
        ),
        contender(
            "sklearn newton-cg", partial(sklearn_, solver="newton-cg", tol=1e-5), "sklearn.linear_model"
        ),
        contender("sklearn saga", partial(sklearn_, solver="saga", tol=1e-5), "sklearn.linear_model"),
        contender("liblinear", partial(sklearn_, solver="liblinear", tol=1e-5), "sklearn.linear_model"),
        contender("intelex", intelex_, "sklearnex.linear_model"),
        contender("glum", glum_, "glum"),
        contender("skglm", skglm_, "skglm"),
    ],
    quality=Quality("objective", objective, better="lower", relative=CLOSE),
    timeout=120.0,
    budget=60.0,
)
