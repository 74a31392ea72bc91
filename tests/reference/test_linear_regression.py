"""Least squares against closed forms, numpy and scikit-learn, on good and on hard data."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls
from sklearn.linear_model import LinearRegression as Peer

import surefit
from surefit import LinearRegression

SMALL = (np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 2.0]))


def random_problem(n=60, p=5, k=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    Y = X @ rng.normal(size=(p, k)) + rng.normal(size=(n, k)) + 3.0
    return X, Y[:, 0] if k == 1 else Y


def solved(X, y):
    """Intercept and slopes by the pseudo-inverse of the centred columns."""
    mean = X.mean(axis=0)
    coef = np.linalg.pinv(X - mean) @ (y - y.mean(axis=0))
    return y.mean(axis=0) - mean @ coef, coef


@pytest.mark.covers("intro_to_ml:4.2", "cs443:1.1", "course_summary:2.2", by="LinearRegression")
def test_the_three_point_line():
    model = LinearRegression().fit(*SMALL)
    np.testing.assert_allclose([model.intercept_, *model.coef_], [7 / 6, 1 / 2], rtol=1e-14)
    assert model.summary().r2 == pytest.approx(0.75, rel=1e-14)
    residual = SMALL[1] - model.predict(SMALL[0])
    assert residual @ residual / 2 == pytest.approx(1 / 12, rel=1e-13)
    line = LinearRegression().fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 2.0, 5.0])
    np.testing.assert_allclose([line.intercept_, *line.coef_], [0.7, 1.2], rtol=1e-13)


@pytest.mark.covers("cs443:1.2", by="LinearRegression")
def test_several_inputs_are_a_plane_and_a_row_of_ones_the_bias():
    """f(x) = w_0 + w_1 x_1 + ... + w_D x_D, the product of w with x behind a one."""
    rng = np.random.default_rng(1)
    X, w = rng.normal(size=(30, 4)), np.array([2.0, -1.0, 0.0, 0.5, 3.0])
    model = LinearRegression().fit(X, w[0] + X @ w[1:])
    np.testing.assert_allclose([model.intercept_, *model.coef_], w, atol=1e-12)
    new = rng.normal(size=(5, 4))
    by_hand = [w[0] + sum(w[j + 1] * x[j] for j in range(4)) for x in new]
    np.testing.assert_allclose(model.predict(new), by_hand, rtol=1e-12)
    ahead = LinearRegression(fit_intercept=False).fit(np.column_stack([np.ones(30), X]), w[0] + X @ w[1:])
    np.testing.assert_allclose(ahead.coef_, w, atol=1e-12)
    one = LinearRegression().fit(X[:, :1], w[0] + X @ w[1:])  # fewer inputs miss what the others explain
    assert one.score(X[:, :1], w[0] + X @ w[1:]) < 0.5


@pytest.mark.covers("ml_for_data_science:3.3", by="LinearRegression.influence")
def test_the_closed_form_and_the_hat_matrix_of_nine_temperatures():
    nine = surefit.datasets.fixture("temperatures_regression")
    X, y = np.array(nine.data["X"]), np.array(nine.data["y"], dtype=float)
    model = LinearRegression().fit(X, y)
    assert model.intercept_ == pytest.approx(-12.1708137189, abs=1e-9)
    assert model.coef_[0] == pytest.approx(0.3412911903, abs=1e-10)
    wanted = [
        0.28631473,
        0.32044385,
        0.38870208,
        0.42283120,
        0.45696032,
        0.52521856,
        0.62760592,
        0.66173504,
        1.31018830,
    ]
    np.testing.assert_allclose(model.predict(X), wanted, atol=5e-9)
    assert model.predict(X)[-1] > 1
    leverage = model.influence(X, y).leverage
    wanted = [
        0.20527909,
        0.18291863,
        0.14727640,
        0.13399462,
        0.12373907,
        0.11230666,
        0.11785474,
        0.12575656,
        0.85087424,
    ]
    np.testing.assert_allclose(leverage, wanted, atol=5e-9)
    assert leverage.sum() == pytest.approx(2.0)  # the trace of the hat matrix: two parameters
    # Column k of the hat matrix is the fit to targets that are 1 in row k and 0 elsewhere.
    hat = np.column_stack([LinearRegression().fit(X, column).predict(X) for column in np.eye(9)])
    np.testing.assert_allclose(hat @ hat, hat, atol=1e-10)
    np.testing.assert_allclose(np.diagonal(hat), leverage, atol=1e-10)
    np.testing.assert_allclose(hat @ y, model.predict(X), atol=1e-10)
    A = np.column_stack([np.ones(9), X])
    np.testing.assert_allclose(A.T @ (y - model.predict(X)), 0.0, atol=1e-10)


def test_centred_inputs_and_orthonormal_columns():
    model = LinearRegression().fit([[-1.0], [0.0], [1.0]], [1.0, 2.0, 2.0])
    np.testing.assert_allclose([model.intercept_, *model.coef_], [5 / 3, 1 / 2], rtol=1e-14)
    Q, _ = np.linalg.qr(random_problem()[0])
    y = random_problem()[1]
    np.testing.assert_allclose(LinearRegression(fit_intercept=False).fit(Q, y).coef_, Q.T @ y, atol=1e-13)


@pytest.mark.covers("intro_to_ml:4.1", by="LinearRegression")
def test_the_bias_as_a_column_of_either_sign():
    X, y = random_problem()
    free = LinearRegression().fit(X, y)
    for sign in (1.0, -1.0):
        hidden = LinearRegression(fit_intercept=False).fit(np.column_stack([np.full(len(X), sign), X]), y)
        np.testing.assert_allclose(hidden.coef_, [sign * free.intercept_, *free.coef_], rtol=1e-12)


@pytest.mark.covers("intro_to_ml:4.18", by="LinearRegression")
def test_weights():
    X, y = SMALL
    model = LinearRegression().fit(X, y, sample_weight=[1.0, 2.0, 1.0])
    np.testing.assert_allclose([model.intercept_, *model.coef_], [1.25, 0.5], rtol=1e-14)
    X, y = random_problem()
    w = np.random.default_rng(1).uniform(size=len(X))
    A = np.column_stack([np.ones(len(X)), X])
    expected = np.linalg.solve(A.T @ (w[:, None] * A), A.T @ (w * y))
    got = LinearRegression().fit(X, y, sample_weight=w)
    np.testing.assert_allclose([got.intercept_, *got.coef_], expected, rtol=1e-11)


@pytest.mark.covers("cs443:4.1", "cs443:4.2", "cs443:4.3", by="LinearRegression")
@pytest.mark.covers("ml_lecture_notes:2.2", by="LinearRegression")
def test_normal_equations_three_ways_and_the_geometry_of_projection():
    X, y = random_problem()
    A = np.column_stack([np.ones(len(X)), X])
    ways = [np.linalg.solve(A.T @ A, A.T @ y), np.linalg.lstsq(A, y)[0], np.linalg.pinv(A) @ y]
    model = LinearRegression().fit(X, y)
    for way in ways:
        np.testing.assert_allclose([model.intercept_, *model.coef_], way, rtol=1e-11)
    fitted = model.predict(X)
    residual = y - fitted
    np.testing.assert_allclose(A.T @ residual, 0, atol=1e-11)
    hat = A @ np.linalg.pinv(A)
    np.testing.assert_allclose(hat @ y, fitted, rtol=1e-11)
    np.testing.assert_allclose(model.influence(X, y).leverage, np.diagonal(hat), rtol=1e-10)
    assert np.trace(hat) == pytest.approx(6, rel=1e-12)
    assert y @ y == pytest.approx(fitted @ fitted + residual @ residual, rel=1e-12)
    constant = surefit.MeanRegressor().fit(X, y)
    assert constant.mean_[0] == pytest.approx(y.mean(), rel=1e-14)


@pytest.mark.covers("intro_to_ml:4.7", "cs443:5.2", "ml_for_data_science:3.1", by="LinearRegression.summary")
@pytest.mark.covers("ml_lecture_notes:2.1", "course_summary:2.4", by="LinearRegression.summary")
def test_least_squares_is_maximum_likelihood_for_normal_noise():
    X, y = random_problem()
    model = LinearRegression().fit(X, y)
    residual = y - model.predict(X)
    n, variance = len(y), residual @ residual / len(y)

    def log_likelihood(coef, sigma2):
        r = y - X @ coef - model.intercept_
        return -n / 2 * np.log(2 * np.pi * sigma2) - r @ r / (2 * sigma2)

    best = log_likelihood(model.coef_, variance)
    assert model.summary(X, y).log_likelihood == pytest.approx(best, rel=1e-12)
    rng = np.random.default_rng(2)
    for sigma2 in (variance, 0.5, 3.0):  # the best slopes do not depend on the noise
        for _ in range(20):
            other = model.coef_ + 0.01 * rng.normal(size=5)
            assert log_likelihood(other, sigma2) < log_likelihood(model.coef_, sigma2)
    for factor in (0.9, 1.1):
        assert log_likelihood(model.coef_, factor * variance) < best


@pytest.mark.covers("cs443:5.3", by="LinearRegression.summary")
def test_estimates_vary_as_their_covariance_says():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 3))
    truth, sigma = np.array([1.0, -2.0, 0.5]), 0.7
    draws = X @ truth[:, None] + sigma * rng.normal(size=(40, 4000))
    coef = LinearRegression(fit_intercept=False).fit(X, draws).coef_
    expected = sigma**2 * np.linalg.inv(X.T @ X)
    # An entry of a covariance of 4000 draws is good to sqrt(2/4000) = 2.2 % of the variances; four of that.
    scale = np.sqrt(np.outer(np.diagonal(expected), np.diagonal(expected)))
    assert (np.abs(np.cov(coef.T) - expected) / scale).max() < 0.09
    assert (
        np.abs(coef.mean(axis=0) - truth).max()
        < 4 * sigma * np.sqrt(np.diagonal(expected).max() / 4000) / sigma
    )
    # What one fit says of itself is the same matrix, with the noise as that fit has it.
    once = LinearRegression(fit_intercept=False).fit(X, draws[:, 0])
    said = once.summary()
    noise = np.sum((draws[:, 0] - once.predict(X)) ** 2) / (40 - 3)
    np.testing.assert_allclose(said.standard_error**2, noise / sigma**2 * np.diagonal(expected), rtol=1e-10)
    # Consistent: a hundred times the rows, a tenth of the error.
    far = [
        LinearRegression(fit_intercept=False).fit(A, A @ truth + sigma * rng.normal(size=len(A))).summary()
        for A in (rng.normal(size=(400, 3)), rng.normal(size=(40_000, 3)))
    ]
    ratio = far[0].standard_error / far[1].standard_error
    np.testing.assert_allclose(ratio, 10.0, rtol=4 * np.sqrt(1 / 400))  # four deviations of 400 rows
    assert (np.abs(far[1].estimate - truth) < 4 * far[1].standard_error).all()


@pytest.mark.covers("cs443:5.3", by="LogisticRegression.summary")
def test_the_fisher_information_of_one_row_is_the_spread_of_logistic_estimates():
    """F = E[σ(1 - σ) x x'], of which one over N times the inverse is the covariance of the estimate."""
    rng = np.random.default_rng(4)
    X, w = rng.normal(size=(20_000, 2)), np.array([1.0, -0.5])
    chance = 1 / (1 + np.exp(-X @ w))
    y = (rng.random(20_000) < chance).astype(int)
    model = surefit.LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10).fit(X, y)
    fisher = (X * (chance * (1 - chance))[:, None]).T @ X / 20_000
    expected = np.sqrt(np.diagonal(np.linalg.inv(fisher)) / 20_000)
    # The information at the estimate differs from that at the truth by the estimate's own error, about 1 %.
    np.testing.assert_allclose(model.summary(X, y).standard_error, expected, rtol=0.04)
    assert (np.abs(model.coef_[0] - w) < 4 * expected).all()


