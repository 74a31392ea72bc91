"""Discriminant analyses: scikit-learn's answers, for every solver, shrinkage and prior."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.discriminant_analysis as peer
from sklearn.covariance import LedoitWolf

import surefit
from surefit.core.errors import RefusalError

RNG = np.random.default_rng(0)
Y = RNG.integers(3, size=400)
MIX = RNG.normal(size=(5, 5))
X = RNG.normal(size=(400, 5)) @ MIX + np.array([[0.0] * 5, [2, 0, 1, 0, 0], [0, 2, 0, 1, 0]])[Y] + 100.0
LINEAR: list[dict[str, Any]] = [
    {},
    {"priors": [0.2, 0.3, 0.5]},
    {"n_components": 1},
    {"store_covariance": True},
    {"solver": "lsqr"},
    {"solver": "lsqr", "shrinkage": "auto"},
    {"solver": "lsqr", "shrinkage": 0.3, "priors": [0.5, 0.25, 0.25]},
    {"solver": "eigen"},
    {"solver": "eigen", "shrinkage": "auto"},
    {"solver": "eigen", "covariance_estimator": LedoitWolf()},
]
QUADRATIC: list[dict[str, Any]] = [
    {},
    {"reg_param": 0.3},
    {"priors": [0.2, 0.3, 0.5], "store_covariance": True},
    {"solver": "eigen"},
    {"solver": "eigen", "shrinkage": "auto"},
    {"solver": "eigen", "shrinkage": 0.2},
]


@pytest.mark.parametrize("options", LINEAR, ids=str)
@pytest.mark.parametrize("classes", [3, 2])
def test_linear_as_scikit_learn(options: dict[str, Any], classes: int) -> None:
    keep = classes > Y
    given = {**options, **({"priors": [0.4, 0.6]} if classes == 2 and "priors" in options else {})}
    ours = surefit.LinearDiscriminantAnalysis(**given).fit(X[keep], Y[keep])
    theirs = peer.LinearDiscriminantAnalysis(**given).fit(X[keep], Y[keep])
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-7)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-6, atol=1e-9)
    if ours.solver != "lsqr":
        np.testing.assert_allclose(
            ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-7
        )
        np.testing.assert_allclose(
            np.abs(ours.transform(X)), np.abs(theirs.transform(X)), rtol=1e-5, atol=1e-7
        )
    assert hasattr(ours, "covariance_") == hasattr(theirs, "covariance_")
    assert surefit.verify(ours, X[keep], Y[keep]).holds


@pytest.mark.parametrize("options", QUADRATIC, ids=str)
def test_quadratic_as_scikit_learn(options: dict[str, Any]) -> None:
    ours = surefit.QuadraticDiscriminantAnalysis(**options).fit(X, Y)
    theirs = peer.QuadraticDiscriminantAnalysis(**options).fit(X, Y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-8, atol=1e-8)
    for mine, its in zip(ours.scalings_, theirs.scalings_, strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-9)
    assert surefit.verify(ours, X, Y).holds


@pytest.mark.parametrize("options", [{}, {"solver": "lsqr", "shrinkage": "auto"}], ids=str)
@pytest.mark.parametrize("name", ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"])
def test_pieces_merges_and_forgotten_rows_are_one_fit(name: str, options: dict[str, Any]) -> None:
    if name.startswith("Quad") and options:
        options = {"solver": "eigen", "shrinkage": "auto"}
    make = lambda: getattr(surefit, name)(**options)  # noqa: E731
    whole = make().fit(X, Y)
    one, two = make().fit(X[:150], Y[:150]), make().fit(X[150:], Y[150:])
    merged = one.merge(two)
    np.testing.assert_allclose(merged.predict_proba(X), whole.predict_proba(X), rtol=1e-8, atol=1e-12)
    left = merged.forget(X[:100], Y[:100])
    rest = make().fit(X[100:], Y[100:])
    np.testing.assert_allclose(left.predict_proba(X), rest.predict_proba(X), rtol=1e-7, atol=1e-12)


def test_an_estimator_of_covariances_keeps_nothing_to_add_to() -> None:
    model = surefit.LinearDiscriminantAnalysis("eigen", covariance_estimator=LedoitWolf()).fit(X, Y)
    with pytest.raises(RefusalError):
        model.partial_fit(X, Y)


@pytest.mark.parametrize("attribute", ["coef_", "means_", "intercept_"])
def test_a_changed_number_is_found(attribute: str) -> None:
    model = surefit.LinearDiscriminantAnalysis().fit(X, Y)
    values = getattr(model, attribute)
    values.flat[np.argmax(np.abs(values))] *= 1.01
    assert not surefit.verify(model, X, Y).holds


@pytest.mark.covers("cs443:9.4", by="LinearDiscriminantAnalysis")
def test_equal_priors_and_variances_put_the_boundary_at_the_midpoint() -> None:
    rows, labels = np.array([[0.0], [1.0], [2.0], [6.0], [7.0], [8.0]]), [0, 0, 0, 1, 1, 1]
    model = surefit.LinearDiscriminantAnalysis().fit(rows, labels)
    np.testing.assert_allclose(-model.intercept_ / model.coef_[:, 0], [4.0], rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba([[4.0]]), [[0.5, 0.5]], rtol=1e-12)
    drawn, classes = surefit.QuadraticDiscriminantAnalysis().fit(rows, labels).sample(500, random_state=0)
    np.testing.assert_allclose(drawn[classes == 1].mean(), 7.0, atol=0.3)
