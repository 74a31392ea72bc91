"""Exact paths of the lasso within constraints: every point by a general solver, every knot a real one."""

from __future__ import annotations

import pickle

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import lsq_linear, nnls
from sklearn.base import clone
from sklearn.model_selection import KFold

import surefit
from surefit import Lars, Lasso, LassoLars, LassoLarsCV, LassoLarsIC
from surefit.core.errors import DataError, ParameterError
from surefit.penalties import Box, Monotone, NonNegative, Simplex

RNG = np.random.default_rng(8)
X = RNG.normal(size=(70, 6))
X[:, 3] += 0.8 * X[:, 0]
Y = X @ np.array([1.5, -1.0, 0.4, -0.6, 0.8, 0.05]) + 3.0 + RNG.normal(size=70)
SETS = {
    "signs": (NonNegative(), lambda w: [w >= 0]),
    "bounds": (Box(-0.3, 0.5), lambda w: [w >= -0.3, w <= 0.5]),
    "bounds of each": (
        Box([0, -1, 0.1, -9, -9, -9], [9, 0, 0.2, 9, 0.3, 9]),
        lambda w: [
            w >= np.array([0, -1, 0.1, -9, -9, -9]),
            w <= np.array([9, 0, 0.2, 9, 0.3, 9]),
        ],
    ),
    "zero not allowed": (Box(-0.9, -0.2), lambda w: [w >= -0.9, w <= -0.2]),
    "order": (Monotone([[0, 1, 2], [5, 3]]), lambda w: [cp.diff(w[:3]) >= 0, w[3] >= w[5]]),
    "order within bounds": (
        [Monotone([[4, 3, 2, 0]]), Box(-0.3, 0.5)],
        lambda w: [w[[3, 2, 0]] >= w[[4, 3, 2]], w >= -0.3, w <= 0.5],
    ),
}
EXACT = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas", "tol_ktratio"), 1e-13)


def cost(w, b, alpha):
    return cp.sum_squares(Y - X @ w - b) / (2 * len(Y)) + alpha * cp.norm1(w)


def lowest(theirs, alpha):
    w, b = cp.Variable(6), cp.Variable()
    held = theirs(w)
    value = cp.Problem(cp.Minimize(cost(w, b, alpha)), held).solve(solver=cp.CLARABEL, **EXACT)
    return value, w.value, held


def value_at(w, alpha):
    residual = Y - X @ w
    return np.mean((residual - residual.mean()) ** 2) / 2 + alpha * np.abs(w).sum()


@pytest.mark.parametrize("kind", SETS)
def test_every_point_of_the_path_is_the_best_of_the_set(kind):
    ours, theirs = SETS[kind]
    model = LassoLars(alpha=0.0, constraints=ours).fit(X, Y)
    knots = model.alphas_
    assert (np.diff(knots) < 0).all()
    assert knots[-1] == 0.0
    middle = 0.5 * (knots[1:] + knots[:-1])
    for alpha in [2 * knots[0], *knots, *middle]:
        w = model.coef_at(float(alpha))
        assert all(each.feasible(w) for each in (ours if isinstance(ours, list) else [ours]))
        best, _, _ = lowest(theirs, alpha)
        # The solver stops at a gap of 1e-13 of the value, and an interior point ends above.
        assert value_at(w, alpha) <= best * (1 + 1e-12) + 1e-14
    assert model.certificate_.holds
    assert surefit.verify(model, X, Y).holds


@pytest.mark.parametrize("kind", SETS)
def test_at_every_knot_the_path_turns(kind):
    model = LassoLars(alpha=0.0, constraints=SETS[kind][0]).fit(X, Y)
    knots, coefs = model.alphas_, model.coef_path_
    slopes = np.diff(coefs, axis=1) / np.diff(knots)
    turns = np.abs(np.diff(slopes, axis=1)).max(axis=0)
    assert (turns > 1e-6).all()
    assert np.abs(slopes[:, 0]).max() > 1e-6  # something moves at once


