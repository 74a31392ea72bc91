"""Constrained and hard problems: ours as low as scipy and cvxpy, with a proof."""

from __future__ import annotations

from typing import Any

import cvxpy
import numpy as np
import pytest
from scipy import optimize as peer

import surefit
from surefit import optimize
from surefit.penalties import L1, Box, ElasticNet, L1Ball, L2Ball, Simplex, SmoothL1


def rosenbrock(x: np.ndarray) -> float:
    return float(peer.rosen(x))


@pytest.mark.covers("cs443:3.10", "cs443:3.11", "cs443:3.12", by="minimize")
@pytest.mark.parametrize("solver", ["projected_gradient", "fista", "penalty_method", "proximal_gradient"])
def test_constrained_minima_agree_with_scipy(solver: str) -> None:
    aim = np.array([3.0, -1.0, 0.2])

    def f(x: np.ndarray) -> float:
        return float((x - aim) @ (x - aim) + 0.1 * np.sum(x**4))

    def slope(x: np.ndarray) -> np.ndarray:
        return 2 * (x - aim) + 0.4 * x**3

    constraints = {
        "box": (Box(0, 1), {"bounds": [(0, 1)] * 3}),
        "ball": (L2Ball(1.0), {"constraints": {"type": "ineq", "fun": lambda x: 1 - x @ x}}),
        "simplex": (
            Simplex(),
            {"bounds": [(0, None)] * 3, "constraints": {"type": "eq", "fun": lambda x: x.sum() - 1}},
        ),
    }
    for constraint, options in constraints.values():
        found = surefit.minimize(
            f,
            [0.3, 0.3, 0.3],
            gradient=slope,
            constraint=constraint,
            strong_convexity=2.0,
            solver=solver,
            tolerance=1e-7,
        )
        assert found.holds, found.certificate.statement
        assert constraint.feasible(found.x)
        theirs = peer.minimize(f, [0.3, 0.3, 0.3], jac=slope, method="SLSQP", tol=1e-12, **options)
        np.testing.assert_allclose(found.x, theirs.x, atol=2e-3)
        assert found.value <= theirs.fun + 1e-5
        moved = constraint.prox(found.x - 0.1 * slope(found.x), 1.0)
        np.testing.assert_allclose(moved, found.x, atol=1e-2)  # a fixed point


@pytest.mark.covers("cs443:3.12", "intro_to_ml:A.21", by="minimize")
def test_the_penalty_method_takes_constraints_that_are_functions() -> None:
    problem = optimize.ConstrainedProblem(lambda x: x @ x, lambda x: 4 - 2 * x[0] - 2 * x[1])
    found = surefit.minimize(problem, [5.0, 0.0], tolerance=1e-6)
    np.testing.assert_allclose(found.x, [1.0, 1.0], atol=1e-5)
    assert found.holds
    assert found.certificate.witness["multipliers"] == pytest.approx([1.0], abs=1e-4)


@pytest.mark.covers("cs443:3.2", by="minimize")
def test_grid_search_tries_every_combination_and_returns_the_best_tried() -> None:
    tried: list[tuple[float, ...]] = []

    def f(x: np.ndarray) -> float:
        tried.append(tuple(x))
        return float(x[0] ** 2 - x[0] * x[1] + (x[1] - 2.2) ** 2)

    axis = [0.0, 1.0, 2.0, 3.0]
    options: dict[str, Any] = {"solver": "grid_search", "axes": [axis, axis], "gradient": lambda x: x}
    found = surefit.minimize(f, [9.0, 9.0], **options)
    grid = [(a, b) for a in axis for b in axis]
    assert len(set(tried) - {(9.0, 9.0)}) == 16
    assert tuple(found.x) == min(grid, key=lambda p: p[0] ** 2 - p[0] * p[1] + (p[1] - 2.2) ** 2)
    assert not found.holds