@pytest.mark.covers("cs443:1.3", "ml_lecture_notes:2.3", by="LinearRegression")
@pytest.mark.parametrize("case", ["duplicate", "wide", "sum", "constant", "zero", "one row"])
def test_of_many_minimisers_the_shortest(case):
    X, y = random_problem(
        8 if case == "wide" else 1 if case == "one row" else 60, 12 if case == "wide" else 5
    )
    if case == "duplicate":
        X[:, 3] = X[:, 1]
    if case == "sum":
        X[:, 4] = X[:, 0] + 2 * X[:, 2] + 7
    if case == "constant":
        X[:, 2] = 5.0
    if case == "zero":
        X[:] = 0.0
    model = LinearRegression().fit(X, y)
    intercept, coef = solved(X, y)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-10)
    assert model.intercept_ == pytest.approx(intercept, rel=1e-10)
    assert model.certificate_.holds
    assert surefit.verify(model, X, y).holds
    assert model.rank_ == np.linalg.matrix_rank(X - X.mean(axis=0))


def test_the_dependency_is_written_out():
    X, y = random_problem()
    X[:, 4] = X[:, 0] - 2 * X[:, 2] + 7
    found = LinearRegression().fit(X, y).diagnosis_
    assert found.codes() == ("rank-deficiency",)
    assert "x4 = x0 - 2 x2" in found[0].message
    assert found[0].columns == ("x0", "x2", "x4")


