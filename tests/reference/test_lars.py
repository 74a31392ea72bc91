"""Exact paths against scikit-learn, the conditions of optimality, and worked numbers."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.linear_model as peer
from scipy import sparse

import surefit
from surefit import Lars, Lasso, LassoLars, LassoLarsCV, LassoLarsIC, lars_path
from surefit.core.certificate import CertificateWarning
from surefit.core.errors import ParameterError, RefusalError

SHAPES = [(60, 10), (200, 50), (30, 80), (100, 700), (40, 900)]


def planted(rows, columns, seed=0):
    rng = np.random.default_rng(seed)
    mix = np.eye(columns) + 0.3 * rng.normal(size=(columns, columns)) / np.sqrt(columns)
    X = rng.normal(size=(rows, columns)) @ mix
    return X, X[:, :5] @ np.array([3.0, -2.0, 1.5, 1.0, -0.5]) + rng.normal(size=rows)


def centred(X, y):
    return X - X.mean(axis=0), y - y.mean()


def violation(X, y, w, alpha, positive=False):
    """How far coefficients are from the conditions of optimality, in units of the largest slope at zero."""
    slopes = X.T @ (y - X @ w) / len(y)
    on = w != 0
    off = np.abs(slopes[on] - alpha * np.sign(w[on])).max(initial=0.0)
    beyond = ((slopes if positive else np.abs(slopes)) - alpha).max(initial=0.0)
    wrong = max(0.0, -w.min(initial=0.0)) if positive else 0.0
    return max(off, beyond, wrong) / np.abs(X.T @ y / len(y)).max()


@pytest.mark.parametrize(("rows", "columns"), SHAPES)
@pytest.mark.parametrize("gram", ["auto", None])
def test_knots_are_scikit_learns(rows, columns, gram):
    X, y = centred(*planted(rows, columns))
    theirs = peer.lars_path(X, y, method="lasso", max_iter=10**4, alpha_min=1e-2)
    ours = lars_path(X, y, Gram=gram, method="lasso", max_iter=10**4, alpha_min=1e-2, return_n_iter=True)
    np.testing.assert_allclose(ours[0], theirs[0], atol=1e-9)
    np.testing.assert_allclose(ours[2], theirs[2], atol=1e-9)
    assert ours[3] == len(theirs[0]) - 1
    assert set(ours[1]) == set(np.flatnonzero(ours[2][:, -1]))


@pytest.mark.parametrize(("rows", "columns"), SHAPES)
@pytest.mark.parametrize("positive", [False, True])
def test_every_knot_and_every_midpoint_is_optimal(rows, columns, positive):
    X, y = centred(*planted(rows, columns))
    alphas, _, coefs = lars_path(X, y, method="lasso", max_iter=10**4, positive=positive)
    assert (np.diff(alphas) < 0).all()
    assert alphas[-1] == 0
    for k in range(len(alphas)):
        assert violation(X, y, coefs[:, k], alphas[k], positive) < 1e-11
    for k in range(len(alphas) - 1):
        middle, alpha = (coefs[:, k] + coefs[:, k + 1]) / 2, (alphas[k] + alphas[k + 1]) / 2
        assert violation(X, y, middle, alpha, positive) < 1e-11


@pytest.mark.parametrize(("rows", "columns"), SHAPES[:3])
def test_least_angles_are_equal_at_every_knot(rows, columns):
    X, y = centred(*planted(rows, columns))
    alphas, active, coefs = lars_path(X, y, method="lar", max_iter=10**4)
    for k, alpha in enumerate(alphas):
        slopes = np.abs(X.T @ (y - X @ coefs[:, k]) / rows)
        assert slopes.max() <= alpha + 1e-11 * alphas[0]
        np.testing.assert_allclose(slopes[coefs[:, k] != 0], alpha, atol=1e-11 * alphas[0])
    assert len(active) == min(columns, rows - 1)
    if columns < rows:
        np.testing.assert_allclose(coefs[:, -1], np.linalg.lstsq(X, y)[0], atol=1e-11)


def test_least_angles_are_scikit_learns_while_no_coefficient_passes_zero():
    X, y = centred(*planted(60, 10))
    theirs = peer.lars_path(X, y, method="lar")
    ours = lars_path(X, y, method="lar")
    np.testing.assert_allclose(ours[0], theirs[0], atol=1e-9)
    np.testing.assert_allclose(ours[2], theirs[2], atol=1e-9)
    assert ours[1] == list(theirs[1])


@pytest.mark.parametrize(("rows", "columns"), SHAPES[:3])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("targets", [1, 2])
def test_lasso_lars_is_scikit_learns(rows, columns, fit_intercept, targets):
    X, y = planted(rows, columns)
    Y = y + 5 if targets == 1 else np.column_stack([y + 5, X[:, 0] - y])
    ours = LassoLars(alpha=0.1, fit_intercept=fit_intercept).fit(X + 2, Y)
    theirs = peer.LassoLars(alpha=0.1, fit_intercept=fit_intercept).fit(X + 2, Y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-9)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-9)
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.active_ == theirs.active_
    mine, its = (m.alphas_ if targets == 2 else [m.alphas_] for m in (ours, theirs))
    for one, two in zip(mine, its, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-9)
    mine, its = (m.coef_path_ if targets == 2 else [m.coef_path_] for m in (ours, theirs))
    for one, two in zip(mine, its, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-9)
    assert ours.certificate_.holds


def test_lars_is_scikit_learns():
    X, y = planted(60, 10)
    for count in (1, 4, 500):
        ours, theirs = Lars(n_nonzero_coefs=count).fit(X, y), peer.Lars(n_nonzero_coefs=count).fit(X, y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-9)
        assert ours.active_ == theirs.active_
        assert ours.n_iter_ == theirs.n_iter_
        assert ours.certificate_.holds


@pytest.mark.parametrize("criterion", ["aic", "bic"])
@pytest.mark.parametrize("noise", [None, 0.7])
def test_information_criteria_are_scikit_learns(criterion, noise):
    X, y = planted(200, 20)
    ours = LassoLarsIC(criterion, noise_variance=noise).fit(X, y)
    theirs = peer.LassoLarsIC(criterion, noise_variance=noise).fit(X, y)
    for name in ("criterion_", "alphas_", "alpha_", "coef_", "intercept_", "noise_variance_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-8, atol=1e-9)
    assert ours.certificate_.holds


def test_an_information_criterion_for_fewer_rows_than_columns_needs_the_noise():
    X, y = planted(30, 80)
    with pytest.raises(ValueError, match="give noise_variance"):
        LassoLarsIC().fit(X, y)
    ours = LassoLarsIC(noise_variance=1.0).fit(X, y)
    theirs = peer.LassoLarsIC(noise_variance=1.0).fit(X, y)
    assert ours.alpha_ == pytest.approx(theirs.alpha_, rel=1e-9)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-9)


@pytest.mark.parametrize(("rows", "columns"), [(60, 10), (40, 60)])
def test_the_strength_by_cross_validation_is_scikit_learns(rows, columns):
    X, y = planted(rows, columns)
    ours, theirs = LassoLarsCV(cv=4).fit(X, y), peer.LassoLarsCV(cv=4).fit(X, y)
    assert ours.alpha_ == pytest.approx(theirs.alpha_, rel=1e-8)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)
    best = ours.mse_path_.mean(axis=1).min()
    assert best == pytest.approx(theirs.mse_path_.mean(axis=1).min(), rel=1e-8)
    if rows > columns:  # else theirs also lists knots that are rounding around zero
        np.testing.assert_allclose(ours.cv_alphas_, theirs.cv_alphas_, atol=1e-9)
        np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-8)


@pytest.mark.covers("intro_to_ml:4.11", by="LassoLars")
def test_orthogonal_columns_are_soft_thresholded():
    X = np.linalg.qr(np.random.default_rng(0).normal(size=(20, 5)))[0]
    y = np.random.default_rng(1).normal(size=20)
    pull = X.T @ y
    for strength in (0.05, 0.3, np.abs(pull).max()):
        model = LassoLars(alpha=strength / 20, fit_intercept=False).fit(X, y)
        expected = np.sign(pull) * np.maximum(np.abs(pull) - strength, 0)
        np.testing.assert_allclose(model.coef_, expected, atol=1e-14)
    path = LassoLars(alpha=0.0, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(20 * path.alphas_[:-1], np.sort(np.abs(pull))[::-1], atol=1e-14)


def test_any_strength_between_knots_is_the_lassos():
    X, y = planted(60, 10)
    model = LassoLars(alpha=0.01).fit(X, y)
    for alpha in (0.02, 0.1, 1.0, 50.0):
        fine = Lasso(alpha=alpha, tol=1e-10).fit(X, y)
        np.testing.assert_allclose(model.coef_at(alpha), fine.coef_, atol=1e-7)
    with pytest.raises(ParameterError, match="where the path ends"):
        model.coef_at(0.005)
    with pytest.raises(RefusalError, match="fit_path=True"):
        LassoLars(alpha=0.1, fit_path=False).fit(X, y).coef_at(0.2)


def test_a_path_cut_short_is_told():
    X, y = planted(60, 10)
    with pytest.warns(CertificateWarning, match="LassoLars"):
        model = LassoLars(alpha=0.001, max_iter=2).fit(X, y)
    assert model.n_iter_ == 2
    assert not surefit.verify(model, X, y).holds


@pytest.mark.parametrize("form", ["csr", "csc", "float32", "fortran", "strided", "read-only", "table"])
def test_other_forms_of_the_same_rows(form, tmp_path):
    X, y = planted(60, 10)
    X = X.astype(np.float32).astype(np.float64)
    X[X < 0] = 0.0
    expected = LassoLars(alpha=0.05).fit(X, y)
    other = {
        "csr": lambda: sparse.csr_array(X),
        "csc": lambda: sparse.csc_matrix(X),
        "float32": lambda: X.astype(np.float32),
        "fortran": lambda: np.asfortranarray(X),
        "strided": lambda: np.repeat(X, 2, axis=1)[:, ::2],
        "read-only": lambda: _read_only(X),
        "table": lambda: surefit.read(_arrow(X, y), target="y"),
    }[form]()
    model = LassoLars(alpha=0.05).fit(other, None if form == "table" else y)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-12)
    np.testing.assert_allclose(model.alphas_, expected.alphas_, atol=1e-12)
    wide = LassoLars(alpha=0.05).fit(sparse.csr_array(X[:8]), y[:8])
    np.testing.assert_allclose(wide.coef_, LassoLars(alpha=0.05).fit(X[:8], y[:8]).coef_, atol=1e-12)


def _read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def _arrow(X, y):
    import pyarrow as pa

    return pa.table({**{f"x{j}": column for j, column in enumerate(X.T)}, "y": y})


@pytest.mark.parametrize("model", [LassoLars(alpha=0.05), Lars(), LassoLarsIC()])
def test_batches_give_the_same_path(model):
    pytest.importorskip("dask")
    import dask.array as da

    X, y = planted(120, 8)
    whole = model.fit(X, y).coef_.copy()
    pieces = model.fit(da.from_array(X, chunks=(37, 8)), da.from_array(y, chunks=37))
    np.testing.assert_allclose(pieces.coef_, whole, atol=1e-12)
