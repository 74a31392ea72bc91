"""What holds for every ridge fit: its duality, its geometry and its path."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

import surefit
from surefit import LinearRegression, Ridge, RidgeClassifier, RidgeCV, datasets, linalg, optimize
from surefit.models.linear.squares.ridge_gap import Scales, certify, gaps

PATH = np.logspace(-4, 6, 21)


def close(found, wanted, rtol=1e-10):
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol * np.max(np.abs(wanted)))


def table(n=40, p=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=p)
    return X, X @ rng.normal(size=p) + rng.normal(size=n) + 3.0


def with_ones(X):
    return np.column_stack([np.ones(len(X)), X])


def plain(alpha, X, y):
    """Without intercept, so that the formulas of textbooks hold as they stand."""
    return Ridge(alpha=alpha, fit_intercept=False).fit(X, y)


def exact(values):
    """The same numbers as fractions, so that what follows rounds nothing."""
    return np.vectorize(Fraction, otypes=[object])(values)


def primal(w, b, alpha, X, y, s):
    r = y - X @ w - b
    return s @ (r * r) + alpha * (w @ w)


def dual(theta, alpha, X, y, s, positive=False):
    pull = X.T @ (s * theta)
    pull = np.maximum(pull, 0) if positive else pull
    return s @ (2 * y * theta - theta * theta) - (pull @ pull) / alpha


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 12),
    st.integers(1, 8),
    st.floats(-8, 6).map(lambda power: 10.0**power),
    st.floats(0.0, 100.0),
    st.booleans(),
    st.booleans(),
)
def test_the_gap_is_that_of_primal_and_dual_and_never_negative(seed, n, p, alpha, size, intercept, positive):
    """Primal and dual are computed in fractions: doubles would divide their own rounding by alpha."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, p)), rng.normal(size=n) + 1.0
    s = rng.uniform(0, 2, n) * (rng.uniform(size=n) > 0.2) + (np.arange(n) == 0)
    w, b = size * rng.normal(size=p), size * rng.normal() if intercept else 0.0
    w = np.abs(w) * (rng.uniform(size=p) > 0.5) if positive else w
    total = s.sum()
    mean_x, mean_y = (s @ X / total, s @ y / total) if intercept else (np.zeros(p), 0.0)
    A, t = X - mean_x, y - mean_y
    r = y - X @ w - b
    scatter = (s @ A**2, np.array([s @ t**2]))
    scales = Scales.of(total, (np.zeros(p), scatter[0]), (np.array([mean_y]), scatter[1]), True)
    left = (A.T @ (s * r) - alpha * w)[:, None]
    sums = np.array([s @ r]) if intercept else np.zeros(1)
    found = gaps(left, sums, w[:, None], np.array([alpha]), scales, positive)[0]
    base = scales.targets[0] + scales.noise[0]
    assert found >= 0

    problem = (Fraction(alpha), exact(X), exact(y), exact(s))
    top = primal(exact(w), Fraction(b), *problem)
    residuals = problem[2] - problem[1] @ exact(w) - Fraction(b)
    theta = residuals - (problem[3] @ residuals) / sum(problem[3]) if intercept else residuals
    wanted = top - dual(theta, *problem, positive)
    assert wanted >= 0
    best = Ridge(alpha=alpha, fit_intercept=intercept, positive=positive).fit(X, y, s)
    least = primal(exact(best.coef_), Fraction(float(best.intercept_)), *problem)
    assert top - least <= wanted  # exactly: no coefficients whatever are better by more than the gap
    # What is left of the residuals is a sum over n rows, off by at most some n roundings of their lengths;
    # its square over alpha is what the gap can be off by.
    rounding = 32 * n * np.finfo(float).eps * np.sqrt(s @ A**2 + np.finfo(float).tiny) * np.sqrt(s @ r**2)
    slack = (2 * np.abs(left[:, 0]) * rounding + rounding**2).sum() / alpha + 1e-12 * float(top)
    assert abs(found * base - float(wanted)) <= slack + 1e-12 * float(wanted)


