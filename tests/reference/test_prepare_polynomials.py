"""PolynomialFeatures against scikit-learn's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse
from sklearn import preprocessing

import surefit
from surefit.core.errors import ParameterError

X = np.random.default_rng(0).normal(size=(30, 4))


@pytest.mark.parametrize("degree", [0, 1, 2, 3, (0, 2), (2, 3), (3, 3)])
@pytest.mark.parametrize("interaction_only", [True, False])
@pytest.mark.parametrize("include_bias", [True, False])
@pytest.mark.parametrize("form", ["dense", "sparse", "float32"])
def test_polynomial_features(degree, interaction_only, include_bias, form):
    if degree == 0 and not include_bias:
        with pytest.raises(ParameterError, match="empty output"):
            surefit.PolynomialFeatures(degree, include_bias=False).fit(X)
        return
    arguments = {"interaction_only": interaction_only, "include_bias": include_bias}
    rows = {"dense": X, "sparse": sparse.csr_array(X * (X > 0)), "float32": X.astype(np.float32)}[form]
    ours = surefit.PolynomialFeatures(degree, **arguments).fit(rows)
    theirs = preprocessing.PolynomialFeatures(degree, **arguments).fit(rows)
    np.testing.assert_array_equal(ours.powers_, theirs.powers_)
    assert ours.n_output_features_ == theirs.n_output_features_
    Z, expected = ours.transform(rows), theirs.transform(rows)
    assert Z.dtype == expected.dtype
    if form == "sparse":
        Z, expected = Z.toarray(), expected.toarray()
    np.testing.assert_allclose(Z, expected, rtol=1e-5 if form == "float32" else 1e-12, atol=1e-15)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    assert surefit.verify(ours, rows).holds


def test_memory_order_and_names():
    model = surefit.PolynomialFeatures(2, order="F").fit(X)
    assert model.transform(X).flags.f_contiguous
    assert surefit.PolynomialFeatures(2).fit(X).transform(X).flags.c_contiguous
    assert model.get_feature_names_out(["a", "b", "c", "d"])[-2:].tolist() == ["c d", "d^2"]
    with pytest.raises(ParameterError, match="lower one first"):
        surefit.PolynomialFeatures((3, 2)).fit(X)


@pytest.mark.covers("intro_to_ml:4.6", by="PolynomialFeatures")
def test_the_monomials_of_two_numbers():
    """phi(2, 3) of degree 2 is 1, 2, 3, 4, 6, 9; d columns have C(d + p, p) monomials up to degree p."""
    assert surefit.PolynomialFeatures(2).fit_transform([[2.0, 3.0]]).tolist() == [[1, 2, 3, 4, 6, 9]]
    for columns, degree in ((2, 2), (4, 3), (3, 5)):
        model = surefit.PolynomialFeatures(degree).fit(np.zeros((1, columns)))
        assert model.n_output_features_ == math.comb(columns + degree, degree)


@pytest.mark.covers("cs443:6.1", by="PolynomialFeatures")
def test_one_column_gives_vandermonde_rows_and_two_let_a_line_be_an_ellipse():
    x = np.linspace(-1, 1, 7)
    rows = surefit.PolynomialFeatures(4).fit_transform(x[:, None])
    np.testing.assert_allclose(rows, np.vander(x, 5, increasing=True), rtol=1e-12)
    plane = np.random.default_rng(1).uniform(-2, 2, (200, 2))
    inside = plane[:, 0] ** 2 / 2 + plane[:, 1] ** 2 < 1
    features = surefit.PolynomialFeatures(2).fit(plane)
    weights = {"1": 1.0, "x0^2": -0.5, "x1^2": -1.0}
    w = np.array([weights.get(name, 0.0) for name in features.get_feature_names_out()])
    np.testing.assert_array_equal(features.transform(plane) @ w > 0, inside)


def test_sparse_columns_stay_columns_and_too_many_products_are_refused():
    X = sparse.csc_array(np.eye(4))
    found = surefit.PolynomialFeatures(2).fit_transform(X)
    assert found.format == "csc"
    np.testing.assert_array_equal(found.toarray(), surefit.PolynomialFeatures(2).fit_transform(np.eye(4)))
    nothing = surefit.PolynomialFeatures((2, 2), interaction_only=True, include_bias=False)
    assert nothing.fit_transform(sparse.csr_array(np.ones((3, 1)))).shape == (3, 0)
    wide = sparse.csr_array((1, 100_000))
    with pytest.raises(ParameterError, match="choose a lower degree"):
        surefit.PolynomialFeatures(2).fit(wide)
    with pytest.raises(ParameterError, match="too large to be indexed"):
        surefit.PolynomialFeatures(9).fit(wide)
