"""Linear support vector machines against liblinear, the courses' numbers and hostile tables."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm as peers

import surefit
from surefit import LinearModel, LinearSVC, LinearSVR
from surefit.core.native.linear.dual_cd import DualPlan, dual_cd, dual_cd_twin
from surefit.losses import EpsilonInsensitive, Hinge, SquaredEpsilonInsensitive, SquaredHinge
from surefit.optimize import DualCoordinates
from surefit.penalties import L2, Box
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import solver_named

LOSSES = ("hinge", "squared_hinge")


def planted(n=300, p=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    z = X @ rng.normal(size=p) + 0.7 * rng.normal(size=n)
    return X, (z > 0.3).astype(int), z


def svc_objective(model, X, y, s=None):
    """The sum over the classes of scikit-learn's objective."""
    s = np.ones(len(y)) if s is None else s
    total = 0.0
    for k, coef in enumerate(model.coef_):
        side = np.where(y == (1 if len(model.coef_) == 1 else k), 1.0, -1.0)
        bias = np.ravel(model.intercept_)[k] / model.intercept_scaling if model.fit_intercept else 0.0
        w = np.append(coef, bias)
        h = np.maximum(1 - side * (X @ coef + bias * model.intercept_scaling), 0.0)
        pen = 0.5 * w @ w if model.penalty == "l2" else np.abs(w).sum()
        total += pen + model.C * (s @ (h if model.loss == "hinge" else h**2))
    return total


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    "options",
    [{}, {"C": 0.01}, {"C": 30.0, "intercept_scaling": 4.0}, {"fit_intercept": False}, {"penalty": "l1"}],
    ids=str,
)
def test_objectives_are_never_above_liblinears(loss, options):
    X, y, _ = planted()
    s = np.random.default_rng(1).uniform(0.2, 2, len(y))
    if options.get("penalty") == "l1" and loss == "hinge":
        ours = LinearSVC(loss=loss, **options).fit(X, y)  # which liblinear does not have
        assert ours.certificate_.holds
        return
    for weight in (None, s):
        ours = LinearSVC(loss=loss, **options).fit(X, y, weight)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            dual = loss == "hinge"
            theirs = peers.LinearSVC(loss=loss, dual=dual, tol=1e-6, max_iter=50_000, **options)
            theirs.fit(X, y, weight)
        mine, its = svc_objective(ours, X, y, weight), svc_objective(theirs, X, y, weight)
        assert mine <= its * (1 + 1e-6)
        assert surefit.verify(ours, X, y, weight).holds


