"""PolynomialFeatures against scikit-learn's."""

from __future__ import annotations

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
