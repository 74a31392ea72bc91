"""Support vector machines of all classes at once, against liblinear, a programme, and their own proof."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm as peers
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning

import surefit
from surefit import LinearSVC, optimize
from surefit.core.certificate import CertificateWarning
from surefit.core.errors import DataError
from surefit.core.native.linear.class_dual_cd import class_dual_cd, class_dual_cd_twin

IRIS = load_iris(return_X_y=True)


def joint(**options):
    return LinearSVC(multi_class="crammer_singer", **options)


def objective(model, X, y, s):
    """Half the squares and C times the hinges; of two classes, those of both halves of their difference."""
    bias = np.ravel(model.intercept_) if model.fit_intercept else np.zeros(len(model.coef_))
    W = np.column_stack([model.coef_, bias / model.intercept_scaling])
    if len(W) == 1:
        W = np.vstack([-W / 2, W / 2])
    scores = np.column_stack([X, np.full(len(X), float(model.intercept_scaling))]) @ W.T
    margins = scores - scores[np.arange(len(y)), y][:, None] + 1
    margins[np.arange(len(y)), y] = 0
    return 0.5 * (W**2).sum() + model.C * s @ margins.max(axis=1)


@pytest.mark.parametrize("options", [{}, {"C": 0.01}, {"C": 20.0, "intercept_scaling": 3.0}], ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_objective_is_never_above_liblinears(options, classes):
    X, y = IRIS
    X, y = X[y < classes], y[y < classes]
    s = np.random.default_rng(0).uniform(0.0, 2.0, len(y))
    for weight in (np.ones(len(y)), s):
        ours = joint(**options).fit(X, y, weight)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            theirs = peers.LinearSVC(multi_class="crammer_singer", tol=1e-8, max_iter=100_000, **options)
            theirs.fit(X, y, weight)
        assert ours.coef_.shape == theirs.coef_.shape
        assert objective(ours, X, y, weight) <= objective(theirs, X, y, weight) * (1 + 1e-5)
        assert ours.certificate_.holds
        again = surefit.verify(ours, X, y, weight)
        assert again.holds
        assert again.value <= ours.certificate_.value * (1 + 1e-6) + 1e-12


def test_a_quadratic_programme_has_the_same_minimum():
    X, y = IRIS
    X, y = X[::6], y[::6]
    n, p, k = len(y), X.shape[1] + 1, 3
    rows = np.column_stack([X, np.ones(n)])
    A, b = [], []
    for i in range(n):
        for c in set(range(k)) - {y[i]}:
            line = np.zeros(k * p + n)
            line[c * p : (c + 1) * p], line[y[i] * p : (y[i] + 1) * p] = rows[i], -rows[i]
            line[k * p + i] = -1
            A.append(line)
            b.append(-1.0)
    Q = np.diag(np.append(np.ones(k * p), np.zeros(n)))
    cost = np.append(np.zeros(k * p), np.ones(n))
    bounds = [(None, None)] * (k * p) + [(0, None)] * n
    found = optimize.quadratic_program(Q, cost, A, b, bounds=bounds)
    model = joint(tol=1e-8).fit(X, y)
    assert objective(model, X, y, np.ones(n)) == pytest.approx(found.value, rel=1e-8)
    np.testing.assert_allclose(model.coef_.ravel(), found.x[: k * p].reshape(k, p)[:, :-1].ravel(), atol=1e-4)


def test_weight_equals_repetition_and_rows_come_in_any_form():
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    times = np.random.default_rng(1).integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), times)
    one = joint(tol=1e-10).fit(X, y, times.astype(float))
    two = joint(tol=1e-10).fit(X[rows], y[rows])
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-5)
    plain = joint(tol=1e-10).fit(X, y)
    for form in (sp.csr_array(X), sp.csr_matrix(X), np.asfortranarray(X), X.tolist()):
        np.testing.assert_allclose(joint(tol=1e-10).fit(form, y).coef_, plain.coef_, atol=1e-5)
    np.testing.assert_allclose(joint().fit(X.astype(np.float32), y).coef_, plain.coef_, atol=1e-2)
    balanced = joint(class_weight="balanced", tol=1e-10).fit(X, y)
    factors = len(y) / (3 * np.bincount(y))
    np.testing.assert_allclose(balanced.coef_, joint(tol=1e-10).fit(X, y, factors[y]).coef_, atol=1e-5)


def test_the_proof_is_kept_in_the_file_and_catches_changes(tmp_path):
    X, y = IRIS
    model = joint().fit(X, y)
    surefit.save(model, tmp_path / "model")
    assert surefit.verify(tmp_path / "model", X, y).holds
    other = y.copy()
    other[70] = 0
    assert not surefit.verify(model, X, other).holds
    assert not surefit.verify(model, X, y, np.linspace(0.5, 1.5, len(y))).holds
    with pytest.raises(DataError, match="other rows"):
        surefit.verify(model, X[1:], y[1:])
    model.coef_[0, 0] += 0.05
    assert not surefit.verify(model, X, y).holds


def test_a_fit_that_is_cut_short_says_so():
    X, y = IRIS
    with pytest.warns(CertificateWarning, match="NOT within"):
        joint(max_iter=1, C=1000.0).fit(X, y)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_tables_in_other_units_are_proved(scale):
    X, y = IRIS
    X = np.column_stack([scale * X, np.zeros(len(y)), scale * X[:, 0]])
    model = joint(C=1 / scale**2, intercept_scaling=scale).fit(X, y)
    assert surefit.verify(model, X, y).holds
    assert model.score(X, y) > 0.9


def test_the_kernel_and_its_twin_end_at_the_same_slopes():
    rng = np.random.default_rng(0)
    X, y, cost = rng.normal(size=(25, 3)), rng.integers(4, size=25), rng.uniform(0, 2, 25)
    cost[4] = 0.0
    X[7] = 0.0
    found = []
    for run in (class_dual_cd, class_dual_cd_twin):
        a, w = np.zeros((25, 4)), np.zeros((4, 3))
        epochs, moved = run(X, y, cost, a, w, tolerance=1e-13, most=20_000)
        assert epochs < 20_000
        assert moved <= 1e-13
        np.testing.assert_allclose(a.T @ X, w, atol=1e-9)
        found.append(w)
    np.testing.assert_allclose(found[0], found[1], atol=1e-9)
