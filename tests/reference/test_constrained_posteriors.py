"""Posteriors cut to constraints: modes by a general solver, moments by rejection."""

from __future__ import annotations

import pickle

import cvxpy as cp
import numpy as np
import pytest
from scipy import integrate, stats
from sklearn.base import clone

import surefit
from surefit import (
    ARDRegression,
    BayesianLinearRegression,
    BayesianLogisticRegression,
    BayesianRidge,
    Ridge,
)
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.penalties import Box, Monotone, NonNegative, Simplex

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 5))
Y = X @ np.array([1.0, -0.6, 0.4, 0.1, 0.8]) + 2.0 + RNG.normal(size=60)
SIDE = (Y > 2.0).astype(int)
SETS = {
    "signs": (NonNegative(), lambda w: {"lower": w >= 0}),
    "bounds": (Box(-0.4, 0.9), lambda w: {"lower": w >= -0.4, "upper": w <= 0.9}),
    "order": (Monotone([[4, 1, 0]]), lambda w: {"order": w[[1, 0]] - w[[4, 1]] >= 0}),
    "order within bounds": (
        [Monotone([[0, 1]]), Box(-1.5, 0.75)],
        lambda w: {"lower": w >= -1.5, "upper": w <= 0.75, "order": w[[1]] - w[[0]] >= 0},
    ),
}
EXACT = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas", "tol_ktratio"), 1e-13)
DEVIATIONS = 5.0  # of a Monte Carlo error: one test in a million fails by chance


def lowest(cost, within):
    """Minimise by a general convex solver; return the coefficients and the multipliers."""
    w, b = cp.Variable(5), cp.Variable()
    held = within(w)
    cp.Problem(cp.Minimize(cost(w, b)), list(held.values())).solve(solver=cp.CLARABEL, **EXACT)
    zeros = {"lower": np.zeros(5), "upper": np.zeros(5)}
    return w.value, float(b.value), zeros | {name: each.dual_value for name, each in held.items()}


def compare(model, found, scale=1.0):
    w, b, held = found
    # The solver's gap of 1e-13 is 1e-6.5 in coefficients; multipliers have the units of slopes.
    np.testing.assert_allclose(model.coef_, w, atol=2e-6)
    assert model.intercept_ == pytest.approx(b, abs=2e-6)
    witness = model.certificate_.witness
    for side in ("lower", "upper"):
        np.testing.assert_allclose(witness[side], held[side] * scale, atol=2e-6)
        assert (witness[side] >= 0).all()
    np.testing.assert_allclose(
        np.concatenate([np.zeros(0), *witness["order"]]), held.get("order", np.zeros(0)) * scale, atol=2e-6
    )
    assert model.certificate_.holds
    assert model.certificate_.parts["stationarity"] <= 1e-9


def squares(lam, mean=0.0):
    """Half the mean squares and those of a prior of precision lam in units of the noise."""
    root = np.linalg.cholesky(lam if np.ndim(lam) == 2 else np.diag(np.broadcast_to(lam, 5)))
    return lambda w, b: (cp.sum_squares(Y - X @ w - b) + cp.sum_squares(root.T @ (w - mean))) / (2 * len(Y))


@pytest.mark.parametrize("kind", SETS)
def test_modes_and_multipliers_are_those_of_a_general_solver(kind):
    ours, theirs = SETS[kind]
    spread = RNG.normal(size=(5, 5))
    precision, mean = spread @ spread.T + np.eye(5), np.array([0.3, -0.1, 0.0, 1.0, 0.2])
    for noise in (None, 0.5):
        model = BayesianLinearRegression(
            precision, prior_mean=mean, noise_variance=noise, constraints=ours
        ).fit(X, Y)
        compare(model, lowest(squares(precision * (noise or 1.0), mean), theirs))
    ridge = BayesianRidge(constraints=ours).fit(X, Y)
    free = BayesianRidge().fit(X, Y)
    assert (ridge.alpha_, ridge.lambda_) == (free.alpha_, free.lambda_)  # those of the model without
    np.testing.assert_array_equal(ridge.sigma_, free.sigma_)
    compare(ridge, lowest(squares(ridge.lambda_ / ridge.alpha_), theirs))
    same = Ridge(alpha=ridge.lambda_ / ridge.alpha_, constraints=ours).fit(X, Y)
    np.testing.assert_allclose(ridge.coef_, same.coef_, atol=1e-9)
    ard = ARDRegression(constraints=ours).fit(X, Y)
    compare(ard, lowest(squares(ard.lambda_ / ard.alpha_), theirs))
    logit = BayesianLogisticRegression(2.0, constraints=ours, tol=1e-14).fit(X, SIDE)
    signs = 2.0 * SIDE - 1.0

    def cost(w, b):
        loss = cp.sum(cp.logistic(-cp.multiply(signs, X @ w + b)))
        return (loss + cp.sum_squares(w)) / len(signs)

    found, b, _ = lowest(cost, theirs)
    np.testing.assert_allclose(logit.coef_, found, atol=1e-5)
    assert logit.intercept_ == pytest.approx(b, abs=1e-5)
    assert logit.certificate_.holds
    assert logit.certificate_.parts["stationarity"] <= 1e-6


