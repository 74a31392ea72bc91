"""Boosting: 100 rounds of 31 leaves, against scikit-learn, LightGBM and XGBoost, on two threads.

Rows are normal, and the label follows a product, a wave, a square and a sum. The last case has ten columns of
100 categories each and no numbers, which nobody makes one-hot. The quality is the accuracy on rows that were
not seen, within 0.002 of the best. scikit-learn-intelex does not boost.
"""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task

COLUMNS = 28
LEVELS = 100
ROUNDS = 100
TEST_ROWS = 50_000


def numbers(rows: int) -> Data:
    """Return a table of numbers, labels, and rows to test on."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows + TEST_ROWS, COLUMNS))
    z = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + X[:, 3] ** 2 - 1 + 0.5 * X[:, 4:10].sum(axis=1)
    return _parted(X, z, rng, rows, categories=False)


def categories(rows: int) -> Data:
    """Return ten columns of codes of categories, each of which has an effect of its own."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, LEVELS, (rows + TEST_ROWS, 10)).astype(np.float64)
    effects = rng.standard_normal((10, LEVELS))
    z = sum(effects[j][X[:, j].astype(int)] for j in range(10)) / 2
    return _parted(X, np.asarray(z), rng, rows, categories=True)


def _parted(X: Any, z: Any, rng: Any, rows: int, categories: bool) -> Data:
    y = (rng.random(len(z)) < 1 / (1 + np.exp(-z))).astype(np.int64)
    parts = {"X": X[:rows], "y": y[:rows], "test_X": X[rows:], "test_y": y[rows:]}
    return {**parts, "categories": np.array(categories)}


def accuracy(data: Data, predicted: np.ndarray) -> float:
    """Return the share of test rows that are right."""
    return float(np.mean(predicted == data["test_y"]))


def fitted(data: Data, model: Any, **fit: Any) -> np.ndarray:
    """Fit and predict."""
    answers: np.ndarray = model.fit(data["X"], data["y"], **fit).predict(data["test_X"])
    return answers


def _columns(data: Data) -> list[int] | None:
    return list(range(data["X"].shape[1])) if data["categories"] else None


def ours(data: Data) -> np.ndarray:
    """Ours, with no rows held out."""
    from surefit import HistGradientBoostingClassifier

    columns = _columns(data)
    model = HistGradientBoostingClassifier(
        max_iter=ROUNDS, early_stopping=False, categorical_features=columns
    )
    return fitted(data, model)


def sklearn_boosting(data: Data) -> np.ndarray:
    """scikit-learn's, with no rows held out."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    columns = _columns(data)
    model = HistGradientBoostingClassifier(
        max_iter=ROUNDS, early_stopping=False, categorical_features=columns
    )
    return fitted(data, model)


def lightgbm(data: Data) -> np.ndarray:
    """LightGBM, whose defaults are the same rounds and leaves."""
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(n_estimators=ROUNDS, num_leaves=31, learning_rate=0.1, n_jobs=2, verbose=-1)
    return fitted(data, model, categorical_feature=_columns(data) or "auto")


def xgboost(data: Data) -> np.ndarray:
    """XGBoost by histograms, the best leaf first."""
    from xgboost import XGBClassifier

    shape = {"max_leaves": 31, "max_depth": 0, "grow_policy": "lossguide", "tree_method": "hist"}
    kinds = ["c"] * data["X"].shape[1] if data["categories"] else None
    model = XGBClassifier(
        n_estimators=ROUNDS,
        learning_rate=0.1,
        n_jobs=2,
        enable_categorical=kinds is not None,
        feature_types=kinds,
        **shape,
    )
    return fitted(data, model)


def case(name: str, make: Any, rows: int, columns: int) -> Case:
    """Return a case with its least work: half of the codes read once for each of five levels a round."""
    return Case(name, partial(make, rows), bytes=2.5 * rows * columns * ROUNDS)


TASK = Task(
    title="boosting, 100 rounds of 31 leaves",
    cases=[
        case("1e5 rows, 28 columns", numbers, 10**5, COLUMNS),
        case("1e6 rows, 28 columns", numbers, 10**6, COLUMNS),
        case("1e5 rows, 10 columns of 100 categories", categories, 10**5, 10),
    ],
    quick=case("2000 rows", numbers, 2000, COLUMNS),
    contenders=[
        Contender("surefit", ours, ["surefit.models.tree.boosting.classifier"], ours=True),
        Contender("scikit-learn", sklearn_boosting, ["sklearn.ensemble"]),
        Contender("LightGBM", lightgbm, ["lightgbm"]),
        Contender("XGBoost", xgboost, ["xgboost"]),
    ],
    quality=Quality("accuracy", accuracy, better="higher", absolute=0.002),
    timeout=240.0,
    budget=400.0,
)
