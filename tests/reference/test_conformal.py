"""Conformal intervals and sets: right ranks, the coverage promised, and the rows that they must not use."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression

import surefit
from surefit import ConformalClassifier, ConformalRegressor
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.evaluate.conformal.nonconformity import conformal_quantile

RNG = np.random.default_rng(3)
LEVEL = 0.9


def numbers(rng: Any, rows: int) -> tuple[Any, Any]:
    """The spread grows with the first column, and the noise is skewed."""
    X = rng.uniform(0, 2, size=(rows, 2))
    return X, X.sum(axis=1) + X[:, 0] * (rng.exponential(size=rows) - 1)


def kinds(rng: Any, rows: int) -> tuple[Any, Any]:
    y = rng.choice(["a", "b", "c"], size=rows)
    return rng.normal(size=(rows, 2)) + 1.2 * np.stack([y == "a", y == "b"], axis=1), y


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95])
@pytest.mark.parametrize("rows", [1, 4, 9, 19, 20, 99])
def test_the_quantile_has_the_rank_that_covers(rows: int, level: float) -> None:
    scores = RNG.permutation(np.arange(1.0, rows + 1))
    rank = math.ceil(round(level * (rows + 1), 9))
    assert conformal_quantile(scores, level) == (rank if rank <= rows else math.inf)
    weight = RNG.integers(0, 3, size=rows) + 1
    assert conformal_quantile(scores, level, weight) == conformal_quantile(np.repeat(scores, weight), level)


def coverage(model: Any, make: Any, fits: int, rows: int = 60) -> float:
    """The share of new rows covered, over fresh training sets; what is promised is an average over both."""
    rng = np.random.default_rng(17)
    shares = []
    for _ in range(fits):
        X, y = make(rng, rows + 200)
        fitted = clone(model).set_params(random_state=int(rng.integers(2**31))).fit(X[:rows], y[:rows])
        if hasattr(fitted, "predict_interval"):
            low, high = fitted.predict_interval(X[rows:]).T
            shares.append(np.mean((low <= y[rows:]) & (y[rows:] <= high)))
        else:
            chosen = fitted.predict_set(X[rows:])
            shares.append(chosen[np.arange(200), np.searchsorted(fitted.classes_, y[rows:])].mean())
    return float(np.mean(shares))


MODELS: dict[str, tuple[Any, Any, float]] = {
    "split": (ConformalRegressor(LinearRegression(), level=LEVEL), numbers, LEVEL + 1 / 16),
    "cross": (ConformalRegressor(LinearRegression(), level=LEVEL, method="cross", folds=6), numbers, 0.96),
    "jackknife+": (
        ConformalRegressor(LinearRegression(), level=LEVEL, method="jackknife+"),
        numbers,
        0.96,
    ),
    "cqr": (
        ConformalRegressor(surefit.QuantileRegressor(alpha=0.0), level=LEVEL, method="cqr"),
        numbers,
        LEVEL + 1 / 16,
    ),
    "lac": (ConformalClassifier(surefit.GaussianNB(), level=LEVEL), kinds, LEVEL + 1 / 16),
    "aps": (ConformalClassifier(surefit.GaussianNB(), level=LEVEL, method="aps"), kinds, LEVEL + 1 / 16),
}


@pytest.mark.parametrize("name", MODELS)
def test_as_much_is_covered_as_promised_and_not_much_more(name: str) -> None:
    """Split: between level and level + 1/(m + 1) on average, with m = 15 rows set aside. The coverage of one
    fit has a deviation of at most 0.075, that of a Beta distribution; three standard errors are allowed.
    """
    model, make, most = MODELS[name]
    fits = {"jackknife+": 12, "cqr": 25, "cross": 30}.get(name, 60)
    room = 3 * 0.075 / math.sqrt(fits)
    assert LEVEL - room <= coverage(model, make, fits) <= most + room


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_coverage_is_within_a_percent(name: str) -> None:
    model, make, most = MODELS[name]
    assert LEVEL - 0.01 <= coverage(model, make, 600) <= most + 0.01


def test_the_cross_interval_is_the_definition_row_by_row() -> None:
    X, y = numbers(RNG, 23)
    new = RNG.uniform(0, 2, size=(5, 2))
    found = (
        ConformalRegressor(LinearRegression(), method="jackknife+", level=0.8).fit(X, y).predict_interval(new)
    )
    left, right = [], []
    for i in range(23):
        model = LinearRegression().fit(np.delete(X, i, axis=0), np.delete(y, i))
        error = abs(y[i] - model.predict(X[[i]])[0])
        left.append(model.predict(new) - error)
        right.append(model.predict(new) + error)
    # The floor(0.2 (n + 1))-th smallest of the left ends, the ceil(0.8 (n + 1))-th of the right ones.
    low, high = (
        np.sort(left, axis=0)[math.floor(0.2 * 24 + 1e-9) - 1],
        np.sort(right, axis=0)[math.ceil(0.8 * 24 - 1e-9) - 1],
    )
    np.testing.assert_allclose(found, np.column_stack([low, high]), rtol=1e-9)


def test_weights_are_repetitions_of_rows_that_stay_together() -> None:
    X, y = numbers(RNG, 40)
    weight = RNG.integers(1, 4, size=40)
    frozen = FrozenEstimator(LinearRegression().fit(X, y))
    one = ConformalRegressor(frozen).fit(X, y, sample_weight=weight)
    two = ConformalRegressor(frozen).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert one.width_ == two.width_


def test_a_frozen_model_is_calibrated_with_all_rows() -> None:
    X, y = numbers(RNG, 60)
    inner = LinearRegression().fit(X[:30], y[:30])
    fitted = ConformalRegressor(FrozenEstimator(inner)).fit(X[30:], y[30:])
    assert len(fitted.errors_) == 30
    np.testing.assert_array_equal(fitted.predict(X), inner.predict(X))


def test_rows_set_aside_are_not_learnt_from() -> None:
    X, y = numbers(RNG, 40)
    fitted = ConformalRegressor(LinearRegression(), calibration=0.5, random_state=0).fit(X, y)
    errors = np.abs(y - fitted.models_[0].predict(X))
    aside = np.isin(np.round(errors, 12), np.round(fitted.errors_, 12))
    assert aside.sum() == 20
    again = LinearRegression().fit(X[~aside], y[~aside])
    np.testing.assert_allclose(fitted.models_[0].coef_, again.coef_)


def test_hard_rows_get_wider_bands_by_quantiles_and_larger_sets_by_aps() -> None:
    X, y = numbers(RNG, 800)
    model = ConformalRegressor(surefit.QuantileRegressor(alpha=0.0), method="cqr", random_state=0).fit(X, y)
    width = np.diff(model.predict_interval(np.array([[0.1, 1.0], [1.9, 1.0]])), axis=1).ravel()
    assert width[1] > 3 * width[0]
    points, kind = kinds(RNG, 800)
    sets = ConformalClassifier(LogisticRegression(), method="aps", random_state=0).fit(points, kind)
    middle, clear = np.full((200, 2), 0.4), np.full((200, 2), [5.0, -3.0])
    assert sets.predict_set(middle).sum(axis=1).mean() > sets.predict_set(clear).sum(axis=1).mean() + 1


def test_too_few_rows_leave_everything_open() -> None:
    X, y = numbers(RNG, 8)
    assert np.isinf(ConformalRegressor(LinearRegression(), level=0.95).fit(X, y).predict_interval(X)).all()
    assert np.isinf(
        ConformalRegressor(LinearRegression(), level=0.95, method="jackknife+").fit(X, y).predict_interval(X)
    ).all()
    points, kind = kinds(RNG, 16)
    assert ConformalClassifier(LogisticRegression(), level=0.99).fit(points, kind).predict_set(points).all()


def test_frames_pipelines_and_cross_validation_take_it() -> None:
    X, y = numbers(RNG, 90)
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = ConformalRegressor(
        surefit.make_pipeline(surefit.StandardScaler(), surefit.Ridge()), random_state=0
    )
    assert model.fit(frame, y).predict_interval(frame).shape == (90, 2)
    assert surefit.cross_validate(model, frame, y, split=3).means["r2_score"] > 0
    quantiles = surefit.make_pipeline(surefit.StandardScaler(), surefit.QuantileRegressor(alpha=0.0))
    assert ConformalRegressor(quantiles, method="cqr").fit(X, y).predict(X).shape == (90,)


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (ConformalRegressor(LinearRegression(), level=1.0), ParameterError, "level=1.0 is not allowed"),
        (
            ConformalRegressor(LinearRegression(), method="magic"),
            ParameterError,
            "method='magic' is not allowed",
        ),
        (ConformalRegressor(LinearRegression(), method="cqr"), RefusalError, "has no parameter quantile"),
        (ConformalClassifier(surefit.RidgeClassifier()), RefusalError, "has no predict_proba"),
    ],
)
def test_what_cannot_be_wrapped_is_refused(model: Any, error: Any, message: str) -> None:
    X, _ = numbers(RNG, 20)
    with pytest.raises(error, match=message):
        model.fit(X, np.arange(20) % 2)
    with pytest.raises(DataError, match="y has 3"):
        ConformalRegressor(LinearRegression()).fit(X, [1.0, 2.0, 3.0])
    with pytest.raises(DataError, match="holds no data file"):
        ConformalRegressor(LinearRegression()).fit("folder/*.parquet", "y")