def inside(draws, limits):
    kept = ((draws >= limits[0]) & (draws <= limits[1])).all(axis=1)
    for below, above in limits[2]:
        kept &= draws[:, below] <= draws[:, above]
    return kept


LIMITS = {
    "signs": (0.0, np.inf, []),
    "bounds": (-0.4, 0.9, []),
    "order": (-np.inf, np.inf, [(4, 1), (1, 0)]),
    "order within bounds": (-1.5, 0.75, [(0, 1)]),
}


@pytest.mark.parametrize("noise", [None, 30.0])
@pytest.mark.parametrize("kind", SETS)
def test_moments_and_intervals_are_those_of_draws_that_fell_inside(kind, noise):
    rows, target = X[:9], Y[:9]  # few, so that many draws fall inside
    model = BayesianLinearRegression(0.5, noise_variance=noise, constraints=SETS[kind][0], noise_scale=9.0)
    free = clone(model).set_params(constraints=None).fit(rows, target)
    model.fit(rows, target)
    coef, variance = free.sample_posterior(1_000_000, random_state=1)
    kept = inside(coef[:, :5], LIMITS[kind])
    coef, variance = coef[kept], variance[kept]
    assert len(coef) > 1000
    ours, error = model.posterior_mean_, model.posterior_mean_error_
    spread = coef.std(axis=0)
    blur = np.hypot(error, spread[:5] / np.sqrt(len(coef)))
    assert (np.abs(ours - coef.mean(axis=0))[:5] <= DEVIATIONS * blur).all()
    # A variance has the standard error of the mean of squares; 4096 draws count as 2400 at the least.
    squared = (coef - coef.mean(axis=0)) ** 2
    blur = squared.std(axis=0) * np.sqrt(1 / len(coef) + 1 / 2400)
    assert (np.abs(model.posterior_.variance - squared.mean(axis=0)) <= DEVIATIONS * blur).all()
    at = X[20:23]
    planes = at @ coef[:, :5].T + coef[:, 5]
    mean, std = model.predict(at, return_std=True)
    np.testing.assert_allclose(mean, at @ model.coef_ + model.intercept_)
    whole = (planes - planes.mean(axis=1, keepdims=True)) ** 2 + variance
    blur = whole.std(axis=1) * np.sqrt(1 / len(coef) + 1 / 2400)
    assert (np.abs(std**2 - whole.mean(axis=1)) <= DEVIATIONS * blur).all()
    for of, scale in (("mean", 0.0), ("new", 1.0)):
        drawn = planes + scale * np.sqrt(variance) * np.random.default_rng(2).normal(size=planes.shape)
        ends = model.predict_interval(at, level=0.8, of=of)
        share = (drawn <= ends[:, [1]]).mean(axis=1), (drawn < ends[:, [0]]).mean(axis=1)
        blur = 0.3 * np.sqrt(1 / len(coef) + 1 / 2400)  # the root of 0.9 * 0.1
        np.testing.assert_allclose(share[0], 0.9, atol=DEVIATIONS * blur)
        np.testing.assert_allclose(share[1], 0.1, atol=DEVIATIONS * blur)
    drawn, drawn_noise = model.sample_posterior(2000, random_state=3)
    assert inside(drawn[:, :5], LIMITS[kind]).all()
    blur = variance.std() * np.sqrt(1 / len(coef) + 1 / 1000)
    assert abs(drawn_noise.mean() - variance.mean()) <= DEVIATIONS * blur + 1e-12
    assert model.sample_y(at, 7, random_state=4).shape == (3, 7)
    ends = model.credible_interval(0.9)
    share = (coef <= ends[:, 1]).mean(axis=0)
    np.testing.assert_allclose(share, 0.95, atol=DEVIATIONS * 0.22 * np.sqrt(1 / len(coef) + 1 / 2400))


