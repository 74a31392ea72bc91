"""Kernel models against scikit-learn, brute force and the worked numbers of the courses."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.decomposition
import sklearn.gaussian_process
import sklearn.kernel_ridge
from scipy import sparse
from scipy.optimize import approx_fprime

import surefit
from surefit import (
    PCA,
    GaussianProcessRegressor,
    KernelLogisticRegression,
    KernelPCA,
    KernelRidge,
    LogisticRegression,
    Nystroem,
    RBFSampler,
    Ridge,
)
from surefit.core.errors import DataError, FormatError, ParameterError, RefusalError
from surefit.kernels import RBF, FromFunction, Linear, Polynomial, Quadratic, Spectrum, WhiteKernel
from surefit.solvers.linalg.positive_solve import solve_positive

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * RNG.normal(size=80)
LABELS = (Y > 0).astype(int)
NEW = RNG.normal(size=(20, 3))
XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
STRINGS = ["banana", "bandana", "canal", "dog", "dig", "digs"]


@pytest.mark.covers("intro_to_ml:4.15", by="KernelRidge")
def test_kernel_ridge_of_two_points():
    model = KernelRidge(alpha=1.0).fit([[1.0], [2.0]], [1.0, 2.0])
    np.testing.assert_allclose(model.dual_coef_, [1 / 6, 1 / 3], rtol=1e-12)
    weight = model.dual_coef_ @ model.X_fit_
    assert weight == pytest.approx(5 / 6)
    primal = Ridge(alpha=1.0, fit_intercept=False).fit([[1.0], [2.0]], [1.0, 2.0])
    np.testing.assert_allclose(primal.coef_, weight, rtol=1e-12)


@pytest.mark.covers("intro_to_ml:4.15", by="KernelRidge")
def test_dual_and_primal_agree_and_the_kernel_may_be_a_function_or_a_matrix():
    phi = Polynomial(degree=2).features(X)
    dual = KernelRidge(alpha=0.3, kernel=Polynomial(degree=2)).fit(X, Y)
    primal = Ridge(alpha=0.3, fit_intercept=False).fit(phi, Y)
    expected = primal.predict(Polynomial(degree=2).features(NEW))
    np.testing.assert_allclose(dual.predict(NEW), expected, rtol=1e-9)
    called = KernelRidge(alpha=0.3, kernel=lambda x, y: float(x @ y + 1) ** 2).fit(X, Y)
    np.testing.assert_allclose(called.predict(NEW), expected, rtol=1e-9)
    given = KernelRidge(alpha=0.3, kernel="precomputed").fit((X @ X.T + 1) ** 2, Y)
    np.testing.assert_allclose(given.predict((NEW @ X.T + 1) ** 2), expected, rtol=1e-9)
    # A constant in the kernel is the weight of a constant column.
    offset = KernelRidge(alpha=0.3, kernel=Linear() + 1).fit(X, Y).predict(NEW)
    column = Ridge(alpha=0.3, fit_intercept=False).fit(np.c_[-np.ones(80), X], Y)
    np.testing.assert_allclose(offset, column.predict(np.c_[-np.ones(20), NEW]), rtol=1e-10)


@pytest.mark.covers("intro_to_ml:4.15", by="KernelRidge")
def test_without_a_penalty_the_answer_is_that_of_the_pseudo_inverse():
    model = KernelRidge(alpha=0.0).fit(X, Y)
    expected = np.linalg.lstsq(X, Y, rcond=None)[0]
    np.testing.assert_allclose(model.predict(NEW), NEW @ expected, rtol=1e-9)
    np.testing.assert_allclose(model.dual_coef_, np.linalg.pinv(X @ X.T) @ Y, atol=1e-10)
    assert model.certificate_.holds
    assert surefit.verify(model, X, Y).holds


@pytest.mark.covers("intro_to_ml:I.7", by="KernelRidge")
@pytest.mark.parametrize("kernel", [Spectrum(2), FromFunction(lambda s, t: len(set(s) & set(t)))])
def test_words_are_rows(kernel, tmp_path):
    y = [1.0, 1.0, 1.0, -1.0, -1.0, -1.0]
    model = KernelRidge(alpha=0.1, kernel=kernel).fit(STRINGS, y)
    assert (np.sign(model.predict(STRINGS)) == y).all()
    K = kernel(STRINGS)
    np.testing.assert_allclose(model.dual_coef_, np.linalg.solve(K + 0.1 * np.eye(6), y), rtol=1e-9)
    assert surefit.verify(model, STRINGS, y).holds
    classes = KernelLogisticRegression(kernel, alpha=0.01).fit(STRINGS, y)
    assert (classes.predict(STRINGS) == y).all()
    assert KernelPCA(2, kernel=kernel).fit(STRINGS).transform(["banal"]).shape == (1, 2)
    assert Nystroem(kernel, n_components=3).fit(STRINGS).transform(["banal"]).shape == (1, 3)
    if isinstance(kernel, Spectrum):
        surefit.save(model, tmp_path / "m")
        np.testing.assert_array_equal(
            surefit.load(tmp_path / "m").predict(["banal"]), model.predict(["banal"])
        )
    else:
        with pytest.raises(FormatError, match="cannot hold"):
            surefit.save(model, tmp_path / "m")


@pytest.mark.covers("intro_to_ml:5.7", by="KernelLogisticRegression")
def test_kernel_logistic_regression_with_a_linear_kernel_is_the_primal():
    alpha = 0.7  # of the notes' NLL + alpha w'w, which is C = 1 / (2 alpha)
    dual = KernelLogisticRegression("linear", alpha=alpha, tol=1e-10).fit(X, LABELS)
    primal = LogisticRegression(C=0.5 / alpha, tol=1e-10).fit(X, LABELS)
    np.testing.assert_allclose(dual.decision_function(NEW), primal.decision_function(NEW), atol=1e-6)
    np.testing.assert_allclose(dual.predict_proba(NEW), primal.predict_proba(NEW), atol=1e-6)


@pytest.mark.covers("intro_to_ml:5.7", by="KernelLogisticRegression")
def test_the_slope_of_kernel_logistic_regression_is_zero():
    model = KernelLogisticRegression(RBF(1.5), alpha=0.2, tol=1e-12).fit(X, LABELS)
    K, a = RBF(1.5)(X), model.dual_coef_[:, 0]
    chance = 1 / (1 + np.exp(-(K @ a + model.intercept_)))
    np.testing.assert_allclose(K @ (chance - LABELS) + 2 * 0.2 * K @ a, 0, atol=2e-5)
    assert (chance - LABELS).sum() == pytest.approx(0, abs=1e-5)
    hessian = K @ np.diag(chance * (1 - chance)) @ K + 0.4 * K
    assert np.linalg.eigvalsh(hessian)[0] > -1e-10


@pytest.mark.covers("ml_for_data_science:6.2", by="Nystroem")
def test_xor_is_solved_by_its_four_points_as_prototypes():
    K = RBF(1.0)(XOR)
    values = np.linalg.eigvalsh(K)
    np.testing.assert_allclose(values, [0.1548181217, 0.6321205588, 0.6321205588, 2.5809407606], atol=1e-10)
    np.testing.assert_allclose(np.unique(K.round(10)), [0.3678794412, 0.6065306597, 1.0])
    features = Nystroem(RBF(1.0), n_components=4).fit(XOR)
    Z = features.transform(XOR)
    np.testing.assert_allclose(Z @ Z.T, K, atol=1e-12)
    assert LogisticRegression(C=100.0).fit(Z, [0, 1, 1, 0]).score(Z, [0, 1, 1, 0]) == 1.0


@pytest.mark.covers("ml_for_data_science:6.2", by="KernelLogisticRegression")
def test_an_absolute_penalty_leaves_few_prototypes():
    exact = KernelLogisticRegression(gamma=1.0, alpha=0.01).fit(XOR, [0, 1, 1, 0])
    assert exact.score(XOR, [0, 1, 1, 0]) == 1.0
    few = KernelLogisticRegression(gamma=0.5, penalty="l1", alpha=1.0).fit(X, LABELS)
    assert 0 < np.count_nonzero(few.dual_coef_) < 30
    assert few.score(X, LABELS) > 0.85
    more = KernelLogisticRegression(gamma=0.5, penalty="l1", alpha=0.3).fit(X, LABELS)
    assert np.count_nonzero(few.dual_coef_) < np.count_nonzero(more.dual_coef_)
    assert KernelLogisticRegression("sigmoid", penalty="l1").fit(X, LABELS).certificate_.holds


@pytest.mark.covers("ml_for_data_science:6.4", by="KernelRidge")
def test_kernel_ridge_numbers_of_the_course():
    x, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 0.0, 1.0]
    model = KernelRidge(alpha=0.1, kernel=RBF(1.0)).fit(x, y)
    np.testing.assert_allclose(
        model.dual_coef_, [-1.1713075789, 2.6110847831, -2.3367130312, 1.8881165905], atol=1e-10
    )
    fit = [0.1171307579, 0.7388915217, 0.2336713031, 0.8111883409]
    np.testing.assert_allclose(model.predict(x), fit, atol=1e-10)
    assert model.predict([[1.5]]) == pytest.approx(0.4748460354, abs=1e-10)


@pytest.mark.covers("cs443:14.3", by="KernelRidge")
def test_coefficients_minimise_the_quadratic_form():
    model = KernelRidge(alpha=0.5, kernel=RBF(1.0)).fit(X, Y)
    A = RBF(1.0)(X) + 0.5 * np.eye(80)
    form = lambda a: 0.5 * a @ A @ a - a @ Y  # noqa: E731
    a = model.dual_coef_
    np.testing.assert_allclose(A @ a - Y, 0, atol=1e-10)
    assert all(form(a) < form(a + 0.01 * RNG.normal(size=80)) for _ in range(20))
    np.testing.assert_allclose(model.predict(NEW), RBF(1.0)(NEW, X) @ a, rtol=1e-10)
    assert (a < 0).any()  # unlike the dual variables of a support vector machine


@pytest.mark.covers("cs443:14.8", by="KernelRidge")
def test_quadratic_kernel_ridge_is_ridge_on_its_features():
    model = KernelRidge(alpha=0.4, kernel=Quadratic()).fit(X, Y)
    primal = Ridge(alpha=0.4, fit_intercept=False).fit(Quadratic().features(X), Y)
    np.testing.assert_allclose(
        model.predict(NEW), primal.predict(Quadratic().features(NEW)), rtol=1e-9, atol=1e-12
    )


@pytest.mark.covers("cs443:14.2", by="LogisticRegression")
def test_coefficients_of_few_rows_lie_in_their_span():
    rows = RNG.normal(size=(10, 25))
    y = np.arange(10) % 2
    model = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-12).fit(rows, y)
    w = model.coef_[0]
    a = np.linalg.lstsq(rows.T, w, rcond=None)[0]
    np.testing.assert_allclose(rows.T @ a, w, atol=1e-7)
    chance = model.predict_proba(rows)[:, 1]
    np.testing.assert_allclose(a, 2.0 * (y - chance), atol=1e-6)  # the representer's coefficients
    kernel = KernelLogisticRegression("linear", alpha=0.25, fit_intercept=False, tol=1e-12).fit(rows, y)
    np.testing.assert_allclose(rows.T @ kernel.dual_coef_[:, 0], w, atol=1e-6)


@pytest.mark.covers("intro_to_ml:8.2", by="KernelPCA")
def test_kernel_components_with_a_linear_kernel_are_those_of_the_rows():
    plain, kernel = PCA().fit(X), KernelPCA().fit(X)
    np.testing.assert_allclose(kernel.eigenvalues_ / 79, plain.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(np.abs(kernel.transform(NEW)), np.abs(plain.transform(NEW)), atol=1e-9)
    np.testing.assert_allclose(kernel.fit_transform(X), kernel.transform(X), atol=1e-12)


@pytest.mark.covers("intro_to_ml:8.2", by="KernelPCA")
@pytest.mark.parametrize("kernel", [RBF(1.0), Polynomial(3, 0.5)])
def test_axes_are_centred_and_have_length_one(kernel):
    model = KernelPCA(4, kernel=kernel).fit(X)
    Z = model.transform(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(Z.T @ Z, np.diag(model.eigenvalues_), atol=1e-9)
    # the axis is sum a_i phi~(x_i) with a = u / sqrt(lambda): its squared length is a'K~a = 1
    a = model.eigenvectors_ / np.sqrt(model.eigenvalues_)
    np.testing.assert_allclose(a.T @ surefit.kernels.centred_gram(kernel(X)) @ a, np.eye(4), atol=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": "rbf"},
        {"kernel": "poly", "gamma": 0.5},
        {"kernel": "laplacian"},
        {"alpha": 0.01, "kernel": "rbf", "gamma": 3.0},
        {"alpha": [0.1, 2.0]},
    ],
)
def test_kernel_ridge_is_scikit_learns(options):
    y = np.c_[Y, X[:, 0]] if np.ndim(options.get("alpha", 1)) else Y
    weight = RNG.uniform(0.2, 3.0, 80)
    theirs = sklearn.kernel_ridge.KernelRidge(**options)
    for s in (None, weight):
        ours = KernelRidge(**options).fit(X, y, sample_weight=s)
        np.testing.assert_allclose(
            ours.predict(NEW), theirs.fit(X, y, sample_weight=s).predict(NEW), rtol=1e-7, atol=1e-9
        )
    rows = sparse.csr_matrix(X)
    np.testing.assert_allclose(
        KernelRidge(**options).fit(rows, y).predict(sparse.csr_matrix(NEW)),
        KernelRidge(**options).fit(X, y).predict(NEW),
        rtol=1e-8,
        atol=1e-10,
    )


def test_leave_one_out_is_what_refitting_gives_and_chooses_the_strength():
    model = KernelRidge(alpha=0.2, kernel="rbf").fit(X, Y)
    found = model.leave_one_out(X, Y)
    for i in (0, 7, 79):
        rest = np.delete(np.arange(80), i)
        again = KernelRidge(alpha=0.2, kernel="rbf").fit(X[rest], Y[rest])
        assert found[i] == pytest.approx(again.predict(X[[i]])[0], rel=1e-9)
    alphas = [0.01, 0.1, 1.0, 10.0]
    chosen = KernelRidge(kernel="rbf", alphas=alphas).fit(X, Y)
    errors = [
        np.mean((KernelRidge(alpha=a, kernel="rbf").fit(X, Y).leave_one_out(X, Y) - Y) ** 2) for a in alphas
    ]
    np.testing.assert_allclose(chosen.loo_errors_, errors, rtol=1e-8)
    assert chosen.alpha_ == alphas[int(np.argmin(errors))]
    assert surefit.verify(chosen, X, Y).holds


def test_large_systems_are_solved_as_small_ones():
    n = 1700  # beyond which the factor is one of tiles
    rows = np.random.default_rng(1).normal(size=(n, 3))
    K = RBF(1.0)(rows)
    y = np.sin(rows)
    for shift in (1.0, 1e-7):
        found = solve_positive(K, np.full(n, shift), y)
        left = np.linalg.norm(K @ found.x + shift * found.x - y) / (n * np.linalg.norm(found.x))
        assert left < 1e-14, (shift, found.method)
    indefinite = K[:200, :200] - 2 * np.eye(200)
    found = solve_positive(indefinite, np.full(200, 0.5), y[:200])
    np.testing.assert_allclose(indefinite @ found.x + 0.5 * found.x, y[:200], atol=1e-7)


def test_centres_approximate_and_say_so(tmp_path):
    import pandas as pd

    n = 3000
    rows = np.random.default_rng(2).normal(size=(n, 3))
    y = np.sin(rows[:, 0]) + rows[:, 1]
    options = {"kernel": "rbf", "alpha": 0.1, "approximation": "nystroem", "n_centres": 60}
    model = KernelRidge(**options).fit(rows, y)
    assert model.certificate_.holds
    assert "approximated by 60 centres" in model.certificate_.measure
    K, M = RBF.from_gamma(1 / 3)(rows, model.X_fit_), RBF.from_gamma(1 / 3)(model.X_fit_)
    slope = K.T @ (y - K @ model.dual_coef_) - 0.1 * M @ model.dual_coef_
    assert np.abs(slope).max() < 1e-7 * np.abs(K.T @ y).max()
    assert np.mean((model.predict(rows) - y) ** 2) < 0.04
    for part in range(3):
        frame = pd.DataFrame(rows[part::3], columns=["a", "b", "c"]).assign(y=y[part::3])
        frame.to_parquet(tmp_path / f"{part}.parquet")
    streamed = KernelRidge(**options).fit(tmp_path, "y")
    assert streamed.certificate_.holds
    assert surefit.verify(streamed, tmp_path, "y").holds
    assert np.mean((streamed.predict(rows) - y) ** 2) < 0.04
    labels = pd.DataFrame(rows, columns=["a", "b", "c"]).assign(y=(y > 0).astype(int))
    (tmp_path / "k").mkdir()
    labels.to_parquet(tmp_path / "k" / "all.parquet")
    classes = KernelLogisticRegression(approximation="nystroem", n_centres=40, alpha=0.1)
    classes.fit(tmp_path / "k", "y")
    assert classes.score(rows, y > 0) > 0.95
    assert "approximated by 40 centres" in classes.certificate_.statement
    assert surefit.verify(classes, tmp_path / "k", "y").holds


@pytest.mark.parametrize("how", ["uniform", "kmeans", "leverage", "pivoted"])
def test_features_of_centres_approach_the_kernel(how):
    K = RBF.from_gamma(0.2)(X)
    errors = []
    for count in (5, 20, 80):
        model = Nystroem(gamma=0.2, n_components=count, centres=how, random_state=0).fit(X)
        Z = model.transform(X)
        errors.append(np.linalg.norm(Z @ Z.T - K))
        assert model.error_ == pytest.approx(np.mean(1 - (Z**2).sum(axis=1)), abs=1e-12)
        assert surefit.verify(model, X).holds
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-5


def test_random_waves_approach_the_gaussian():
    K = RBF.from_gamma(0.3)(X)
    Z = RBFSampler(gamma=0.3, n_components=20_000, random_state=1).fit_transform(X)
    assert np.abs(Z @ Z.T - K).max() < 5 / 20_000**0.5
    with pytest.raises(ParameterError, match="gamma"):
        RBFSampler(gamma=-1.0).fit(X)


@pytest.mark.parametrize("solver", ["dense", "arpack"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "cosine"])
def test_kernel_components_are_scikit_learns(kernel, solver):
    options = {"kernel": kernel, "fit_inverse_transform": True, "eigen_solver": solver}
    ours = KernelPCA(3, **options).fit(X)
    theirs = sklearn.decomposition.KernelPCA(3, **options, random_state=0).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(ours.transform(NEW), theirs.transform(NEW), atol=1e-7)
    np.testing.assert_allclose(
        ours.inverse_transform(ours.transform(NEW)),
        theirs.inverse_transform(theirs.transform(NEW)),
        atol=1e-7,
    )
    assert surefit.verify(ours, X).holds


def test_an_indefinite_kernel_has_no_components():
    with pytest.raises(RefusalError, match="negative eigenvalues"):
        KernelPCA(kernel="precomputed").fit(-np.eye(5))
    with pytest.raises(DataError, match="precomputed"):
        KernelPCA(kernel="precomputed", fit_inverse_transform=True).fit(np.eye(5))


def test_the_mean_of_a_process_is_kernel_ridge():
    process = GaussianProcessRegressor(RBF(1.3), alpha=0.2, optimizer=None).fit(X, Y)
    ridge = KernelRidge(alpha=0.2, kernel=RBF(1.3)).fit(X, Y)
    np.testing.assert_allclose(process.predict(NEW), ridge.predict(NEW), rtol=1e-10)
    np.testing.assert_allclose(process.alpha_, ridge.dual_coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("normalize", [False, True])
def test_processes_are_scikit_learns(normalize):
    kernel = 1.0 * RBF([1.0, 1.0, 1.0]) + WhiteKernel(0.1)
    theirs = sklearn.gaussian_process.GaussianProcessRegressor(
        1.0 * sklearn.gaussian_process.kernels.RBF([1.0] * 3)
        + sklearn.gaussian_process.kernels.WhiteKernel(0.1),
        normalize_y=normalize,
    ).fit(X, Y)
    ours = GaussianProcessRegressor(kernel, normalize_y=normalize).fit(X, Y)
    assert ours.log_marginal_likelihood_value_ > theirs.log_marginal_likelihood_value_ - 1e-4
    np.testing.assert_allclose(ours.kernel_.theta, theirs.kernel_.theta, atol=0.02)
    fixed = GaussianProcessRegressor(theirs.kernel_, normalize_y=normalize, optimizer=None).fit(X, Y)
    for kind in ("return_std", "return_cov"):
        mine, its = fixed.predict(NEW, **{kind: True}), theirs.predict(NEW, **{kind: True})
        np.testing.assert_allclose(mine[0], its[0], rtol=1e-7)
        np.testing.assert_allclose(mine[1], its[1], rtol=1e-6, atol=1e-10)
    assert surefit.verify(ours, X, Y).holds


def test_the_slope_of_the_evidence_is_that_of_differences_with_weights_too():
    kernel = 1.3 * RBF([0.8, 1.2, 2.0]) + WhiteKernel(0.2)
    times = np.arange(80) % 3
    weighted = GaussianProcessRegressor(kernel, alpha=0.1, optimizer=None).fit(X, Y, times.astype(float))
    rows = np.repeat(np.arange(80), times)
    repeated = GaussianProcessRegressor(kernel, alpha=0.1, optimizer=None).fit(X[rows], Y[rows])
    assert weighted.log_marginal_likelihood() == pytest.approx(repeated.log_marginal_likelihood(), rel=1e-10)
    for model in (weighted, repeated):
        theta = kernel.theta + 0.1
        _, slope = model.log_marginal_likelihood(theta, eval_gradient=True)
        differences = approx_fprime(theta, model.log_marginal_likelihood, 1e-6)
        np.testing.assert_allclose(slope, differences, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(
        weighted.predict(NEW, return_std=True)[1], repeated.predict(NEW, return_std=True)[1], rtol=1e-9
    )


def test_intervals_of_a_process_hold_as_often_as_they_say():
    rng = np.random.default_rng(4)
    rows = rng.uniform(-3, 3, size=(400, 1))
    y = np.sin(2 * rows[:, 0]) + 0.3 * rng.normal(size=400)
    model = GaussianProcessRegressor(1.0 * RBF(1.0), alpha=0.09).fit(rows[:200], y[:200])
    low, high = model.predict_interval(rows[200:], 0.9).T
    inside = np.mean((low <= y[200:]) & (y[200:] <= high))
    assert 0.84 < inside < 0.95
    assert (
        model.predict_interval(rows, 0.9, observations=False)[:, 1] < model.predict_interval(rows, 0.9)[:, 1]
    ).all()
