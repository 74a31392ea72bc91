"""Constraints where more is learnt than coefficients: a strength by folds, a scale, thresholds."""

from __future__ import annotations

from functools import partial

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.model_selection import KFold, StratifiedKFold

import surefit
from surefit import (
    ElasticNetCV,
    GeneralizedLinearRegressor,
    HuberRegressor,
    LassoCV,
    LogisticRegressionCV,
    OrdinalClassifier,
    RidgeClassifierCV,
    RidgeCV,
)
from surefit.core.errors import ParameterError, RefusalError
from surefit.penalties import Box, Monotone, NonNegative

ROWS = 90
RNG = np.random.default_rng(11)
X = RNG.normal(size=(ROWS, 7))
X[:, :4] = np.eye(4)[RNG.integers(0, 4, ROWS)]
Y = X @ np.array([1.0, 0.4, 2.0, 1.5, 1.0, -1.0, 0.1]) + RNG.normal(size=ROWS)
SIDE = np.where(Y > 1.5, 1.0, -1.0)
HELD = [Monotone([[0, 1, 2, 3]]), Box(-0.6, 0.9)]


def within(w):
    return [cp.diff(w[:4]) >= 0, w >= -0.6, w <= 0.9]


def best(cost, rows, target):
    """Minimise by a general convex solver; return the value, coefficients and intercept."""
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    found = cp.Problem(cp.Minimize(cost(rows, target, w, b)), within(w)).solve(solver=cp.CLARABEL)
    return found, w.value, float(b.value)


def squares(strength, l1_share=0.0, of_mean=False):
    def cost(rows, target, w, b):
        loss = cp.sum_squares(target - rows @ w - b)
        if of_mean:
            penalty = l1_share * cp.norm1(w) + 0.5 * (1 - l1_share) * cp.sum_squares(w)
            return loss / (2 * len(target)) + strength * penalty
        return loss + strength * cp.sum_squares(w)

    return cost


def logistic(C):
    return lambda rows, target, w, b: (
        0.5 * cp.sum_squares(w) + C * cp.sum(cp.logistic(-cp.multiply(target, rows @ w + b)))
    )


def squared_error(target, scores):
    return float(np.mean((target - scores) ** 2))


def r2(target, scores):
    return 1.0 - squared_error(target, scores) / target.var()


def accuracy(target, scores):
    return float(np.mean((scores > 0) == (target > 0)))


def log_loss(target, scores):
    return -float(np.mean(np.logaddexp(0.0, -target * scores)))


STRENGTHS = [0.02, 0.3, 5.0]
CASES = {
    "lasso": (LassoCV(alphas=STRENGTHS, cv=3, tol=1e-10), Y, lambda a: squares(a, 1.0, True), squared_error),
    "elastic net": (
        ElasticNetCV(alphas=STRENGTHS, cv=3, tol=1e-10),
        Y,
        lambda a: squares(a, 0.5, True),
        squared_error,
    ),
    "ridge": (RidgeCV(STRENGTHS, cv=3), Y, squares, r2),
    "ridge for classes": (RidgeClassifierCV(STRENGTHS, cv=3), SIDE, squares, accuracy),
    "logistic": (LogisticRegressionCV(Cs=STRENGTHS, cv=3, tol=1e-8), SIDE, logistic, log_loss),
}


@pytest.mark.parametrize("name", CASES)
def test_every_fold_keeps_the_constraints_and_the_choice_is_that_of_a_general_solver(name):
    model, target, cost_of, judge = CASES[name]
    model.set_params(constraints=HELD).fit(X, target)
    splitter = KFold(3) if target is Y else StratifiedKFold(3)
    scores = np.zeros((len(STRENGTHS), 3))
    for fold, (train, test) in enumerate(splitter.split(X, target)):
        for k, strength in enumerate(STRENGTHS):
            _, w, b = best(cost_of(strength), X[train], target[train])
            scores[k, fold] = judge(target[test], X[test] @ w + b)
    least = judge is squared_error
    mean = scores.mean(axis=1)
    chosen = STRENGTHS[int(np.argmin(mean) if least else np.argmax(mean))]
    found = float(np.ravel(model.C_ if name == "logistic" else model.alpha_)[0])
    assert found == chosen
    if least:
        np.testing.assert_allclose(model.mse_path_, scores[::-1], rtol=1e-5)  # from strong to weak
    elif name == "logistic":
        np.testing.assert_allclose(model.scores_[:, 0], scores.T, atol=1e-5)
    else:
        assert model.best_score_ == pytest.approx(mean.max(), abs=1e-6)
    w, b = cp.Constant(np.ravel(model.coef_)), cp.Constant(float(np.ravel(model.intercept_)[0]))
    lowest, _, _ = best(cost_of(chosen), X, target)
    assert cost_of(chosen)(X, target, w, b).value <= lowest + 1e-6 * abs(lowest)
    assert model.certificate_.holds
    assert model.certificate_.parts["stationarity"] <= 1e-4  # a gap is the square of a slope
    assert all(each.feasible(np.ravel(model.coef_)) for each in HELD)
    assert surefit.verify(model, X, target).holds
    kept, model.coef_ = model.coef_, model.coef_ + 0.05 * (np.arange(7) == 5)
    assert not surefit.verify(model, X, target).holds
    model.coef_ = kept