def test_a_coefficient_far_beyond_its_bound_is_exponential():
    for bound in (0.5, 5.0, 1e3, 1e8):
        model = BayesianLinearRegression(
            1.0, noise_variance=1.0, fit_intercept=False, constraints=Box(bound, np.inf)
        ).fit(np.zeros((2, 1)), [0.0, 0.0])
        assert model.coef_ == bound
        exact = stats.truncnorm(bound, np.inf)
        excess = model.sample_posterior(4096, random_state=0)[0][:, 0] - bound
        mean = exact.mean() - bound if bound < 100 else 1.0 / bound  # up to the square of 1 / bound
        assert abs(excess.mean() - mean) <= DEVIATIONS * excess.std() / np.sqrt(2400) + np.spacing(bound)
        assert (excess >= 0).all()


def test_rows_come_and_go_exactly():
    for make in (BayesianLinearRegression, BayesianRidge, ARDRegression):
        held = SETS["order within bounds"][0]
        whole = make(constraints=held).fit(X, Y)
        both = make(constraints=held).fit(X[:25], Y[:25]).merge(make(constraints=held).fit(X[25:], Y[25:]))
        again = make(constraints=held).fit(X[:25], Y[:25]).partial_fit(X[25:], Y[25:])
        again.forget(X[:5], Y[:5]).partial_fit(X[:5], Y[:5])
        for model in (both, again):
            np.testing.assert_allclose(model.coef_, whole.coef_, atol=1e-8)
            np.testing.assert_allclose(model.posterior_mean_, whole.posterior_mean_, atol=1e-6)
            if make is BayesianLinearRegression:
                assert model.log_evidence_ == pytest.approx(whole.log_evidence_, abs=1e-6)
            assert surefit.verify(model, X, Y).holds


def test_logistic_posteriors_are_cut_where_slope_and_bend_say():
    rows, label = X[:30, :2], SIDE[:30]
    model = BayesianLogisticRegression(1.5, constraints=Box(-0.1, 0.6), fit_intercept=False).fit(rows, label)
    w, signs = model.coef_, 2.0 * label - 1.0
    chance = 1 / (1 + np.exp(-rows @ w))
    slope = rows.T @ (chance - label) + 1.5 * w
    bend = (rows.T * (chance * (1 - chance))) @ rows + 1.5 * np.eye(2)
    top = -np.logaddexp(0, -signs * (rows @ w)).sum() - 0.75 * w @ w

    def about(b, a, power=(0, 0)):
        d = np.array([a, b]) - w
        return np.exp(top - slope @ d - 0.5 * d @ bend @ d) * a ** power[0] * b ** power[1]

    area = (-0.1, 0.6, lambda a: -0.1, lambda a: 0.6)
    whole = integrate.dblquad(about, *area, epsabs=0, epsrel=1e-9)[0]
    mean = [integrate.dblquad(about, *area, args=(power,), epsabs=0)[0] / whole for power in ((1, 0), (0, 1))]
    assert (np.abs(model.posterior_mean_ - mean) <= DEVIATIONS * model.posterior_mean_error_).all()
    share = (stats.norm.cdf(0.6 * 1.5**0.5) - stats.norm.cdf(-0.1 * 1.5**0.5)) ** 2
    prior = np.log(1.5 / (2 * np.pi))  # of two coefficients, at zero
    error = model.log_evidence_error_
    assert abs(model.log_evidence_ - (prior + np.log(whole / share))) <= DEVIATIONS * error + 1e-7
    by_draws = model.predict_proba(X[40:50, :2], by="sample", n_samples=4000, random_state=0)
    drawn = model.posterior_.draws.coef
    expected = (1 / (1 + np.exp(-X[40:50, :2] @ drawn.T))).mean(axis=1)
    np.testing.assert_allclose(by_draws[:, 1], expected, atol=DEVIATIONS * 0.5 / np.sqrt(2400))
    close = model.predict_proba(X[40:50, :2])
    assert ((close[:, 1] > 0.5) == (model.predict(X[40:50, :2]) == 1)).all()
    chosen = BayesianLogisticRegression("evidence", constraints=Box(-0.1, 0.6)).fit(X, SIDE)
    assert chosen.precision_ == BayesianLogisticRegression("evidence").fit(X, SIDE).precision_
    assert surefit.verify(chosen, X, SIDE).holds
    chosen.precision_ *= 1.01
    assert not surefit.verify(chosen, X, SIDE).holds