HARD = {
    "rosenbrock": (rosenbrock, peer.rosen_der, [-1.2, 1.0]),
    "powell": (
        lambda x: (
            (x[0] + 10 * x[1]) ** 2
            + 5 * (x[2] - x[3]) ** 2
            + (x[1] - 2 * x[2]) ** 4
            + 10 * (x[0] - x[3]) ** 4
        ),
        None,
        [3.0, -1.0, 0.0, 1.0],
    ),
    "badly scaled": (
        lambda x: (x[0] - 1e6) ** 2 + (x[1] - 2e-6) ** 2 + (x[0] * x[1] - 2) ** 2,
        None,
        [1.0, 1.0],
    ),
    "flat": (lambda x: 1 - np.exp(-1e-3 * x @ x), None, [10.0, 5.0]),
    "rosenbrock in ten": (rosenbrock, peer.rosen_der, np.tile([-1.2, 1.0], 5)),
}


@pytest.mark.covers("intro_to_ml:A.11", "intro_to_ml:A.13", "intro_to_ml:A.14", by="minimize")
@pytest.mark.parametrize("solver", ["bfgs", "lbfgs", "newton"])
@pytest.mark.parametrize("name", HARD)
def test_hard_functions_end_as_low_as_scipy_does(name: str, solver: str) -> None:
    f, slope, start = HARD[name]
    found = surefit.minimize(f, start, gradient=slope, solver=solver, max_iter=2000)
    theirs = peer.minimize(f, start, jac=slope, method="BFGS", options={"gtol": 1e-6})
    assert found.holds, found.certificate.statement
    assert found.value <= max(1.01 * theirs.fun, 1e-8)


RNG = np.random.default_rng(7)
DESIGN = RNG.normal(size=(25, 6))
ANSWER = DESIGN @ [2.0, -1.0, 0.0, 0.0, 1.0, 0.0] + 0.2 * RNG.normal(size=25)


def costs(w: Any) -> dict[str, Any]:
    """Name the penalties and sets, ours and as cvxpy says them: the cost, and what must hold."""
    return {
        "lasso": (L1(0.3), 0.3 * cvxpy.norm1(w), []),
        "elastic net": (
            ElasticNet(0.3, l1_ratio=0.5),
            0.15 * cvxpy.norm1(w) + 0.075 * cvxpy.sum_squares(w),
            [],
        ),
        "l1 ball": (L1Ball(1.5), 0.0, [cvxpy.norm1(w) <= 1.5]),
        "l2 ball": (L2Ball(1.0), 0.0, [cvxpy.norm(w) <= 1.0]),
        "box": (Box(-0.5, 0.5), 0.0, [w >= -0.5, w <= 0.5]),
        "simplex": (Simplex(), 0.0, [w >= 0, cvxpy.sum(w) == 1]),
    }


@pytest.mark.covers("ml_lecture_notes:6.1", "ml_lecture_notes:6.5", by="minimize")
@pytest.mark.parametrize("name", costs(cvxpy.Variable(6)))
@pytest.mark.parametrize("solver", ["fista", "projected_gradient", "proximal_gradient", "saga"])
def test_penalised_least_squares_agrees_with_cvxpy(name: str, solver: str) -> None:
    w = cvxpy.Variable(6)
    penalty, cost, holds = costs(w)[name]
    theirs = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(DESIGN @ w - ANSWER) / 50 + cost), holds)
    theirs.solve(solver="CLARABEL")
    found = surefit.minimize(
        lambda x: float(np.mean((DESIGN @ x - ANSWER) ** 2)) / 2,
        np.full(6, 0.1),
        gradient=lambda x: DESIGN.T @ (DESIGN @ x - ANSWER) / 25,
        terms=optimize.Terms(25, lambda x, i: DESIGN[i] * (DESIGN[i] @ x - ANSWER[i])),
        constraint=penalty,
        strong_convexity=float(np.linalg.eigvalsh(DESIGN.T @ DESIGN / 25)[0]),
        solver=solver,
        tolerance=1e-7,
    )
    assert found.holds, found.certificate.statement
    assert found.certificate.claim == "optimal"
    assert found.value - theirs.value <= found.certificate.parts["gap"] + 1e-7
    np.testing.assert_allclose(found.x, w.value, atol=2e-3)