@pytest.mark.covers("cs443:4.4", by="LinearRegression")
@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8])
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_units_and_offsets_do_not_matter(offset, scale):
    X, y = random_problem()
    plain = LinearRegression().fit(X, y)
    factor = np.array([1.0, scale, 1.0, 1.0, 1.0])
    moved = X * factor + offset * factor
    model = LinearRegression().fit(moved, y)
    # The offset rounds the data themselves: a relative 1e-16 of it is what the answer can differ by.
    np.testing.assert_allclose(model.coef_ * factor, plain.coef_, rtol=1e-11 + 1e-14 * offset)
    assert model.method_ == "cholesky"
    assert model.certificate_.holds
    assert surefit.verify(model, moved, y).holds


@pytest.mark.parametrize("condition", [1e2, 1e5, 1e9, 1e12])
def test_the_error_grows_with_the_condition_not_its_square(condition):
    data = surefit.datasets.draw("ill_conditioned", condition=condition)
    exact = np.linalg.lstsq(np.column_stack([np.ones(len(data.X)), data.X]), data.y)[0]
    model = LinearRegression().fit(data.X, data.y)
    error = np.abs(model.coef_ - exact[1:]).max() / np.abs(exact[1:]).max()
    assert error < 50 * condition * np.finfo(float).eps
    assert model.certificate_.holds
    assert ("ill-conditioned" in model.diagnosis_.codes()) == (model.condition_ > 1e6)


