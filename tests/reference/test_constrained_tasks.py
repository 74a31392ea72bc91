"""Several targets that share their columns, under constraints, against a general convex solver."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import KFold

import surefit
from surefit import Lasso, MultiTaskElasticNet, MultiTaskElasticNetCV, MultiTaskLasso, MultiTaskLassoCV
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.data.batches.batch import Batch
from surefit.data.schema import Schema
from surefit.data.source import ArraySource
from surefit.engine.serial import Serial
from surefit.losses import Squared
from surefit.models.linear.sparse.multi_task_constraints import TaskLimits, TaskProof
from surefit.penalties import Box, GroupL1, GroupL1Within, Monotone, NonNegative
from surefit.solvers.first_order.fista import Fista
from surefit.solvers.objective.base import Objective

ROWS = 90
RNG = np.random.default_rng(5)
X = RNG.normal(size=(ROWS, 8))
X[:, :5] = np.eye(5)[RNG.integers(0, 5, ROWS)]
TRUTH = np.array([[1.0, 0.4, 2.0, 1.5, 2.5, 1.0, -1.0, 0.1], [0.0, 1.0, 0.5, -0.5, 1.5, -0.3, 0.6, 0.0]])
Y = X @ np.vstack([TRUTH, TRUTH.mean(axis=0)]).T + RNG.normal(size=(ROWS, 3))
WEIGHT = RNG.integers(0, 4, ROWS).astype(float)
ORDER = Monotone([[0, 1, 2, 3, 4]])
BOUNDS = np.array([[-0.4] * 5 + [0.2, -1.0, 0.05], [0.5] * 5 + [0.3, -0.7, 0.05]])


def in_order(V):
    return [cp.diff(V[:5], axis=0) >= 0]


def each_bound(V):
    low, high = map(cp.Constant, BOUNDS[:, :, None])
    return [low <= V, high >= V]


CONSTRAINTS = {
    "bounds": (Box(-0.4, 0.6), lambda V: [V >= -0.4, V <= 0.6]),
    "bounds without zero": (Box(*BOUNDS), each_bound),
    "signs": (NonNegative(), lambda V: [V >= 0]),
    "order": (ORDER, in_order),
    "two orders": (
        [Monotone([[4, 3, 0]]), Monotone([[6, 5]])],
        lambda V: [V[3] >= V[4], V[0] >= V[3], V[5] >= V[6]],
    ),
    "order within bounds": ([ORDER, Box(-0.5, 0.3)], lambda V: [*in_order(V), V >= -0.5, V <= 0.3]),
    "order within many": ([ORDER, Box(*BOUNDS)], lambda V: in_order(V) + each_bound(V)),
    "order of signs": ([NonNegative(), ORDER], lambda V: [*in_order(V), V >= 0]),
}


def cost(V, b, alpha, ratio, rows=X, target=Y, weight=None):
    s = np.ones(len(rows)) if weight is None else weight
    off = cp.multiply(np.sqrt(s)[:, None], target - rows @ V - np.ones((len(rows), 1)) @ b)
    lengths = cp.sum(cp.norm(V, 2, axis=1))
    penalty = ratio * lengths + 0.5 * (1 - ratio) * cp.sum_squares(V)
    return cp.sum_squares(off) / (2 * s.sum()) + alpha * penalty


def general(theirs, alpha, ratio, **data):
    """Return the least cost, and where."""
    V, b = cp.Variable((8, 3)), cp.Variable((1, 3))
    least = cp.Problem(cp.Minimize(cost(V, b, alpha, ratio, **data)), theirs(V)).solve(solver=cp.CLARABEL)
    return least, V.value, b.value


def cost_of(model, alpha, ratio, **data):
    return cost(cp.Constant(model.coef_.T), cp.Constant(model.intercept_[None]), alpha, ratio, **data).value


@pytest.mark.parametrize("alpha", [0.01, 0.2, 1.0])
@pytest.mark.parametrize("ratio", [1.0, 0.3])
@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_no_general_solver_finds_less_and_the_multipliers_balance(constraint, ratio, alpha):
    ours, theirs = CONSTRAINTS[constraint]
    model = MultiTaskElasticNet(alpha, l1_ratio=ratio, constraints=ours, tol=1e-10).fit(X, Y, WEIGHT)
    least, *_ = general(theirs, alpha, ratio, weight=WEIGHT)
    proof = model.certificate_
    assert proof.holds
    assert all(each.violation().max() <= 1e-15 for each in theirs(cp.Constant(model.coef_.T)))
    assert cost_of(model, alpha, ratio, weight=WEIGHT) <= least * (1 + 1e-7)
    assert proof.parts["stationarity"] <= 1e-5  # a gap is the square of a slope
    for side in ("lower", "upper"):
        assert proof.witness[side].shape == (8, 3)
    assert all(np.min(each) >= 0 for each in (proof.witness["lower"], proof.witness["upper"]))
    assert all(np.min(each) >= 0 for each in proof.witness["order"])
    assert surefit.verify(model, X, Y, sample_weight=WEIGHT).holds
    free = MultiTaskElasticNet(alpha, l1_ratio=ratio, tol=1e-10).fit(X, Y, WEIGHT)
    assert alpha == 1.0 or np.abs(free.coef_ - model.coef_).max() > 1e-3  # the constraint binds


def balance_of(model, alpha, ratio, limits, groups):
    """Return what multipliers leave of the slope, computed from the rows by the definition."""
    V, witness = model.coef_.T, model.certificate_.witness
    slope = -X.T @ (Y - model.predict(X)) / ROWS - witness["lower"] + witness["upper"]
    for group, between in zip(groups, witness["order"], strict=True):
        slope[group] += np.diff(between, axis=0, prepend=0.0, append=0.0)
    lengths = np.linalg.norm(V, axis=1)
    slope += alpha * (1 - ratio) * V
    slope[lengths > 0] += alpha * ratio * (V[lengths > 0] / lengths[lengths > 0, None])
    zero = np.linalg.norm(slope, axis=1)[lengths == 0]
    return max(np.abs(slope[lengths > 0]).max(initial=0.0), np.max(zero - alpha * ratio, initial=0.0))


@pytest.mark.parametrize("alpha", [0.01, 0.3])
def test_multipliers_balance_the_slope_by_their_definition(alpha):
    for name, (ours, _) in CONSTRAINTS.items():
        groups = [[4, 3, 0], [6, 5]] if name == "two orders" else [[0, 1, 2, 3, 4]] * ("order" in name)
        model = MultiTaskElasticNet(alpha, l1_ratio=0.6, constraints=ours, tol=1e-12).fit(X, Y)
        assert balance_of(model, alpha, 0.6, ours, groups) <= 1e-6, name
        witness = model.certificate_.witness
        assert max(np.max(each) for each in (witness["lower"], witness["upper"], *witness["order"])) > 0, name


def test_a_changed_coefficient_row_or_multiplier_is_noticed():
    for name, (ours, _) in CONSTRAINTS.items():
        model = MultiTaskLasso(0.05, constraints=ours, tol=1e-6).fit(X, Y)
        kept = model.coef_.copy()
        for change in (1e-2, -1e-2, 0.5):
            model.coef_ = kept + change * (np.arange(8) == 5)
            assert not surefit.verify(model, X, Y).holds, name
        model.coef_ = kept
        assert surefit.verify(model, X, Y).holds
        assert not surefit.verify(model, X, Y + 3.0 * X[:, [5]] - 2.0 * X[:, [6]]).holds
        if "order" in name:
            for each in model.certificate_.witness["order"]:
                each.flags.writeable = True
                each[...] = -each
            assert not surefit.verify(model, X, Y).holds, name


@pytest.mark.parametrize("ratio", [1.0, 0.3])
def test_the_gap_is_a_bound_for_any_coefficients_and_multipliers(ratio):
    """Far from the optimum too, and for multipliers of any sign, of which negative ones count as none."""
    rng, source = np.random.default_rng(2), ArraySource(Schema(width=8, rows=ROWS), Batch(X, Y))
    ours, theirs = CONSTRAINTS["order within bounds"]
    limits = TaskLimits.of("a model", ours, 8)
    for alpha in (0.05, 0.5):
        least, *_ = general(theirs, alpha, ratio)
        proof = TaskProof(source, Serial(), GroupL1(alpha, l1_ratio=ratio), limits, True, 3)
        best = MultiTaskElasticNet(alpha, l1_ratio=ratio, constraints=ours, tol=1e-10).fit(X, Y)
        for size in (0.01, 0.1, 1.0):
            for _ in range(5):
                V = best.coef_.T + size * rng.normal(size=(8, 3))
                V = np.clip(ORDER.prox(V, 1.0), -0.5, 0.3)
                b = Y.mean(axis=0) - X.mean(axis=0) @ V + size * rng.normal(size=3)
                known = {"order": (size * rng.normal(size=(4, 3)) + best.certificate_.witness["order"][0],)}
                found = proof.stored(V, b, known, 1e-6)
                here = cost(cp.Constant(V), cp.Constant(b[None]), alpha, ratio).value
                assert found.parts["objective"] == pytest.approx(here, rel=1e-12)
                assert found.parts["gap"] >= (here - least) * (1 - 1e-6)


def test_the_best_of_all_coefficients_is_no_answer_where_it_is_not_allowed():
    free = MultiTaskLasso(0.01, tol=1e-10).fit(X, Y)
    for name, (ours, _) in CONSTRAINTS.items():
        model = MultiTaskLasso(0.01, constraints=ours).fit(X, Y)
        model.coef_, model.intercept_ = free.coef_, free.intercept_
        model.certificate_.witness["order"] = tuple(0 * each for each in model.certificate_.witness["order"])
        assert surefit.verify(model, X, Y).value == np.inf, name


def test_slack_constraints_change_nothing():
    for model in (MultiTaskLasso(0.05, tol=1e-12), MultiTaskElasticNet(0.05, tol=1e-12)):
        free = clone(model).fit(X, Y)
        held = clone(model).set_params(constraints=Box(-99, 99)).fit(X, Y)
        np.testing.assert_allclose(held.coef_, free.coef_, atol=1e-7)
        assert not held.certificate_.witness["upper"].any()
        assert held.certificate_.witness["order"] == ()


def test_one_target_is_the_lasso():
    for ours, _ in CONSTRAINTS.values():
        alone = Lasso(0.05, constraints=ours, tol=1e-12).fit(X, Y[:, 0])
        model = MultiTaskLasso(0.05, constraints=ours, tol=1e-12).fit(X, Y[:, :1])
        np.testing.assert_allclose(model.coef_[0], alone.coef_, atol=1e-6)


@pytest.mark.parametrize("form", ["float32", "sparse", "fortran", "weights", "frame", "streamed"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_form_of_the_table_changes_nothing(form, fit_intercept, tmp_path):
    held = [ORDER, Box(-0.5, 0.7)]
    model = MultiTaskElasticNet(0.05, l1_ratio=0.7, constraints=held, tol=1e-10, fit_intercept=fit_intercept)
    expected = clone(model).fit(X, Y)
    given, target, weight, digits = X, Y, None, 1e-6
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)])
    if form == "float32":
        given, digits = X.astype(np.float32), 1e-5
    elif form == "sparse":
        given = sparse.csr_array(X)
    elif form == "fortran":
        given = np.asfortranarray(X)
    elif form == "frame":
        given = frame
    elif form == "weights":
        given, target = np.vstack([X, 9 * X[:5]]), np.vstack([Y, np.full((5, 3), 1e6)])
        weight = np.r_[np.ones(ROWS), np.zeros(5)]
    if form == "streamed":
        file = tmp_path / "rows.parquet"
        frame.assign(a=Y[:, 0], b=Y[:, 1], c=Y[:, 2]).to_parquet(file, row_group_size=40)
        model.fit(file, ["a", "b", "c"])
        assert surefit.verify(model, file, ["a", "b", "c"]).holds
    else:
        model.fit(given, target, weight)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=digits)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, atol=digits)
    assert model.certificate_.holds


HARD = [
    [Monotone([[0, 1, 2]]), NonNegative()],
    [Monotone([[0, 1, 2, 3, 4]])],
    NonNegative(),
    Box(-0.5, 0.25),
]


@pytest.mark.parametrize("rows", [ROWS, 6, 1])
@pytest.mark.parametrize(("scale", "mean"), [(1e-12, 0.0), (1e12, 0.0), (1.0, 1e6), (1.0, 0.0)])
def test_hard_tables_are_proved(scale, mean, rows):
    """Units, far means, a constant, a zero and a copied column, fewer rows than columns, one row."""
    ends = [np.ones(ROWS), np.zeros(ROWS), scale * X[:, 5]]
    hard = np.column_stack([scale * (X + mean), *ends])[:rows]
    for given in HARD:
        for model in (MultiTaskLasso(0.01 * scale), MultiTaskElasticNet(0.01), MultiTaskLasso(1e-3)):
            held = Box(-0.5 / scale, 0.25 / scale) if isinstance(given, Box) else given
            model.set_params(constraints=held).fit(hard, Y[:rows])
            assert model.certificate_.holds, (given, model)
            assert surefit.verify(model, hard, Y[:rows]).holds, (given, model)
            for each in held if isinstance(held, list) else [held]:
                assert each.feasible(model.coef_.T)


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1e12])
def test_units_change_nothing(scale):
    held, moved = [ORDER, Box(-0.5, 0.3)], [ORDER, Box(-0.5 / scale, 0.3 / scale)]
    plain = MultiTaskLasso(0.05, constraints=held, tol=1e-10).fit(X, Y)
    model = MultiTaskLasso(0.05 * scale, constraints=moved, tol=1e-10).fit(scale * X, Y)
    np.testing.assert_allclose(scale * model.coef_, plain.coef_, atol=1e-6)


def test_entries_that_are_fixed_stay_where_they_are():
    at = np.linspace(-0.3, 0.4, 8)
    model = MultiTaskLasso(0.1, constraints=Box(at, at)).fit(X, Y)
    np.testing.assert_array_equal(model.coef_, np.tile(at, (3, 1)))
    assert model.certificate_.holds
    model = MultiTaskLasso(0.1, constraints=[Box(0.2, 0.2), ORDER]).fit(X, Y)
    np.testing.assert_array_equal(model.coef_, np.full((3, 8), 0.2))
    assert model.certificate_.holds


def test_strength_zero_is_least_squares_under_constraints():
    """Nothing couples the targets then; columns of many sizes, and too few rows, are no trouble."""
    sizes = 10.0 ** np.array([0, 0, 0, 0, 0, -6, 5, 2])
    for name in ("bounds", "order", "order within bounds", "signs"):
        ours, theirs = CONSTRAINTS[name]
        model = MultiTaskLasso(0.0, constraints=ours, tol=1e-8).fit(X, Y)
        least, *_ = general(theirs, 0.0, 1.0)
        assert cost_of(model, 0.0, 1.0) <= least * (1 + 1e-7), name
        for rows in (ROWS, 5):
            for held in (model, MultiTaskLassoCV(alphas=[0.0], cv=2, constraints=ours)):
                held.fit(X[:rows] * sizes, Y[:rows])
                assert held.certificate_.holds, name
                assert surefit.verify(held, X[:rows] * sizes, Y[:rows]).holds, name


@pytest.mark.parametrize("held", [NonNegative(), Box(-0.05, 0.1), [Monotone([[3, 7, 500]]), NonNegative()]])
def test_wide_tables_are_solved_by_working_sets(held):
    wide = RNG.normal(size=(60, 700))
    target = wide[:, :4] @ RNG.normal(size=(4, 3)) + 0.1 * RNG.normal(size=(60, 3))
    for given in (wide, sparse.csr_array(np.where(np.abs(wide) > 1, wide, 0.0))):
        model = MultiTaskLasso(0.1, constraints=held, tol=1e-8).fit(given, target)
        assert model.certificate_.holds
        assert surefit.verify(model, given, target).holds
        assert 0 < np.count_nonzero(model.coef_.any(axis=0)) < 200
        assert all(each.feasible(model.coef_.T) for each in (held if isinstance(held, list) else [held]))


def test_a_warm_start_begins_at_the_fit_before():
    model = MultiTaskLasso(0.02, constraints=[ORDER, Box(-0.5, 0.3)], tol=1e-8, warm_start=True).fit(X, Y)
    cold, coef = model.n_iter_, model.coef_.copy()
    assert cold > 0
    assert model.fit(X, Y).n_iter_ <= cold
    np.testing.assert_allclose(model.coef_, coef, atol=1e-7)


STRENGTHS = [0.02, 0.3, 5.0]


@pytest.mark.parametrize("name", ["bounds", "order", "order within bounds", "order of signs"])
def test_every_fold_keeps_the_constraints_and_the_choice_is_that_of_a_general_solver(name):
    ours, theirs = CONSTRAINTS[name]
    for model, ratio in (
        (MultiTaskLassoCV(alphas=STRENGTHS, cv=3, tol=1e-10), 1.0),
        (MultiTaskElasticNetCV(l1_ratio=0.3, alphas=STRENGTHS, cv=3, tol=1e-10), 0.3),
    ):
        model.set_params(constraints=ours).fit(X, Y)
        errors = np.zeros((3, 3))
        for fold, (train, test) in enumerate(KFold(3).split(X)):
            for k, alpha in enumerate(STRENGTHS):
                _, V, b = general(theirs, alpha, ratio, rows=X[train], target=Y[train])
                errors[k, fold] = np.mean((Y[test] - X[test] @ V - b) ** 2)
        np.testing.assert_allclose(model.mse_path_, errors[::-1], rtol=1e-5)  # from strong to weak
        assert model.alpha_ == STRENGTHS[int(np.argmin(errors.mean(axis=1)))]
        least, *_ = general(theirs, model.alpha_, ratio)
        assert cost_of(model, model.alpha_, ratio) <= least * (1 + 1e-7)
        assert model.certificate_.holds
        assert surefit.verify(model, X, Y).holds


def test_choices_over_files_and_by_content(tmp_path):
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)]).assign(a=Y[:, 0], b=Y[:, 1])
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=40)
    for folds in ("order", "content"):
        model = MultiTaskLassoCV(alphas=STRENGTHS, cv=3, folds=folds, constraints=[ORDER, Box(-0.5, 0.7)])
        streamed = model.fit(tmp_path / "rows.parquet", ["a", "b"])
        assert streamed.certificate_.holds
        alpha, coef = streamed.alpha_, streamed.coef_.copy()
        if folds == "order":
            turn = np.arange(ROWS) % 3
            model.set_params(cv=[(np.flatnonzero(turn != k), np.flatnonzero(turn == k)) for k in range(3)])
        model.fit(X, Y[:, :2])
        assert model.alpha_ == alpha
        np.testing.assert_allclose(model.coef_, coef, atol=1e-6)
    wide = MultiTaskLassoCV(alphas=4, cv=3).fit(X, Y)
    chosen, path = wide.alpha_, wide.mse_path_
    wide.set_params(constraints=Box(-99, 99), tol=1e-8).fit(X, Y)
    assert wide.alpha_ == chosen
    np.testing.assert_allclose(wide.mse_path_, path, rtol=1e-3)


def test_the_general_gap_proves_bounds_too():
    """The penalty has a conjugate, so that any objective with it is proved by the formula for all losses."""
    for ratio in (1.0, 0.3):
        penalty = GroupL1Within(GroupL1(0.05, l1_ratio=ratio), -0.4, 0.6)
        objective = Objective.of_arrays(X, Y, Squared(), penalty, outputs=3)
        found = Fista(tolerance=1e-9).solve(objective)
        assert found.holds
        model = MultiTaskElasticNet(0.05, l1_ratio=ratio, constraints=Box(-0.4, 0.6), tol=1e-10).fit(X, Y)
        np.testing.assert_allclose(found.x[:-1], model.coef_.T, atol=1e-4)
        packed = np.vstack([model.coef_.T, model.intercept_])
        assert objective.certificate(packed, 1e-9).holds


def test_what_is_no_constraint_is_refused():
    cases = [
        ([Box(1, 2), Box(3, 4)], ParameterError, "lower"),
        (Box([0.0] * 7, 1.0), DataError, "7 columns, but there are 8"),
        (Monotone([[0, 9]]), DataError, "groups name column 9"),
        ([ORDER, Box([0.0] + [-1.0] * 7, 1.0)], ParameterError, "differ in their penalty or bounds"),
        (GroupL1(1.0), ParameterError, "give Box, NonNegative or Monotone"),
        ("positive", ParameterError, "constraints"),
    ]
    for model in (MultiTaskLasso(), MultiTaskElasticNetCV(alphas=[0.1], cv=2)):
        for given, error, words in cases:
            with pytest.raises(error, match=words):
                clone(model).set_params(constraints=given).fit(X, Y)
    many = sparse.random_array((4, 5001), density=1e-3, rng=0)
    with pytest.raises(RefusalError, match="5001 columns are ordered or bounded away from zero"):
        MultiTaskLasso(constraints=Box(0.1, 0.2)).fit(many, Y[:4])
    with pytest.raises(DataError, match="For mono-task outputs, use Lasso"):
        MultiTaskLasso(constraints=NonNegative()).fit(X, Y[:, 0])


def test_a_saved_model_keeps_its_constraints(tmp_path):
    for model in (
        MultiTaskLasso(0.05, constraints=[ORDER, Box(-0.5, 0.3)]),
        MultiTaskElasticNetCV(alphas=[0.05], cv=2, constraints=NonNegative()),
    ):
        model.fit(X, Y)
        surefit.save(model, tmp_path / "model.safetensors")
        again = surefit.load(tmp_path / "model.safetensors")
        assert surefit.verify(again, X, Y).holds
        for side in ("lower", "upper"):
            np.testing.assert_array_equal(again.certificate_.witness[side], model.certificate_.witness[side])
        for one, other in zip(
            again.certificate_.witness["order"], model.certificate_.witness["order"], strict=True
        ):
            np.testing.assert_array_equal(one, other)
        again.coef_ = again.coef_ + 0.05 * (np.arange(8) == 6)
        assert not surefit.verify(again, X, Y).holds
