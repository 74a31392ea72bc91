"""Boosted trees against scikit-learn's: the same bins, splits and steps, so the same numbers.

scikit-learn keeps gradients in single precision, which moves predictions by some 1e-8. Where gains tie
exactly its rounding decides which split is taken, and where a node gains nothing its rounding may split it
all the same; the data here have neither, and absolute errors, whose slopes are all one size, are compared
on new rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import ensemble
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.metrics import mean_pinball_loss
from threadpoolctl import threadpool_limits

import surefit


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """OpenMP's threads spin while they wait, which costs minutes where others run beside."""
    with threadpool_limits(1, user_api="openmp"):
        yield


RNG = np.random.default_rng(0)
X = RNG.normal(size=(700, 5))
X[RNG.random(X.shape) < 0.1] = np.nan
Z = np.nan_to_num(2 * X[:, 0] + np.sin(3 * X[:, 1])) + 0.3 * RNG.normal(size=700)
WEIGHT = RNG.uniform(0.5, 2.0, 700)
FRAME = pd.DataFrame(
    {
        "kind": pd.Categorical(RNG.choice(list("abcdefghij"), 700)),
        "x": X[:, 0],
        "side": pd.Categorical(RNG.choice(["u", "v", None], 700)),
    }
)

OPTIONS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "ridge": {"l2_regularization": 3.0, "max_depth": 4},
    "coarse": {"max_leaf_nodes": None, "min_samples_leaf": 40, "max_bins": 16},
    "interactions": {"interaction_cst": [[0, 1], [2, 3]]},
    "poisson": {"loss": "poisson"},
    "gamma": {"loss": "gamma"},
    "stopped": {"early_stopping": True, "random_state": 3, "max_iter": 60, "learning_rate": 0.5},
    "stopped by a score": {"early_stopping": True, "random_state": 3, "scoring": "r2"},
    "stopped by training": {"early_stopping": True, "validation_fraction": None, "tol": 0.05},
}


@pytest.mark.covers("intro_to_ml:6.8", by="HistGradientBoostingRegressor")
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_regressors_agree_tree_by_tree(options: dict[str, Any]) -> None:
    y = np.exp(0.5 * Z) if options.get("loss") else Z
    options = {"max_iter": 15, **options}
    ours = surefit.HistGradientBoostingRegressor(**options).fit(X, y)
    theirs = ensemble.HistGradientBoostingRegressor(**options).fit(X, y)
    assert ours.n_iter_ == theirs.n_iter_
    for mine, expected in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(ours.train_score_, theirs.train_score_, rtol=1e-6)
    np.testing.assert_allclose(ours.validation_score_, theirs.validation_score_, rtol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_weighted_classes_agree_tree_by_tree(classes: int) -> None:
    y = np.array(["a", "b", "c"])[np.digitize(Z, [0.0] if classes == 2 else [-1.0, 1.0])]
    options = {"max_iter": 10}
    ours = surefit.HistGradientBoostingClassifier(**options).fit(X, y, WEIGHT)
    theirs = ensemble.HistGradientBoostingClassifier(**options).fit(X, y, WEIGHT)
    assert ours.n_trees_per_iteration_ == theirs.n_trees_per_iteration_
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    assert ours.predict(X).tolist() == theirs.predict(X).tolist()


def test_categories_agree_tree_by_tree() -> None:
    y = FRAME["kind"].cat.codes.to_numpy() % 3 * 2.0 + Z + (FRAME["side"].cat.codes.to_numpy() == -1)
    ours = surefit.HistGradientBoostingRegressor(max_iter=15).fit(FRAME, y)
    theirs = ensemble.HistGradientBoostingRegressor(max_iter=15).fit(FRAME, y)
    np.testing.assert_allclose(ours.predict(FRAME), theirs.predict(FRAME), rtol=1e-6, atol=1e-6)
    assert ours.is_categorical_.tolist() == theirs.is_categorical_.tolist()


def test_weighted_numbers_agree() -> None:
    ours = surefit.HistGradientBoostingRegressor(max_iter=15).fit(X, Z, WEIGHT)
    theirs = ensemble.HistGradientBoostingRegressor(max_iter=15).fit(X, Z, WEIGHT)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6, atol=1e-6)


def test_absolute_errors_are_as_low_on_new_rows() -> None:
    options = {"loss": "absolute_error", "max_iter": 40}
    ours = surefit.HistGradientBoostingRegressor(**options).fit(X[:500], Z[:500])
    theirs = ensemble.HistGradientBoostingRegressor(**options).fit(X[:500], Z[:500])
    one, two = (np.abs(Z[500:] - model.predict(X[500:])).mean() for model in (ours, theirs))
    assert one < 1.05 * two


@pytest.mark.parametrize("quantile", [0.2, 0.8])
def test_a_quantile_has_its_share_of_rows_below(quantile: float) -> None:
    model = surefit.HistGradientBoostingRegressor(loss="quantile", quantile=quantile, max_iter=40)
    below = model.fit(X, Z).predict(X) > Z
    assert abs(below.mean() - quantile) < 0.03


@pytest.mark.parametrize("quantile", [0.1, 0.9])
def test_quantiles_are_as_close_on_new_rows(quantile: float) -> None:
    """Steps of two sizes alone make many splits equal, so that single trees differ: several tables count."""
    options = {"loss": "quantile", "quantile": quantile, "max_iter": 30, "early_stopping": False}
    costs = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(1200, 4))
        y = rows[:, 0] * rows[:, 1] + rows[:, 2] + rng.normal(size=1200) * (0.5 + np.abs(rows[:, 3]))
        for library in (surefit, ensemble):
            model = library.HistGradientBoostingRegressor(**options).fit(rows[:400], y[:400])
            costs.append(mean_pinball_loss(y[400:], model.predict(rows[400:]), alpha=quantile))
    assert sum(costs[::2]) < 1.02 * sum(costs[1::2])


def test_real_tables_are_told_as_well() -> None:
    rows, y = load_breast_cancer(return_X_y=True)
    numbers, target = load_diabetes(return_X_y=True)
    ours = surefit.HistGradientBoostingClassifier(max_iter=30).fit(rows[:400], y[:400])
    theirs = ensemble.HistGradientBoostingClassifier(max_iter=30).fit(rows[:400], y[:400])
    assert ours.score(rows[400:], y[400:]) >= theirs.score(rows[400:], y[400:]) - 0.02
    one = surefit.HistGradientBoostingRegressor(max_iter=30).fit(numbers[:300], target[:300])
    two = ensemble.HistGradientBoostingRegressor(max_iter=30).fit(numbers[:300], target[:300])
    gap = one.score(numbers[300:], target[300:]) - two.score(numbers[300:], target[300:])
    assert abs(gap) < 0.02