@pytest.mark.covers("cs443:2.3", by="minimize")
def test_the_median_by_subgradients_agrees_with_cvxpy() -> None:
    w = cvxpy.Variable(6)
    theirs = cvxpy.Problem(cvxpy.Minimize(cvxpy.norm1(DESIGN @ w - ANSWER) / 25))
    theirs.solve(solver="CLARABEL")
    found = surefit.minimize(
        lambda x: float(np.mean(np.abs(DESIGN @ x - ANSWER))),
        np.zeros(6),
        gradient=lambda x: DESIGN.T @ np.sign(DESIGN @ x - ANSWER) / 25,
        smooth=False,
        convex=True,
        max_iter=4000,
    )
    assert theirs.value <= found.value + 1e-9
    assert found.value <= 1.02 * theirs.value


@pytest.mark.covers("ml_lecture_notes:6.4", by="penalties.SmoothL1")
def test_a_rounded_absolute_value_by_its_numbers() -> None:
    """|z|_τ = max of zp - τp²/2 over |p| ≤ 1, attained at p = clip(z / τ, -1, 1), the slope."""
    one = SmoothL1(1.0, tau=1.0)
    found = [one.value([z]) for z in (-3, -0.5, 0, 0.25, 1, 2)]
    np.testing.assert_allclose(found, [2.5, 0.125, 0, 0.03125, 0.5, 1.5])
    for tau in (0.1, 1.0, 3.0):
        for z in (-4.0, -tau, -0.05, 0.0, tau / 2, tau, 2.5):
            here = SmoothL1(1.0, tau=tau)
            by_maximum = surefit.minimize(
                lambda p, z=z, tau=tau: tau / 2 * p[0] ** 2 - z * p[0], [0.0], constraint=Box(-1, 1)
            )
            assert here.value([z]) == pytest.approx(-by_maximum.value, abs=1e-9)
            assert here.gradient([z])[0] == pytest.approx(by_maximum.x[0], abs=1e-6)
            assert -1e-15 <= abs(z) - here.value([z]) <= tau / 2 + 1e-15
        assert here.value([tau]) == pytest.approx(tau / 2)


@pytest.mark.covers("ml_lecture_notes:6.4", by="penalties.SmoothL1")
@pytest.mark.covers("ml_lecture_notes:6.4", by="minimize")
@pytest.mark.covers("ml_lecture_notes:6.4", by="LinearModel")
def test_a_rounded_lasso_is_minimised_by_plain_descent() -> None:
    tau, alpha = 0.1, 5.0
    penalty = SmoothL1(alpha, tau=tau)
    bend = np.linalg.norm(DESIGN, 2) ** 2 + alpha / tau
    found = surefit.minimize(
        lambda w: 0.5 * float(np.sum((DESIGN @ w - ANSWER) ** 2)) + penalty.value(w),
        np.zeros(6),
        gradient=lambda w: DESIGN.T @ (DESIGN @ w - ANSWER) + penalty.gradient(w),
        solver="gradient_descent",
        step=1 / bend,
        max_iter=5000,
    )
    assert found.holds
    assert (np.diff(found.trace.column("objective")) <= 1e-12).all()
    w = cvxpy.Variable(6)
    cost = 0.5 * cvxpy.sum_squares(DESIGN @ w - ANSWER) + alpha * cvxpy.sum(cvxpy.huber(w, tau)) / (2 * tau)
    cvxpy.Problem(cvxpy.Minimize(cost)).solve(solver="CLARABEL")
    np.testing.assert_allclose(found.x, w.value, atol=1e-5)
    assert (found.x != 0).all()  # small, not zero
    rows = len(DESIGN)  # a linear model takes the mean of half the squares
    model = surefit.LinearModel("squared", penalty.scaled(1 / rows), fit_intercept=False, tol=1e-12)
    np.testing.assert_allclose(model.fit(DESIGN, ANSWER).coef_, w.value, atol=1e-5)
    assert model.certificate_.holds
    corner = surefit.LinearModel("squared", L1(alpha / rows), fit_intercept=False, tol=1e-12)
    assert not np.allclose(
        corner.fit(DESIGN, ANSWER).coef_, model.coef_, atol=1e-3
    )  # another answer than L1's
