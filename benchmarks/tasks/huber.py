"""Huber regression with its scale, to a millionth of scikit-learn's objective."""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task

EPSILON, ALPHA = 1.35, 1e-4


def make(rows: int, columns: int) -> Data:
    """Return normal columns and a target with heavy tails."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, columns))
    return {"X": X, "y": X @ rng.standard_normal(columns) + rng.standard_t(2, size=rows)}


def objective(data: Data, found: np.ndarray) -> float:
    """Return scikit-learn's objective at coefficients, intercept and scale, divided by the rows."""
    coef, intercept, scale = found[:-2], found[-2], found[-1]
    r = np.abs(data["y"] - data["X"] @ coef - intercept) / scale
    H = np.where(r <= EPSILON, r**2, 2 * EPSILON * r - EPSILON**2)
    return float((scale * (1 + H)).sum() + ALPHA * coef @ coef) / len(r)


def packed(model: Any) -> np.ndarray:
    """Return what a fitted model says."""
    return np.concatenate([model.coef_, [model.intercept_, model.scale_]])


def surefit_(data: Data) -> np.ndarray:
    """Ours."""
    from surefit import HuberRegressor

    return packed(HuberRegressor(epsilon=EPSILON, alpha=ALPHA).fit(data["X"], data["y"]))


def sklearn_(data: Data) -> np.ndarray:
    """scikit-learn's, by L-BFGS."""
    from sklearn.linear_model import HuberRegressor

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return packed(HuberRegressor(epsilon=EPSILON, alpha=ALPHA).fit(data["X"], data["y"]))


def case(name: str, rows: int, columns: int) -> Case:
    """Return a case; the least work is one square of the rows."""
    return Case(name, partial(make, rows, columns), rows * columns * (columns + 1.0), 8.0 * rows * columns)


TASK = Task(
    title="Huber regression, float64",
    cases=[case("1e5 x 100", 100_000, 100), case("1e4 x 20", 10_000, 20)],
    quick=case("2e3 x 5", 2000, 5),
    contenders=[
        Contender("surefit", surefit_, ["surefit"], ours=True),
        Contender("sklearn", sklearn_, ["sklearn.linear_model"]),
    ],
    quality=Quality("objective a row", objective, better="lower", relative=1e-6),
    timeout=60.0,
    budget=30.0,
)
