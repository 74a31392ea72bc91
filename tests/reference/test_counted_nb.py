"""Naive Bayes of counts, coins and categories: scikit-learn's answers, and the courses' numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.naive_bayes

import surefit
from surefit.core.errors import DataError, ParameterError
from surefit.models.bayes.categorical_nb import UnknownCategoryError

RNG = np.random.default_rng(0)
X = RNG.poisson([0.4, 1.0, 2.0, 3.0, 0.1], (300, 5)).astype(float)
Y = np.array(["a", "b", "c"])[RNG.integers(3, size=300)]
W = RNG.uniform(0.1, 3.0, 300)
SETTINGS: list[tuple[str, dict[str, Any]]] = [
    (name, options)
    for name in ("MultinomialNB", "BernoulliNB", "ComplementNB", "CategoricalNB")
    for options in ({}, {"alpha": 0.3}, {"fit_prior": False}, {"class_prior": [0.2, 0.3, 0.5]})
]
SETTINGS += [("BernoulliNB", {"binarize": 1.5}), ("ComplementNB", {"norm": True})]
SETTINGS += [("CategoricalNB", {"min_categories": 20}), ("MultinomialNB", {"alpha": [0.1, 1, 2, 3, 4]})]


@pytest.mark.parametrize(("name", "options"), SETTINGS, ids=str)
def test_scikit_learn_finds_the_same(name: str, options: dict[str, Any]) -> None:
    ours = getattr(surefit, name)(**options).fit(X, Y, W)
    theirs = getattr(sklearn.naive_bayes, name)(**options).fit(X, Y, W)
    for attribute in ("class_count_", "class_log_prior_"):
        np.testing.assert_allclose(getattr(ours, attribute), getattr(theirs, attribute), rtol=1e-12)
    tables = zip(ours.feature_log_prob_, theirs.feature_log_prob_, strict=True)
    for mine, its in tables:
        np.testing.assert_allclose(mine, its, rtol=1e-12)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9, atol=1e-15)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("name", ["MultinomialNB", "BernoulliNB", "ComplementNB"])
def test_sparse_rows_give_what_dense_ones_give(name: str) -> None:
    dense = getattr(surefit, name)().fit(X, Y)
    for form in (sp.csr_matrix, sp.csr_array):
        sparse = getattr(surefit, name)().fit(form(X), Y)
        np.testing.assert_array_equal(sparse.feature_count_, dense.feature_count_)
        np.testing.assert_allclose(sparse.predict_proba(form(X)), dense.predict_proba(X), rtol=1e-12)


@pytest.mark.covers("intro_to_ml:2.6", by="BernoulliNB")
@pytest.mark.covers("intro_to_ml:2.9", by="BernoulliNB")
def test_coins_by_maximum_likelihood_and_with_a_beta_prior() -> None:
    rows, labels = [[1, 0], [1, 1], [1, 1], [0, 1], [0, 0], [1, 0]], [1, 1, 1, 1, 0, 0]
    likely = surefit.BernoulliNB(alpha=0).fit(rows, labels)
    np.testing.assert_allclose(np.exp(likely.feature_log_prob_), [[0.5, 0.0], [0.75, 0.75]], rtol=1e-15)
    # The rule: log P(c) + sum x log p + (1 - x) log(1 - p); a certain column decides by itself.
    joint = likely.predict_joint_log_proba([[1, 1], [1, 0]])
    np.testing.assert_allclose(joint[:, 1], np.log([4 / 6 * 0.75**2, 4 / 6 * 0.75 * 0.25]), rtol=1e-14)
    np.testing.assert_allclose(joint[:, 0], [-np.inf, np.log(2 / 6 * 0.5)], rtol=1e-14)
    smooth = surefit.BernoulliNB(alpha=1).fit(rows, labels)  # the mean of a Beta(1, 1) prior's posterior
    np.testing.assert_allclose(np.exp(smooth.feature_log_prob_), [[0.5, 0.25], [4 / 6, 4 / 6]], rtol=1e-15)
    drawn, classes = smooth.sample(4000, random_state=0)
    np.testing.assert_allclose(drawn[classes == 1].mean(axis=0), 4 / 6, atol=0.05)


def test_nothing_is_nan_without_smoothing() -> None:
    rows, labels = np.array([[1.0, 0, 0], [2, 0, 1], [0, 1, 0]]), [0, 0, 1]
    for name in ("MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB"):
        model = getattr(surefit, name)(alpha=0.0).fit(rows, labels)
        chances = model.predict_proba([[1, 0, 0], [0, 1, 0], [1, 1, 1]])
        assert np.isfinite(chances).all(), name
        np.testing.assert_allclose(chances.sum(axis=1), 1.0)
        assert model.predict(rows).tolist() == labels, name
    # A row that no class can have produced gets the priors.
    never = surefit.MultinomialNB(alpha=0.0).fit(rows, labels).predict_proba([[1, 1, 0]])
    np.testing.assert_allclose(never, [[2 / 3, 1 / 3]])


def test_what_cannot_be_counted_is_refused() -> None:
    with pytest.raises(DataError, match="Negative values in data passed to MultinomialNB"):
        surefit.MultinomialNB().fit([[-1.0], [1.0]], [0, 1])
    with pytest.raises(DataError, match="Negative values in data passed to CategoricalNB"):
        surefit.CategoricalNB().fit([[-1.0], [1.0]], [0, 1])
    with pytest.raises(ParameterError, match="binarize=-1 is below 0"):
        surefit.BernoulliNB(binarize=-1.0).fit(sp.csr_array(np.eye(2)), [0, 1])
    model = surefit.CategoricalNB().fit([[0], [1], [1]], [0, 1, 1])
    with pytest.raises(UnknownCategoryError, match="index 5 is out of bounds for axis 1 with size 2"):
        model.predict([[5]])
    known = model.set_params(handle_unknown="ignore").predict_proba([[5]])
    np.testing.assert_allclose(known, [[1 / 3 * 1 / 3, 2 / 3 * 1 / 4]] / np.float64(1 / 9 + 1 / 6))


@pytest.mark.parametrize("name", ["MultinomialNB", "BernoulliNB", "ComplementNB", "CategoricalNB"])
def test_a_changed_table_entry_is_found(name: str) -> None:
    model = getattr(surefit, name)().fit(X, Y)
    assert surefit.verify(model, X, Y).holds
    table = model.feature_log_prob_[1]
    table.flat[np.argmax(np.abs(table))] *= 1.01
    assert not surefit.verify(model, X, Y).holds
