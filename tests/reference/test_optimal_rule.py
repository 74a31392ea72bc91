"""The best classifier of a known distribution, thresholds and boundaries: the numbers of the courses."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

import surefit
from surefit.distributions import MultivariateNormal, Normal

RULE = surefit.OptimalRule.of_posterior([0.2, 0.3, 0.5], [0.9, 0.5, 0.2])
RISKS = {
    "000": 0.43,
    "001": 0.73,
    "010": 0.43,
    "011": 0.73,
    "100": 0.27,
    "101": 0.57,
    "110": 0.27,
    "111": 0.57,
}


@pytest.mark.covers("intro_to_ml:2.1", by="plug_in_rule")
def test_the_threshold_is_strict() -> None:
    assert surefit.plug_in_rule([0.3, 0.5, 0.500001]).tolist() == [0, 0, 1]
    model = surefit.LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    chances = model.predict_proba([[0.0], [1.5], [3.0]])
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    for threshold in (0.2, 0.5, 0.9):
        assert surefit.plug_in_rule(chances, threshold).tolist() == (chances[:, 1] > threshold).tolist()


@pytest.mark.covers("intro_to_ml:2.2", by="decision_boundary")
def test_the_boundary_is_where_the_probability_is_the_threshold() -> None:
    X, y = [[1.0], [2.0], [3.0], [6.0], [8.0], [10.0]], [0, 0, 0, 1, 1, 1]
    model = surefit.GaussianNB(unbiased=True, var_smoothing=0).fit(X, y)
    for threshold in (0.5, 0.9):
        found = surefit.decision_boundary(model, [-20.0], [20.0], threshold)
        assert len(found) == 2  # quadratic
        np.testing.assert_allclose(model.predict_proba(found)[:, 1], threshold, rtol=1e-9)
    circle = surefit.decision_boundary(
        lambda rows: 1 / (1 + np.exp(4 - (rows**2).sum(axis=1))), [-3, -3], [3, 3]
    )
    np.testing.assert_allclose((circle**2).sum(axis=1), 4.0, rtol=1e-9)
    assert len(circle) > 100


@pytest.mark.covers("intro_to_ml:2.3", by="OptimalRule")
@pytest.mark.covers("cs443:12.2", by="OptimalRule")
@pytest.mark.covers("cs443:9.1", by="OptimalRule")
def test_no_hypothesis_beats_the_bayes_risk() -> None:
    assert RULE.predict([0, 1, 2]).tolist() == [1, 0, 0]
    np.testing.assert_allclose(RULE.bayes_risk(), 0.27, rtol=1e-12)
    best = RULE.predict([0, 1, 2])
    eta, share = np.array([0.9, 0.5, 0.2]), np.array([0.2, 0.3, 0.5])
    for labels in product((0, 1), repeat=3):
        risk = RULE.risk(labels)
        np.testing.assert_allclose(risk, RISKS["".join(map(str, labels))], rtol=1e-12)
        assert risk >= RULE.bayes_risk() - 1e-15
        np.testing.assert_allclose(sum(RULE.decomposition(labels)), risk, rtol=1e-12)
        h = np.array(labels)
        identity = share @ ((2 * eta - 1) * ((h == 0).astype(float) - (best == 0)))
        np.testing.assert_allclose([RULE.excess(labels), risk - 0.27], identity, atol=1e-12)


@pytest.mark.covers("intro_to_ml:2.3", by="OptimalRule")
def test_draws_come_with_their_true_posterior() -> None:
    x, y = RULE.sample(40_000, random_state=1)
    for point, eta in enumerate([0.9, 0.5, 0.2]):
        np.testing.assert_allclose(y[x == point].mean(), eta, atol=0.015)
    np.testing.assert_allclose((RULE.predict(x) != y).mean(), 0.27, atol=0.01)


@pytest.mark.covers("cs443:9.4", by="OptimalRule")
def test_two_normal_classes() -> None:
    rule = surefit.OptimalRule.of_densities([0.5, 0.5], [Normal(0.0, 1.0), Normal(2.0, 1.0)], ["a", "b"])
    np.testing.assert_allclose(rule.bayes_risk(), norm.cdf(-1.0), rtol=1e-5)
    np.testing.assert_allclose(rule.correct_probability(), norm.cdf(1.0), rtol=1e-5)
    assert rule.predict([0.99, 1.01]).tolist() == ["a", "b"]  # the midpoint of the means
    middle = surefit.decision_boundary(lambda rows: rule.predict_proba(rows[:, 0]), [-5.0], [7.0])
    np.testing.assert_allclose(middle, [[1.0]], atol=1e-9)
    careless = rule.risk(lambda x: np.where(x > 2, "b", "a"))
    np.testing.assert_allclose(careless, 0.5 * (norm.cdf(-2) + 0.5), rtol=1e-3)
    drawn, labels = rule.sample(4000, random_state=1)
    plug_in = surefit.LinearDiscriminantAnalysis().fit(drawn[:, None], labels)
    assert rule.bayes_risk() - 1e-9 <= rule.risk(plug_in) <= rule.bayes_risk() + 0.01


def test_in_the_plane_the_risk_is_estimated() -> None:
    one, two = (MultivariateNormal([m, 0.0], [[1.0, 0.0], [0.0, 1.0]]) for m in (0.0, 2.0))
    rule = surefit.OptimalRule.of_densities([0.5, 0.5], [one, two])
    np.testing.assert_allclose(rule.bayes_risk(), norm.cdf(-1.0), atol=0.003)
