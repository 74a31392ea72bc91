"""Poisson regression with a small squared penalty, to an excess of a millionth of the loss of a constant.

The peers' tolerances are on the gradient: each gets the loosest power of ten at which it reaches that.
"""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task

ALPHA = 1e-4
WANTED = 1e-6


def make(rows: int, columns: int) -> Data:
    """Return normal columns whose scores have a spread of one half, and counts with about two a row."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, columns))
    coef = rng.standard_normal(columns) * 0.5 / np.sqrt(columns)
    return {"X": X, "y": rng.poisson(np.exp(0.5 + X @ coef)).astype(np.float64)}


def objective(X: np.ndarray, y: np.ndarray, packed: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the penalised mean loss, and its gradient."""
    coef, z = packed[:-1], X @ packed[:-1] + packed[-1]
    mean = np.exp(z)
    slope = (mean - y) / len(y)
    value = float(np.mean(mean - y * z)) + 0.5 * ALPHA * float(coef @ coef)
    return value, np.append(X.T @ slope + ALPHA * coef, slope.sum())


def excess(data: Data, packed: np.ndarray) -> float:
    """Return how far the objective is above its minimum at the most, relative to the loss of a constant."""
    X, y = data["X"], data["y"]
    _, gradient = objective(X, y, packed)
    constant = np.zeros_like(packed)
    constant[-1] = np.log(y.mean())
    mean = np.exp(X @ packed[:-1] + packed[-1])
    A = np.column_stack([X, np.ones(len(y))])
    H = (A * mean[:, None]).T @ A / len(y)
    H[: X.shape[1], : X.shape[1]] += ALPHA * np.eye(X.shape[1])
    # Half the Newton decrement; twice it bounds what is left so close to the minimum.
    left = float(gradient @ np.linalg.solve(H, gradient))
    with np.errstate(divide="ignore", invalid="ignore"):
        least = float(np.mean(np.where(y > 0, y - y * np.log(y), 0.0)))
    return left / (objective(X, y, constant)[0] - least)


def packed(model: Any) -> np.ndarray:
    """Return coefficients and intercept."""
    return np.append(model.coef_, model.intercept_)


def surefit_(data: Data) -> np.ndarray:
    """Ours."""
    from surefit import PoissonRegressor

    return packed(PoissonRegressor(alpha=ALPHA, tol=WANTED).fit(data["X"], data["y"]))


def sklearn_(data: Data, solver: str, tol: float) -> np.ndarray:
    """scikit-learn's."""
    from sklearn.linear_model import PoissonRegressor

    return packed(
        PoissonRegressor(alpha=ALPHA, solver=solver, tol=tol, max_iter=1000).fit(data["X"], data["y"])
    )


def glum_(data: Data) -> np.ndarray:
    """glum's."""
    from glum import GeneralizedLinearRegressor

    model = GeneralizedLinearRegressor(family="poisson", alpha=ALPHA, l1_ratio=0, gradient_tol=1e-4)
    return packed(model.fit(data["X"], data["y"]))


def quiet(call: Callable[[Data], np.ndarray]) -> Callable[[Data], np.ndarray]:
    """Keep warnings, which cost time to print, to ourselves."""

    def called(data: Data) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call(data)

    return called


def case(rows: int, columns: int, name: str) -> Case:
    """Return a case; the least work is four Hessians, and to read the matrix as often."""
    return Case(
        name, partial(make, rows, columns), 4.0 * rows * columns * (columns + 1.0), 4 * 8.0 * rows * columns
    )


TASK = Task(
    title="Poisson regression, float64, suboptimality 1e-6",
    cases=[case(100_000, 100, "1e5 x 100"), case(1_000_000, 50, "1e6 x 50")],
    quick=case(2000, 5, "2e3 x 5"),
    contenders=[
        Contender("surefit", quiet(surefit_), ["surefit"], ours=True),
        Contender(
            "sklearn, lbfgs", quiet(partial(sklearn_, solver="lbfgs", tol=1e-4)), ["sklearn.linear_model"]
        ),
        Contender(
            "sklearn, newton-cholesky",
            quiet(partial(sklearn_, solver="newton-cholesky", tol=1e-4)),
            ["sklearn.linear_model"],
        ),
        Contender("glum", quiet(glum_), ["glum"]),
    ],
    quality=Quality("excess over the loss of a constant", excess, better="lower", absolute=WANTED),
    timeout=120.0,
    budget=60.0,
)
