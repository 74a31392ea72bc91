"""Ridge, alpha = 1, with an intercept: tall and narrow, and wide enough for the Gram matrix to cost.

The reference is a fit by normal equations, refined with residuals in extended precision. Errors of up to
two millionths count as equal, which lets in LSQR at scikit-learn's own tolerance; it stands here once more at
the tolerance that gives it nearly as many digits as a direct solution.
"""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task

ALPHA = 1.0
BLOCK = 10_000


def make(rows: int, columns: int) -> Data:
    """Return normal columns of unequal means, a target with noise, and the coefficients."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, columns))
    X += rng.standard_normal(columns)
    y = X @ rng.standard_normal(columns) + rng.standard_normal(rows)
    return {"X": X, "y": y, "coef": reference(X, y)}


def reference(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Solve by normal equations, and refine twice with residuals of 80 bits where the machine has them."""
    mean, target = X.mean(axis=0), y.mean()
    gram = X.T @ X - len(X) * np.outer(mean, mean) + ALPHA * np.eye(X.shape[1])
    coef = np.zeros(X.shape[1])
    for _ in range(3):
        left = -ALPHA * coef.astype(np.longdouble)
        for start in range(0, len(X), BLOCK):
            A = (X[start : start + BLOCK] - mean).astype(np.longdouble)
            left += A.T @ ((y[start : start + BLOCK] - target) - A @ coef)
        coef = coef + np.linalg.solve(gram, left.astype(np.float64))
    return coef


def error(data: Data, result: Any) -> float:
    """Return the largest error of a coefficient, relative to the largest coefficient."""
    return float(np.abs(result.coef_ - data["coef"]).max() / np.abs(data["coef"]).max())


def surefit_ridge(data: Data) -> Any:
    """Ours, as it comes."""
    from surefit import Ridge

    return Ridge(alpha=ALPHA).fit(data["X"], data["y"])


def sklearn_ridge(data: Data, **options: Any) -> Any:
    """scikit-learn's, by one of its solvers."""
    from sklearn.linear_model import Ridge

    return Ridge(alpha=ALPHA, **options).fit(data["X"], data["y"])


def sklearnex_ridge(data: Data) -> Any:
    """oneDAL's."""
    from sklearnex.linear_model import Ridge

    return Ridge(alpha=ALPHA).fit(data["X"], data["y"])


def peer(name: str, **options: Any) -> Contender:
    """One of scikit-learn's solvers."""
    call: Callable[[Any], Any] = partial(sklearn_ridge, **options)
    return Contender(name, call, ["sklearn.linear_model"])


def case(name: str, rows: int, columns: int) -> Case:
    """Return a case with its least work: what the Gram matrix takes, or ten passes if that is less."""
    flops, bytes_ = rows * columns * (columns + 1.0), 8.0 * rows * columns
    wide = columns >= 600
    return Case(name, partial(make, rows, columns), 0.0 if wide else flops, 10 * bytes_ if wide else bytes_)


TASK = Task(
    title="Ridge, float64",
    cases=[case("1e6 x 100", 10**6, 100), case("1e5 x 1000", 10**5, 1000)],
    quick=case("2000 x 20", 2000, 20),
    contenders=[
        Contender("surefit", surefit_ridge, ["surefit.models.linear.squares.ridge"], ours=True),
        peer("sklearn auto"),
        peer("sklearn cholesky", solver="cholesky"),
        peer("sklearn lsqr", solver="lsqr"),
        peer("sklearn lsqr, tol 1e-9", solver="lsqr", tol=1e-9),
        Contender("sklearnex", sklearnex_ridge, ["sklearnex.linear_model"]),
    ],
    quality=Quality("relative error of the coefficients", error, better="lower", absolute=2e-6),
    budget=60.0,
)