@pytest.mark.parametrize("columns", [30, 59, 60])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_rows_that_hardly_lose_anything_are_still_told_apart_best(loss, columns):
    """Of a great C and many columns only the squares are left: next to nothing beside a constant's loss."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, columns))
    y = (X @ rng.normal(size=columns) > 0).astype(int)
    model = LinearSVC(C=1e4, loss=loss).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = peers.LinearSVC(C=1e4, loss=loss, tol=1e-8, max_iter=100_000).fit(X, y)

    def objective(fitted):
        lost = np.maximum(1 - (2 * y - 1) * fitted.decision_function(X), 0)
        squares = np.sum(fitted.coef_**2) + np.sum(fitted.intercept_**2)
        return 0.5 * squares + 1e4 * np.sum(lost if loss == "hinge" else lost**2)

    assert objective(model) <= objective(peer) * (1 + 1e-6)
    assert model.certificate_.holds


@pytest.mark.parametrize("loss", LOSSES)
def test_three_classes_are_each_told_from_the_rest(loss):
    X, _, z = planted(400, 4)
    y = np.digitize(z, [-1.0, 1.0])
    ours = LinearSVC(loss=loss).fit(X, y)
    theirs = peers.LinearSVC(loss=loss, tol=1e-6, max_iter=50_000).fit(X, y)
    assert ours.coef_.shape == (3, 4)
    assert svc_objective(ours, X, y) <= svc_objective(theirs, X, y) * (1 + 1e-6)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-2)
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.99


def test_weights_of_classes_are_weights_of_rows():
    """liblinear weights only the class that is told from the rest; of two classes both agree."""
    X, y, z = planted(300, 4)
    two = LinearSVC(class_weight={0: 0.5, 1: 3.0}).fit(X, y)
    theirs = peers.LinearSVC(class_weight={0: 0.5, 1: 3.0}, tol=1e-8, max_iter=50_000).fit(X, y)
    np.testing.assert_allclose(two.coef_, theirs.coef_, atol=1e-3)
    three = np.digitize(z, [-1.0, 1.0])
    weight = len(z) / (3 * np.bincount(three)[three])
    balanced = LinearSVC(class_weight="balanced").fit(X, three)
    np.testing.assert_allclose(balanced.coef_, LinearSVC().fit(X, three, weight).coef_, rtol=1e-9)


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_regressions_are_never_above_liblinears(loss, epsilon):
    X, _, z = planted()

    def value(model):
        bias = np.ravel(model.intercept_)[0]
        r = np.maximum(np.abs(z - X @ model.coef_ - bias) - epsilon, 0.0)
        loss_ = r if loss == "epsilon_insensitive" else r**2
        return 0.5 * (model.coef_ @ model.coef_ + bias**2) + loss_.sum()

    ours = LinearSVR(loss=loss, epsilon=epsilon).fit(X, z)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dual = loss == "epsilon_insensitive"
        theirs = peers.LinearSVR(loss=loss, epsilon=epsilon, dual=dual, tol=1e-6, max_iter=50_000).fit(X, z)
    assert value(ours) <= value(theirs) * (1 + 1e-6)


@pytest.mark.covers("ml_lecture_notes:8.8", by="LinearSVC")
@pytest.mark.covers("ml_lecture_notes:8.9", by="optimize.DualCoordinates")
@pytest.mark.covers("cs443:13.4", by="LinearSVC")
@pytest.mark.covers("cs443:13.5", by="optimize.DualCoordinates")
def test_two_points_on_a_line():
    """alpha = 1: w = 1 and objective 0.5; alpha = 4: w = 0.5, both slopes at their end, objective 1.5."""
    X, y = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    for alpha, w, value in ((1.0, 1.0, 0.5), (4.0, 0.5, 1.5)):
        model = LinearSVC(loss="hinge", C=1 / alpha, fit_intercept=False).fit(X, y)
        assert model.coef_[0, 0] == pytest.approx(w)
        assert alpha * svc_objective(model, X, (y > 0).astype(int)) == pytest.approx(value)
        slopes = np.abs(model.certificate_.witness["slopes"])
        assert slopes.sum() == pytest.approx(alpha * w)
        objective = Objective.of_arrays(X, y, Hinge(), L2(alpha / 2), fit_intercept=False)
        found = DualCoordinates(tolerance=1e-10).solve(objective)
        assert found.x[0] == pytest.approx(w)
        assert found.certificate.parts["gap"] < 1e-8


@pytest.mark.covers("ml_for_data_science:6.5", by="LinearModel")
@pytest.mark.covers("course_summary:4.6", by="LinearModel")
def test_margins_of_the_courses_with_a_free_intercept():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 3.0], [4.0, 3.0]])
    y = np.array([0, 0, 1, 1])
    hard = LinearModel("hinge", L2(1 / (4 * 1e4)), tol=1e-10).fit(X, y)
    np.testing.assert_allclose(hard.coef_, [4 / 13, 6 / 13], rtol=1e-6)
    assert hard.intercept_ == pytest.approx(-17 / 13, rel=1e-6)
    assert 1 / np.linalg.norm(hard.coef_) == pytest.approx(1.8027756377, rel=1e-6)
    alphas = 1e4 * np.abs(hard.certificate_.witness["slopes"])
    np.testing.assert_allclose(alphas, [0, 2 / 13, 2 / 13, 0], atol=1e-6)
    line, sides = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    for C, total in ((1.0, 26 / 9), (10.0, 242 / 9)):
        soft = LinearModel("hinge", L2(1 / (4 * C)), tol=1e-10).fit(line, sides)
        assert soft.coef_[0] == pytest.approx(2 / 3)
        assert soft.intercept_ == pytest.approx(-1.0)
        assert 4 * C * soft.certificate_.parts["objective"] == pytest.approx(total)
    alphas = 10.0 * np.abs(soft.certificate_.witness["slopes"])
    np.testing.assert_allclose(alphas, [32 / 9, 10, 10, 32 / 9], rtol=1e-9)
    loose = LinearModel("hinge", L2(1 / 0.4), tol=1e-10).fit(line, sides)
    assert loose.coef_[0] == pytest.approx(0.2)
    assert 0.4 * loose.certificate_.parts["objective"] == pytest.approx(0.38)
    assert -1 - 1e-9 <= loose.intercept_ <= 0.4 + 1e-9


@pytest.mark.covers("ml_for_data_science:6.7", by="LinearModel")
def test_tubes_of_the_course_with_a_free_intercept():
    X = np.arange(5.0)[:, None]
    model = LinearModel(EpsilonInsensitive(0.5), L2(1 / 50), tol=1e-10).fit(X, X[:, 0])
    assert model.coef_[0] == pytest.approx(0.75)
    assert 50 * model.certificate_.parts["objective"] == pytest.approx(0.28125)
    y = np.array([0.0, 1.2, 1.9, 3.4, 8.0])
    model = LinearModel(EpsilonInsensitive(0.5), L2(1 / 5), tol=1e-10).fit(X, y)
    assert model.coef_[0] == pytest.approx(22 / 15)
    assert model.intercept_ == pytest.approx(-0.5)
    assert 5 * model.certificate_.parts["objective"] == pytest.approx(3.2422222222)
    signed = -np.asarray(model.certificate_.witness["slopes"])
    np.testing.assert_allclose(signed, [0.1777777778, 0, -1, -0.1777777778, 1], atol=1e-9)


@pytest.mark.covers("ml_for_data_science:6.7", by="LinearModel")
def test_slopes_and_slacks_of_tubes():
    X = np.arange(5.0)[:, None]
    for y, C in ((X[:, 0], 10.0), (np.array([0.0, 1.2, 1.9, 3.4, 8.0]), 1.0)):
        model = LinearModel(EpsilonInsensitive(0.5), L2(1 / (5 * C)), tol=1e-10).fit(X, y)
        signed = -C * np.asarray(model.certificate_.witness["slopes"])
        if C == 10.0:
            np.testing.assert_allclose(signed, [-0.1875, 0, 0, 0, 0.1875], atol=1e-8)
        assert model.coef_[0] == pytest.approx(signed @ X[:, 0], abs=1e-7)  # w = Σ α x
        assert signed.sum() == pytest.approx(0.0, abs=1e-8)
        residual = y - model.predict(X)
        above, below = np.maximum(residual - 0.5, 0), np.maximum(-residual - 0.5, 0)
        assert (np.minimum(above, below) == 0).all()  # at most one slack of a row
        np.testing.assert_allclose(
            above + below, EpsilonInsensitive(0.5).value(y, model.predict(X)), atol=1e-12
        )
        assert C * (above + below).sum() + model.coef_ @ model.coef_ / 2 == pytest.approx(
            5 * C * model.certificate_.parts["objective"]
        )
        inside = np.abs(residual) < 0.5 - 1e-6
        np.testing.assert_allclose(signed[inside], 0.0, atol=1e-8)  # no support vectors inside the tube
        np.testing.assert_allclose(np.abs(signed[above + below > 1e-6]), C, rtol=1e-8)


@pytest.mark.covers("course_summary:4.6", by="LinearModel")
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_every_condition_of_a_soft_margin(C):
    X, y, _ = planted(60, 2)
    sign = np.where(y == 1, 1.0, -1.0)
    model = LinearModel("hinge", L2(1 / (60 * C)), tol=1e-11).fit(X, y)
    alpha = C * np.abs(model.certificate_.witness["slopes"])
    score = X @ model.coef_ + model.intercept_
    slack, mu = np.maximum(1 - sign * score, 0), C - alpha
    near = 1e-7 * max(1.0, C)
    np.testing.assert_allclose(model.coef_, (alpha * sign) @ X, atol=1e-6 * max(1.0, C))
    assert alpha @ sign == pytest.approx(0.0, abs=60 * near)
    assert min(alpha.min(), mu.min(), slack.min()) >= -near
    assert (1 - slack - sign * score <= near).all()
    np.testing.assert_allclose(alpha * (1 - slack - sign * score), 0.0, atol=1e-5 * C)
    np.testing.assert_allclose(mu * slack, 0.0, atol=1e-5 * C)
    on = (alpha > 1e-4 * C) & (alpha < C * (1 - 1e-4))
    assert on.any()
    np.testing.assert_allclose(sign[on] * score[on], 1.0, atol=1e-5)
    # b is the mean over these rows of y - w'x.
    assert model.intercept_ == pytest.approx(np.mean(sign[on] - X[on] @ model.coef_), abs=1e-5)
    wrong = sign * score < 0
    assert (slack[wrong] > 1).all()
    assert (slack[~wrong] <= 1).all()
    gap = alpha.sum() - model.coef_ @ model.coef_ / 2  # the dual's value
    assert gap == pytest.approx(60 * C * model.certificate_.parts["objective"], rel=1e-6)


@pytest.mark.covers("ml_lecture_notes:8.9", by="minimize")
@pytest.mark.covers("ml_lecture_notes:8.9", by="LinearSVC")
@pytest.mark.parametrize("alpha", [0.5, 4.0])
def test_the_dual_by_projected_gradients_and_by_coordinates(alpha):
    rng = np.random.default_rng(0)
    X, y = np.column_stack([rng.normal(size=(20, 2)), np.ones(20)]), np.where(rng.random(20) < 0.5, 1.0, -1.0)
    rows = y[:, None] * X

    def primal(w):
        return float(np.maximum(1 - rows @ w, 0).sum() + alpha / 2 * w @ w)

    def dual(z):
        return float(z.sum() - np.sum((rows.T @ z) ** 2) / (2 * alpha))

    found = surefit.minimize(
        lambda z: -dual(z),
        np.zeros(20),
        gradient=lambda z: rows @ (rows.T @ z) / alpha - 1,
        constraint=Box(0, 1),
        solver="projected_gradient",
        step=alpha / np.linalg.norm(X, 2) ** 2,
        max_iter=100_000,
        tolerance=1e-12,
    )
    w = rows.T @ found.x / alpha
    assert primal(w) - dual(found.x) <= 1e-8 * primal(w)  # strong duality
    model = LinearSVC(loss="hinge", C=1 / alpha, fit_intercept=False, tol=1e-10, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], w, atol=1e-4)
    assert primal(model.coef_[0]) == pytest.approx(primal(w), rel=1e-8)
    objective = Objective.of_arrays(X, y, Hinge(), L2(alpha / 20), fit_intercept=False)
    by_coordinates = DualCoordinates(tolerance=1e-12).solve(objective).x
    assert primal(by_coordinates) == pytest.approx(primal(w), rel=1e-8)
    for z in rng.random((20, 20)):  # weak duality, for any slopes in [0, 1] and any w
        assert dual(z) <= primal(w) + 1e-12
        assert dual(z) <= primal(rows.T @ z / alpha)


@pytest.mark.covers("cs443:13.6", by="LinearSVC")
def test_kinds_of_support_vectors():
    X, y, _ = planted(200, 3)
    model = LinearSVC(loss="hinge", C=0.5).fit(X, y)
    margin = np.where(y == 1, 1, -1) * model.decision_function(X)
    alpha = np.abs(model.certificate_.witness["slopes"])
    assert (margin[alpha == 0] >= 1 - 1e-9).all()
    assert (margin[alpha == 1] <= 1 + 1e-9).all()
    np.testing.assert_allclose(margin[(alpha > 0) & (alpha < 1)], 1.0, atol=1e-9)
    again = LinearSVC(loss="hinge", C=0.5).fit(X[alpha > 0], y[alpha > 0])
    np.testing.assert_allclose(again.coef_, model.coef_, atol=1e-8)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, lambda X: X.astype(np.float32)])
@pytest.mark.parametrize(
    "loss", [Hinge(), SquaredHinge(), EpsilonInsensitive(0.2), SquaredEpsilonInsensitive(0.2)], ids=str
)
def test_dual_descent_agrees_with_the_primal_solvers(loss, form):
    X, y, z = planted(150, 4)
    X, target = form(X), y if loss.task == "binary" else z
    s = np.arange(len(y)) % 4 * 0.5
    bound = {"sample_weight": s, "fit_intercept": False}
    objective = Objective.of_arrays(X, target, loss, L2(0.05), **bound)
    found = DualCoordinates(tolerance=1e-8).solve(objective)
    assert found.holds
    exact = solver_named("newton" if loss.smooth else "frisch_newton", tolerance=1e-10)
    best = exact.solve(Objective.of_arrays(X, target, loss, L2(0.05), **bound))
    assert abs(found.value - best.value) <= 1e-8 * found.certificate.parts["scale"]
    again = DualCoordinates(tolerance=1e-6).solve(objective, start=found.x)
    assert again.iterations <= found.iterations
    u, w = np.zeros(len(y)), np.zeros(4)
    at, low, high, tube, bend = loss.dual_plan(target)
    plan = DualPlan(tube, bend, 0.05 * s.sum())
    for descend, most in ((dual_cd, 20_000), (dual_cd_twin, 60)):
        u[:], w[:] = 0.0, 0.0
        descend(X, at, low, high, plan, u, w, weight=s, tolerance=1e-10, most=most)
        np.testing.assert_allclose(w, best.x, atol=1e-6 if descend is dual_cd else 2e-2)


def test_wide_sparse_tables_take_the_dual():
    rng = np.random.default_rng(0)
    X = sp.random_array((120, 2500), density=0.02, rng=rng, format="csr")
    y = (X @ rng.normal(size=2500) > 0).astype(int)
    for loss in LOSSES:
        ours = LinearSVC(loss=loss).fit(X, y)
        theirs = peers.LinearSVC(loss=loss, dual=True, tol=1e-8, max_iter=100_000).fit(X, y)
        assert svc_objective(ours, X, y) <= svc_objective(theirs, X, y) * (1 + 1e-6)
        assert surefit.verify(ours, X, y).holds
        assert "epochs" in ours.trace_.events[0].values


HARD = {
    "fewer rows than columns": lambda X, y: (X[:4], np.array([0, 1, 0, 1])),
    "two rows": lambda X, y: (X[:2], np.array([0, 1])),
    "a column twice, one constant": lambda X, y: (np.column_stack([X, X[:, 0], np.ones(len(X))]), y),
    "small units": lambda X, y: (X * 1e-6, y),
    "ties": lambda X, y: (np.round(X), y),
    "told apart": lambda X, y: (np.column_stack([X, 2.0 * y]), y),
    "read only": lambda X, y: (np.asfortranarray(X), y),
}


@pytest.mark.parametrize("case", HARD)
@pytest.mark.parametrize("loss", LOSSES)
def test_hard_tables_are_fitted_and_proved(loss, case):
    X, y, _ = planted(120, 5)
    X, y = HARD[case](X, y)
    X.flags.writeable = False
    model = LinearSVC(loss=loss).fit(X, y)
    assert model.certificate_.holds, model.certificate_.statement
    assert surefit.verify(model, X, y).holds
    assert surefit.verify(LinearSVR().fit(X, y * 1.0), X, y * 1.0).holds


@pytest.mark.parametrize("mean", [1e3, 1e6, -1e7])
def test_columns_far_from_zero_are_proved(mean):
    """The penalised intercept cannot follow them: the last digits of coefficients are all that is open."""
    X, y, _ = planted(300, 5)
    X = X + mean
    model = LinearSVC().fit(X, y)
    assert model.certificate_.holds
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = peers.LinearSVC(dual=False, max_iter=100_000).fit(X, y)
    assert svc_objective(model, X, y) <= svc_objective(peer, X, y) * (1 + 1e-6)
    tube = LinearSVR(loss="squared_epsilon_insensitive").fit(X, y * 1.0)
    assert tube.certificate_.holds
    changed = model.coef_.copy()
    model.coef_ = changed * (1 + 1e-6)
    assert not surefit.verify(model, X, y).holds


@pytest.mark.parametrize("mean", [1e3, 1e6, -1e7])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_kinked_losses_of_columns_far_from_zero_are_proved(mean, fit_intercept):
    """No free intercept follows the columns, and their squares have no digits left for what follows them."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(60, 5))
    y = (rows @ [1.0, -1.0, 0.5, 0.0, 2.0] + rng.normal(size=60) > 0).astype(int)
    far = rows + mean * np.array([1.0, 1.0, -0.5, 1.0, 0.0])  # one is not
    for C in (0.01, 1.0, 100.0):
        model = LinearSVC(loss="hinge", C=C, fit_intercept=fit_intercept).fit(far, y)
        assert model.certificate_.holds, model.certificate_.statement
        assert surefit.verify(model, far, y).holds
        tube = LinearSVR(C=C, fit_intercept=fit_intercept).fit(far, rows @ np.ones(5))
        assert tube.certificate_.holds, tube.certificate_.statement
    # Along their means coefficients can only be an intercept, which next to nothing holds back: what is left
    # is the problem of rows less their means, less that direction, with a free intercept.
    way = (far - rows).mean(axis=0) / np.linalg.norm((far - rows).mean(axis=0))
    free = LinearModel("hinge", L2(1.0 / (100.0 * 60)), tol=1e-9).fit(rows - np.outer(rows @ way, way), y)
    found, best = model.certificate_.parts["objective"], free.certificate_.parts["objective"]
    assert found == pytest.approx(best, rel=10 / abs(mean))
    model.coef_ = model.coef_ * (1 + 1e-3)
    assert not surefit.verify(model, far, y).holds


@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(),
        LinearSVC(loss="hinge"),
        LinearSVC("l1"),
        LinearSVR(),
        LinearSVR(loss="squared_epsilon_insensitive"),
    ],
    ids=["squared hinge", "hinge", "values", "tube", "squared tube"],
)
def test_a_warm_start_is_nearly_there(model):
    X, y, _ = planted(200, 4)
    first = model.fit(X, y * 1.0)
    steps, coef = first.n_iter_, first.coef_.copy()
    again = model.set_params(warm_start=True).fit(X, y * 1.0)
    np.testing.assert_allclose(again.coef_, coef, atol=1e-6)
    assert again.n_iter_ == 1 < steps
    other = model.fit(X[:, :3], y * 1.0)  # of another shape there is nothing to begin at
    assert other.coef_.shape[-1] == 3
    assert other.certificate_.holds


def test_what_cannot_be_done_is_said():
    X, y, _ = planted(30, 2)
    with pytest.raises(ValueError, match="greater than one"):
        LinearSVC().fit(X, np.zeros(30))
    sparse = LinearSVC().fit(X, y).sparsify()
    assert sp.issparse(sparse.coef_)
    assert (sparse.predict(X) == sparse.densify().predict(X)).all()