def test_a_penalty_that_rounding_would_fill_is_certified_as_least_squares_are():
    X, y = table()
    for alpha, claim in ((1.0, "optimal"), (0.0, "backward stable"), (1e-30, "backward stable")):
        model = Ridge(alpha=alpha).fit(X, y)
        assert model.certificate_.claim == claim
        assert model.certificate_.holds
    scales = Scales(40.0, np.ones(6), np.ones(1), np.zeros(1))
    off = certify(
        np.full((6, 1), 1e-3),
        np.zeros(1),
        np.zeros((6, 1)),
        np.zeros(1),
        scales,
        positive=False,
        tolerance=1e-8,
        parts={},
    )
    assert not off.holds


@pytest.mark.covers("cs443:14.1", by="Ridge")
def test_dual_and_primal_are_one():
    for n, p in ((30, 5), (5, 30)):
        X, y = table(n, p)
        w = plain(0.7, X, y).coef_
        close(w, np.linalg.solve(X.T @ X + 0.7 * np.eye(p), X.T @ y))
        close(w, X.T @ np.linalg.solve(X @ X.T + 0.7 * np.eye(n), y))
        assert plain(0.7, X, y).solver_ == ("cholesky" if p <= n else "dual")
    four = datasets.fixture("four_rows_through_the_origin")
    w = plain(four.data["alpha"], four.data["X"], four.data["y"]).coef_
    close(w, four.answers["coefficients"], rtol=1e-9)
    close(four.data["X"].T @ np.asarray(four.answers["dual"]), w, rtol=1e-9)


@pytest.mark.covers("intro_to_ml:4.16", by="Ridge")
@pytest.mark.covers("intro_to_ml:4.16", by="optimize.quadratic_program")
@pytest.mark.covers("intro_to_ml:4.16", by="optimize.dual_value")
def test_the_lagrangian_dual_is_as_high_as_the_fit_is_low():
    """Minimise r'r + λ w'w with y = Φw + r; of the multipliers μ, α = μ / (2λ)."""
    X, y = table(6, 4)
    n, p, lam = 6, 4, 0.9
    model = plain(lam, X, y)
    w = model.coef_
    least = np.sum((y - model.predict(X)) ** 2) + lam * w @ w
    program = optimize.quadratic_program(
        np.diag(np.r_[np.full(p, 2 * lam), np.full(n, 2.0)]),
        np.zeros(p + n),
        A_eq=np.hstack([X, np.eye(n)]),
        b_eq=y,
    )
    close(program.value, least, rtol=1e-8)
    close(program.x, np.r_[w, y - X @ w], rtol=1e-6)
    problem = optimize.ConstrainedProblem(
        lambda x: x[p:] @ x[p:] + lam * x[:p] @ x[:p],
        equalities=lambda x: y - X @ x[:p] - x[p:],
        gradient=lambda x: np.r_[2 * lam * x[:p], 2 * x[p:]],
        equality_jacobian=lambda x: -np.hstack([X, np.eye(n)]),
    )

    def dual(alpha):
        return optimize.dual_value(problem, None, 2 * lam * alpha, start=np.zeros(p + n)).value

    best = (y - X @ w) / lam  # r = λ α
    K = X @ X.T
    close(best, np.linalg.solve(K + lam * np.eye(n), y), rtol=1e-8)
    close(X.T @ best, w, rtol=1e-8)
    close(dual(best), least, rtol=1e-6)  # strong duality
    for alpha in np.random.default_rng(1).normal(size=(5, n)):
        formula = -(lam**2) * alpha @ alpha - lam * alpha @ K @ alpha + 2 * lam * alpha @ y
        close(dual(alpha), formula, rtol=1e-6)
        assert formula < least


