"""Choices inside the folds, and the estimates of the bootstrap: what rows left out say of a model."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge as TheirRidge
from sklearn.model_selection import GridSearchCV
from sklearn.model_selection import cross_validate as their_cross_validate
from sklearn.neighbors import KNeighborsClassifier
from tests.laws.validated import ROWS, X, Y

import surefit
from surefit import resample
from surefit.core.errors import ParameterError
from surefit.evaluate.cross_validation.cross_validate import cross_validate
from surefit.resample.optimism import LEFT_OUT, error_632, error_632_plus


def test_the_choice_of_a_nested_run_sees_no_test_row_and_is_scikit_learns() -> None:
    grid = {"alpha": [0.01, 1.0, 100.0]}
    outer, inner = resample.KFold(3, shuffle=True, random_state=0), resample.KFold(4)
    found = surefit.nested_cross_validate(
        TheirRidge(), grid, X, Y, split=outer, inner=inner, metrics="r2_score"
    )
    theirs = their_cross_validate(
        GridSearchCV(TheirRidge(), grid, cv=inner), X, Y, cv=outer, return_estimator=True
    )
    np.testing.assert_allclose(found.scores["r2_score"], theirs["test_score"], rtol=1e-10)
    assert found.chosen is not None
    assert list(found.chosen) == [search.best_params_ for search in theirs["estimator"]]
    assert "chosen" in found.to_frame().columns
    lower = surefit.nested_cross_validate(
        TheirRidge(), [{"alpha": 1e6}, {"alpha": 0.1}], X, Y, metrics="mean_squared_error"
    )
    assert lower.chosen is not None
    assert all(entry == {"alpha": 0.1} for entry in lower.chosen)
    with pytest.raises(ParameterError, match="no candidates"):
        surefit.nested_cross_validate(TheirRidge(), [], X, Y)


def test_the_bootstrap_leaves_out_a_share_of_one_over_e() -> None:
    """The share of rows left out has mean (1 - 1/n)^n and a deviation below 0.31 / sqrt(n) a sample."""
    shares = [len(out) / 1000 for _, out in resample.Bootstrap(200, random_state=0).split(np.zeros(1000))]
    assert np.mean(shares) == pytest.approx((1 - 1 / 1000) ** 1000, abs=5 * 0.31 / np.sqrt(1000 * 200))
    assert pytest.approx((1 - 1e-6) ** 1e6, rel=1e-6) == LEFT_OUT


def test_the_632_estimates_follow_their_formulas() -> None:
    assert error_632(0.1, 0.4) == pytest.approx(0.1 * np.exp(-1) + 0.4 * (1 - np.exp(-1)))
    # No overfitting: .632; all of it, a model that learnt by heart labels that mean nothing: chance.
    assert error_632_plus(0.3, 0.3, 0.5) == pytest.approx(0.3)
    assert error_632_plus(0.0, 0.5, 0.5) == pytest.approx(0.5)
    assert error_632_plus(0.0, 0.7, 0.5) == pytest.approx(0.5)
    rate = 0.2 / 0.5
    weight = (1 - np.exp(-1)) / (1 - np.exp(-1) * rate)
    assert error_632_plus(0.0, 0.2, 0.5) == pytest.approx(weight * 0.2)
    # A score of which more is better is one minus the error, and so is its estimate.
    assert error_632_plus(1.0, 0.8, 0.5) == pytest.approx(1 - error_632_plus(0.0, 0.2, 0.5))


def test_the_632_plus_sees_through_a_model_that_learns_noise_by_heart() -> None:
    labels = np.random.default_rng(5).integers(2, size=ROWS)
    found = surefit.bootstrap_validate(
        KNeighborsClassifier(1), X, labels, metric="zero_one_loss", n_samples=30
    )
    assert found.train == 0
    assert found.plain_632 < 0.38  # .632 of a coin's half: it is fooled
    assert found.plus_632 == pytest.approx(0.5, abs=0.08)
    share = labels.mean()
    assert found.chance == pytest.approx(2 * share * (1 - share), abs=1e-12)


def test_the_rows_left_out_count_alike() -> None:
    found = surefit.bootstrap_validate(
        surefit.MeanRegressor(), X[:20], Y[:20], metric="mean_squared_error", n_samples=7
    )
    errors: list[list[float]] = [[] for _ in range(20)]
    for drawn, out in resample.Bootstrap(7, random_state=0).split(X[:20]):
        for row in out:
            errors[row].append((Y[row] - Y[:20][drawn].mean()) ** 2)
    wanted = np.mean([np.mean(entry) for entry in errors if entry])
    assert found.left_out == pytest.approx(wanted, rel=1e-9)
    assert str(found).startswith("mean_squared_error: .632+")


@pytest.mark.covers("ml_for_data_science:1.4", "cs443:8.1", by="cross_validate")
def test_rows_learnt_from_are_scored_too_kindly() -> None:
    """By heart: a nearest neighbour is always right on its own rows, and no better than a coin on noise."""
    labels = np.random.default_rng(8).integers(2, size=400)
    noise = np.random.default_rng(9).normal(size=(400, 3))
    found = cross_validate(
        KNeighborsClassifier(1), noise, labels, metrics="accuracy_score", train_scores=True
    )
    assert (found.train_scores["accuracy_score"] == 1).all()
    assert found.means["accuracy_score"] == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(400))
    more = cross_validate(surefit.LinearRegression(), X, Y, metrics="mean_squared_error", train_scores=True)
    assert more.train_scores["mean_squared_error"].mean() < more.means["mean_squared_error"]


@pytest.mark.parametrize("rows", [3, 1000])
@pytest.mark.parametrize("spread", [1e-4, 1e-3, 1.0])
def test_a_mean_of_large_numbers_close_together_is_as_good_as_floats_allow(rows, spread):
    """Around 1e12 floats are 1.2e-4 apart."""
    y = 1e12 + spread * np.random.default_rng(rows).normal(size=rows)
    X = np.zeros((rows, 1))
    model = surefit.MeanRegressor().fit(X, y)
    assert model.certificate_.holds
    assert surefit.verify(model, X, y).holds
    moved = np.append(y[1:], y[0] + rows * max(spread, 0.1))
    assert not surefit.verify(model, X, moved).holds
