"""Constraints on linear models against general convex solvers, scipy and numbers by hand."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import lsq_linear, nnls

import surefit
from surefit import GeneralizedLinearRegressor, HuberRegressor, LinearModel, LogisticRegression
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.core.registry import members
from surefit.penalties import L1, L2, Box, Monotone, NonNegative, Simplex

LEVELS = [0, 1, 2, 3, 4]
ORDER = Monotone([LEVELS])


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(120, 8))
    X[:, :5] = np.eye(5)[rng.integers(0, 5, 120)]
    score = X @ np.array([1.0, 0.5, 3.0, 2.0, 2.5, 1.0, -1.0, 0.1])
    return X, score + rng.normal(size=120), rng.poisson(np.exp(0.3 * score))


def losses(table):
    _, y, counts = table
    two = (y > 2).astype(float)
    return {
        "squared": (y, lambda z: 0.5 * cp.sum_squares(y - z) / len(y)),
        "logistic": (two, lambda z: cp.sum(cp.logistic(cp.multiply(1 - 2 * two, z))) / len(y)),
        "poisson": (counts, lambda z: cp.sum(cp.exp(z) - cp.multiply(counts, z)) / len(y)),
        "huber": (y, lambda z: 0.5 * cp.sum(cp.huber(y - z, 1.35)) / len(y)),
    }


CONSTRAINTS = {
    "bounds": (Box(-0.4, 0.6), lambda w: [w >= -0.4, w <= 0.6]),
    "signs": (NonNegative(), lambda w: [w >= 0]),
    "order": (ORDER, lambda w: [cp.diff(w[:5]) >= 0]),
    "order within bounds": ([ORDER, Box(-0.5, 0.7)], lambda w: [cp.diff(w[:5]) >= 0, w >= -0.5, w <= 0.7]),
}
PENALTIES = {"free": (None, 0.0, 0.0), "squares": (L2(0.02), 0.0, 0.02), "values": (L1(0.02), 0.02, 0.0)}


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson", "huber"])
def test_no_general_solver_finds_less(table, loss, constraint, penalty):
    X = table[0]
    y, mean_loss = losses(table)[loss]
    ours, theirs = CONSTRAINTS[constraint]
    pen, l1, l2 = PENALTIES[penalty]
    fitted = surefit.losses.Huber(1.35) if loss == "huber" else loss
    model = LinearModel(fitted, pen, constraints=ours, tol=1e-12).fit(X, y)
    w, b = cp.Variable(X.shape[1]), cp.Variable()

    def objective(coef, intercept):
        return mean_loss(X @ coef + intercept) + l1 * cp.norm1(coef) + 0.5 * l2 * cp.sum_squares(coef)

    problem = cp.Problem(cp.Minimize(objective(w, b)), theirs(w))
    best = problem.solve(solver=cp.CLARABEL)
    w.value, b.value = model.coef_, model.intercept_
    assert model.certificate_.holds
    assert all(each.violation().max() <= 1e-12 for each in theirs(w))
    assert objective(w, b).value <= best + 1e-7 * abs(best)
    assert model.certificate_.parts["stationarity"] <= 1e-4  # a gap is the square of a slope
    assert surefit.verify(model, X, y).holds


def test_signs_and_bounds_are_those_of_scipy(table):
    X, y, _ = table
    plain = {"fit_intercept": False, "tol": 1e-12}
    np.testing.assert_allclose(
        LinearModel(constraints=NonNegative(), **plain).fit(X, y).coef_, nnls(X, y)[0], atol=1e-9
    )
    found = LinearModel(constraints=Box(-0.3, 0.8), **plain).fit(X, y).coef_
    np.testing.assert_allclose(found, lsq_linear(X, y, (-0.3, 0.8), tol=1e-14).x, atol=1e-7)


def test_multipliers_are_what_a_little_room_is_worth():
    """One column of ones, y = 2: at w <= 1 the slope of (2 - w)^2 / 2 is -1, and so is the multiplier."""
    X, y = np.ones((4, 1)), np.full(4, 2.0)
    model = LinearModel(constraints=Box(-5.0, 1.0), fit_intercept=False).fit(X, y)
    assert model.coef_ == pytest.approx([1.0])
    assert model.certificate_.witness["upper"] == pytest.approx([1.0])
    assert model.certificate_.witness["lower"] == pytest.approx([0.0])


def test_levels_that_fall_are_pooled_and_their_multiplier_is_by_hand():
    """Two levels, means 3 and 1, two rows each: both get 2, and (3 - 2) / 2 is the push."""
    X, y = np.repeat(np.eye(2), 2, axis=0), np.array([3.0, 3.0, 1.0, 1.0])
    model = LinearModel(constraints=Monotone([[0, 1]]), fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, [2.0, 2.0], atol=1e-12)
    (order,) = model.certificate_.witness["order"]
    np.testing.assert_allclose(order, [0.5], atol=1e-12)
    rising = LinearModel(constraints=Monotone([[1, 0]]), fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(rising.coef_, [3.0, 1.0], atol=1e-12)
    np.testing.assert_array_equal(rising.certificate_.witness["order"][0], [0.0])


@pytest.mark.parametrize("loss", sorted(set(members("loss")) - {"cumulative_logit"}))  # its columns differ
def test_constraints_go_with_every_loss(loss):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 4))
    z = X @ [1.0, -1.0, 0.5, 0.2] + 0.3 * rng.normal(size=80)
    task = members("loss")[loss]().task
    y = {"binary": (z > 0).astype(float), "multiclass": np.digitize(z, [-0.7, 0.7])}.get(
        task, np.round(np.exp(z)) + 1
    )
    model = LinearModel(loss=loss, constraints=[Box(-0.3, 0.4), Monotone([[1, 0, 2]])]).fit(X, y)
    for row in np.atleast_2d(model.coef_):
        assert (row >= -0.3).all()
        assert (row <= 0.4).all()
        assert row[1] <= row[0] <= row[2]
    assert model.certificate_.holds
    assert surefit.verify(model, X, y).holds
    assert {"lower", "upper", "order"} <= set(model.certificate_.witness)


def test_every_estimator_with_constraints_keeps_them_and_says_so(table, tmp_path):
    X, y, counts = table
    cases = [
        (LogisticRegression(constraints=ORDER), (y > 2).astype(int)),
        (LogisticRegression(C=np.inf, constraints=[ORDER, NonNegative()]), (y > 2).astype(int)),
        (LogisticRegression(constraints=NonNegative()), np.digitize(y, [0.0, 2.0])),
        (GeneralizedLinearRegressor("poisson", constraints=ORDER), counts),
        (HuberRegressor(scale=1.0, constraints=ORDER), y),
        (surefit.PoissonRegressor(constraints=ORDER), counts),
        (surefit.GammaRegressor(constraints=NonNegative()), np.exp(y / 9)),
        (surefit.TweedieRegressor(power=1.5, constraints=[ORDER, NonNegative()]), counts),
    ]
    for number, (model, target) in enumerate(cases):
        model.fit(X, target)
        coef = np.atleast_2d(model.coef_)
        asked = model.constraints if isinstance(model.constraints, list) else [model.constraints]
        assert all(each.feasible(row) for each in asked for row in coef), model
        assert surefit.verify(model, X, target).holds, model
        file = tmp_path / f"{number}.safetensors"
        surefit.save(model, file)
        again = surefit.load(file)
        assert surefit.verify(again, X, target).holds, model
        for name in ("lower", "upper"):
            np.testing.assert_array_equal(again.certificate_.witness[name], model.certificate_.witness[name])
        kept, model.coef_ = model.coef_, model.coef_ + 0.1 * (np.arange(8) == 5)
        assert not surefit.verify(model, X, target).holds, model
        model.coef_ = kept


@pytest.mark.parametrize("form", ["float32", "sparse", "fortran", "read-only", "weights"])
def test_the_form_of_the_table_changes_nothing(table, form):
    X, y, _ = table
    plain = LinearModel("logistic", constraints=[ORDER, Box(-2, 2)], tol=1e-10).fit(X, y > 2)
    weight = None
    given, tolerance = X, 1e-6
    if form == "float32":
        given, tolerance = X.astype(np.float32), 1e-5
    elif form == "sparse":
        given = sparse.csr_array(X)
    elif form == "fortran":
        given = np.asfortranarray(X)
    elif form == "read-only":
        given = X.copy()
        given.flags.writeable = False
    else:
        weight = np.r_[np.ones(len(X)), np.zeros(5)]
        given, y = np.vstack([X, np.full((5, 8), 100.0)]), np.r_[y, np.zeros(5)]
    found = LinearModel("logistic", constraints=[ORDER, Box(-2, 2)], tol=1e-10).fit(given, y > 2, weight)
    np.testing.assert_allclose(found.coef_, plain.coef_, atol=tolerance)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("mean", [0.0, 1e6])
def test_units_and_duplicates_do_not_hurt(table, scale, mean):
    X, y, _ = table
    X = np.column_stack([scale * (X + mean * (np.arange(8) > 4)), np.ones(120), X[:, 5] * scale])
    model = LinearModel(constraints=[ORDER, NonNegative()]).fit(X, y)
    assert model.certificate_.holds
    assert (np.diff(model.coef_[:5]) >= 0).all()
    assert (model.coef_ >= 0).all()


def test_fewer_rows_than_columns_and_one_row():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(4, 9)), rng.normal(size=4)
    for rows in (4, 1):
        model = LinearModel(constraints=[Monotone([[0, 1, 2]]), Box(-1, 1)]).fit(X[:rows], y[:rows])
        assert model.certificate_.holds
        assert (np.diff(model.coef_[:3]) >= 0).all()


def test_what_cannot_be_done_is_refused(table):
    X, y, counts = table
    refused = [
        (LinearModel(constraints=Simplex()), y, ParameterError, "give Box, NonNegative or Monotone"),
        (LinearModel(penalty=Simplex(), constraints=NonNegative()), y, ParameterError, "Simplex is not"),
        (LinearModel(solver="newton", constraints=NonNegative()), y, RefusalError, "proximal_newton"),
        (LinearModel(constraints=Monotone([[0, 9]])), y, DataError, "groups name column 9"),
        (LinearModel(constraints=Box([0.0, 1.0], 2.0)), y, DataError, "is for 2 columns"),
        (LogisticRegression(correction="firth", constraints=ORDER), y > 2, ParameterError, "constraints"),
    ]
    for model, target, error, words in refused:
        with pytest.raises(error, match=words):
            model.fit(X, target)
    model = GeneralizedLinearRegressor("poisson", constraints=ORDER).fit(X, counts)
    with pytest.raises(RefusalError, match="its constraints hold coefficients"):
        model.summary(X, counts)
    for groups in ([[0]], [], [[0, 1], [1, 2]], [["a", "b"]], [[-1, 0]]):
        with pytest.raises(ParameterError, match="Monotone: groups"):
            Monotone(groups)
    uneven = [Monotone([[0, 1]]), Box([0.0, *[-np.inf] * 7], np.inf)]
    with pytest.raises(ParameterError, match="differ in their penalty or bounds"):
        LinearModel(constraints=uneven).fit(X, y)
