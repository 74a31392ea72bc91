"""Every estimator of the convex core takes the same constraints, against a general convex solver."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

import surefit
from surefit import (
    ElasticNet,
    HuberRegressor,
    LADRegressor,
    Lasso,
    LinearRegression,
    LinearSVC,
    LinearSVR,
    LogisticRegression,
    QuantileRegressor,
    Ridge,
    RidgeClassifier,
)
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.penalties import Box, Monotone, NonNegative

ROWS = 120
RNG = np.random.default_rng(7)
X = RNG.normal(size=(ROWS, 8))
X[:, :5] = np.eye(5)[RNG.integers(0, 5, ROWS)]
Y = X @ np.array([1.0, 0.5, 3.0, 2.0, 2.5, 1.0, -1.0, 0.1]) + RNG.normal(size=ROWS)
SIDE = np.where(Y > 2, 1.0, -1.0)
ORDER = Monotone([[0, 1, 2, 3, 4]])

CONSTRAINTS = {
    "bounds": (Box(-0.4, 0.6), lambda w: [w >= -0.4, w <= 0.6]),
    "signs": (NonNegative(), lambda w: [w >= 0]),
    "order": (ORDER, lambda w: [cp.diff(w[:5]) >= 0]),
    "order within bounds": ([ORDER, Box(-0.5, 0.7)], lambda w: [cp.diff(w[:5]) >= 0, w >= -0.5, w <= 0.7]),
}


def squares(w, b):
    return cp.sum_squares(Y - X @ w - b)


def off(w, b):
    return Y - X @ w - b


def margin(w, b):
    return cp.multiply(SIDE, X @ w + b)


def size(w, b):
    return 0.5 * cp.sum_squares(w) + 0.5 * cp.square(b)  # of liblinear, whose intercept is penalised too


MODELS = {
    "least squares": (LinearRegression(), Y, squares),
    "ridge": (Ridge(3.0, tol=1e-6), Y, lambda w, b: squares(w, b) + 3.0 * cp.sum_squares(w)),
    "lasso": (
        Lasso(0.05, tol=1e-10),
        Y,
        lambda w, b: squares(w, b) / (2 * ROWS) + 0.05 * cp.norm1(w),
    ),
    "elastic net": (
        ElasticNet(0.05, tol=1e-10),
        Y,
        lambda w, b: squares(w, b) / (2 * ROWS) + 0.025 * cp.norm1(w) + 0.0125 * cp.sum_squares(w),
    ),
    "ridge for classes": (
        RidgeClassifier(tol=1e-6),
        SIDE,
        lambda w, b: cp.sum_squares(SIDE - X @ w - b) + cp.sum_squares(w),
    ),
    "logistic": (
        LogisticRegression(tol=1e-8),
        SIDE,
        lambda w, b: 0.5 * cp.sum_squares(w) + cp.sum(cp.logistic(-margin(w, b))),
    ),
    "liblinear": (
        LogisticRegression(solver="liblinear", tol=1e-8),
        SIDE,
        lambda w, b: size(w, b) + cp.sum(cp.logistic(-margin(w, b))),
    ),
    "squared hinge": (
        LinearSVC(tol=1e-7),
        SIDE,
        lambda w, b: size(w, b) + cp.sum_squares(cp.pos(1 - margin(w, b))),
    ),
    "squared hinge, values": (
        LinearSVC("l1", tol=1e-7),
        SIDE,
        lambda w, b: cp.norm1(w) + cp.abs(b) + cp.sum_squares(cp.pos(1 - margin(w, b))),
    ),
    "squared tube": (
        LinearSVR(epsilon=0.1, loss="squared_epsilon_insensitive", tol=1e-7),
        Y,
        lambda w, b: size(w, b) + cp.sum_squares(cp.pos(cp.abs(off(w, b)) - 0.1)),
    ),
    "quantile": (
        QuantileRegressor(quantile=0.3, alpha=0.02),
        Y,
        lambda w, b: cp.sum(0.3 * cp.pos(off(w, b)) + 0.7 * cp.pos(-off(w, b))) / ROWS + 0.02 * cp.norm1(w),
    ),
    "median": (LADRegressor(), Y, lambda w, b: cp.sum(cp.abs(off(w, b))) / ROWS),
    "hinge": (
        LinearSVC(loss="hinge", tol=1e-6),
        SIDE,
        lambda w, b: size(w, b) + cp.sum(cp.pos(1 - margin(w, b))),
    ),
    "tube": (
        LinearSVR(epsilon=0.1, tol=1e-6),
        Y,
        lambda w, b: size(w, b) + cp.sum(cp.pos(cp.abs(off(w, b)) - 0.1)),
    ),
}


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("name", MODELS)
def test_no_general_solver_finds_less_and_the_multipliers_balance(name, constraint):
    model, target, objective = MODELS[name]
    ours, theirs = CONSTRAINTS[constraint]
    model = clone(model)
    model.set_params(constraints=ours).fit(X, target)
    w, b = cp.Variable(8), cp.Variable()
    best = cp.Problem(cp.Minimize(objective(w, b)), theirs(w)).solve(solver=cp.CLARABEL)
    w.value, b.value = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    proof = model.certificate_
    assert proof.holds
    assert all(each.violation().max() <= 1e-12 for each in theirs(w))
    assert objective(w, b).value <= best + 1e-6 * abs(best)
    assert proof.parts["stationarity"] <= 1e-4  # a gap is the square of a slope
    assert np.ravel(proof.witness["lower"]).shape == (8,)  # of the columns, not of a penalised intercept
    assert min(each.min() for each in (proof.witness["lower"], proof.witness["upper"])) >= 0
    assert surefit.verify(model, X, target).holds
    coef, model.coef_ = model.coef_, model.coef_ + 0.1 * (np.arange(8) == 5)
    assert not surefit.verify(model, X, target).holds
    model.coef_ = coef


def test_estimators_without_constraints_are_named_in_the_guide():
    """All linear models have them but four; the guide names every one, and these four with the reason."""
    linear = {
        name: "constraints" in inspect.signature(getattr(surefit, name)).parameters
        for name in surefit.__all__
        if inspect.isclass(getattr(surefit, name)) and ".models.linear." in getattr(surefit, name).__module__
    }
    without = {"ConstrainedLasso", "ConstrainedRidge", "OneVsRestClassifier", "OneVsOneClassifier"}
    assert {name for name, has in linear.items() if not has} == without
    guide = (Path(__file__).parents[2] / "docs" / "penalties.md").read_text()
    section = guide.split("## Constraints on any linear model")[1].split("\n## ")[0]
    *named, reasons = section.rstrip().rsplit("[Posteriors]", 1)
    told = set(re.findall(r"`([A-Z]\w+)`", section))
    assert set(linear) <= told
    assert not without & set(re.findall(r"`([A-Z]\w+)`", "".join(named)))
    assert without <= set(re.findall(r"`([A-Z]\w+)`", reasons))


@pytest.mark.parametrize("model", [LinearRegression(), Ridge([0.5, 2.0]), Lasso(0.05), ElasticNet(0.05)])
def test_each_target_is_a_problem_of_its_own(model):
    both = np.column_stack([Y, Y[::-1]])
    together = clone(model).set_params(constraints=[ORDER, Box(-1, 1)]).fit(X, both)
    for k, target in enumerate(both.T):
        alone = clone(model).set_params(constraints=[ORDER, Box(-1, 1)])
        if np.ndim(model.get_params().get("alpha", 0)):
            alone.set_params(alpha=model.alpha[k])
        alone.fit(X, target)
        np.testing.assert_allclose(together.coef_[k], alone.coef_, atol=1e-9)
        assert together.intercept_[k] == pytest.approx(alone.intercept_, abs=1e-9)
    assert together.certificate_.witness["lower"].shape == (8, 2)
    assert surefit.verify(together, X, both).holds


def test_each_class_keeps_the_constraints():
    three = np.digitize(Y, [0.5, 3.0])
    for model in (
        RidgeClassifier(constraints=ORDER),
        LinearSVC(constraints=[ORDER, Box(-0.5, 0.5)]),
        LinearSVC(loss="hinge", constraints=NonNegative()),
    ):
        model.fit(X, three)
        asked = model.constraints if isinstance(model.constraints, list) else [model.constraints]
        assert all(each.feasible(row) for each in asked for row in model.coef_)
        assert surefit.verify(model, X, three).holds


def test_slack_constraints_change_nothing():
    for plain in (LinearRegression(), Ridge(), Lasso(0.05, tol=1e-10), LADRegressor(), LinearSVR(tol=1e-8)):
        free = clone(plain).fit(X[:, 5:], Y)
        held = clone(plain).set_params(constraints=Box(-99, 99)).fit(X[:, 5:], Y)
        np.testing.assert_allclose(held.coef_, free.coef_, atol=1e-5)
        assert np.all(held.certificate_.witness["upper"] == 0)


@pytest.mark.parametrize("form", ["float32", "sparse", "fortran", "weights", "streamed"])
def test_the_form_of_the_table_changes_nothing(form, tmp_path):
    held = [ORDER, Box(-0.5, 0.7)]
    for model in (LinearRegression(constraints=held), Ridge(constraints=held), Lasso(0.05, constraints=held)):
        expected = clone(model).fit(X, Y)
        given, target, weight, digits = X, Y, None, 1e-7
        if form == "float32":
            given, digits = X.astype(np.float32), 1e-5
        elif form == "sparse":
            given = sparse.csr_array(X)
        elif form == "fortran":
            given = np.asfortranarray(X)
        elif form == "weights":
            given, target = np.vstack([X, 9 * X[:5]]), np.r_[Y, np.full(5, 1e6)]
            weight = np.r_[np.ones(ROWS), np.zeros(5)]
        if form == "streamed":
            file = tmp_path / "rows.parquet"
            table = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)]).assign(y=Y)
            table.to_parquet(file, row_group_size=50)
            model.fit(file, "y")
        else:
            model.fit(given, target, weight)
        np.testing.assert_allclose(model.coef_, expected.coef_, atol=digits)
        assert model.certificate_.holds


@pytest.mark.parametrize(("scale", "mean"), [(1e-12, 0.0), (1e12, 0.0), (1.0, 1e6)])
def test_hard_tables_are_proved(scale, mean):
    """Units, far means, a constant and a copied column, fewer rows than columns, one row."""
    hard = np.column_stack([scale * (X + mean), np.ones(ROWS), scale * X[:, 5]])
    for rows in (ROWS, 6, 1):
        for model in (LinearRegression(), Ridge(), Lasso(0.01)):
            model.set_params(constraints=[Monotone([[0, 1, 2]]), NonNegative()]).fit(hard[:rows], Y[:rows])
            assert model.certificate_.holds
            assert (model.coef_ >= 0).all()
            assert (np.diff(model.coef_[:3]) >= 0).all()


@pytest.mark.parametrize("scale", [1e-12, 1e9, 1e12])
@pytest.mark.parametrize("rows", [ROWS, 6])
def test_ordered_levels_are_proved_in_any_units(scale, rows):
    """Some of six rows' levels have no row; a penalty may be lost in the rounding of slopes of 1e12."""
    hard, side = np.column_stack([scale * X, np.ones(ROWS), scale * X[:, 5]])[:rows], SIDE[:rows].copy()
    side[0] = -side[1]
    held = (
        [Monotone([[0, 1, 2, 3, 4]])],
        [Monotone([[0, 1, 2], [5, 6]]), Box(-2 / scale, 2 / scale)],
    )
    models = [
        (LinearRegression(), Y),
        (Ridge(), Y),
        (Ridge(1e-30), Y),
        (Lasso(0.01), Y),
        (ElasticNet(0.01), Y),
        (HuberRegressor(), Y),
        (LADRegressor(), Y),
        (QuantileRegressor(alpha=0.1), Y),
        (QuantileRegressor(quantile=0.9, alpha=0.001), Y),
        (LogisticRegression(), side),
        (LogisticRegression(l1_ratio=1), side),
        (LinearSVC(), side),
        (LinearSVC(loss="hinge"), side),
        (LinearSVR(), Y),
        (LinearSVR(epsilon=0.1), Y),
        (RidgeClassifier(), side),
    ]
    for constraints in held:
        for model, target in models:
            model.set_params(constraints=constraints).fit(hard, target[:rows])
            assert model.certificate_.holds, model
            assert surefit.verify(model, hard, target[:rows]).holds, model
            assert all(each.feasible(np.ravel(model.coef_)) for each in constraints), model


