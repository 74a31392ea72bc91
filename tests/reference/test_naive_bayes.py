"""Naive Bayes with any distributions: its other classes as special cases, missing cells, draws."""

from __future__ import annotations

import numpy as np
import pytest

import surefit
from surefit.core.errors import DataError, ParameterError

RNG = np.random.default_rng(0)
Y = RNG.integers(2, size=300)
X = np.column_stack(
    [
        RNG.normal(2.0 * Y, 1.0),
        RNG.poisson(1 + 3 * Y),
        RNG.random(300) < 0.3 + 0.4 * Y,
        RNG.integers(3, size=300),
    ]
).astype(float)
MIXED = {"x1": "Poisson", "x2": "Bernoulli", "x3": "Categorical"}


def test_it_contains_the_others() -> None:
    normal = surefit.NaiveBayes().fit(X[:, :2], Y)
    right = surefit.GaussianNB(var_smoothing=0).fit(X[:, :2], Y)
    np.testing.assert_allclose(normal.predict_proba(X[:, :2]), right.predict_proba(X[:, :2]), rtol=1e-9)
    coins = surefit.NaiveBayes(distributions="Bernoulli").fit(X[:, 2:3], Y)
    theirs = surefit.BernoulliNB().fit(X[:, 2:3], Y)
    np.testing.assert_allclose(coins.predict_proba(X[:, 2:3]), theirs.predict_proba(X[:, 2:3]), rtol=1e-9)
    levels = surefit.NaiveBayes(distributions="Categorical").fit(X[:, 3:], Y)
    table = surefit.CategoricalNB().fit(X[:, 3:], Y)
    np.testing.assert_allclose(levels.predict_proba(X[:, 3:]), table.predict_proba(X[:, 3:]), rtol=1e-9)


def test_columns_add_up_and_missing_cells_are_left_out() -> None:
    model = surefit.NaiveBayes(distributions=MIXED).fit(X, Y)
    assert surefit.verify(model, X, Y).holds
    joint = model.predict_joint_log_proba(X[:5])
    right = np.log(np.bincount(Y) / len(Y)) + sum(
        np.column_stack([model.distribution(c, j).log_density(X[:5, j]) for c in (0, 1)]) for j in range(4)
    )
    np.testing.assert_allclose(joint, right, rtol=1e-12)
    gone = X[:5].copy()
    gone[:, [0, 2]] = np.nan
    without = np.log(np.bincount(Y) / len(Y)) + sum(
        np.column_stack([model.distribution(c, j).log_density(X[:5, j]) for c in (0, 1)]) for j in (1, 3)
    )
    np.testing.assert_allclose(model.predict_joint_log_proba(gone), without, rtol=1e-12)
    holes = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
    fitted = surefit.NaiveBayes(distributions=MIXED).fit(holes, Y)
    there = (Y == 1) & ~np.isnan(holes[:, 1])
    np.testing.assert_allclose(fitted.distribution(1, 1).mean, holes[there, 1].mean(), rtol=1e-12)


def test_draws_follow_the_fitted_distributions_and_files_keep_them(tmp_path) -> None:  # type: ignore[no-untyped-def]
    model = surefit.NaiveBayes(distributions=MIXED).fit(X, Y)
    drawn, labels = model.sample(20_000, random_state=0)
    for c in (0, 1):
        np.testing.assert_allclose(drawn[labels == c].mean(axis=0), X[c == Y].mean(axis=0), atol=0.06)
    surefit.save(model, tmp_path / "m.safetensors")
    again = surefit.load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_what_cannot_be_is_refused_and_a_constant_column_takes_all_classes() -> None:
    with pytest.raises(ParameterError, match="not a column"):
        surefit.NaiveBayes(distributions={"x9": "Normal"}).fit(X, Y)
    with pytest.raises(DataError, match="is to be Bernoulli"):
        surefit.NaiveBayes(distributions="Bernoulli").fit(X, Y)
    rows = np.column_stack([X[:, 0], np.where(Y == 1, 1.0, X[:, 0]), np.ones(300)])
    model = surefit.NaiveBayes().fit(rows, Y)
    assert model.distribution(1, 1) == surefit.distributions.Normal.fit(rows[:, 1])
    assert np.isfinite(model.predict_joint_log_proba(rows)).all()
