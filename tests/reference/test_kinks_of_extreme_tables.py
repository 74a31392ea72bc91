"""Losses with kinks and margins on extreme weights, units and means: proved, and never above the peers."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.linear_model as sk

import surefit

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