@pytest.mark.covers("intro_to_ml:4.5", by="Ridge")
def test_the_closed_form_its_two_scales_and_its_penalised_bias():
    X, y = table()
    lam = 1.3
    close(plain(lam, X, y).coef_, np.linalg.solve(X.T @ X + lam * np.eye(6), X.T @ y))
    half = minimize(
        lambda w: 0.5 * np.sum((y - X @ w) ** 2) + lam * w @ w, np.zeros(6), method="BFGS", tol=1e-10
    )
    close(plain(2 * lam, X, y).coef_, half.x, rtol=1e-6)
    w = plain(lam, X, y).coef_
    close(-X.T @ (y - X @ w) + lam * w + 1.0, np.ones(6))
    three = datasets.fixture("three_points_on_a_line")
    hidden = plain(three.data["alpha"], with_ones(three.data["X"]), three.data["y"]).coef_
    close(hidden, [three.answers["ridge_intercept"], three.answers["ridge_slope"]])
    twins = np.column_stack([X, X])
    assert np.linalg.matrix_rank(twins.T @ twins) < 12
    close(plain(1e-6, twins, y).coef_, np.linalg.pinv(twins) @ y, rtol=1e-5)
    smaller = plain(lam, X, y).coef_ @ w
    bounded = minimize(
        lambda v: np.sum((y - X @ v) ** 2),
        np.zeros(6),
        constraints={"type": "ineq", "fun": lambda v: smaller - v @ v},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    close(bounded.x, w, rtol=1e-5)


@pytest.mark.covers("intro_to_ml:4.8", by="Ridge")
def test_the_most_probable_coefficients_under_a_normal_prior():
    X, y = table()
    noise, precision = 0.8, 2.5
    w = plain(noise * precision, X, y).coef_

    def log_posterior(v):
        prior = multivariate_normal.logpdf(v, np.zeros(6), np.eye(6) / precision)
        return multivariate_normal.logpdf(y, X @ v, noise * np.eye(len(y))) + prior

    found = minimize(lambda v: -log_posterior(v), np.zeros(6), method="BFGS", tol=1e-10)
    close(found.x, w, rtol=1e-6)
    rng = np.random.default_rng(2)
    assert all(log_posterior(w) > log_posterior(w + 1e-3 * step) for step in rng.normal(size=(20, 6)))


@pytest.mark.covers("ml_lecture_notes:4.4", by="Ridge")
@pytest.mark.covers("ml_lecture_notes:4.4", by="linalg.SingularValues.ridge_condition")
def test_spectral_form_augmented_rows_and_condition():
    X, y = table()
    alpha = 2.0
    w = plain(alpha, X, y).coef_
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    close(w, Vt.T @ (s / (s**2 + alpha) * (U.T @ y)))
    stacked = np.vstack([X, np.sqrt(alpha) * np.eye(6)])
    close(w, np.linalg.lstsq(stacked, np.concatenate([y, np.zeros(6)]))[0])
    identity = datasets.fixture("identity_design")
    close(
        plain(identity.data["alpha"], identity.data["X"], identity.data["y"]).coef_, identity.answers["ridge"]
    )
    condition = datasets.fixture("ridge_condition")
    S = np.diag(condition.data["singular_values"])
    values = linalg.SingularValues.of(S)
    close(values.condition, condition.answers["condition"], rtol=1e-9)
    alone = condition.data["alpha"]
    close(values.ridge_condition(alone), condition.answers["ridge_condition"], rtol=1e-9)
    assert values.ridge_condition(0.0) == values.condition
    wide = np.random.default_rng(0).normal(size=(3, 5))
    close(
        linalg.SingularValues.of(wide).ridge_condition(0.3),
        np.linalg.cond(np.vstack([wide, np.sqrt(0.3) * np.eye(5)])),
    )
    lifted = np.vstack([S, np.sqrt(condition.data["alpha"]) * np.eye(2)])
    close(np.linalg.cond(lifted), condition.answers["ridge_condition"], rtol=1e-9)
    close(np.linalg.cond(S.T @ S + np.eye(2)), condition.answers["ridge_condition"] ** 2, rtol=1e-9)


@pytest.mark.covers("ml_lecture_notes:4.4", "cs443:7.2", by="Ridge")
def test_the_path_shrinks_from_least_squares_to_nothing():
    X, y = table()
    models = [plain(alpha, X, y) for alpha in PATH]
    norms = [np.linalg.norm(model.coef_) for model in models]
    errors = [np.linalg.norm(y - model.predict(X)) for model in models]
    dof = [model.effective_dof_ for model in models]
    assert (np.diff(norms) < 0).all()
    assert (np.diff(errors) > 0).all()
    assert (np.diff(dof) < 0).all()
    close(plain(0.0, X, y).coef_, LinearRegression(fit_intercept=False).fit(X, y).coef_)
    close(plain(1e-9, X, y).coef_, plain(0.0, X, y).coef_, rtol=1e-8)
    assert np.abs(plain(1e12, X, y).coef_).max() < 1e-8
    values = np.linalg.eigvalsh(X.T @ X)
    close(np.linalg.eigvalsh(X.T @ X + 3.0 * np.eye(6)), values + 3.0)
    close(dof, [(values / (values + alpha)).sum() for alpha in PATH], rtol=1e-9)


@pytest.mark.covers("course_summary:2.6", "ml_for_data_science:5.3.1", by="Ridge")
def test_a_free_intercept():
    X, y = table()
    lam = 1.7
    model = Ridge(alpha=lam).fit(X, y)
    free = np.diag([0.0, *np.ones(6)])
    A = with_ones(X)
    close(np.r_[model.intercept_, model.coef_], np.linalg.solve(A.T @ A + lam * free, A.T @ y))
    centred = plain(lam, X - X.mean(axis=0), y - y.mean()).coef_
    close(model.coef_, centred)
    close(model.intercept_, y.mean() - X.mean(axis=0) @ centred)
    moved = Ridge(alpha=lam).fit(X, y + 100.0)
    close([moved.intercept_, *moved.coef_], [model.intercept_ + 100.0, *model.coef_])
    far = Ridge(alpha=1e12).fit(X, y)
    close(far.intercept_, y.mean(), rtol=1e-8)
    four = datasets.fixture("four_points_on_a_line")
    line = Ridge(alpha=four.data["alpha"]).fit(four.data["X"], four.data["y"])
    close([line.intercept_, line.coef_[0]], [four.answers["ridge_intercept"], four.answers["ridge_slope"]])
    nine = datasets.fixture("temperatures_regression")
    for k, alpha in enumerate(nine.data["ridge_alphas"]):
        found = Ridge(alpha=alpha).fit(nine.data["X"], nine.data["y"])
        close(found.coef_[0], nine.answers["ridge_slopes"][k], rtol=1e-9)
        close(found.intercept_, nine.answers["ridge_intercepts"][k], rtol=1e-9)
    held = Ridge(alpha=1e9).fit(nine.data["X"], nine.data["y"])
    close([held.intercept_, held.coef_[0]], [0.5555554714, 2.25555554e-9], rtol=1e-8)
    close(
        plain(1.0, with_ones(nine.data["X"]), nine.data["y"]).coef_,
        [-0.0571013738, 0.0166001601],
        rtol=1e-8,
    )


@pytest.mark.covers("ml_for_data_science:5.3.2", by="Ridge")
def test_a_penalty_is_a_bound_on_the_length():
    four = datasets.fixture("four_rows_through_the_origin")
    X, y = four.data["X"], four.data["y"]
    w = plain(four.data["alpha"], X, y).coef_
    close(w @ w, four.answers["squared_norm"], rtol=1e-9)

    def bounded(limit):
        return minimize(
            lambda v: np.sum((y - X @ v) ** 2),
            np.zeros(2),
            constraints={"type": "ineq", "fun": lambda v: limit - v @ v},
            options={"ftol": 1e-15, "maxiter": 500},
        ).x

    close(bounded(w @ w), w, rtol=1e-6)
    least = plain(0.0, X, y).coef_
    close(bounded(2 * least @ least), least, rtol=1e-6)
    close(X.T @ (y - X @ w), four.data["alpha"] * w)  # the multiplier is the penalty
    # and which bound belongs to which penalty depends on the data
    assert not np.isclose(plain(four.data["alpha"], 2 * X, y).coef_ @ plain(0.5, 2 * X, y).coef_, w @ w)


@pytest.mark.covers("course_summary:2.5", by="RidgeClassifier")
def test_regression_on_labels_classifies():
    nine = datasets.fixture("temperatures_regression")
    X, labels = nine.data["X"], nine.data["y"]
    sick = RidgeClassifier(alpha=0.0).fit(X, labels)
    close(-sick.intercept_[0] / sick.coef_[0], nine.answers["boundary"], rtol=1e-9)
    close(sick.score(X, labels), nine.answers["accuracy"])
    zero_one = LinearRegression().fit(X, np.asarray(labels, dtype=float))
    close(sick.decision_function(X), 2 * zero_one.predict(X) - 1)  # threshold 0 against threshold 1/2
    assert zero_one.predict(X).max() > 1  # not a probability, and scaling the column does not make it one
    close(
        RidgeClassifier(alpha=0.0)
        .fit(np.asarray(X) * 7 - 3, labels)
        .decision_function(np.asarray(X) * 7 - 3),
        sick.decision_function(X),
        rtol=1e-9,
    )


def test_the_intercept_and_units_of_the_target_do_not_change_the_choice():
    X, y = table()
    one = RidgeCV(alphas=PATH).fit(X, y)
    two = RidgeCV(alphas=PATH).fit(X, 1000.0 * y - 5e4)
    assert one.alpha_ == two.alpha_
    close(two.coef_, 1000.0 * one.coef_, rtol=1e-8)
    close(two.best_score_, 1e6 * one.best_score_, rtol=1e-8)


@pytest.mark.parametrize(
    ("options", "most"), [({}, 1), ({"cv": 4}, 4), ({"cv": 4, "folds": "content"}, 4)], ids=str
)
@pytest.mark.parametrize("data", [table(), table(12, 30)], ids=["tall", "wide"])
def test_all_penalties_come_from_one_decomposition_a_fold(data, options, most, monkeypatch):
    from surefit.solvers.linalg.ridge import Spectrum

    counted = []
    for name in ("of", "across"):
        made = getattr(Spectrum, name)
        monkeypatch.setattr(Spectrum, name, lambda *given, made=made: counted.append(1) or made(*given))
    RidgeCV(alphas=np.logspace(-5, 5, 50), **options).fit(*data)
    assert 1 <= len(counted) <= most


def test_weights_times_a_number_are_the_penalty_divided_by_it():
    X, y = table()
    close(Ridge(alpha=3.0).fit(X, y, np.full(len(y), 3.0)).coef_, Ridge(alpha=1.0).fit(X, y).coef_)


def test_each_target_is_fitted_as_if_it_were_alone():
    X, y = table()
    Y = np.column_stack([y, np.sin(y), y**2])
    alphas = np.array([0.1, 10.0, 1.0])
    together = Ridge(alpha=alphas).fit(X, Y)
    for k, alpha in enumerate(alphas):
        alone = Ridge(alpha=alpha).fit(X, Y[:, k])
        close([together.intercept_[k], *together.coef_[k]], [alone.intercept_, *alone.coef_])
        close(together.effective_dof_[k], alone.effective_dof_)


def test_passes_give_the_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(200_000, 4)), rng.normal(size=200_000)
    found = []
    for count in (1, 2, 3):
        with surefit.config(n_threads=count):
            found.append(Ridge(solver="lsqr").fit(X, y))
    assert len({model.coef_.tobytes() for model in found}) == 1
    assert len({model.n_iter_ for model in found}) == 1


def test_a_callback_sees_the_fit_of_each_pass_and_can_end_it():
    X, y = table()
    seen = []

    class Watch:
        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context, *, X, y, metadata):
            pass

        def on_fit_task_end(self, estimator, context, *, fitted_estimator):
            if context.task_name != "iteration":
                return False
            error = np.sum((y - fitted_estimator.predict(X)) ** 2)
            seen.append(error + fitted_estimator.coef_ @ fitted_estimator.coef_)
            return len(seen) == 3

    with pytest.warns(surefit.core.certificate.CertificateWarning, match="a callback asked it to"):
        model = Ridge(solver="lsqr").set_callbacks(Watch()).fit(X, y)
    assert model.n_iter_ == len(seen) == 3
    assert (np.diff(seen) < 0).all()  # conjugate gradients lower the objective at each step
