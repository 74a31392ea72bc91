"""Ordinary least squares with an intercept, well and badly conditioned."""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task


def make(rows: int, columns: int, condition: float) -> Data:
    """Return columns of about the given condition number, a noisy target, and the coefficients."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, columns))
    truth = rng.standard_normal(columns)
    if condition > 1:  # the last column nearly repeats the first
        X[:, -1] = X[:, 0] + X[:, -1] / condition
    return {"X": X, "y": X @ truth + 1.0 + rng.standard_normal(rows), "truth": truth}


def residual_error(data: Data, result: tuple[np.ndarray, float]) -> float:
    """Return how far the residuals are from orthogonal to the columns, in extended precision."""
    coef, intercept = result
    residual = (data["y"] - data["X"] @ coef - intercept).astype(np.longdouble)
    some = np.linspace(0, len(coef) - 1, 10).astype(int)
    columns = [data["X"][:, j].astype(np.longdouble) for j in some]
    size = float(np.linalg.norm(data["y"]))
    return max(float(abs(c @ residual) / np.sqrt(c @ c)) / size for c in columns)


def fitted(model: Any, data: Data) -> tuple[np.ndarray, float]:
    """Fit and return coefficients and intercept."""
    model.fit(data["X"], data["y"])
    return np.ravel(model.coef_), float(np.squeeze(model.intercept_))


def surefit(data: Data) -> tuple[np.ndarray, float]:
    """Ours, with certificate and diagnosis."""
    from surefit import LinearRegression

    return fitted(LinearRegression(), data)


def sklearn(data: Data) -> tuple[np.ndarray, float]:
    """scikit-learn."""
    from sklearn.linear_model import LinearRegression

    return fitted(LinearRegression(), data)


def sklearnex(data: Data) -> tuple[np.ndarray, float]:
    """oneDAL."""
    from sklearnex.linear_model import LinearRegression

    return fitted(LinearRegression(), data)


def numpy_gram(data: Data) -> tuple[np.ndarray, float]:
    """Centre a copy, form the Gram matrix, solve by Cholesky."""
    from scipy.linalg import cho_factor, cho_solve

    mean, target = data["X"].mean(axis=0), data["y"].mean()
    Z = data["X"] - mean
    coef = cho_solve(cho_factor(Z.T @ Z), Z.T @ (data["y"] - target))
    return coef, float(target - mean @ coef)


def statsmodels(data: Data) -> tuple[np.ndarray, float]:
    """statsmodels, by its pseudo-inverse."""
    import statsmodels.api as sm

    found = sm.OLS(data["y"], sm.add_constant(data["X"])).fit().params
    return found[1:], float(found[0])


def case(name: str, rows: int, columns: int, condition: float = 1.0) -> Case:
    """Return a case with its least work: one triangle of products, and X read once."""
    return Case(
        name, partial(make, rows, columns, condition), rows * columns * (columns + 1.0), 8.0 * rows * columns
    )


TASK = Task(
    title="Least squares, float64",
    cases=[
        case("1e6 x 100", 10**6, 100),
        case("1e5 x 1000", 10**5, 1000),
        case("1e6 x 100, condition 1e6", 10**6, 100, 1e6),
    ],
    quick=case("2000 x 20", 2000, 20),
    contenders=[
        Contender("surefit", surefit, ["surefit.models.linear.squares.linear_regression"], ours=True),
        Contender("scikit-learn", sklearn, ["sklearn.linear_model"]),
        Contender("sklearnex", sklearnex, ["sklearnex.linear_model"]),
        Contender("numpy Gram", numpy_gram, ["scipy.linalg"]),
        Contender("statsmodels", statsmodels, ["statsmodels.api"]),
    ],
    quality=Quality("orthogonality error", residual_error, better="lower", absolute=1e-10),
    timeout=90.0,
)