def test_rows_left_out_one_at_a_time():
    few, target = X[:12], Y[:12]
    model = RidgeCV(STRENGTHS, constraints=HELD, store_cv_results=True).fit(few, target)
    errors = np.zeros((12, 3))
    for row in range(12):
        others = np.arange(12) != row
        for k, strength in enumerate(STRENGTHS):
            _, w, b = best(squares(strength), few[others], target[others])
            errors[row, k] = (target[row] - few[row] @ w - b) ** 2
    np.testing.assert_allclose(model.cv_results_, errors, atol=2e-5)
    assert model.alpha_ == STRENGTHS[int(np.argmin(errors.mean(axis=0)))]
    assert model.best_score_ == pytest.approx(-errors.mean(axis=0).min(), abs=1e-5)


def test_slack_constraints_choose_as_none_do():
    wide = Box(-99.0, 99.0)
    for model, target in (
        (LassoCV(alphas=6), Y),
        (RidgeCV(cv=4), np.column_stack([Y, Y[::-1]])),
        (RidgeCV(cv=4, folds="content"), Y),
        (RidgeClassifierCV(cv=3), np.digitize(Y, [0.5, 2.0])),
        (LogisticRegressionCV(Cs=2, l1_ratios=[0.0, 0.5], cv=2, solver="saga"), np.digitize(Y, [0.5, 2.0])),
    ):
        free = model.fit(X, target)
        chosen = getattr(free, "C_", None) or free.alpha_
        coef = free.coef_.copy()
        held = model.set_params(constraints=wide).fit(X, target)
        assert (getattr(held, "C_", None) or held.alpha_) == chosen
        np.testing.assert_allclose(held.coef_, coef, atol=1e-7 * np.abs(coef).max())
        assert surefit.verify(held, X, target).holds


def test_a_table_in_files_is_cut_as_it_is_read(tmp_path):
    import pandas as pd

    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(7)]).assign(y=Y)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=40)
    for model in (
        LassoCV(alphas=STRENGTHS, cv=3, constraints=HELD),
        RidgeCV(STRENGTHS, cv=3, constraints=HELD),
        LassoCV(alphas=STRENGTHS, cv=3, folds="content", constraints=HELD),
    ):
        streamed = model.fit(tmp_path / "rows.parquet", "y")
        assert streamed.certificate_.holds
        alpha, coef = streamed.alpha_, streamed.coef_.copy()
        turns = [
            (np.flatnonzero(np.arange(ROWS) % 3 != k), np.flatnonzero(np.arange(ROWS) % 3 == k))
            for k in range(3)
        ]
        if model.get_params()["folds"] == "order":
            model.set_params(cv=turns)
        model.fit(X, Y)
        assert model.alpha_ == alpha
        np.testing.assert_allclose(model.coef_, coef, atol=1e-6)


HUBER = {
    "bounds": (Box(-0.4, 0.6), lambda w: [w >= -0.4, w <= 0.6]),
    "signs": (NonNegative(), lambda w: [w >= 0]),
    "order": (HELD[0], lambda w: [cp.diff(w[:4]) >= 0]),
    "order within bounds": (HELD, within),
}
FAR = Y + 30 * RNG.normal(size=ROWS) * (np.arange(ROWS) % 9 == 0)


@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("constraint", HUBER)
def test_a_scale_is_learnt_under_constraints(constraint, alpha):
    ours, theirs = HUBER[constraint]
    model = HuberRegressor(alpha=alpha, constraints=ours, tol=1e-8).fit(X, FAR)
    w, b, sigma, near = cp.Variable(7), cp.Variable(), cp.Variable(pos=True), cp.Variable(ROWS)
    far = FAR - X @ w - b - near
    cost = ROWS * sigma + cp.quad_over_lin(near, sigma) + 2 * 1.35 * cp.norm1(far) + alpha * cp.sum_squares(w)
    lowest = cp.Problem(cp.Minimize(cost), theirs(w)).solve(solver=cp.CLARABEL)
    off = np.abs(FAR - model.predict(X)) / model.scale_
    rows = np.where(off <= 1.35, off**2, 2 * 1.35 * off - 1.35**2)
    found = model.scale_ * (1 + rows).sum() + alpha * (model.coef_**2).sum()
    assert found <= lowest * (1 + 1e-7)
    assert model.certificate_.holds
    assert model.certificate_.parts["stationarity"] <= 1e-4
    assert min(model.certificate_.witness[side].min() for side in ("lower", "upper")) >= 0
    assert surefit.verify(model, X, FAR).holds
    kept, model.coef_ = model.coef_, model.coef_ + 0.1 * (np.arange(7) == 5)
    assert not surefit.verify(model, X, FAR).holds
    model.coef_ = kept
    cold = model.n_iter_
    assert model.set_params(warm_start=True).fit(X, FAR).n_iter_ < cold


