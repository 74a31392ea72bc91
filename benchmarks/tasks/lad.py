"""Least absolute deviations, to a hundred-millionth of the best objective."""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

import warnings
from functools import partial

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task


def make(rows: int, columns: int) -> Data:
    """Return normal columns and a target with heavy tails."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, columns))
    return {"X": X, "y": X @ rng.standard_normal(columns) + rng.standard_t(3, size=rows)}


def objective(data: Data, found: np.ndarray) -> float:
    """Return the mean absolute residual."""
    return float(np.abs(data["y"] - data["X"] @ found[:-1] - found[-1]).mean())


def surefit_(data: Data) -> np.ndarray:
    """Ours."""
    from surefit import LADRegressor

    model = LADRegressor().fit(data["X"], data["y"])
    return np.append(model.coef_, model.intercept_)


def statsmodels_(data: Data) -> np.ndarray:
    """statsmodels', by reweighting."""
    from statsmodels.api import QuantReg

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        columns = np.column_stack([data["X"], np.ones(len(data["y"]))])
        return np.asarray(QuantReg(data["y"], columns).fit(q=0.5, p_tol=1e-8, max_iter=5000).params)


def sklearn_(data: Data) -> np.ndarray:
    """scikit-learn's, by HiGHS's interior point."""
    from sklearn.linear_model import QuantileRegressor

    model = QuantileRegressor(quantile=0.5, alpha=0.0, solver="highs-ipm").fit(data["X"], data["y"])
    return np.append(model.coef_, model.intercept_)


def case(name: str, rows: int, columns: int) -> Case:
    """Return a case; the least work is to read the rows twice."""
    return Case(name, partial(make, rows, columns), 4.0 * rows * columns, 16.0 * rows * columns)


TASK = Task(
    title="Least absolute deviations, float64, gap 1e-8",
    cases=[case("1e4 x 20", 10_000, 20), case("1e5 x 20", 100_000, 20)],
    quick=case("1e3 x 4", 1000, 4),
    contenders=[
        Contender("surefit", surefit_, ["surefit"], ours=True),
        Contender("statsmodels", statsmodels_, ["statsmodels.api"]),
        Contender("sklearn", sklearn_, ["sklearn.linear_model"]),
    ],
    quality=Quality("mean absolute residual", objective, better="lower", relative=1e-8),
    timeout=90.0,
    budget=60.0,
)