@pytest.mark.parametrize("form", ["csr", "csc", "fortran", "float32", "strided", "readonly", "int"])
def test_forms_of_the_matrix(form):
    X, y = random_problem()
    X = np.where(np.abs(X) < 0.5, 0.0, np.round(4 * X))
    plain = LinearRegression().fit(X, y)
    made = {
        "csr": lambda: sp.csr_array(X), "csc": lambda: sp.csc_matrix(X),
        "fortran": lambda: np.asfortranarray(X),
        "float32": lambda: X.astype(np.float32), "strided": lambda: np.repeat(X, 2, axis=1)[:, ::2],
        "readonly": lambda: _readonly(X), "int": lambda: X.astype(int),
    }[form]()  # fmt: skip
    model = LinearRegression().fit(made, y)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-10)
    np.testing.assert_allclose(
        model.predict(made), plain.predict(X), rtol=1e-6 if form == "float32" else 1e-10
    )


def _readonly(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def test_large_sparse_problems_go_by_conjugate_gradients():
    rng = np.random.default_rng(5)
    X = sp.random(300, 6000, density=0.01, random_state=rng, format="csr")
    y = rng.normal(size=300)
    model = LinearRegression().fit(X, y)
    assert model.method_ == "conjugate gradients"
    assert model.certificate_.holds
    np.testing.assert_allclose(model.predict(X), y, atol=1e-6)
    with pytest.raises(surefit.core.errors.RefusalError, match="keeps no statistic of 6000 columns"):
        LinearRegression().partial_fit(X, y)


def test_several_outputs_are_several_fits():
    X, Y = random_problem(k=3)
    model = LinearRegression().fit(X, Y)
    peer = Peer().fit(X, Y)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-10)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, rtol=1e-10)
    for k in range(3):
        np.testing.assert_allclose(model.coef_[k], LinearRegression().fit(X, Y[:, k]).coef_, rtol=1e-12)
    np.testing.assert_allclose(model.singular_, peer.singular_, rtol=1e-10)
    assert model.rank_ == peer.rank_


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_coefficients_that_must_not_be_negative(fit_intercept):
    X, Y = random_problem(k=2)
    model = LinearRegression(positive=True, fit_intercept=fit_intercept).fit(X, Y)
    peer = Peer(positive=True, fit_intercept=fit_intercept).fit(X, Y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-10)
    assert (model.coef_ >= 0).all()
    assert (model.coef_ == 0).any()
    assert model.certificate_.holds
    assert surefit.verify(model, X, Y).holds
    model.coef_[model.coef_ == 0] = -0.1
    assert not surefit.verify(model, X, Y).holds
    np.testing.assert_allclose(
        LinearRegression(positive=True, fit_intercept=False).fit(X, Y[:, 0]).coef_,
        nnls(X, Y[:, 0])[0],
        atol=1e-10,
    )