def test_what_constraints_do_not_go_with_is_refused():
    kept = LinearRegression(constraints=ORDER).fit(X, Y)
    for refused in (kept.summary, lambda: kept.partial_fit(X, Y), lambda: kept.merge(kept)):
        with pytest.raises(RefusalError, match="constraints"):
            refused()
    with pytest.raises(RefusalError, match="keeps no sums"):
        Ridge(constraints=ORDER).partial_fit(X, Y)
    cases = [
        (Ridge(solver="svd", constraints=ORDER), Y, ParameterError, "take 'auto'"),
        (LADRegressor(solver="highs", constraints=NonNegative()), Y, RefusalError, "does not support bounds"),
        (LADRegressor(solver="irls", constraints=NonNegative()), Y, RefusalError, "choose"),
        (LinearSVC(multi_class="crammer_singer", constraints=ORDER), SIDE, RefusalError, "'ovr'"),
        (LinearSVC(constraints=Monotone([[0, 8]])), SIDE, DataError, "groups name column 8"),
        (LinearRegression(constraints=Monotone([[0, 9]])), Y, DataError, "groups name column 9"),
        (LinearRegression(constraints=[Box(1, 2), Box(3, 4)]), Y, ParameterError, "lower"),
        (Lasso(constraints="positive"), Y, ParameterError, "constraints"),
    ]
    for model, target, error, words in cases:
        with pytest.raises(error, match=words):
            model.fit(X, target)


def test_a_saved_model_keeps_its_constraints(tmp_path):
    for model, target in (
        (LinearRegression(constraints=[ORDER, NonNegative()]), Y),
        (LinearSVC(constraints=Box(-0.1, 0.2)), SIDE),
    ):
        model.fit(X, target)
        surefit.save(model, tmp_path / "model.safetensors")
        again = surefit.load(tmp_path / "model.safetensors")
        assert surefit.verify(again, X, target).holds
        np.testing.assert_array_equal(
            again.certificate_.witness["lower"], model.certificate_.witness["lower"]
        )
