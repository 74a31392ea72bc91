"""The chapter on evaluation sets no exercise of its own; this one goes through all of its parts in order."""

from __future__ import annotations

import numpy as np
import pytest

import surefit
from surefit import metrics, resample


def test_split_choose_the_simplest_degree_and_judge_it_once() -> None:
    """A cubic: hold out, cross-validate degrees, choose by Occam, and score the choice on rows kept aside."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, size=(300, 1))
    y = x[:, 0] ** 3 - 2 * x[:, 0] + rng.normal(size=300)
    ((train, test),) = resample.HoldOut(test_size=0.3, random_state=0).split(x)
    model = surefit.make_pipeline(
        surefit.PolynomialFeatures(), surefit.StandardScaler(), surefit.LinearRegression()
    )
    search = surefit.GridSearch(
        model,
        {"polynomialfeatures__degree": [1, 2, 3, 6, 12]},
        scoring="mean_squared_error",
        choice="one_standard_error",
        complexity="polynomialfeatures__degree",
        split=4,
    ).fit(x[train], y[train])
    assert search.best_params_ == {"polynomialfeatures__degree": 3}
    chosen, line = search.predict(x[test]), model.set_params(polynomialfeatures__degree=1)
    line.fit(x[train], y[train])
    # The noise has variance 1: the mean of 90 squares lies within 4 standard errors, 4 sqrt(2 / 90), of it.
    assert abs(metrics.mean_squared_error(y[test], chosen) - 1) < 4 * np.sqrt(2 / 90)
    assert (
        metrics.mean_squared_error(y[test], line.predict(x[test])) > 1.5
    )  # too simple, on old rows as on new
    assert metrics.mean_squared_error(y[train], line.predict(x[train])) > 1.5
    assert metrics.r2_score(y[test], chosen) > metrics.r2_score(y[test], line.predict(x[test]))


def test_select_inside_the_folds_and_read_every_rate_of_the_table() -> None:
    """A rare class among useless columns: select in each fold, and let no single rate speak for all."""
    rng = np.random.default_rng(1)
    y = (np.arange(400) % 10 == 0).astype(int)
    X = rng.normal(size=(400, 20))
    X[:, 7] += 2.0 * y
    model = surefit.make_pipeline(surefit.SelectKBest("f_score", k=1), surefit.GaussianNB())
    found = surefit.cross_validate(model, X, y, split=4, metrics=["accuracy_score", "roc_auc_score"])
    answer = found.predictions()
    table = metrics.confusion_matrix(y, answer)
    (tn, fp), (fn, tp) = table
    assert table.sum() == 400
    assert metrics.accuracy_score(y, answer) == (tp + tn) / 400
    assert metrics.precision_score(y, answer) == tp / (tp + fp)
    assert metrics.recall_score(y, answer) == tp / (tp + fn)
    assert metrics.f1_score(y, answer) == pytest.approx(2 * tp / (2 * tp + fp + fn), rel=1e-15)
    assert metrics.false_positive_rate(y, answer) + metrics.specificity_score(y, answer) == 1.0
    never = np.zeros_like(y)
    assert metrics.accuracy_score(y, never) == 0.9  # without having learnt anything
    assert metrics.balanced_accuracy_score(y, never) == 0.5
    # Two normal classes two deviations apart have an area of Phi(2 / sqrt 2) = 0.921.
    assert found.intervals["roc_auc_score"].estimate == pytest.approx(0.921, abs=0.04)