@pytest.mark.parametrize("kind", SETS)
def test_multipliers_are_those_of_a_general_solver(kind):
    ours, theirs = SETS[kind]
    model = LassoLars(alpha=0.05, constraints=ours).fit(X, Y)
    _, w, held = lowest(theirs, 0.05)
    np.testing.assert_allclose(model.coef_, w, atol=2e-6)
    slope = X.T @ (X @ model.coef_ + model.intercept_ - Y) / len(Y)
    witness = model.certificate_.witness
    slope -= witness["lower"] - witness["upper"]
    groups = [g for each in (ours if isinstance(ours, list) else [ours]) for g in getattr(each, "groups", [])]
    for group, between in zip(groups, witness["order"], strict=True):
        assert (between >= 0).all()
        np.testing.assert_allclose(between * np.diff(model.coef_[group]), 0.0, atol=1e-12)
        slope[group] += np.diff(between, prepend=0.0, append=0.0)
    assert (np.abs(slope) <= 0.05 + 1e-10).all()
    moved = np.abs(model.coef_) > 0
    np.testing.assert_allclose(slope[moved], -0.05 * np.sign(model.coef_[moved]), atol=1e-10)
    for side in ("lower", "upper"):
        assert (witness[side] >= 0).all()
    if kind in ("signs", "bounds of each"):  # elsewhere levels at a bound share what holds them
        sides = [np.asarray(each.dual_value) for each in held]
        free = np.abs(model.coef_) > 0  # at zero the kink takes what it can
        np.testing.assert_allclose(witness["lower"][free], sides[0][free], atol=2e-6)
        if len(sides) > 1:
            np.testing.assert_allclose(witness["upper"][free], sides[1][free], atol=2e-6)


def test_signs_and_slack_bounds_give_the_paths_without_constraints():
    for held, free in ((NonNegative(), LassoLars(0.0, positive=True)), (Box(-99.0, 99.0), LassoLars(0.0))):
        ours, theirs = LassoLars(0.0, constraints=held).fit(X, Y), free.fit(X, Y)
        np.testing.assert_allclose(ours.alphas_, theirs.alphas_, atol=1e-12)
        np.testing.assert_allclose(ours.coef_path_, theirs.coef_path_, atol=1e-11)
        assert ours.active_ == theirs.active_
    both = LassoLars(0.1, positive=True, constraints=Box(-1.0, 0.4)).fit(X, Y)
    one = LassoLars(0.1, constraints=[Box(-1.0, 0.4), NonNegative()]).fit(X, Y)
    np.testing.assert_array_equal(both.coef_, one.coef_)


def test_least_angles_end_at_least_squares_within():
    centred, target = X - X.mean(axis=0), Y - Y.mean()
    signs = Lars(constraints=NonNegative()).fit(X, Y)
    np.testing.assert_allclose(signs.coef_, nnls(centred, target)[0], atol=1e-10)
    bounds = Lars(constraints=Box(-0.3, 0.5)).fit(X, Y)
    expected = lsq_linear(centred, target, (-0.3, 0.5), method="bvls", tol=1e-15).x
    np.testing.assert_allclose(bounds.coef_, expected, atol=1e-9)
    for most in range(1, 7):
        model = Lars(n_nonzero_coefs=most, constraints=Box(-0.3, 0.5)).fit(X, Y)
        assert 1 <= np.count_nonzero(model.coef_) <= most
        assert sorted(model.active_) == np.flatnonzero(model.coef_).tolist()
        np.testing.assert_allclose(model.coef_, bounds.coef_at(model.alphas_[-1]), atol=1e-11)
        free = (model.coef_ != 0) & (model.coef_ > -0.3) & (model.coef_ < 0.5)
        slopes = np.abs(centred.T @ (target - centred @ model.coef_)) / len(Y)
        np.testing.assert_allclose(slopes[free], model.alphas_[-1], atol=1e-10)  # equal angles
        assert model.certificate_.holds
        assert surefit.verify(model, X, Y).holds


