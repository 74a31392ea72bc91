"""Predictions of a fitted forest of 100 trees for many rows, against the peers' on two threads."""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task

COLUMNS = 28


def make(train: int, rows: int) -> Data:
    """Return rows to fit, and rows to ask for with their classes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((train + rows, COLUMNS)).astype(np.float32).astype(np.float64)
    y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.standard_normal(len(X)) > 0).astype(np.int64)
    return {"X": X[:train], "y": y[:train], "test_X": X[train:], "test_y": y[train:]}


def fitted(data: Data, name: str) -> tuple[Any, np.ndarray]:
    """Fit outside the clock."""
    from benchmarks.tasks.forest import model_of

    return model_of(name, False).fit(data["X"], data["y"]), data["test_X"]


def ask(given: tuple[Any, np.ndarray]) -> np.ndarray:
    """Predict all rows."""
    model, rows = given
    answers: np.ndarray = model.predict(rows)
    return answers


def accuracy(data: Data, predicted: np.ndarray) -> float:
    """Return the share of rows that are right."""
    return float(np.mean(predicted == data["test_y"]))


def case(train: int, rows: int, name: str) -> Case:
    """Return a case with its least work: a node of each level in each tree."""
    return Case(name, partial(make, train, rows), bytes=16.0 * rows * 100 * 17)


def contender(name: str, module: str, ours: bool = False) -> Contender:
    """One library's forest."""
    return Contender(name, ask, [module], ours=ours, prepare=partial(fitted, name=name))


TASK = Task(
    title="forests of 100 full trees grown from 1e5 rows: predict",
    cases=[case(10**5, 10**5, "1e5 rows"), case(10**5, 10**6, "1e6 rows")],
    quick=case(2000, 2000, "2000 rows"),
    contenders=[
        contender("surefit", "surefit.models.tree.forests.random_forest_classifier", ours=True),
        contender("sklearn", "sklearn.ensemble"),
        contender("sklearnex", "sklearnex.ensemble"),
        contender("lightgbm", "lightgbm"),
        contender("xgboost", "xgboost"),
    ],
    quality=Quality("accuracy", accuracy, better="higher", absolute=0.002),
    timeout=900.0,
    budget=200.0,
)
