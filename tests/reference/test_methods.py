"""Convergence as it is taught: rates, thresholds, failures and worked numbers, and scipy as a referee."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize as peer

import surefit
from surefit import optimize
from surefit.core.errors import ParameterError, RefusalError
from surefit.linalg import SingularValues
from surefit.optimize import FunctionObjective, Terms, backtracking, direct_update, inverse_update
from surefit.penalties import L1

Y = np.array([1.0, 2.0, 2.0, 5.0])
LINE = np.column_stack([np.ones(4), np.arange(4.0)])  # with intercept


def points(found: Any) -> np.ndarray:
    return np.array([event.learned for event in found.trace])


def constant_model(step: float, count: int, start: float = 7.0) -> np.ndarray:
    found = surefit.minimize(
        lambda w: np.mean((Y - w) ** 2) / 2,
        [start],
        gradient=lambda w: w - Y.mean(),
        solver="gradient_descent",
        step=step,
        max_iter=count,
        tolerance=0.0,
        keep_points=True,
    )
    return points(found)[:, 0]


@pytest.mark.covers("cs443:3.3", "cs443:3.4", "cs443:3.14", by="minimize")
@pytest.mark.parametrize("step", [0.1, 0.5, 1.5, 1.9, 2.0, 2.5])
def test_the_step_decides_whether_descent_creeps_swings_or_diverges(step: float) -> None:
    path, mean = constant_model(step, 12), Y.mean()
    np.testing.assert_allclose(path - mean, (1 - step) ** np.arange(1, 13) * (7 - mean), rtol=1e-9)
    if step < 1:
        assert (np.diff(path) < 0).all()
    if step == 2.0:
        assert set(path) == {2 * mean - 7, 7.0}
    if step > 2:
        assert abs(path[-1] - mean) > abs(path[0] - mean)


@pytest.mark.covers("cs443:3.4", by="minimize")
def test_a_step_of_one_over_the_curvature_lands_at_once() -> None:
    found = surefit.minimize(
        lambda w: np.mean((Y - w) ** 2) / 2,
        [7.0],
        gradient=lambda w: w - Y.mean(),
        solver="gradient_descent",
        step=1.0,
    )
    assert (found.iterations, found.x[0]) == (1, 2.5)
    assert found.value == pytest.approx(Y.var() / 2)


def least_squares(X: np.ndarray, y: np.ndarray, start: Any, **options: Any) -> Any:
    """Minimise |Xw - y|^2 / 2, without a mean."""
    return surefit.minimize(
        lambda w: 0.5 * float((X @ w - y) @ (X @ w - y)),
        start,
        gradient=lambda w: X.T @ (X @ w - y),
        **options,
    )


@pytest.mark.covers("course_summary:2.3", "cs443:3.5", by="minimize")
def test_descent_on_least_squares_is_stable_below_two_over_the_largest_eigenvalue() -> None:
    bound = 2 / np.linalg.eigvalsh(LINE.T @ LINE).max()
    assert bound == pytest.approx(0.1189750324, abs=1e-10)
    options: dict[str, Any] = {"solver": "gradient_descent", "tolerance": 1e-9}
    below = least_squares(LINE, Y, [0.0, 0.0], step=0.98 * bound, max_iter=5000, **options)
    beyond = least_squares(LINE, Y, [0.0, 0.0], step=1.02 * bound, max_iter=5000, **options)
    np.testing.assert_allclose(below.x, np.linalg.lstsq(LINE, Y, rcond=None)[0], atol=1e-6)
    assert below.holds
    assert not beyond.holds
    assert "diverged" in beyond.diagnosis.codes()


@pytest.mark.covers("intro_to_ml:A.9", by="minimize")
def test_a_schedule_of_steps_falls_at_every_iteration() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    X *= np.sqrt(40 / np.linalg.eigvalsh(X.T @ X).max())  # stable for 0.04 < 2 / 40
    schedule = [0.01] * 5 + [0.03] * 5 + [0.04] * 5
    found = least_squares(
        X,
        X @ [1.0, -1.0] + rng.normal(size=100),
        [5.0, 2.0],
        solver="gradient_descent",
        step=schedule,
        max_iter=15,
        tolerance=0.0,
    )
    assert (np.diff(found.trace.column("objective")) < 0).all()
    assert found.trace.column("step").tolist() == schedule
    by_function = least_squares(
        X, np.ones(100), [5.0, 2.0], solver="gradient_descent", step=lambda k: 0.04 / k, max_iter=3
    )
    np.testing.assert_allclose(by_function.trace.column("step"), [0.04, 0.02, 0.04 / 3])


@pytest.mark.covers("intro_to_ml:4.4", "intro_to_ml:A.15", by="minimize")
def test_the_exact_step_for_least_squares_makes_gradients_orthogonal() -> None:
    found = least_squares(
        LINE, Y, [5.0, 2.0], solver="gradient_descent", step="exact", max_iter=6, tolerance=0.0
    )
    x = np.array([5.0, 2.0])
    for event in found.trace:
        g = LINE.T @ (LINE @ x - Y)
        assert event.step == pytest.approx((g @ g) / (g @ LINE.T @ LINE @ g), rel=1e-9)
        x = event.learned
        new = LINE.T @ (LINE @ x - Y)
        assert abs(new @ g) <= 1e-9 * (g @ g)
    assert (np.diff(found.trace.column("objective")) < 0).all()


@pytest.mark.covers("ml_lecture_notes:6.2", by="optimize.iterations_needed")
def test_iterations_that_a_rate_asks_for() -> None:
    assert optimize.iterations_needed(10.0, 1e-2) == 1000
    assert optimize.iterations_needed(10.0, 1e-2, rate=2) == 32
    for constant, gap, rate in [
        (7.3, 1e-3, 1.0),
        (7.3, 1e-3, 2.0),
        (1e-3, 7.3, 1.0),
        (0.0, 1.0, 1.0),
        (3.0, 3.0, 2.0),
    ]:
        k = optimize.iterations_needed(constant, gap, rate)
        assert constant / k**rate <= gap
        assert k == 1 or constant / (k - 1) ** rate > gap
    assert optimize.linear_rate_iterations(10.0, 10.0, 5.0) == 0
    assert optimize.linear_rate_iterations(10.0, 1e-9, 1.0) == 1
    for condition in (1.5, 10.0, 100.0):
        k = optimize.linear_rate_iterations(10.0, 1e-2, condition)
        factor = 1 - condition**-2.0
        assert factor**k * 10 <= 0.01 * (1 + 1e-9) < factor ** (k - 1) * 10 * (1 + 2e-9)
    for call, message in [
        (lambda: optimize.iterations_needed(-1.0, 0.1), "constant=-1.0 must be"),
        (lambda: optimize.iterations_needed(1.0, 0.0), "gap=0.0 must be above 0"),
        (lambda: optimize.iterations_needed(1.0, 0.1, 0.0), "rate=0.0 must be above 0"),
        (lambda: optimize.iterations_needed(1.0, 1e-300), "out of reach"),
        (lambda: optimize.linear_rate_iterations(1.0, 0.1, 0.5), "condition=0.5 must be at least 1"),
        (lambda: optimize.linear_rate_iterations(1.0, 0.1, 1e9), "lost in rounding"),
    ]:
        with pytest.raises(ParameterError, match=message):
            call()


@pytest.mark.covers("ml_lecture_notes:6.2", by="minimize")
def test_descent_on_a_convex_function_is_as_good_as_one_over_k() -> None:
    X = np.vander(np.linspace(0, 1, 12), 6)  # nearly flat along some directions
    y = np.sin(4 * np.linspace(0, 1, 12))
    best = np.linalg.lstsq(X, y, rcond=None)[0]
    step = len(X) / np.linalg.norm(X, 2) ** 2

    def f(w: np.ndarray) -> float:
        return float(np.mean((X @ w - y) ** 2)) / 2

    options: dict[str, Any] = {"gradient": lambda w: X.T @ (X @ w - y) / 12, "max_iter": 400, "step": step}
    plain = surefit.minimize(f, np.zeros(6), solver="gradient_descent", keep_points=True, **options)
    gaps = plain.trace.column("objective") - f(best)
    k = np.arange(1, len(gaps) + 1)
    assert (gaps <= best @ best / (2 * step) / k).all()
    # Each step is w <- (I - τ/s X'X) w + τ/s X'y: the minimum of the tangent plus a square over 2τ.
    w = np.zeros(6)
    for seen in points(plain)[:5]:
        w = (np.eye(6) - step / 12 * X.T @ X) @ w + step / 12 * X.T @ y
        np.testing.assert_allclose(seen, w, rtol=1e-10)
    promised = best @ best / (2 * step) / 300
    assert gaps[optimize.iterations_needed(best @ best / (2 * step), promised) - 1] <= promised
    assert (np.diff(gaps) <= 0).all()
    fast = surefit.minimize(f, np.zeros(6), solver="nesterov", restart=False, **options)
    gaps = fast.trace.column("objective") - f(best)
    assert (gaps <= 2 * (best @ best) / step / (k + 1) ** 2).all()


@pytest.mark.covers("ml_lecture_notes:6.3", by="minimize")
@pytest.mark.covers("ml_lecture_notes:6.3", by="optimize.linear_rate_iterations")
def test_descent_on_mean_squares_converges_linearly() -> None:
    rng = np.random.default_rng(1)
    U, V = np.linalg.qr(rng.normal(size=(20, 3)))[0], np.linalg.qr(rng.normal(size=(3, 3)))[0]
    X, y = U @ np.diag([2.0, 1.5, 1.0]) @ V, rng.normal(size=20)  # condition number 2
    best = np.linalg.lstsq(X, y, rcond=None)[0]

    def f(w: np.ndarray) -> float:
        return float(np.mean((X @ w - y) ** 2)) / 2

    options: dict[str, Any] = {"gradient": lambda w: X.T @ (X @ w - y) / 20, "solver": "gradient_descent"}
    found = surefit.minimize(f, np.full(3, 9.0), step=20 / 4.0, max_iter=30, tolerance=0.0, **options)
    gaps = found.trace.column("objective") - f(best)
    first = f(np.full(3, 9.0)) - f(best)
    assert (gaps <= 0.75 ** np.arange(1, len(gaps) + 1) * first + 1e-15).all()
    assert optimize.linear_rate_iterations(10.0, 0.01, condition=2.0) == 25
    assert gaps[optimize.linear_rate_iterations(first, 1e-2, SingularValues.of(X).condition) - 1] <= 1e-2
    # Polyak and Lojasiewicz: where the slope is small, so is the gap.
    for w in rng.normal(size=(20, 3)) * 5:
        slope = options["gradient"](w)
        assert slope @ slope / 2 >= (1.0**2 / 20) * (f(w) - f(best)) * (1 - 1e-12)
    wrong = surefit.minimize(f, np.full(3, 9.0), step=20**2 / 4.0, max_iter=30, tolerance=0.0, **options)
    assert wrong.trace.column("objective")[-1] > 1e6 * first  # the step with rows squared diverges


@pytest.mark.covers("intro_to_ml:A.11", by="minimize")
def test_newton_takes_one_step_on_a_bowl_and_may_fail_elsewhere_without_damping() -> None:
    H = np.array([[3.0, 1.0], [1.0, 2.0]])
    pure: dict[str, Any] = {"solver": "newton", "damping": 0, "line_search": False}
    bowl = surefit.minimize(
        lambda x: x @ H @ x / 2 - x.sum(),
        [9.0, -4.0],
        gradient=lambda x: H @ x - 1,
        hessian=lambda x: H,
        **pure,
    )
    assert bowl.iterations == 1
    np.testing.assert_allclose(bowl.x, np.linalg.solve(H, [1, 1]), rtol=1e-12)

    def valley(x: np.ndarray) -> float:
        return float(np.sum(np.sqrt(1 + x**2)))  # convex, yet a pure step from x leads to -x^3

    def slope(x: np.ndarray) -> np.ndarray:
        return x / np.sqrt(1 + x**2)

    def bend(x: np.ndarray) -> np.ndarray:
        return np.diag((1 + x**2) ** -1.5)

    wild = surefit.minimize(valley, [1.5], gradient=slope, hessian=bend, max_iter=4, keep_points=True, **pure)
    np.testing.assert_allclose(points(wild)[:3, 0], [-(1.5**3), 1.5**9, -(1.5**27)], rtol=1e-6)
    tame = surefit.minimize(valley, [1.5], gradient=slope, hessian=bend, solver="newton")
    assert tame.holds
    assert abs(tame.x[0]) < 1e-8


@pytest.mark.covers("intro_to_ml:A.11", by="minimize")
def test_damping_helps_where_the_hessian_is_singular_or_indefinite() -> None:
    f, slope = (lambda x: (x[0] + x[1] - 2) ** 2), (lambda x: 2 * (x[0] + x[1] - 2) * np.ones(2))
    options: dict[str, Any] = {"gradient": slope, "hessian": lambda x: np.full((2, 2), 2.0)}
    fixed = surefit.minimize(f, [5.0, 1.0], solver="newton", damping=0.5, **options)
    auto = surefit.minimize(f, [5.0, 1.0], solver="newton", **options)
    for found in (fixed, auto):
        assert found.holds
        np.testing.assert_allclose(found.x - [5, 1], [-2, -2], atol=1e-5)  # nothing moves across
    saddle = surefit.minimize(lambda x: x[0] ** 2 + (x[1] ** 2 - 1) ** 2, [1.0, 0.1], solver="newton")
    assert saddle.holds
    assert abs(saddle.x[1]) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.covers("intro_to_ml:A.12", "intro_to_ml:A.13", by="optimize.inverse_update")
def test_bfgs_updates_meet_the_secant_condition_and_are_inverses() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        root, s = rng.normal(size=(5, 5)), rng.normal(size=5)
        H = root @ root.T + np.eye(5)
        y = rng.normal(size=5)
        y *= np.sign(y @ s)
        new, inverse = direct_update(H, s, y), inverse_update(np.linalg.inv(H), s, y)
        np.testing.assert_allclose(new @ s, y, atol=1e-9 * np.linalg.norm(new))
        np.testing.assert_allclose(inverse @ y, s, atol=1e-9 * np.linalg.norm(inverse))
        np.testing.assert_allclose(new, new.T, atol=1e-9 * np.linalg.norm(new))
        np.testing.assert_allclose(new @ inverse, np.eye(5), atol=1e-6 * np.linalg.cond(new) ** 0.5)
        assert np.linalg.eigvalsh(new).min() > 0


def rosenbrock(x: np.ndarray) -> float:
    return float(peer.rosen(x))


@pytest.mark.covers("intro_to_ml:A.13", "intro_to_ml:A.14", by="minimize")
def test_bfgs_in_both_forms_and_with_enough_memory_walk_the_same_path() -> None:
    options: dict[str, Any] = {"gradient": peer.rosen_der, "max_iter": 8, "tolerance": 0.0}
    inverse = surefit.minimize(rosenbrock, [-1.2, 1.0], solver="bfgs", **options)
    direct = surefit.minimize(rosenbrock, [-1.2, 1.0], solver="bfgs", update="direct", **options)
    np.testing.assert_allclose(points(inverse), points(direct), rtol=1e-6)
    from collections import deque

    from surefit.solvers.first_order.lbfgs import Step, two_loops

    rng = np.random.default_rng(3)
    B, steps = np.eye(4), deque[Step]()
    for _ in range(3):
        s = rng.normal(size=4)
        y = s * [1.0, 2.0, 3.0, 4.0]
        steps.append(Step(s, y, 1 / (s @ y)))
    newest = steps[-1]
    B *= (newest.s @ newest.y) / (newest.y @ newest.y)  # where the recursion begins
    for step in steps:
        B = inverse_update(B, step.s, step.y)
    g = rng.normal(size=4)
    np.testing.assert_allclose(two_loops(g, steps), B @ g, rtol=1e-10)


@pytest.mark.covers("intro_to_ml:A.15", "intro_to_ml:A.16", by="optimize.backtracking")
def test_backtracking_tests_first_and_promises_no_curvature() -> None:
    asked: list[float] = []

    def phi(t: float) -> float:
        asked.append(t)
        return (100 - 0.1 * t) ** 2 / 2

    slope = -0.1 * 100
    assert backtracking(phi, 5000.0, slope) == 1.0
    assert asked == [1.0]
    asked.clear()
    assert backtracking(phi, 5000.0, slope, test_first=False) == 0.5  # as printed: shrinks before it looks
    assert asked == [0.5]
    assert not optimize.curvature(slope, -0.1 * (100 - 0.05))
    assert optimize.armijo(0.5, 5000.0, (100 - 0.05) ** 2 / 2, slope)
    assert not optimize.wolfe(0.5, 5000.0, (100 - 0.05) ** 2 / 2, slope, -0.1 * (100 - 0.05))
    halved = backtracking(lambda t: (1 - 8 * t) ** 2, 1.0, -16.0)
    assert halved == 0.125
    with pytest.raises(RefusalError, match="is not a descent direction"):
        backtracking(phi, 5000.0, 1.0)


@pytest.mark.covers("intro_to_ml:A.17", "ml_lecture_notes:6.6", "ml_lecture_notes:10.10", by="minimize")
def test_coordinate_descent_solves_lasso_and_stalls_where_a_kink_couples() -> None:
    X, y = np.eye(2), np.array([3.0, -0.5])
    separable = surefit.minimize(
        lambda w: 0.5 * float((X @ w - y) @ (X @ w - y)),
        [5.0, 5.0],
        gradient=lambda w: X.T @ (X @ w - y),
        constraint=L1(1.0),
        solver="coordinate_descent",
    )
    np.testing.assert_allclose(separable.x, [2.0, 0.0], atol=1e-7)
    assert (np.diff(separable.trace.column("objective")) <= 0).all()
    stuck = surefit.minimize(
        lambda x: abs(x[0] + x[1]) + 3 * abs(x[0] - x[1]),
        [1.0, 1.0],
        smooth=False,
        convex=True,
        solver="coordinate_descent",
        max_iter=50,
    )
    assert stuck.value == 2.0
    np.testing.assert_array_equal(stuck.x, [1.0, 1.0])
    assert not stuck.holds  # though (0, 0) has value 0


@pytest.mark.covers("cs443:3.8", "cs443:3.9", by="minimize")
def test_subgradients_need_steps_that_shrink_but_not_too_fast() -> None:
    def mean_error(w: np.ndarray) -> float:
        return float(np.mean(np.abs(Y - w)))

    def slope(w: np.ndarray) -> np.ndarray:
        return np.mean(np.sign(w - Y), keepdims=True)

    options: dict[str, Any] = {"gradient": slope, "smooth": False, "convex": True, "solver": "subgradient"}
    fixed = surefit.minimize(mean_error, [8.3], decay="none", step=0.7, max_iter=500, **options)
    decaying = surefit.minimize(mean_error, [8.3], step=2.0, max_iter=500, **options)
    best = mean_error(np.array([2.0]))  # the median
    assert decaying.value == pytest.approx(best, abs=1e-3)
    late = fixed.trace.column("objective")[-100:]
    assert late.max() - late.min() > 0.01  # still swings, and does not come nearer
    assert fixed.value == pytest.approx(fixed.trace.column("objective").min())
    rises = np.diff(decaying.trace.column("objective")) > 0
    assert rises.any()  # no method of descent: the best point is kept
    assert decaying.value == decaying.trace.column("objective").min()


@pytest.mark.covers("cs443:3.6", "cs443:3.7", "cs443:3.9", by="minimize")
def test_stochastic_gradients_are_unbiased_and_a_full_batch_is_descent() -> None:
    terms = Terms(4, lambda w, i: LINE[i] * (LINE[i] @ w - Y[i]))
    w = np.array([0.3, -0.7])
    full = LINE.T @ (LINE @ w - Y) / 4
    np.testing.assert_allclose(terms.mean_gradient(w, np.arange(4)), full, rtol=1e-14)

    def f(w: np.ndarray) -> float:
        return float(np.mean((LINE @ w - Y) ** 2)) / 2

    options: dict[str, Any] = {"terms": terms, "step": 0.1, "max_iter": 20, "tolerance": 0.0}
    batch = surefit.minimize(f, [0.0, 0.0], solver="stochastic_gradient", batch_size=4, decay=0.0, **options)
    plain = surefit.minimize(f, [0.0, 0.0], solver="gradient_descent", **options)
    np.testing.assert_allclose(points(batch), points(plain), rtol=1e-12)
    exact = np.linalg.lstsq(LINE, Y, rcond=None)[0]
    single = surefit.minimize(f, [0.0, 0.0], solver="stochastic_gradient", **{**options, "max_iter": 800})
    np.testing.assert_allclose(single.x, exact, atol=0.1)
    again = surefit.minimize(f, [0.0, 0.0], solver="stochastic_gradient", **{**options, "max_iter": 800})
    np.testing.assert_array_equal(single.x, again.x)
    for name in ("saga", "svrg"):  # their spread vanishes, so that they reach what plain draws do not
        precise = surefit.minimize(f, [0.0, 0.0], solver=name, terms=terms, tolerance=1e-9)
        np.testing.assert_allclose(precise.x, exact, atol=1e-7)


@pytest.mark.covers("intro_to_ml:A.8", by="minimize")
def test_the_logarithm_keeps_the_place_of_the_maximum() -> None:
    def logs(x: np.ndarray) -> float:
        return float(-6 * np.log(x[0]) - 4 * np.log(1 - x[0])) if 0 < x[0] < 1 else np.inf

    found = surefit.minimize(logs, [0.2], convex=True)
    assert found.x[0] == pytest.approx(0.6, abs=1e-8)
    assert found.value == pytest.approx(6.7301166701, abs=1e-10)


@pytest.mark.covers("intro_to_ml:A.9", by="minimize")
def test_a_step_minimises_the_tangent_with_a_price_on_its_length() -> None:
    x, t = np.array([-1.2, 1.0]), 1e-3
    g = peer.rosen_der(x)
    model = surefit.minimize(lambda z: g @ (z - x) + (z - x) @ (z - x) / (2 * t), x, tolerance=1e-10)
    np.testing.assert_allclose(model.x, x - t * g, rtol=1e-8)


def test_momentum_beats_descent_on_a_narrow_valley() -> None:
    def f(x: np.ndarray) -> float:
        return float(0.5 * x[0] ** 2 + 50 * x[1] ** 2)

    options: dict[str, Any] = {"gradient": lambda x: x * [1.0, 100.0], "tolerance": 1e-8}
    plain = surefit.minimize(f, [10.0, 1.0], solver="gradient_descent", step=2 / 101, **options)
    ball = surefit.minimize(
        f, [10.0, 1.0], solver="heavy_ball", step=4 / 121, momentum=(9 / 11) ** 2, **options
    )
    restarted = surefit.minimize(f, [10.0, 1.0], solver="nesterov", step=0.01, **options)
    assert ball.iterations * 5 < plain.iterations
    assert restarted.iterations * 3 < plain.iterations
    spectral = surefit.minimize(f, [10.0, 1.0], solver="gradient_descent", **options)
    assert spectral.iterations < 40
    assert FunctionObjective(f, [1.0, 1.0]).value(np.zeros(2)) == 0.0