def test_folds_keep_the_constraints():
    held = SETS["order within bounds"][0]
    model = LassoLarsCV(cv=3, constraints=held).fit(X, Y)
    errors = np.zeros((len(model.cv_alphas_), 3))
    for fold, (train, test) in enumerate(KFold(3).split(X)):
        for k, alpha in enumerate(model.cv_alphas_):
            one = LassoLars(alpha=float(alpha), constraints=held).fit(X[train], Y[train])
            errors[k, fold] = np.mean((Y[test] - one.predict(X[test])) ** 2)
            if k % 5 == 0 and alpha > 0:
                other = Lasso(alpha=float(alpha), constraints=held, tol=1e-12).fit(X[train], Y[train])
                np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-6)
    np.testing.assert_allclose(model.mse_path_, errors, rtol=1e-9)
    assert model.alpha_ == model.cv_alphas_[int(np.argmin(errors.mean(axis=1)))]
    np.testing.assert_allclose(model.coef_, LassoLars(model.alpha_, constraints=held).fit(X, Y).coef_)
    assert surefit.verify(model, X, Y).holds


def test_a_criterion_counts_what_is_free_to_move():
    held = SETS["order within bounds"][0]
    model = LassoLarsIC("bic", noise_variance=1.2, constraints=held).fit(X, Y)
    path = LassoLars(0.0, constraints=held).fit(X, Y)
    np.testing.assert_allclose(model.alphas_, path.alphas_)
    expected = []
    for w in path.coef_path_.T:
        inner = [w[j] for j in range(6) if w[j] != 0 and -0.3 < w[j] < 0.5]
        levels = {w[j] for j in (4, 3, 2, 0)} & set(inner)
        freedom = len(levels) + sum(w[j] in inner for j in (1, 5))
        squares = 70 * (value_at(w, 0.0) * 2)
        expected.append(70 * np.log(2 * np.pi * 1.2) + squares / 1.2 + np.log(70) * freedom)
    np.testing.assert_allclose(model.criterion_, expected, rtol=1e-10)
    assert surefit.verify(model, X, Y).holds


MODELS = [
    LassoLars(0.02),
    Lars(),
    Lars(n_nonzero_coefs=2),
    LassoLarsCV(cv=3, folds="content"),
    LassoLarsIC("aic", noise_variance=1.0),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("kind", ["bounds", "zero not allowed", "order within bounds"])
def test_files_pickles_clones_streams_and_weights(model, kind, tmp_path):
    import pandas as pd

    model = clone(model).set_params(constraints=SETS[kind][0]).fit(X, Y)
    surefit.save(model, tmp_path / "model.safetensors")
    for other in (pickle.loads(pickle.dumps(model)), surefit.load(tmp_path / "model.safetensors")):
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        assert surefit.verify(other, X, Y).holds
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(6)]).assign(y=Y)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=16)
    streamed = clone(model).fit(tmp_path / "rows.parquet", "y")
    np.testing.assert_allclose(streamed.coef_, model.coef_, atol=1e-10)
    weight = np.repeat([0.0, 2.0, 1.0], [20, 25, 25])
    weighted = clone(model).fit(X, Y, weight)
    rows = np.repeat(np.arange(70), weight.astype(int))
    repeated = clone(model).fit(X[rows], Y[rows])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-9)
    assert surefit.verify(weighted, X, Y, weight).holds
    for change in (0.01, -0.01):
        worse = pickle.loads(pickle.dumps(model))
        worse.coef_ = worse.coef_ + change * (np.arange(6) == 2)
        assert not surefit.verify(worse, X, Y).holds


def test_several_targets_have_a_path_each():
    both = np.column_stack([Y, X[:, 1] - Y])
    held = SETS["order"][0]
    for model in (LassoLars(0.05, constraints=held), Lars(n_nonzero_coefs=3, constraints=held)):
        model.fit(X, both)
        for k in range(2):
            single = clone(model).fit(X, both[:, k])
            np.testing.assert_allclose(model.coef_[k], single.coef_, atol=1e-12)
            ours, theirs = (each.certificate_.witness["order"][0] for each in (model, single))
            np.testing.assert_allclose(ours[:, k], theirs, atol=1e-10)
        assert surefit.verify(model, X, both).holds