MODELS = {
    "conjugate": (BayesianLinearRegression(), Y),
    "known noise": (BayesianLinearRegression(noise_variance=1.0), Y),
    "ridge": (BayesianRidge(), Y),
    "relevance": (ARDRegression(), Y),
    "logistic": (BayesianLogisticRegression(), SIDE),
    "logistic by evidence": (BayesianLogisticRegression("evidence", fit_intercept=False), SIDE),
}


@pytest.mark.parametrize("name", MODELS)
def test_slack_constraints_change_nothing(name):
    model, target = MODELS[name]
    free, held = clone(model).fit(X, target), clone(model).set_params(constraints=Box(-1e9, 1e9))
    held.fit(X, target)
    np.testing.assert_allclose(held.coef_, free.coef_, atol=1e-6)
    if hasattr(free, "log_evidence_"):
        assert held.log_evidence_ == pytest.approx(free.log_evidence_, abs=1e-6)
        assert held.log_evidence_error_ < 1e-9
    off = np.abs(held.posterior_mean_ - free.posterior_mean_)[:5]
    assert (off <= DEVIATIONS * held.posterior_mean_error_ + 1e-6).all()


@pytest.mark.parametrize("name", MODELS)
def test_files_pickles_clones_and_streams_keep_them(name, tmp_path):
    import pandas as pd

    model, target = MODELS[name]
    model = clone(model).set_params(constraints=SETS["order within bounds"][0]).fit(X, target)
    surefit.save(model, tmp_path / "model.safetensors")
    for other in (
        pickle.loads(pickle.dumps(model)),
        surefit.load(tmp_path / "model.safetensors"),
        clone(model).fit(X, target),
    ):
        np.testing.assert_array_equal(other.posterior_mean_, model.posterior_mean_)
        np.testing.assert_array_equal(other.sample_posterior(3, 0)[0], model.sample_posterior(3, 0)[0])
        assert surefit.verify(other, X, target).holds
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(5)]).assign(y=target)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=17)
    streamed = clone(model).fit(tmp_path / "rows.parquet", "y")
    np.testing.assert_allclose(streamed.coef_, model.coef_, atol=1e-6)
    assert surefit.verify(streamed, tmp_path / "rows.parquet", "y").holds
    for change in (0.01, -0.01):  # one leaves the set, one the mode
        worse = pickle.loads(pickle.dumps(model))
        worse.coef_ = worse.coef_ + change * (np.arange(5) == 1)
        assert not surefit.verify(worse, X, target).holds


def units(scale):
    return X * scale, X @ np.array([1.0, -0.6, 0.4, 0.1, 0.8]) + RNG.normal(size=60)


DOUBLE = np.column_stack([X[:, :4], X[:, 0]])
NEARLY = np.column_stack([X[:, :4], X[:, 0] + 1e-9 * X[:, 4]])
HARD = {
    "fewer rows than columns": (X[:3], Y[:3], None, np.ones(5)),
    "a column twice": (DOUBLE, Y, None, np.ones(5)),
    "a column nearly twice": (NEARLY, Y, None, np.ones(5)),
    "far from zero": (X + 1e6, Y + 1e6, None, np.ones(5)),
    "small units": (*units(1e-12), None, np.full(5, 1e12)),
    "large units": (*units(1e12), None, np.full(5, 1e-12)),
    "weights of zero": (X, Y, np.repeat([0.0, 2.0], 30), np.ones(5)),
    "a constant column": (np.column_stack([X[:, :4], np.ones(60)]), Y, None, np.ones(5)),
}


