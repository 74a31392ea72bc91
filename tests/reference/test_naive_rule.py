"""Bayes' rule over independent columns of any distributions, against plain products and scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats
from sklearn import naive_bayes

from surefit import GaussianNB, NaiveRule
from surefit.core.errors import DataError, ParameterError
from surefit.data.datasets.fixtures.base import fixture
from surefit.distributions import Bernoulli, Normal


@dataclass
class Bell:
    mean: float
    variance: float

    @classmethod
    def fit(cls, x, sample_weight=None):
        mean = np.average(x, weights=sample_weight)
        return cls(mean, np.average((x - mean) ** 2, weights=sample_weight))

    def log_density(self, x):
        return stats.norm.logpdf(x, self.mean, np.sqrt(self.variance))


@dataclass
class Coin:
    heads: float

    @classmethod
    def fit(cls, x, sample_weight=None):  # one imaginary head and tail, as scikit-learn adds them
        return cls((np.sum(x * sample_weight) + 1) / (np.sum(sample_weight) + 2))

    def log_density(self, x):
        with np.errstate(divide="ignore"):
            return np.log(np.where(x == 1, self.heads, 1 - self.heads))


rng = np.random.default_rng(0)
y = rng.integers(3, size=300)
REAL = rng.normal(size=(300, 4)) * (1 + y[:, None]) + y[:, None]
BITS = (rng.uniform(size=(300, 5)) < 0.2 + 0.2 * y[:, None]).astype(float)


@pytest.mark.covers("intro_to_ml:2.4", by="NaiveRule")
def test_the_product_of_densities_and_the_sum_of_their_logarithms_choose_alike():
    X = np.hstack([REAL, BITS])
    rule = NaiveRule.fit(X, y, [Bell] * 4 + [Coin] * 5)
    product = np.array(
        [
            [
                prior
                * np.prod([np.exp(column.log_density(x)) for column, x in zip(columns, row, strict=True)])
                for prior, columns in zip(rule.prior, rule.densities, strict=True)
            ]
            for row in X[:50]
        ]
    )
    np.testing.assert_array_equal(rule.predict(X[:50]), rule.classes[product.argmax(axis=1)])
    np.testing.assert_allclose(np.exp(rule.predict_joint_log_proba(X[:50])), product, rtol=1e-10)
    share = product / product.sum(axis=1, keepdims=True)  # dividing by P(x) changes no choice
    np.testing.assert_allclose(rule.predict_proba(X[:50]), share, rtol=1e-10)
    np.testing.assert_allclose(rule.prior, np.bincount(y) / 300)


@pytest.mark.covers("intro_to_ml:2.4", by="NaiveRule")
def test_one_family_for_all_columns_gives_the_classifiers_that_have_names():
    weight = rng.integers(0, 4, 300).astype(float)
    bells = NaiveRule.fit(REAL, y, Bell, weight)
    model = GaussianNB(var_smoothing=0).fit(REAL, y, weight)
    np.testing.assert_allclose(bells.predict_log_proba(REAL), model.predict_log_proba(REAL), rtol=1e-9)
    coins = NaiveRule.fit(BITS, y, Coin, weight)
    theirs = naive_bayes.BernoulliNB().fit(BITS, y, weight)
    np.testing.assert_allclose(coins.predict_log_proba(BITS), theirs.predict_log_proba(BITS), rtol=1e-10)
    worked = fixture("normal_classes")
    known = [[Bell(m, v)] for m, v in zip(worked.answers["means"], worked.answers["variances"], strict=True)]
    rule = NaiveRule([0, 1], [0.5, 0.5], known)
    np.testing.assert_allclose(
        rule.predict_proba(worked.data["queries"])[:, 1], worked.answers["class_1"], atol=5e-11
    )


def test_the_library_s_own_distributions_are_families():
    X = np.hstack([REAL, BITS])
    rule = NaiveRule.fit(X, y, [Normal] * 4 + [Bernoulli] * 5)
    for c in range(3):
        np.testing.assert_allclose(rule.densities[c][0].mean, REAL[y == c, 0].mean())
        np.testing.assert_allclose(rule.densities[c][4].mean, BITS[y == c, 0].mean())
    bells = NaiveRule.fit(REAL, y, Normal).predict_log_proba(REAL)
    np.testing.assert_allclose(bells, NaiveRule.fit(REAL, y, Bell).predict_log_proba(REAL), rtol=1e-9)


def test_a_thousand_columns_do_not_vanish():
    X = rng.normal(size=(20, 1000))
    rule = NaiveRule(["a", "b"], [0.5, 0.5], [[Bell(0.0, 1.0)] * 1000, [Bell(0.1, 1.0)] * 1000])
    assert (np.exp(rule.predict_joint_log_proba(X)) == 0).all()  # the products themselves do
    odds = (0.1 * X - 0.005).sum(axis=1)
    np.testing.assert_allclose(np.diff(rule.predict_log_proba(X), axis=1)[:, 0], odds, rtol=1e-9, atol=1e-9)


def test_ties_rows_that_cannot_be_and_classes_without_weight():
    even = NaiveRule(["a", "b"], [0.5, 0.5], [[Coin(0.5)], [Coin(0.5)]])
    assert even.predict([[1.0]]).tolist() == ["a"]
    sure = NaiveRule(["a", "b"], [0.25, 0.75], [[Coin(0.0)], [Coin(0.0)]])
    np.testing.assert_allclose(sure.predict_proba([[1.0], [0.0]]), [[0.25, 0.75]] * 2)
    never = NaiveRule(["a", "b"], [0.0, 1.0], [[Coin(0.9)], [Coin(0.1)]])
    np.testing.assert_array_equal(never.predict_proba([[1.0]]), [[0.0, 1.0]])
    fitted = NaiveRule.fit([[1.0], [0.0], [1.0]], ["a", "b", "c"], Coin, sample_weight=[1.0, 3.0, 0.0])
    assert fitted.classes.tolist() == ["a", "b"]
    assert fitted.prior.tolist() == [0.25, 0.75]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: NaiveRule(["a", "b"], [0.5, 0.6], [[], []]), ParameterError, "1 in all"),
        (lambda: NaiveRule(["a", "b"], [1.5, -0.5], [[], []]), ParameterError, "at least 0"),
        (lambda: NaiveRule(["a"], [0.5, 0.5], [[], []]), ParameterError, "one of each a class"),
        (lambda: NaiveRule(["a", "b"], [0.5, 0.5], [[Coin(0.5)], []]), ParameterError, "one a column"),
        (lambda: NaiveRule.fit(BITS, y, [Coin]), ParameterError, "1 families for 5 columns"),
        (lambda: NaiveRule.fit(BITS, y[:3], Coin), DataError, "one label a row"),
        (lambda: NaiveRule.fit(BITS[0], y, Coin), DataError, "rows and columns"),
        (lambda: NaiveRule.fit(BITS, y, Coin).predict(BITS[:, :2]), DataError, "distributions of 5"),
        (lambda: NaiveRule.fit(BITS, y, Coin, -np.ones(300)), DataError, "sample_weight"),
    ],
    ids=["too much", "negative", "classes", "columns", "families", "labels", "a row", "narrow", "weights"],
)
def test_what_does_not_fit_is_said(make, error, message):
    with pytest.raises(error, match=message):
        make()
