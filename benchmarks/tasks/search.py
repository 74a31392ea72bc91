"""Choosing the strength of an elastic net by ten folds."""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task

STRENGTHS = 50
FOLDS = 10


def make(rows: int, columns: int) -> Data:
    """Return a linear table with few columns that matter, strengths, and folds."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, columns))
    coef = rng.standard_normal(10)
    y = X[:, :10] @ coef + rng.standard_normal(rows)
    largest = float(np.abs(X.T @ (y - y.mean())).max()) / rows / 0.5
    return {"X": X, "y": y, "coef": coef, "alphas": np.geomspace(largest, largest * 1e-3, STRENGTHS)}


def error(data: Data, result: Any) -> float:
    """Return by how much the coefficients chosen miss the true ones, relative to their size."""
    truth = np.zeros(data["X"].shape[1])
    truth[:10] = data["coef"]
    return float(np.sum((np.asarray(result) - truth) ** 2) / np.sum(truth**2))


def folds() -> Any:
    """The folds that all contenders share."""
    from sklearn.model_selection import KFold

    return KFold(FOLDS)


def surefit_search(data: Data) -> Any:
    """Our search, along one warm path a fold."""
    from surefit import ElasticNet, GridSearch

    search = GridSearch(ElasticNet(), {"alpha": data["alphas"].tolist()}, split=folds())
    return search.fit(data["X"], data["y"]).best_estimator_.coef_


def sklearn_cv(data: Data) -> Any:
    """scikit-learn's own path for the elastic net."""
    from sklearn.linear_model import ElasticNetCV

    return ElasticNetCV(alphas=data["alphas"], cv=folds(), n_jobs=2).fit(data["X"], data["y"]).coef_


def sklearn_grid(data: Data) -> Any:
    """scikit-learn's search, one fit for each strength and fold."""
    from sklearn.linear_model import ElasticNet
    from sklearn.model_selection import GridSearchCV

    search = GridSearchCV(ElasticNet(), {"alpha": data["alphas"]}, cv=folds(), n_jobs=2)
    return search.fit(data["X"], data["y"]).best_estimator_.coef_


def case(name: str, rows: int, columns: int) -> Case:
    """Return a case with its least work: X read once."""
    return Case(name, partial(make, rows, columns), bytes=8.0 * rows * columns)


TASK = Task(
    title="Ten-fold search of an elastic net over 50 strengths",
    cases=[case("1e5 x 100", 10**5, 100), case("500 x 2000", 500, 2000)],
    quick=case("1000 x 20", 1000, 20),
    contenders=[
        Contender(
            "surefit", surefit_search, ["surefit.evaluate.search.grid", "surefit.models.linear"], ours=True
        ),
        Contender("scikit-learn ElasticNetCV", sklearn_cv, ["sklearn.linear_model"]),
        Contender("scikit-learn GridSearchCV", sklearn_grid, ["sklearn.model_selection"]),
    ],
    quality=Quality("error of the coefficients", error, better="lower", absolute=1e-2),
)