KINDS = ["signs", "bounds", "order", "all bind"]
# Two kinds a case, such that each kind meets four cases: all of them together take a minute.
PAIRS = [(case, KINDS[(k + shift) % 4]) for k, case in enumerate(HARD) for shift in (0, 1 + k // 4)]


@pytest.mark.parametrize(("case", "kind"), PAIRS)
def test_hard_tables(case, kind):
    rows, y, weight, unit = HARD[case]
    held = {
        "signs": NonNegative(),
        "bounds": Box(-0.2 * unit, 0.3 * unit),
        "order": Monotone([[0, 1, 4]]),
        "all bind": Box(5 * unit, 6 * unit),
    }[kind]
    label = (y > np.median(y)).astype(int)
    precision = 1.0 / unit**2
    for model, target in (
        (BayesianLinearRegression(precision, constraints=held), y),
        (BayesianRidge(constraints=held), y),
        (ARDRegression(constraints=held), y),
        (BayesianLogisticRegression(precision, constraints=held), label),
    ):
        model.fit(rows, target, weight)
        assert held.feasible(model.coef_)
        # Where rows leave the relevance of columns open, the precisions are not settled, and it says so.
        if case != "fewer rows than columns" or not isinstance(model, ARDRegression):
            assert model.certificate_.holds
            assert surefit.verify(model, rows, target, weight).holds
        assert model.certificate_.parts.get("gap", 0.0) <= 1e-9
        mean = model.posterior_mean_
        assert np.isfinite(mean).all()
        assert held.feasible(mean[:5])
        assert model._truncated().draws.variance_ratio < 1.7  # chains tell what independent draws would
        if weight is not None:
            kept = weight > 0
            same = clone(model).fit(rows[kept], target[kept], weight[kept])
            np.testing.assert_allclose(same.coef_, model.coef_, atol=1e-9)


def test_all_of_the_mass_of_two_columns_that_tell_the_same():
    """Their sum is known well, and which has it not at all: the mean is half of it each."""
    model = BayesianLinearRegression(1e-6, noise_variance=0.01, constraints=NonNegative())
    model.fit(DOUBLE[:, [0, 4]], DOUBLE[:, 0] + 0.1 * X[:, 1])
    mean, error = model.posterior_mean_[:2], model.posterior_mean_error_
    whole = float(np.linalg.lstsq(np.c_[X[:, 0], np.ones(60)], X[:, 0] + 0.1 * X[:, 1], rcond=None)[0][0])
    assert (np.abs(mean - whole / 2) <= DEVIATIONS * error + 1e-4).all()
    spread = np.sqrt(model.posterior_.variance[:2])
    np.testing.assert_allclose(spread, whole / np.sqrt(12), rtol=DEVIATIONS * 0.45 / np.sqrt(2400) + 1e-2)


def test_levels_that_dropped_out_are_levels_at_zero():
    target = 3 * X[:, 0] - 3 * X[:, 2] + 0.01 * X[:, 3]
    free = ARDRegression(threshold_lambda=1e3).fit(X, target)
    gone = free.lambda_ >= 1e3
    assert gone[1]
    assert not gone[0]
    model = ARDRegression(threshold_lambda=1e3, constraints=Monotone([[0, 1, 2]])).fit(X, target)
    assert model.coef_[1] == 0
    assert model.coef_[0] <= 0 <= model.coef_[2]
    assert surefit.verify(model, X, target).holds
    away = ARDRegression(threshold_lambda=1e3, constraints=Box(0.1, 9.0)).fit(X, target)
    assert (away.coef_ >= 0.1).all()
    assert surefit.verify(away, X, target).holds
    assert (away.posterior_mean_[:5] > 0.1).all()


def test_refusals_say_why():
    model = BayesianLinearRegression(constraints=Simplex())
    with pytest.raises(ParameterError, match="give Box, NonNegative or Monotone"):
        model.fit(X, Y)
    apart = [Monotone([[0, 1]]), Box([0, 1, 0, 0, 0], [9, 9, 9, 9, 9])]
    for make, target in (
        (BayesianLinearRegression, Y),
        (BayesianRidge, Y),
        (BayesianLogisticRegression, SIDE),
    ):
        with pytest.raises(ParameterError, match="give the levels of one group the same"):
            make(constraints=apart).fit(X, target)
        with pytest.raises(DataError, match="groups name column 7"):
            make(constraints=Monotone([[0, 7]])).fit(X, target)
        with pytest.raises(ParameterError, match="no number is between"):
            make(constraints=[Box(0.0, 1.0), Box(2.0, 3.0)]).fit(X, target)
    model = BayesianLinearRegression(constraints=NonNegative()).fit(X, Y)
    with pytest.raises(RefusalError, match="is not inverse gamma"):
        _ = model.noise_posterior_
    with pytest.raises(RefusalError, match="no density"):
        model.predictive(X[:1], of="mean").pdf(0.0)
    with pytest.raises(ParameterError, match="n_samples"):
        model.sample_posterior(0)
