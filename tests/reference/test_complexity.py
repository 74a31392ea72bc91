"""Effective numbers of parameters against their closed forms, and the three ways to fewer columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor

import surefit
from surefit.core.errors import DataError, ParameterError

RNG = np.random.default_rng(5)
X = RNG.standard_normal((30, 4))
Y = X @ [1.0, -2.0, 0.0, 0.5] + RNG.standard_normal(30)


def exact(model: Any, rows: np.ndarray = X) -> float:
    return surefit.effective_parameters(model, rows, Y, probes=len(Y)).value


@pytest.mark.covers("ml_for_data_science:1.5", by="effective_parameters")
def test_the_trace_of_the_hat_matrix_has_its_closed_forms() -> None:
    twice = np.column_stack([X, X[:, 0]])
    assert exact(surefit.LinearRegression()) == pytest.approx(5.0)
    assert exact(surefit.LinearRegression(), twice) == pytest.approx(5.0)  # the rank, not the columns
    d = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    for alpha in (0.1, 3.0, 100.0):
        expected = 1.0 + float(np.sum(d**2 / (d**2 + alpha)))
        assert exact(surefit.Ridge(alpha)) == pytest.approx(expected)
    for k in (1, 3, 10):
        assert exact(KNeighborsRegressor(k)) == pytest.approx(30 / k)
    assert exact(surefit.MeanRegressor()) == pytest.approx(1.0)


def test_a_tree_has_as_many_as_leaves_at_the_least() -> None:
    """Each leaf's mean follows its rows, and the splits look for the shaken targets besides."""
    model = surefit.DecisionTreeRegressor(max_depth=2)
    leaves = model.fit(X, Y).get_n_leaves()
    assert surefit.effective_parameters(model, X, Y, probes=20).value > leaves


def test_random_signs_agree_within_their_error() -> None:
    found = surefit.effective_parameters(surefit.Ridge(3.0), X, Y, probes=25)
    assert found.standard_error > 0
    assert abs(found.value - exact(surefit.Ridge(3.0))) < 4 * found.standard_error


@pytest.mark.covers("ml_for_data_science:5.1", by="PCA")
@pytest.mark.covers("ml_for_data_science:5.1", by="SelectKBest")
@pytest.mark.covers("ml_for_data_science:5.1", by="Lasso")
def test_transformation_selection_and_regularisation_each_leave_fewer_columns() -> None:
    transformed = surefit.PCA(2).fit_transform(X)
    selected = surefit.SelectKBest("f_regression", k=2).fit_transform(X, Y)
    kept = np.flatnonzero(surefit.Lasso(0.5).fit(X, Y).coef_)
    assert transformed.shape == selected.shape == (30, 2)
    assert not any((transformed[:, :1] == X).all(axis=0))  # new columns, of all the old ones
    assert {tuple(column) for column in selected.T} <= {tuple(column) for column in X.T}
    assert set(kept) == {0, 1, 3}


def test_bad_input_gets_a_sentence() -> None:
    with pytest.raises(DataError, match="at least two rows"):
        surefit.effective_parameters(surefit.Ridge(), X[:1], Y[:1])
    with pytest.raises(ParameterError, match="probes=0"):
        surefit.effective_parameters(surefit.Ridge(), X, Y, probes=0)