@pytest.mark.parametrize(("rows", "columns"), [(90, 7), (5, 7), (1, 7), (90, 1)])
def test_rows_that_constraints_let_fit_exactly_have_no_scale(rows, columns):
    """The best scale of rows on a plane is none, which absolute residuals prove."""
    table = X[:rows, :columns]
    model = HuberRegressor(alpha=0.0, constraints=Box(-3.0, 3.0)).fit(table, table @ np.full(columns, 0.5))
    assert model.certificate_.holds
    assert np.abs(model.predict(table) - table @ np.full(columns, 0.5)).max() <= 1e-4


def test_what_cannot_be_chosen_is_refused():
    many = np.zeros((2001, 2))
    with pytest.raises(RefusalError, match="leave-one-out under constraints refits"):
        RidgeCV(constraints=NonNegative()).fit(many, many[:, 0])
    with pytest.raises(RefusalError, match="constraints"):
        RidgeCV(cv=3, folds="content", constraints=HELD).partial_fit(X, Y)
    with pytest.raises(ParameterError, match="give cv as a number of folds"):
        LassoCV(cv=KFold(3), folds="content", constraints=HELD).fit(X, Y)


RANKS = np.digitize(X @ np.array([1.0, 0.2, 2.0, 0.5, 1.0, -1.0, 0.1]) + RNG.logistic(size=ROWS), [0.5, 2.0])
COUNTS = RNG.negative_binomial(2, 1 / (1 + np.exp(0.5 * Y) / 2)).astype(float)


def ordinal(link, at):
    from scipy.special import expit, ndtr

    below = expit if link == "logit" else ndtr
    ends = np.r_[-np.inf, at[7:], np.inf]
    z = X @ at[:7]
    with np.errstate(divide="ignore", invalid="ignore"):
        return -np.log(np.maximum(below(ends[RANKS + 1] - z) - below(ends[RANKS] - z), 1e-300)).mean()


def counted(at):
    from scipy.stats import nbinom

    theta = np.exp(-at[8])
    mean = np.exp(X @ at[:7] + at[7])
    return -nbinom.logpmf(COUNTS, theta, theta / (theta + mean)).mean()


def general(function, start, constraint):
    """The least value that scipy's general solver finds, from two starts."""
    bounds = [(None, None)] * len(start)
    if constraint in ("bounds", "order within bounds", "signs"):
        low, high = {"bounds": (-0.4, 0.6), "signs": (0.0, None)}.get(constraint, (-0.6, 0.9))
        bounds[:7] = [(low, high)] * 7
    order = [{"type": "ineq", "fun": lambda at: np.diff(at[:4])}] if "order" in constraint else []
    return min(
        minimize(function, begin, method="SLSQP", bounds=bounds, constraints=order, tol=1e-12).fun
        for begin in (start, start + 0.01)
    )


@pytest.mark.parametrize("constraint", HUBER)
@pytest.mark.parametrize("kind", ["logit", "probit", "counts"])
def test_thresholds_and_a_dispersion_are_learnt_under_constraints(kind, constraint):
    ours, theirs = HUBER[constraint]
    if kind == "counts":
        model = GeneralizedLinearRegressor("negative_binomial", constraints=ours).fit(X, COUNTS)
        found = np.r_[model.coef_, model.intercept_, -np.log(model.theta_)]
        cost, start, target = counted, np.r_[np.zeros(8), 0.0], COUNTS
    else:
        model = OrdinalClassifier(kind, constraints=ours).fit(X, RANKS)
        found = np.r_[model.coef_, model.thresholds_]
        cost, start, target = partial(ordinal, kind), np.r_[np.zeros(7), -1.0, 1.0], RANKS
    lowest = general(cost, start, constraint)
    assert cost(found) <= lowest + 1e-7 * abs(lowest)
    w = cp.Constant(model.coef_)
    assert all(each.violation().max() <= 1e-15 for each in theirs(w))
    assert model.certificate_.holds
    assert model.certificate_.parts["stationarity"] <= 1e-4
    free = type(model)(**{**model.get_params(), "constraints": None}).fit(X, target)
    assert cost(np.r_[free.coef_, found[7:]]) != cost(found)  # the constraint binds
    assert surefit.verify(model, X, target).holds
    with pytest.raises(RefusalError, match="constraints hold"):
        model.summary(X, target)
    kept, model.coef_ = model.coef_, model.coef_ + 0.05 * (np.arange(7) == 5)
    assert not surefit.verify(model, X, target).holds
    model.coef_ = kept


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_thresholds_in_any_units(scale):
    held = [HELD[0], Box(-0.6 / scale, 0.9 / scale)]
    plain = OrdinalClassifier(constraints=HELD, alpha=1e-3).fit(X, RANKS)
    model = OrdinalClassifier(constraints=held, alpha=1e-3 * scale**2).fit(scale * X, RANKS)
    assert surefit.verify(model, scale * X, RANKS).holds
    np.testing.assert_allclose(scale * model.coef_, plain.coef_, atol=1e-6)
