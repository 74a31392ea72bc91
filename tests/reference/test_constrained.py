"""The constrained forms of lasso and ridge: worked numbers, a general solver, and other forms of the rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import surefit
from surefit import ConstrainedLasso, ConstrainedRidge, Lasso, LinearRegression, Ridge

SMALL = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
FOUR = np.array([1.0, 2.0, 3.0, 4.0])


def planted(rows, columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    return X, X[:, :3] @ np.array([3.0, -2.0, 1.0]) + rng.normal(size=rows)


@pytest.mark.covers("ml_for_data_science:5.3.2", by="ConstrainedRidge")
def test_ridge_in_a_ball_is_the_worked_example():
    """min ||Xb - y||^2 s.t. ||b||^2 <= c: with c that of ridge at 0.5, the multiplier is 0.5."""
    ridge = Ridge(alpha=0.5, fit_intercept=False).fit(SMALL, FOUR)
    np.testing.assert_allclose(ridge.coef_, [1.0909090909, 1.6363636364], atol=1e-10)
    squares = float(ridge.coef_ @ ridge.coef_)
    assert squares == pytest.approx(3.8677685950, abs=1e-9)
    model = ConstrainedRidge(radius=np.sqrt(squares), fit_intercept=False).fit(SMALL, FOUR)
    np.testing.assert_allclose(model.coef_, ridge.coef_, atol=1e-12)
    assert model.alpha_ == pytest.approx(0.5, rel=1e-10)


@pytest.mark.covers("ml_for_data_science:5.3.2", by="ConstrainedLasso")
@pytest.mark.parametrize("cls", [ConstrainedLasso, ConstrainedRidge])
def test_a_constraint_that_does_not_bind_gives_least_squares(cls):
    free = LinearRegression(fit_intercept=False).fit(SMALL, FOUR).coef_
    size = np.abs(free).sum() if cls is ConstrainedLasso else np.linalg.norm(free)
    for factor in (1.0 + 1e-9, 10.0, 1e6):
        model = cls(radius=float(factor * size), fit_intercept=False).fit(SMALL, FOUR)
        np.testing.assert_allclose(model.coef_, free, atol=1e-12)
        assert (model.alpha_, model.multiplier_) == (0.0, 0.0)
        assert model.certificate_.holds


@pytest.mark.covers("intro_to_ml:4.11", by="ConstrainedLasso")
def test_each_bound_has_an_equivalent_strength():
    X, y = planted(50, 6)
    for radius in (0.5, 2.0, 4.0):
        model = ConstrainedLasso(radius=radius).fit(X, y)
        same = Lasso(alpha=model.alpha_, tol=1e-10).fit(X, y)
        np.testing.assert_allclose(model.coef_, same.coef_, atol=1e-7)
        assert model.intercept_ == pytest.approx(same.intercept_, abs=1e-7)


@pytest.mark.parametrize(("rows", "columns"), [(50, 6), (8, 20)])
@pytest.mark.parametrize("cls", [ConstrainedLasso, ConstrainedRidge])
def test_a_general_solver_finds_nothing_better(rows, columns, cls):
    cvxpy = pytest.importorskip("cvxpy")
    X, y = planted(rows, columns)
    w, b = cvxpy.Variable(columns), cvxpy.Variable()
    norm = cvxpy.norm1(w) if cls is ConstrainedLasso else cvxpy.norm2(w)
    loss = cvxpy.sum_squares(y - X @ w - b) / (2 * rows)
    problem = cvxpy.Problem(cvxpy.Minimize(loss), [norm <= 1.5])
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    model = cls(radius=1.5).fit(X, y)
    ours = 0.5 * np.mean((y - model.predict(X)) ** 2)
    assert ours == pytest.approx(problem.value, rel=1e-8)
    np.testing.assert_allclose(model.coef_, w.value, atol=1e-5)
    assert model.multiplier_ == pytest.approx(float(problem.constraints[0].dual_value), rel=1e-5)


@pytest.mark.parametrize("cls", [ConstrainedLasso, ConstrainedRidge])
@pytest.mark.parametrize(("rows", "columns"), [(50, 6), (8, 20)])
def test_other_forms_of_the_same_rows(cls, rows, columns):
    import pyarrow as pa

    X, y = planted(rows, columns)
    X = np.round(X, 1)
    expected = cls(radius=1.5).fit(X, y).coef_
    read_only = X.copy()
    read_only.flags.writeable = False
    for form in (np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], sparse.csr_array(X), read_only):
        np.testing.assert_allclose(cls(radius=1.5).fit(form, y).coef_, expected, atol=1e-12)
    table = pa.table({**{f"x{j}": column for j, column in enumerate(X.T)}, "y": y})
    model = cls(radius=1.5).fit(surefit.read(table, target="y"))
    np.testing.assert_allclose(model.coef_, expected, atol=1e-9)
    assert model.certificate_.holds
