"""Penalties against closed forms, brute minimisation, scikit-learn's solutions and worked numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import lsq_linear, minimize, minimize_scalar, nnls
from sklearn import linear_model

from surefit import penalties
from surefit.core.errors import ParameterError
from surefit.penalties.base import Penalty

RNG = np.random.default_rng(7)
X = RNG.normal(size=(40, 6)) @ (np.eye(6) + 0.3)
Y = X @ np.array([2.0, -1.0, 0.0, 0.0, 0.5, 0.0]) + 0.3 * RNG.normal(size=40)
Y3 = X @ RNG.normal(size=(6, 3)) + 0.3 * RNG.normal(size=(40, 3))
V = np.array([3.0, -1.2, 0.4, -4.0, 0.05, 1.0])


def gradient(w: np.ndarray, y: np.ndarray = Y) -> np.ndarray:
    """Return the gradient of half the mean squared residual."""
    return X.T @ (X @ w - y) / len(X)


def proximal_gradient(penalty: Penalty, start: np.ndarray, steps: int = 1000) -> np.ndarray:
    step = len(X) / np.linalg.norm(X, 2) ** 2
    for _ in range(steps):
        start = penalty.prox(start - step * gradient(start), step)
    return start


def brute_prox(penalty: Penalty, v: float, step: float) -> float:
    """Minimise over one number: the best of a grid, then polished between its neighbours."""

    def objective(w: float) -> float:
        return min(step * penalty.value([w]) + 0.5 * (w - v) ** 2, 1e6)  # the search needs finite numbers

    grid = np.append(np.linspace(-6, 6, 601), 0.0)
    grid.sort()
    start = grid[int(np.argmin([objective(w) for w in grid]))]
    polished = minimize_scalar(
        objective, bounds=(start - 0.02, start + 0.02), method="bounded", options={"xatol": 1e-9}
    ).x
    return min((start, float(polished)), key=objective)


@pytest.mark.parametrize("step", [0.2, 1.0, 2.5, 6.0])
@pytest.mark.parametrize(
    "penalty",
    [
        penalties.L1(0.6),
        penalties.L2(0.6),
        penalties.ElasticNet(0.9, l1_ratio=0.3, positive=True),
        penalties.Box(-0.5, 2.0),
        penalties.GroupL1(0.6, l1_ratio=0.7),
        penalties.L0(0.5),
        penalties.MCP(0.8, gamma=1.5),
        penalties.SCAD(0.6, gamma=2.2),
        penalties.SCAD(0.5, gamma=3.7, multiplier=1.3),
    ],
    ids=repr,
)
def test_the_prox_of_one_coefficient_is_found_by_brute_force(penalty: Penalty, step: float) -> None:
    for v in (-4.1, -2.3, -1.37, -0.45, 0.1, 0.83, 1.21, 1.9, 2.71, 3.3):
        # The search ends where the objective stops changing, the square root of a rounding from the minimum.
        assert penalty.prox([v], step)[0] == pytest.approx(brute_prox(penalty, v, step), abs=1e-6)


def test_soft_threshold_and_shrinkage() -> None:
    assert penalties.L1(1.0).prox([3.0, -3.0, 0.5, 1.0], 1.0).tolist() == [2.0, -2.0, 0.0, 0.0]
    assert penalties.L1(0.5).prox([3.0, -0.5], 2.0).tolist() == [2.0, 0.0]
    assert penalties.L2(1.0).prox([3.0, -0.5], 1.0).tolist() == [1.5, -0.25]
    # Soft threshold over column's squared length plus l2, the elastic net's coordinate update.
    squares, pull = 2.5, 4.0
    update = penalties.ElasticNet(3.0, l1_ratio=1 / 3).prox([pull / squares], 1 / squares)
    assert update[0] == pytest.approx((pull - 1.0) / (squares + 2.0), rel=1e-14)


def test_one_coefficient_with_the_squares_not_halved() -> None:
    """Minimise sum (x b - y)^2 + lambda |b| for x.x = 6.6088888889, x.y = 2.2555555556."""
    square, cross = 59.48 / 9, 20.3 / 9
    slope = penalties.L1(0.5).prox([cross / square], 1 / square)[0]
    assert slope == pytest.approx(0.2656355077, abs=1e-10)
    assert 2 * penalties.L1().largest([cross]) == pytest.approx(4.5111111111, abs=1e-10)


def test_a_mixture_written_without_the_half() -> None:
    """lambda (rho |w| + (1 - rho) w^2) in our scale."""
    strength, rho = 0.8, 0.3
    ours = penalties.ElasticNet(strength * (2 - rho), l1_ratio=rho / (2 - rho))
    assert ours.value(V) == pytest.approx(
        strength * (rho * np.abs(V).sum() + (1 - rho) * np.sum(V**2)), rel=1e-14
    )


def test_scad_of_unit_step_is_the_rule_in_three_pieces() -> None:
    level, gamma = 1.0, 3.7
    scad = penalties.SCAD(level, gamma=gamma)
    np.testing.assert_allclose(scad.prox([0.9, 1.6, -2.0], 1.0), [0.0, 0.6, -1.0], atol=1e-15)
    for v in (2.5, -3.6):
        middle = ((gamma - 1) * v - math.copysign(gamma * level, v)) / (gamma - 2)
        assert scad.prox([v], 1.0)[0] == pytest.approx(middle, rel=1e-14)
    assert scad.prox([3.8, -5.0], 1.0).tolist() == [3.8, -5.0]
    assert scad.value([10.0]) == pytest.approx(level**2 * (gamma + 1) / 2, rel=1e-14)
    assert scad.value([2.0]) == pytest.approx((2 * gamma * level * 2.0 - 4.0 - 1.0) / (2 * 2.7), rel=1e-14)


def test_mcp_between_soft_and_hard() -> None:
    mcp = penalties.MCP(1.0, gamma=2.0)
    assert mcp.value([1.0]) == 0.75
    assert mcp.value([2.0]) == mcp.value([9.0]) == 1.0
    assert mcp.prox([1.0, 1.5, 2.5], 1.0).tolist() == [0.0, 1.0, 2.5]
    # From step gamma on, a coefficient costs gamma/2 times the step once it is worth keeping.
    assert mcp.prox([2.82, 2.83], 4.0).tolist() == [0.0, 2.83]
    np.testing.assert_allclose(
        penalties.MCP(0.7, gamma=1e9).prox(V, 0.9), penalties.L1(0.7).prox(V, 0.9), rtol=1e-8
    )


@pytest.mark.parametrize(
    "penalty", [penalties.MCP(0.8, gamma=1.5), penalties.SCAD(0.6, gamma=2.2, multiplier=1.3)], ids=repr
)
def test_the_cost_is_the_integral_of_the_slope(penalty: Any) -> None:
    for size in (0.3, 0.9, 1.25, 5.0):
        area, _ = quad(lambda t: penalty.slope(np.array(t)), 0, size, points=[0.6, 1.2, 1.32], limit=200)
        assert penalty.value([-size]) == pytest.approx(area, rel=1e-8)


def test_tikhonov_is_a_linear_system() -> None:
    for matrix in (np.diff(np.eye(6), axis=0), RNG.normal(size=(9, 6))):
        penalty = penalties.Tikhonov(matrix, 0.7)
        system = np.eye(6) + 0.4 * 0.7 * matrix.T @ matrix
        np.testing.assert_allclose(penalty.prox(V, 0.4), np.linalg.solve(system, V), rtol=1e-12)
    inverse = np.linalg.inv(0.7 * matrix.T @ matrix)
    assert penalty.conjugate(V) == pytest.approx(0.5 * V @ inverse @ V, rel=1e-10)
    np.testing.assert_allclose(
        penalties.Tikhonov(np.eye(6), 0.7).prox(V, 0.4), penalties.L2(0.7).prox(V, 0.4)
    )


def test_groups_by_label_and_by_list_are_the_same() -> None:
    by_label = penalties.GroupL1(0.9, groups=[1, 0, 1, 0, 0, 2], weights=[1.0, 2.0, 3.0])
    by_list = penalties.GroupL1(0.9, groups=[[1, 3, 4], [2, 0], [5]], weights=[1.0, 2.0, 3.0])
    np.testing.assert_array_equal(by_label.prox(V, 0.5), by_list.prox(V, 0.5))
    length = math.hypot(3.0, 0.4)
    assert by_label.prox(V, 0.5)[2] == pytest.approx(0.4 * (1 - 0.5 * 0.9 * 2.0 / length), rel=1e-14)
    singles = penalties.GroupL1(0.9)
    np.testing.assert_allclose(singles.prox(V, 0.5), penalties.L1(0.9).prox(V, 0.5), rtol=1e-14, atol=1e-16)


@pytest.mark.covers("cs443:3.10", by="penalties.Box")
@pytest.mark.covers("cs443:3.10", by="penalties.NonNegative")
@pytest.mark.covers("cs443:3.10", by="penalties.L2Ball")
@pytest.mark.covers("cs443:3.10", by="penalties.L1Ball")
@pytest.mark.covers("cs443:3.10", by="penalties.Simplex")
@pytest.mark.covers("cs443:3.10", by="penalties.HalfSpace")
@pytest.mark.covers("cs443:3.10", by="penalties.AffineSubspace")
@pytest.mark.parametrize(
    ("name", "parameters", "inequality", "equation"),
    [
        ("Box", {}, lambda w: np.append(w, 1 - w), None),
        ("NonNegative", {}, lambda w: w, None),
        ("L2Ball", {"radius": 2.0}, lambda w: 4.0 - w @ w, None),
        ("L1Ball", {"radius": 2.0}, lambda w: 2.0 - SIGNS @ w, None),
        ("Simplex", {}, lambda w: w, lambda w: w.sum() - 1),
        ("HalfSpace", {"normal": X[0], "offset": -1.0}, lambda w: -1.0 - X[0] @ w, None),
        ("AffineSubspace", {"matrix": X[:2], "target": [1.0, 2.0]}, None, lambda w: X[:2] @ w - [1.0, 2.0]),
    ],
)
def test_projections_are_the_nearest_points(
    name: str, parameters: Any, inequality: Any, equation: Any
) -> None:
    sides = [{"type": "ineq", "fun": inequality}] if inequality else []
    sides += [{"type": "eq", "fun": equation}] if equation else []
    found = minimize(
        lambda w: 0.5 * np.sum((w - V) ** 2),
        np.full(6, 0.1),
        jac=lambda w: w - V,
        constraints=sides,
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    nearest = getattr(penalties, name)(**parameters).prox(V, 1.0)
    np.testing.assert_allclose(nearest, found.x, atol=1e-6)
    # What the general solver gains by stepping outside is at most the distance times how far it steps.
    broken = [0.0 if inequality is None else -np.min(inequality(found.x), initial=0.0)]
    broken += [0.0 if equation is None else np.abs(equation(found.x)).max()]
    outside = np.linalg.norm(nearest - V) * max(broken) * (1 + 1 / np.linalg.norm(X[0]))
    assert found.fun >= 0.5 * np.sum((nearest - V) ** 2) - 1e-9 - outside


# All 64 patterns of signs: their half-spaces make the ball of absolute values.
SIGNS = np.array(np.meshgrid(*[[-1.0, 1.0]] * 6)).reshape(6, -1).T


@pytest.mark.covers("ml_lecture_notes:3.6", by="penalties.Box")
def test_absolute_value_and_positive_part_are_support_functions() -> None:
    for z in (-2.5, -0.3, 0.0, 1.7):
        assert penalties.Box(-1.0, 1.0).conjugate([z]) == abs(z)
        assert penalties.Box(0.0, 1.0).conjugate([z]) == max(0.0, z)
    assert penalties.Box(0.0, 1.0).value([0.0, 0.5, 1.0]) == 0.0
    assert penalties.Box(0.0, 1.0).value([0.5, 1.1]) == math.inf
    assert penalties.L1(1.0).conjugate([1.0, -0.2]) == 0.0
    assert penalties.L1(1.0).conjugate([1.1, 0.0]) == math.inf


@pytest.mark.parametrize("share", [0.5, 0.05])
def test_the_peers_solutions_are_stationary(share: float) -> None:
    options: dict[str, Any] = {"fit_intercept": False, "tol": 1e-14, "max_iter": 100_000}
    alpha = share * penalties.L1().largest(gradient(np.zeros(6)))
    lasso = linear_model.Lasso(alpha, **options).fit(X, Y)
    positive = linear_model.Lasso(alpha, positive=True, **options).fit(X, Y)
    net = linear_model.ElasticNet(alpha, l1_ratio=0.4, **options).fit(X, Y)
    ridge = linear_model.Ridge(alpha * len(X), fit_intercept=False).fit(X, Y)
    for penalty, w in (
        (penalties.L1(alpha), lasso.coef_),
        (penalties.L1(alpha, positive=True), positive.coef_),
        (penalties.ElasticNet(alpha, l1_ratio=0.4), net.coef_),
        (penalties.L2(alpha), ridge.coef_),
    ):
        assert penalty.subdifferential_distance(w, gradient(w)).max() < 1e-7
        assert penalty.subdifferential_distance(1.01 * w, gradient(1.01 * w)).max() > 1e-5
        np.testing.assert_allclose(proximal_gradient(penalty, np.zeros(6)), w, atol=1e-7)
    many = linear_model.MultiTaskElasticNet(alpha, l1_ratio=0.7, **options).fit(X, Y3).coef_.T
    rows = penalties.GroupL1(alpha, l1_ratio=0.7)
    assert rows.subdifferential_distance(many, gradient(many, Y3)).max() < 1e-6


def test_the_largest_strength_is_where_the_peers_lasso_is_zero() -> None:
    level = penalties.L1().largest(gradient(np.zeros(6)))
    rows = penalties.GroupL1().largest(gradient(np.zeros((6, 3)), Y3))
    for factor, zero in ((1 + 1e-6, True), (1 - 1e-3, False)):
        one = linear_model.Lasso(level * factor, fit_intercept=False, tol=1e-14).fit(X, Y)
        many = linear_model.MultiTaskLasso(rows * factor, fit_intercept=False, tol=1e-14).fit(X, Y3)
        assert np.any(one.coef_) != zero
        assert np.any(many.coef_) != zero


def test_constrained_least_squares() -> None:
    nonnegative = proximal_gradient(penalties.NonNegative(), np.zeros(6))
    np.testing.assert_allclose(nonnegative, nnls(X, Y)[0], atol=1e-7)
    bounds = (-0.4, 1.1)
    boxed = proximal_gradient(penalties.Box(*bounds), np.zeros(6))
    np.testing.assert_allclose(boxed, lsq_linear(X, Y, bounds, tol=1e-14).x, atol=1e-6)


def test_the_ball_and_the_penalty_meet() -> None:
    """The lasso's solution is that of the ball with its own radius; so is ridge's."""
    for penalty, ball, size in (
        (penalties.L1(0.3), penalties.L1Ball, lambda w: np.abs(w).sum()),
        (penalties.L2(0.3), penalties.L2Ball, np.linalg.norm),
    ):
        w = proximal_gradient(penalty, np.zeros(6))
        np.testing.assert_allclose(proximal_gradient(ball(size(w)), np.zeros(6)), w, atol=1e-7)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: penalties.L1(weights=[1.0, -2.0]),
            r"L1: weights\[1\] is -2; every entry must be finite and",
        ),
        (lambda: penalties.L2(weights=["a"]), "L2: weights must hold numbers only"),
        (lambda: penalties.L1(weights=[[1.0]]), r"L1: weights has shape \(1, 1\); give one number a column"),
        (lambda: penalties.Box(2.0, [3.0, 1.0]), "Box: no number is between lower and upper"),
        (lambda: penalties.Box([0.0], [1.0, 2.0]), "Box: lower and upper have different lengths"),
        (lambda: penalties.Box(math.nan), "Box: lower must be one number or one a column"),
        (lambda: penalties.GroupL1(groups=[[0, 1], [1, 2]]), "each of the column numbers 0 to 3 once"),
        (lambda: penalties.GroupL1(groups=[]), "GroupL1: groups is empty"),
        (lambda: penalties.GroupL1(groups=[[0.5], [1]]), "must be a list of column numbers"),
        (lambda: penalties.GroupL1(groups=[0, 0, 1], weights=[1.0]), "there are 1 weights for 2 groups"),
        (lambda: penalties.Tikhonov([1.0, 2.0]), r"matrix has shape \(2,\); give a matrix"),
        (lambda: penalties.HalfSpace([0.0, 0.0]), "HalfSpace: normal is zero"),
        (lambda: penalties.AffineSubspace([[1.0], [1.0]], [1.0, 2.0]), "the equations contradict each other"),
        (lambda: penalties.AffineSubspace([[1.0]], [1.0, 2.0]), "matrix has 1 rows and target has 2 entries"),
    ],
)
def test_what_makes_no_penalty_is_told(make: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()
