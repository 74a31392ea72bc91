"""Forests of 100 trees in full depth, classification and regression, against the peers' on two threads.

Rows are normal, the target follows a product and a sum of three columns with noise. The quality is the
accuracy, or the share of variance explained, on 200 000 rows that were not seen, within 0.002 of the best: on
a tenth of them, chance alone parts two forests by as much. Settings are scikit-learn's defaults: a node looks
at the root of the columns for classes, and at all for numbers. LightGBM and XGBoost grow their forests with
the leaves or the depth that they can bear.
"""
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

import importlib
from functools import partial
from typing import Any

import numpy as np

from benchmarks.task import Case, Contender, Data, Quality, Task

COLUMNS = 28
TREES = 100
TEST_ROWS = 200_000


def make(rows: int, numbers: bool) -> Data:
    """Return a table, its target and rows to test on."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows + TEST_ROWS, COLUMNS)).astype(np.float32).astype(np.float64)
    score = X[:, 0] * X[:, 1] + X[:, 2] + rng.standard_normal(len(X))
    y = score if numbers else (score > 0).astype(np.int64)
    return {
        "X": X[:rows],
        "y": y[:rows],
        "test_X": X[rows:],
        "test_y": y[rows:],
        "numbers": np.array(numbers),
    }


def score(data: Data, model: Any) -> float:
    """Return the share of test rows that are right, or of their variance that is explained."""
    truth, predicted = data["test_y"], model.predict(data["test_X"])
    if data["numbers"]:
        return float(1.0 - np.mean((predicted - truth) ** 2) / truth.var())
    return float(np.mean(predicted == truth))


def model_of(name: str, numbers: bool) -> Any:
    """Return an unfitted forest of a library."""
    kind = "Regressor" if numbers else "Classifier"
    if name == "lightgbm":
        library = importlib.import_module("lightgbm")
        given = {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.632, "num_leaves": 4095}
        part = 1.0 if numbers else 5 / COLUMNS
        return getattr(library, f"LGBM{kind}")(
            n_estimators=TREES,
            feature_fraction_bynode=part,
            min_child_samples=2,
            n_jobs=2,
            verbose=-1,
            random_state=0,
            **given,
        )
    if name == "xgboost":
        library = importlib.import_module("xgboost")
        part = 1.0 if numbers else 5 / COLUMNS
        return getattr(library, f"XGBRF{kind}")(
            n_estimators=TREES, max_depth=14, colsample_bynode=part, subsample=0.632, n_jobs=2, random_state=0
        )
    library = importlib.import_module({"surefit": "surefit"}.get(name, f"{name}.ensemble"))
    return getattr(library, f"RandomForest{kind}")(TREES, n_jobs=2, random_state=0)


def fitted(data: Data, name: str) -> Any:
    """Return the fitted forest of a library."""
    return model_of(name, bool(data["numbers"])).fit(data["X"], data["y"])


def case(rows: int, numbers: bool, name: str) -> Case:
    """Return a case with its least work: the columns looked at, read once a level."""
    looked_at = COLUMNS if numbers else 5
    return Case(name, partial(make, rows, numbers), bytes=1.0 * rows * looked_at * 20 * TREES)


def contender(name: str, module: str, ours: bool = False) -> Contender:
    """One library's forest."""
    return Contender(name, partial(fitted, name=name), [module], ours=ours)


TASK = Task(
    title="forests of 100 trees, 28 columns: fit",
    cases=[
        case(10**5, False, "1e5 rows, classes"),
        case(10**5, True, "1e5 rows, numbers"),
        case(10**6, False, "1e6 rows, classes"),
        case(10**6, True, "1e6 rows, numbers"),
    ],
    quick=case(2000, False, "2000 rows, classes"),
    contenders=[
        contender("surefit", "surefit.models.tree.forests.random_forest_classifier", ours=True),
        contender("sklearn", "sklearn.ensemble"),
        contender("sklearnex", "sklearnex.ensemble"),
        contender("lightgbm", "lightgbm"),
        contender("xgboost", "xgboost"),
    ],
    quality=Quality("score", score, better="higher", absolute=0.002),
    timeout=900.0,
    budget=300.0,
)