SIGNAL = np.array([1.5, -1.0, 0.4, -0.6, 0.8, 0.05])
NOISE = RNG.normal(size=70)
MIXED = np.array([1e-12, 1.0, 1e12, 1e6, 1.0, 1e-3])
HARD = {
    "fewer rows than columns": (X[:4], Y[:4], np.ones(6)),
    "a column twice": (np.column_stack([X[:, :5], X[:, 0]]), Y, np.ones(6)),
    "a column nearly twice": (np.column_stack([X[:, :5], X[:, 0] + 1e-9 * X[:, 5]]), Y, np.ones(6)),
    "far from zero": (X + 1e6, Y + 1e6, np.ones(6)),
    "small units": (X * 1e-12, X @ SIGNAL + NOISE, np.full(6, 1e12)),
    "large units": (X * 1e12, X @ SIGNAL + NOISE, np.full(6, 1e-12)),
    "units of all sizes": (X * MIXED, X @ SIGNAL + NOISE, 1 / MIXED),
    "a constant column": (np.column_stack([X[:, :5], np.ones(70)]), Y, np.ones(6)),
    "targets of one value": (X, np.full(70, 3.0), np.ones(6)),
}


@pytest.mark.parametrize("case", HARD)
@pytest.mark.parametrize("kind", ["signs", "bounds", "order", "all bind"])
def test_hard_tables(case, kind):
    rows, y, unit = HARD[case]
    held = {
        "signs": NonNegative(),
        "bounds": Box(-0.2 * unit, 0.3 * unit),
        "order": Monotone([[1, 4]]) if case == "units of all sizes" else Monotone([[0, 1, 4]]),
        "all bind": Box(5 * unit, 6 * unit),
    }[kind]
    end = Lars(constraints=held).fit(rows, y)
    for model in (end, LassoLars(alpha=float(0.3 * end.alphas_[0]) or 1.0, constraints=held).fit(rows, y)):
        assert held.feasible(model.coef_)
        assert model.certificate_.holds
        assert surefit.verify(model, rows, y).holds
        if end.alphas_[0] > 0:
            np.testing.assert_allclose(
                rows @ model.coef_ - rows @ end.coef_at(float(model.alphas_[-1])),
                0.0,
                atol=1e-6 * max(np.abs(rows @ model.coef_).max(), 1.0),
            )


def test_random_small_paths_have_no_holes():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, p = int(rng.integers(2, 25)), int(rng.integers(2, 9))
        rows, low = rng.normal(size=(n, p)), float(rng.choice([-0.5, 0.0, 0.3]))
        y = rows @ rng.normal(size=p) * 2 + rng.normal(size=n)
        order = rng.permutation(p)[: int(rng.integers(2, p + 1))].tolist()
        held = [Monotone([order]), Box(low, low + float(rng.choice([0.4, 1.0, 3.0])))]
        model = LassoLars(0.0, constraints=held).fit(rows, y)
        for alpha in rng.uniform(0, model.alphas_[0] * 1.1, 4):
            other = LassoLars(float(alpha), constraints=held).fit(rows, y)
            assert other.certificate_.holds
            w = model.coef_at(float(alpha))
            b = np.mean(y - rows @ w)
            squares = np.mean((y - rows @ w - b) ** 2), np.mean((y - other.predict(rows)) ** 2)
            values = [s / 2 + alpha * np.abs(v).sum() for s, v in zip(squares, (w, other.coef_), strict=True)]
            assert values[0] == pytest.approx(values[1], rel=1e-11, abs=1e-13)


def test_refusals_say_why():
    for make in (Lars, LassoLars, LassoLarsCV, LassoLarsIC):
        with pytest.raises(ParameterError, match="give Box, NonNegative or Monotone"):
            make(constraints=Simplex()).fit(X, Y)
        with pytest.raises(DataError, match="groups name column 9"):
            make(constraints=Monotone([[0, 9]])).fit(X, Y)
        with pytest.raises(ParameterError, match="give the levels of one group the same"):
            make(constraints=[Monotone([[0, 1]]), Box([0, 1, 0, 0, 0, 0], np.full(6, 9.0))]).fit(X, Y)
