"""Losses with kinks and margins on extreme weights, units and means: proved, and never above the peers."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.linear_model as sk
from sklearn import svm

import surefit
from surefit.losses import SquaredEpsilonInsensitive, SquaredHinge
from surefit.penalties import L2
from surefit.solvers.objective.base import Objective

LONG = np.longdouble
CLOSE = 1e-6  # what ours may be above a peer's, relative to it


def heavy_tails(rows=120, columns=6):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(rows, columns))
    y = X @ np.resize([1.0, -0.5, 0.3, 0.0, 0.0, 0.2], columns) + 2.0 + rng.standard_t(1, rows)
    return X, y, rng.uniform(0.5, 1.5, rows)


def residuals(X, y, coef, intercept):
    return y - X.astype(LONG) @ np.ravel(coef).astype(LONG) - LONG(np.ravel(intercept)[0])


def pinball(X, y, weight, model, quantile=0.5, alpha=0.0):
    left, s = residuals(X, y, model.coef_, model.intercept_), weight.astype(LONG)
    loss = s @ np.maximum(quantile * left, (quantile - 1) * left) / s.sum()
    return loss + LONG(alpha) * np.abs(model.coef_.astype(LONG)).sum()


@pytest.mark.filterwarnings("ignore:Linear programming for QuantileRegressor did not succeed")
@pytest.mark.parametrize("kind", ["one heavy row", "two heavier rows", "from 1e-12 to 1e12"])
@pytest.mark.parametrize("quantile", [0.5, 0.1])
@pytest.mark.parametrize("alpha", [0.0, 1e-8, 0.01, 1.0])
def test_quantiles_of_extreme_weights_and_units(kind, quantile, alpha):
    """What outweighs everything else is met, and the rest is solved for as if it were alone."""
    X, y, weight = heavy_tails()
    if kind == "from 1e-12 to 1e12":
        X = X * 10.0 ** np.array([-12, 12, 0, 6, -6, 3])
    else:
        weight[[90, 3]] = 1e8, (1.0 if kind == "one heavy row" else 1e12)
    options = {"quantile": quantile, "alpha": alpha}
    models = [surefit.QuantileRegressor(**options), surefit.QuantileRegressor(**options, solver="highs-ds")]
    if (quantile, alpha) == (0.5, 0.0):
        models.append(surefit.LADRegressor())  # twice the same objective
    try:
        theirs = pinball(X, y, weight, sk.QuantileRegressor(**options).fit(X, y, weight), quantile, alpha)
    except TypeError:  # HiGHS ended without an answer, and nothing there looks
        theirs = np.inf
    for model in models:
        ours = model.fit(X, y, weight)
        assert ours.certificate_.holds
        assert pinball(X, y, weight, ours, quantile, alpha) <= theirs * (1 + CLOSE)


@pytest.mark.parametrize("quantile", [0.5, 0.1])
def test_a_heavy_row_among_many_is_never_lumped(quantile):
    X, y, _ = heavy_tails(6000, 4)
    weight = np.ones(6000)
    weight[3000] = 1e8
    ours = surefit.QuantileRegressor(quantile=quantile, alpha=0.0).fit(X, y, weight)
    assert ours.certificate_.holds
    # The line passes through the heavy row, so it is that of the rest alone, seen from there.
    X, y = X - X[3000], y - y[3000]
    theirs = surefit.QuantileRegressor(quantile=quantile, alpha=0.0, fit_intercept=False).fit(X, y)
    assert theirs.certificate_.holds
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-9)


def test_hubers_scale_with_one_heavy_row():
    """The row that is nearly all of the weight is met, so that the best scale is 0 and the rest absolute."""
    X, y, weight = heavy_tails()
    weight[90] = 1e8
    ours = surefit.HuberRegressor(alpha=0.0).fit(X, y, weight)
    theirs = sk.QuantileRegressor(alpha=0.0).fit(X, y, weight)
    assert ours.certificate_.holds
    assert pinball(X, y, weight, ours) <= pinball(X, y, weight, theirs) * (1 + CLOSE)


def around_1e8():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(200, 3))
    y = X @ [1.0, -0.5, 0.3] + 0.5 * rng.normal(size=200) + 2.0
    return X + 1e8, y


def squares(model, C):
    w = np.append(np.ravel(model.coef_), model.intercept_).astype(LONG)
    return (w**2).sum() / (2 * C)


@pytest.mark.parametrize("C", [1.0, 1e3])
def test_tubes_around_columns_far_from_zero_are_proved(C):
    """Columns around 1e8 are turned until one axis has all their means, and keep their digits."""
    X, y = around_1e8()
    options = {"C": C, "loss": "squared_epsilon_insensitive", "epsilon": 0.1}
    ours = surefit.LinearSVR(**options).fit(X, y)
    assert ours.certificate_.holds
    assert surefit.verify(ours, X, y).holds
    theirs = svm.LinearSVR(**options, tol=1e-10, max_iter=200_000, random_state=0).fit(X, y)

    def objective(model):
        left = np.maximum(np.abs(residuals(X, y, model.coef_, model.intercept_)) - LONG(0.1), 0)
        return (left**2).sum() + squares(model, C)

    assert objective(ours) <= objective(theirs) * (1 + CLOSE)


@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")
@pytest.mark.parametrize("C", [1.0, 1e3])
def test_margins_of_columns_far_from_zero_are_proved(C):
    X, y = around_1e8()
    two = np.where(y > 2, 1, -1)
    ours = surefit.LinearSVC(C=C).fit(X, two)
    assert ours.certificate_.holds
    theirs = [
        svm.LinearSVC(C=C, dual=dual, tol=1e-10, max_iter=5000, random_state=0).fit(X, two)
        for dual in (True, False)
    ]

    def objective(model):
        short = np.maximum(1 - two * -residuals(X, 0.0, model.coef_, model.intercept_), 0)
        return (short**2).sum() + squares(model, C)

    assert objective(ours) <= min(map(objective, theirs)) * (1 + CLOSE)


def test_each_of_three_classes_far_from_zero_is_told_apart_as_if_alone():
    X, y = around_1e8()
    three = np.digitize(y, [1.5, 2.5])
    together = surefit.LinearSVC().fit(X, three)
    assert together.certificate_.holds
    for k in range(3):
        alone = surefit.LinearSVC().fit(X, three == k)
        assert alone.certificate_.holds
        np.testing.assert_allclose(together.coef_[k], alone.coef_[0], rtol=1e-3, atol=1e-6)


def test_three_classes_far_from_zero_excuse_no_gap():
    """Of points beside the best one, along differences of columns too, no gap is below what can be gained."""
    X, y = around_1e8()
    signs = np.where(np.digitize(y, [1.5, 2.5])[:, None] == np.arange(3), 1.0, -1.0)
    strength = 1 / len(y)  # that of C = 1
    labels = (signs > 0).astype(float)
    objective = Objective.of_arrays(X, labels, SquaredHinge(), L2(strength), fit_intercept=False, outputs=3)
    model = surefit.LinearSVC(fit_intercept=False).fit(X, labels @ [0, 1, 2])

    def value(w):
        left = np.maximum(1 - signs * (X.astype(LONG) @ w.astype(LONG)), 0)
        return (left**2).sum() / len(y) + LONG(strength) / 2 * (w.astype(LONG) ** 2).sum()

    rng, best = np.random.default_rng(0), value(model.coef_.T)
    assert objective.certificate(model.coef_.T, 1e-6).holds
    for size in 10.0 ** np.arange(-9, 0):
        for move in rng.normal(size=(4, X.shape[1], 3)) * size:
            across = move - move.mean(axis=0)  # the means do not see it
            for w in (model.coef_.T + move, model.coef_.T + across):
                gap = objective.certificate(w, 1e-6).parts["gap"]
                assert value(w) - best <= gap + 1e-12 * objective.scale


@pytest.mark.parametrize("strength", [1e-6, 1e-2])
def test_large_means_excuse_no_gap(strength):
    """Of points beside the best one, along differences of columns too, no gap is below what can be gained."""
    X, y = around_1e8()
    loss = SquaredEpsilonInsensitive(0.1)
    objective = Objective.of_arrays(X, y, loss, L2(strength), fit_intercept=False)
    model = surefit.LinearSVR(
        C=1 / (200 * strength), loss="squared_epsilon_insensitive", epsilon=0.1, fit_intercept=False
    ).fit(X, y)

    def value(w):
        left = np.maximum(np.abs(residuals(X, y, w, 0.0)) - LONG(0.1), 0)
        return (left**2).mean() + LONG(strength) / 2 * (w.astype(LONG) ** 2).sum()

    rng, best = np.random.default_rng(0), value(model.coef_)
    for size in 10.0 ** np.arange(-9, 0):
        for move in rng.normal(size=(4, 3)) * size:
            across = move - move.mean()  # the means do not see it
            for w in (model.coef_ + move, model.coef_ + across):
                gap = objective.certificate(w, 1e-6).parts["gap"]
                assert value(w) - best <= gap + 1e-12 * objective.scale