@pytest.mark.covers("ml_lecture_notes:4.1", by="LinearRegression")
@pytest.mark.parametrize(("c", "expected"), [(0.5, (0.98, 0.02)), (0.001, (-9.0, 10.0))])
def test_the_two_point_line_amplifies_noise(c, expected):
    x, noise = np.array([[1 - c], [1 + c]]), 0.01
    clean = LinearRegression().fit(x, [1.0, 1.0])
    np.testing.assert_allclose([clean.intercept_, *clean.coef_], [1.0, 0.0], atol=1e-12)
    noisy = LinearRegression().fit(x, [1 - noise, 1 + noise])
    np.testing.assert_allclose([noisy.intercept_, *noisy.coef_], expected, rtol=1e-10)
    distance = np.hypot(noisy.intercept_ - 1, noisy.coef_[0])
    assert distance == pytest.approx(0.0282843 if c == 0.5 else np.sqrt(200), rel=1e-5)
    smallest = np.linalg.svd(np.column_stack([[1, 1], x]), compute_uv=False)[-1]
    assert distance / (np.sqrt(2) * noise) <= 1 / smallest * (1 + 1e-9)


@pytest.mark.covers("ml_lecture_notes:4.2", "ml_lecture_notes:4.3", by="LinearRegression")
def test_error_amplification_bounds():
    rng = np.random.default_rng(6)
    for _ in range(20):
        X = rng.normal(size=(20, 4))
        s = np.linalg.svd(X, compute_uv=False)
        y, change = rng.normal(size=20), 0.1 * rng.normal(size=20)
        w, moved = (LinearRegression(fit_intercept=False).fit(X, t).coef_ for t in (y, y + change))
        assert np.linalg.norm(w - moved) <= np.linalg.norm(change) / s[-1] * (1 + 1e-10)
        shift = rng.normal(size=4)
        through = LinearRegression(fit_intercept=False).fit(X, X @ (w + shift)).coef_
        assert np.linalg.norm(through - w) <= s[0] / s[-1] * np.linalg.norm(shift) * (1 + 1e-10)
    example = np.array([[1.0, 1 - 1e-3], [1.0, 1 + 1e-3]])
    s = LinearRegression(fit_intercept=False).fit(example, [1.0, 1.0]).singular_
    np.testing.assert_allclose([s[0], s[0] / s[1]], [2.00000025, 2000.0005], rtol=1e-7)
    assert round(s[1], 9) == 0.001


def test_files_larger_than_a_batch_give_the_same_answer(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    X, y = random_problem(3000)
    table = pa.table({f"c{j}": X[:, j] for j in range(5)} | {"target": y})
    for part in range(3):
        pq.write_table(table.slice(1000 * part, 1000), tmp_path / f"{part}.parquet", row_group_size=300)
    streamed = LinearRegression().fit(str(tmp_path / "*.parquet"), "target")
    np.testing.assert_allclose(streamed.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-12)
    assert surefit.verify(streamed, str(tmp_path / "*.parquet"), "target").holds
    assert list(streamed.feature_names_in_) == [f"c{j}" for j in range(5)]


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("units", ["like", "unlike"])
def test_equal_rows_among_fewer_than_columns_are_one_row_each(fit_intercept, units):
    """What rounding leaves of a row that is there twice must not be taken for a row of its own."""
    rng = np.random.default_rng(42)
    X, y = rng.uniform(size=(10, 20)), rng.uniform(size=10)
    X = X * 10.0 ** rng.integers(-9, 9, 20) if units == "unlike" else X
    rows, targets = np.vstack([X, X[:5]]), np.r_[y, y[:5]]
    for cls, options in ((surefit.LinearRegression, {}), (surefit.Ridge, {"alpha": 0.0})):
        model = cls(fit_intercept=fit_intercept, **options).fit(rows, targets)
        weighted = cls(fit_intercept=fit_intercept, **options).fit(X, y, np.r_[np.full(5, 2.0), np.ones(5)])
        assert model.certificate_.holds
        np.testing.assert_allclose(model.predict(X), y, rtol=1e-9)
        np.testing.assert_allclose(
            model.coef_, weighted.coef_, rtol=1e-6, atol=1e-12 * abs(model.coef_).max()
        )
