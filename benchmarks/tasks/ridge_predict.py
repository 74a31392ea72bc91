"""Predictions of a fitted ridge for one row at a time, as a service makes them."""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task

ROWS = 200


def make(columns: int) -> Data:
    """Return rows to fit and to ask for, and the exact predictions."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, columns))
    y = X @ rng.standard_normal(columns) + rng.standard_normal(1000)
    query = rng.standard_normal((ROWS, columns))
    centred = X - X.mean(axis=0)
    coef = np.linalg.solve(centred.T @ centred + np.eye(columns), centred.T @ (y - y.mean()))
    return {"X": X, "y": y, "query": query, "answer": y.mean() + (query - X.mean(axis=0)) @ coef}


def fitted(data: Data, module: str) -> tuple[Any, list[np.ndarray]]:
    """Fit outside the clock, and lay out the rows to ask for."""
    import importlib

    model = importlib.import_module(module).Ridge().fit(data["X"], data["y"])
    return model, [data["query"][i : i + 1].copy() for i in range(ROWS)]


def ask(given: tuple[Any, list[np.ndarray]]) -> np.ndarray:
    """Predict row by row."""
    model, rows = given
    return np.array([model.predict(row)[0] for row in rows])


def error(data: Data, result: np.ndarray) -> float:
    """Return the largest error, relative to the largest answer."""
    return float(np.abs(result - data["answer"]).max() / np.abs(data["answer"]).max())


def contender(name: str, module: str, ours: bool = False) -> Contender:
    """One library's Ridge."""
    prepare: Callable[[Data], Any] = partial(fitted, module=module)
    return Contender(name, ask, [module], ours=ours, prepare=prepare)


def case(columns: int) -> Case:
    """Two hundred rows of so many columns."""
    return Case(
        f"{ROWS} rows of {columns}", partial(make, columns), 2.0 * ROWS * columns, 8.0 * ROWS * columns
    )


TASK = Task(
    title="Ridge, predicting one row at a time",
    cases=[case(20), case(1000)],
    quick=case(5),
    contenders=[
        contender("surefit", "surefit.models.linear.squares.ridge", ours=True),
        contender("sklearn", "sklearn.linear_model"),
        contender("sklearnex", "sklearnex.linear_model"),
    ],
    quality=Quality("relative error", error, better="lower", absolute=1e-10),
)
