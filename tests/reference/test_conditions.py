"""Lagrangians, conditions and probes against worked numbers and against what they must find."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from surefit import losses, penalties
from surefit.core.errors import DataError, ParameterError
from surefit.optimize import (
    ConstrainedProblem,
    Program,
    box_sampler,
    bregman_divergence,
    classify_stationary,
    condition_of_problem,
    dual_value,
    first_order_residual,
    is_subgradient,
    jensen_shannon_distance,
    kkt_residuals,
    lagrangian,
    numerical_hessian,
    probe_convex_set,
    probe_convexity,
    probe_curvature,
    probe_smoothness,
    probe_tangents,
    quadratic_program,
    segment_sampler,
    slater_of_problem,
    slater_of_program,
)

RNG = np.random.default_rng(4)
X, Y = RNG.normal(size=(20, 3)), RNG.normal(size=20)
NEAREST = ConstrainedProblem(lambda x: x @ x, lambda x: 4 - 2 * x[0] - 2 * x[1], gradient=lambda x: 2 * x)


def likelihood(x: Any) -> Any:
    return x[0] ** 6 * (1 - x[0]) ** 4


def negative_log(x: Any) -> Any:
    return -6 * np.log(x[0]) - 4 * np.log(1 - x[0])


def half_mean_square(w: Any) -> float:
    return float(np.sum((Y - X @ w) ** 2)) / (2 * len(Y))


@pytest.mark.covers("intro_to_ml:A.20", "course_summary:4.4", by="optimize.dual_value")
@pytest.mark.covers("intro_to_ml:A.20", "course_summary:4.4", by="optimize.lagrangian")
def test_the_dual_of_the_nearest_point() -> None:
    for price, value in ((0.5, 1.5), (1.0, 2.0), (1.5, 1.5), (0.0, 0.0)):
        found = dual_value(NEAREST, [price], start=[3.0, -1.0])
        assert found.value == pytest.approx(value, abs=1e-10)
        assert found.value == pytest.approx(4 * price - 2 * price**2, abs=1e-10)
        np.testing.assert_allclose(found.x, price, atol=1e-7)
        assert lagrangian(NEAREST, found.x, [price]) == pytest.approx(value, abs=1e-10)
        assert found.value <= 2.0 + 1e-12  # weak duality


@pytest.mark.covers("intro_to_ml:A.20", by="optimize.probe_convexity")
def test_the_dual_is_concave_whatever_the_problem() -> None:
    bent = ConstrainedProblem(
        lambda x: x[0] ** 4 - 3 * x[0] ** 2, lambda x: x[0] - 0.5, inequality_jacobian=lambda x: [[1.0]]
    )

    def minus_dual(price: Any) -> float:
        return -min(dual_value(bent, price, start=[start]).value for start in (-2.0, 2.0))

    assert not probe_convexity(minus_dual, box_sampler([0.0], [5.0]), trials=8).refuted
    assert probe_convexity(lambda x: bent.value(x), box_sampler([-1.0], [1.0])).refuted


def test_a_lagrangian_that_falls_for_ever_has_no_dual_value() -> None:
    line = ConstrainedProblem(
        lambda x: x[0], lambda x: -x[0], gradient=lambda x: np.ones(1), inequality_jacobian=lambda x: [[-1.0]]
    )
    assert dual_value(line, [0.5], start=[0.0]).value == -np.inf
    assert dual_value(line, [1.0], start=[0.0]).value == pytest.approx(0.0)
    with pytest.raises(ParameterError, match="a multiplier in u is negative"):
        dual_value(line, [-1.0], start=[0.0])
    with pytest.raises(DataError, match="u has 2 entries for 1 constraints"):
        lagrangian(line, [0.0], [1.0, 2.0])


@pytest.mark.covers("intro_to_ml:A.21", "course_summary:4.4", by="optimize.kkt_residuals")
def test_each_of_the_five_conditions_is_measured_by_itself() -> None:
    good = kkt_residuals(NEAREST, [1.0, 1.0], [1.0])
    assert good.hold(1e-9)
    assert kkt_residuals(NEAREST, [1.0, 1.0], [0.5]).stationarity == pytest.approx(1.0, abs=1e-8)
    assert kkt_residuals(NEAREST, [0.5, 1.0], [1.0]).inequalities == pytest.approx(1.0)
    assert kkt_residuals(NEAREST, [0.0, 0.0], [-0.5]).multipliers == 0.5
    assert kkt_residuals(NEAREST, [2.0, 2.0], [2.0]).slackness == pytest.approx(8.0)
    # Each equation must vanish: a sum of them could do so with none of them true.
    two = ConstrainedProblem(lambda x: x @ x, None, lambda x: [x[0] - 1, x[1] + 1])
    residuals = kkt_residuals(two, [2.0, -2.0], None, [0.0, 0.0])
    assert residuals.equalities == pytest.approx(1.0)
    assert not residuals.hold()
    assert kkt_residuals(two, [1.0, -1.0], None, [-2.0, 2.0]).hold(1e-8)


@pytest.mark.covers("course_summary:4.4", by="optimize.quadratic_program")
def test_the_soft_margin_machine_satisfies_its_conditions() -> None:
    """Variables (w, b, ξ): ½‖w‖² + C Σξ with y(wx + b) ≥ 1 - ξ and ξ ≥ 0; the dual is Σα - ½‖w‖²."""
    rng = np.random.default_rng(6)
    data, y, C = rng.normal(size=(24, 2)), rng.choice([-1.0, 1.0], size=24), 0.7
    Q = np.diag([1.0, 1.0, 0.0, *np.zeros(24)])
    c = np.concatenate([np.zeros(3), np.full(24, C)])
    rows = -np.column_stack([y[:, None] * data, y, np.eye(24)])
    solution = quadratic_program(Q, c, rows, -np.ones(24), bounds=[(None, None)] * 3 + [(0, None)] * 24)
    alpha, w = solution.multipliers.ub, solution.x[:2]
    np.testing.assert_allclose(w, (alpha * y) @ data, atol=1e-9)
    assert alpha @ y == pytest.approx(0.0, abs=1e-9)
    assert alpha.sum() - 0.5 * w @ w == pytest.approx(solution.value, rel=1e-9)
    assert np.abs(alpha * solution.slack).max() < 1e-9
    assert alpha.max() <= C + 1e-9


@pytest.mark.covers("intro_to_ml:A.20", by="optimize.slater_of_program")
def test_slater_by_a_linear_programme() -> None:
    triangle = Program.of(None, [0.0, 0.0], [[1.0, 1.0]], [1.0], bounds=(0, None))
    check = slater_of_program(triangle)
    assert check.holds
    assert check.point.min() > 0
    assert check.point.sum() < 1
    assert check.room == pytest.approx(1 / 3)
    # The equation of the worked example as two inequalities leaves no room; as an equation it does.
    rows, right = [[-1.0, 0.0], [0.0, -1.0], [-1.0, -1.0], [1.0, 1.0]], [0.0, 0.0, -1.0, 1.0]
    flat = slater_of_program(Program.of(None, [0.0, 0.0], rows, right))
    assert not flat.holds
    assert flat.proved
    assert "fails: no point" in flat.statement
    assert slater_of_program(Program.of(None, [0.0, 0.0], rows[:2], right[:2], [[1.0, 1.0]], [1.0])).holds
    contradiction = Program.of(None, [0.0], A_eq=[[1.0], [1.0]], b_eq=[0.0, 1.0], bounds=(0, 1))
    assert not slater_of_program(contradiction).holds
    for unit in (1e-9, 1e9):
        assert slater_of_program(Program.of(None, [0.0], [[unit], [-unit]], [unit, unit])).holds


@pytest.mark.covers("intro_to_ml:A.20", by="optimize.slater_of_problem")
def test_slater_of_curved_constraints() -> None:
    lens = ConstrainedProblem(
        lambda x: x[0],
        lambda x: [(x[0] - 1) ** 2 + x[1] ** 2 - 2, (x[0] + 1) ** 2 + x[1] ** 2 - 2],
        lambda x: x[1],
    )
    check = slater_of_problem(lens, [5.0, 5.0])
    assert check.holds
    assert lens.above(check.point).max() < 0
    assert abs(lens.off(check.point)).max() < 1e-8
    touching = ConstrainedProblem(lambda x: x[0], lambda x: [(x[0] - 1) ** 2 - 1, (x[0] + 1) ** 2 - 1])
    check = slater_of_problem(touching, [3.0])
    assert not check.holds
    assert "does not prove" in check.statement
    assert slater_of_problem(NEAREST, [0.0, 0.0]).holds


@pytest.mark.covers("intro_to_ml:A.3", "cs443:3.1", "cs443:3.13", by="optimize.classify_stationary")
@pytest.mark.parametrize(
    ("f", "x", "kind"),
    [
        (lambda x: x[0] ** 2 + 3 * x[1] ** 2, [0.0, 0.0], "minimum"),
        (lambda x: -(x[0] ** 2) - 3 * x[1] ** 2, [0.0, 0.0], "maximum"),
        (lambda x: x[0] ** 2 - x[1] ** 2, [0.0, 0.0], "saddle"),
        (lambda x: x[0] ** 4, [0.0], "degenerate"),
        (lambda x: x[0] ** 3, [0.0], "degenerate"),
        (lambda x: x[0] ** 2 - x[1] ** 2 + x[2] ** 4, [0.0, 0.0, 0.0], "saddle"),
        (lambda x: x[0] ** 2, [1.0], "not stationary"),
        (lambda x: 1e-9 * (x[0] - 1e6) ** 2, [1e6], "minimum"),
        (lambda x: 0.0 * x[0], [2.0], "degenerate"),
        (lambda x: 3.0 * x[0], [2.0], "not stationary"),
    ],
    ids=[
        "bowl",
        "hill",
        "saddle",
        "quartic",
        "cubic",
        "saddle and flat",
        "slope",
        "far bowl",
        "flat",
        "plane",
    ],
)
def test_stationary_points_are_told_apart(f: Any, x: list[float], kind: str) -> None:
    found = classify_stationary(f, x)
    assert found.kind == kind
    assert found.statement.endswith(".")


@pytest.mark.covers("intro_to_ml:A.8", by="optimize.probe_convexity")
def test_the_logarithm_makes_the_likelihood_convex_and_keeps_its_top() -> None:
    assert likelihood([0.6]) == pytest.approx(0.0011943936, abs=1e-10)
    assert negative_log(np.array([0.6])) == pytest.approx(6.7301166701, abs=1e-10)
    for place, bend in ((0.3, 0.0226), (0.6, -0.0498), (0.9, 0.0374)):
        assert numerical_hessian(likelihood, [place])[0, 0] == pytest.approx(bend, abs=5e-5)
    inside = box_sampler([0.001], [0.999])
    assert probe_convexity(lambda x: -likelihood(x), inside).refuted
    assert probe_curvature(lambda x: -likelihood(x), inside).refuted
    for probe in (probe_convexity, probe_tangents, probe_curvature):
        assert not probe(negative_log, inside).refuted
    assert classify_stationary(negative_log, [0.6]).kind == "minimum"
    assert classify_stationary(likelihood, [0.6]).kind == "maximum"


BATTERY = {
    "even power": (lambda x: x[0] ** 4, [-2.0], [2.0], True),
    "affine": (lambda x: 3 * x[0] - x[1] + 2, [-5.0, -5.0], [5.0, 5.0], True),
    "exponential": (lambda x: np.exp(-2 * x[0]), [-3.0], [3.0], True),
    "minus log": (lambda x: -np.log(x[0]), [1e-3], [9.0], True),
    "absolute power": (lambda x: abs(x[0]) ** 1.5, [-2.0], [2.0], True),
    "absolute": (lambda x: abs(x[0]), [-2.0], [2.0], True),
    "negative power": (lambda x: x[0] ** -0.5, [0.1], [4.0], True),
    "quadratic form": (
        lambda x: 2 * x[0] ** 2 + 2 * x[0] * x[1] + x[1] ** 2 + x[0],
        [-2.0, -2.0],
        [2.0, 2.0],
        True,
    ),
    "x log x": (lambda x: x[0] * np.log(x[0]), [1e-3], [4.0], True),
    "minus x log x": (lambda x: -x[0] * np.log(x[0]), [1e-3], [4.0], False),
    "shifted quartic": (lambda x: 2 * x[0] ** 4 - 42, [-2.0], [2.0], True),
    "constant": (lambda x: 42.0 + 0 * x[0], [-2.0], [2.0], True),
    "minus square": (lambda x: -(x[0] ** 2), [-2.0], [2.0], False),
    "cubic": (lambda x: x[0] ** 3 + 1, [-2.0], [2.0], False),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-2 * x[0])), [-3.0], [3.0], False),
    "square root": (lambda x: np.sqrt(x[0]), [0.1], [4.0], False),
    "local dent": (lambda x: x[0] ** 2 + 0.05 * np.sin(20 * x[0]), [-2.0], [2.0], False),
}


@pytest.mark.covers("intro_to_ml:A.2", "intro_to_ml:A.5", "intro_to_ml:A.23", by="optimize.probe_convexity")
@pytest.mark.covers("cs443:2.5", "ml_lecture_notes:3.1", by="optimize.probe_convexity")
@pytest.mark.covers("intro_to_ml:A.2", by="optimize.probe_tangents")
@pytest.mark.covers("intro_to_ml:A.2", "ml_lecture_notes:3.4", by="optimize.probe_curvature")
@pytest.mark.parametrize("name", BATTERY)
def test_the_probes_find_what_is_not_convex_and_nothing_else(name: str) -> None:
    f, low, high, convex = BATTERY[name]
    found = probe_convexity(f, box_sampler(low, high))
    assert found.refuted != convex
    if convex:
        assert found.statement == "No counterexample to convexity was found in 1000 trials."
    else:
        u, v, share = (found.counterexample[key] for key in ("u", "v", "λ"))
        assert f(share * u + (1 - share) * v) > share * f(u) + (1 - share) * f(v)
        assert probe_tangents(f, box_sampler(low, high), trials=80).refuted
        assert probe_curvature(f, box_sampler(low, high), trials=40).refuted
    if convex and "absolute" not in name:
        assert not probe_tangents(f, box_sampler(low, high), trials=80).refuted
        assert not probe_curvature(f, box_sampler(low, high), trials=40).refuted
    assert probe_convexity(lambda x: -f(x), box_sampler(low, high)).refuted or name in {
        "affine",
        "constant",
        "minus x log x",
        "minus square",
        "square root",
    }


def test_minus_x_log_x_between_one_and_three() -> None:
    def f(x: Any) -> Any:
        return -x * np.log(x)

    assert f(2.0) == pytest.approx(-1.386, abs=1e-3)
    assert (f(1.0) + f(3.0)) / 2 == pytest.approx(-1.648, abs=1e-3)


@pytest.mark.covers("intro_to_ml:A.4", by="optimize.probe_convexity")
def test_what_keeps_convexity() -> None:
    f, g = BATTERY["exponential"][0], BATTERY["even power"][0]
    box = box_sampler([-2.0], [2.0])
    assert not probe_convexity(lambda x: f(x) + g(x), box).refuted
    assert not probe_convexity(lambda x: 3.5 * f(x), box).refuted
    assert not probe_convexity(lambda x: np.exp(g(x)), box).refuted
    assert probe_convexity(lambda x: (x[0] ** 2 - 1) ** 2, box).refuted  # the outer one is not non-decreasing


@pytest.mark.covers("intro_to_ml:A.2", by="optimize.probe_convexity")
def test_strict_and_strong_convexity() -> None:
    box = box_sampler([-1.0, -1.0], [1.0, 1.0])
    assert not probe_convexity(lambda x: x @ x, box, strict=True).refuted
    assert probe_convexity(lambda x: x[0], box, strict=True).refuted
    found = probe_convexity(lambda x: x[0] ** 2 + 5 * x[1] ** 2, box, modulus=2.0)
    assert not found.refuted
    assert found.seen == pytest.approx(2.0, rel=0.01)
    assert found.seen >= 2.0
    assert probe_convexity(lambda x: x[0] ** 2 + 5 * x[1] ** 2, box, modulus=2.1).refuted


def test_a_segment_can_be_probed_alone() -> None:
    def saddle(x: Any) -> Any:
        return x[0] ** 2 - x[1] ** 2

    assert not probe_convexity(saddle, segment_sampler([-1.0, 0.0], [1.0, 0.0])).refuted
    assert probe_convexity(saddle, segment_sampler([0.0, -1.0], [0.0, 1.0])).refuted
    with pytest.raises(DataError, match="finite sides of one length"):
        box_sampler([0.0], [np.inf])


@pytest.mark.covers("cs443:2.5", by="optimize.jensen_shannon_distance")
def test_the_exact_gap_of_the_mean_square() -> None:
    for w, other, share in zip(RNG.normal(size=(9, 3)), RNG.normal(size=(9, 3)), RNG.random(9), strict=True):
        gap = -jensen_shannon_distance(half_mean_square, w, other, share)
        assert gap == pytest.approx(
            -share * (1 - share) * np.sum((X @ (w - other)) ** 2) / (2 * len(Y)), rel=1e-9
        )


@pytest.mark.covers(
    "intro_to_ml:A.1", "intro_to_ml:A.23", "ml_lecture_notes:3.1", by="optimize.probe_convex_set"
)
@pytest.mark.covers("cs443:3.10", by="optimize.probe_convex_set")
def test_convex_sets_and_others() -> None:
    def matrices(rng: np.random.Generator) -> Any:
        one = rng.normal(size=3) * np.sign(rng.normal())
        return np.outer(one, rng.normal(size=3)).ravel()

    def rank_one(x: Any) -> bool:
        return bool(np.linalg.matrix_rank(x.reshape(3, 3), tol=1e-9) == 1)

    def symmetric(x: Any) -> bool:
        return bool(np.abs(x.reshape(3, 3) - x.reshape(3, 3).T).max() < 1e-12)

    def draw_symmetric(rng: np.random.Generator) -> Any:
        root = rng.normal(size=(3, 3))
        return (root + root.T).ravel()

    assert probe_convex_set(rank_one, matrices).refuted
    assert not probe_convex_set(symmetric, draw_symmetric).refuted
    assert not probe_convex_set(lambda x: bool(x[0] >= 0), box_sampler([-1.0], [9.0])).refuted
    assert not probe_convex_set(lambda x: bool(0 <= x[0] <= 1), box_sampler([-1.0], [2.0])).refuted
    sets = [penalties.Box(-0.5, 0.5), penalties.L1Ball(1.0), penalties.L2Ball(0.9)]
    members = [each.feasible for each in sets]
    assert not probe_convex_set(
        lambda x: all(m(x) for m in members), box_sampler([-1.0] * 2, [1.0] * 2)
    ).refuted
    apart = [penalties.Box(-1.0, -0.5).feasible, penalties.Box(0.5, 1.0).feasible]
    assert probe_convex_set(lambda x: any(m(x) for m in apart), box_sampler([-1.0], [1.0])).refuted


@pytest.mark.covers("intro_to_ml:A.6", "cs443:3.8", by="optimize.is_subgradient")
@pytest.mark.parametrize(
    ("x", "slopes", "others"),
    [(0.0, [-1.0, -0.3, 0.0, 1.0], [-1.01, 1.2]), (2.0, [1.0], [0.9, 1.1]), (-2.0, [-1.0], [0.0])],
)
def test_subgradients_of_the_absolute_value(x: float, slopes: list[float], others: list[float]) -> None:
    for slope in slopes:
        assert not is_subgradient(lambda v: abs(v[0]), [x], [slope]).refuted
    for slope in others:
        found = is_subgradient(lambda v: abs(v[0]), [x], [slope])
        assert found.refuted
        u = float(found.counterexample["u"][0])
        assert abs(u) < abs(x) + slope * (u - x)


@pytest.mark.covers("cs443:3.8", by="optimize.is_subgradient")
def test_subgradients_of_linear_models() -> None:
    y = np.where(Y > 0, 1.0, -1.0)
    w = RNG.normal(size=3)
    error = Y - X @ w
    assert not is_subgradient(lambda v: np.abs(Y - X @ v).mean(), w, -X.T @ np.sign(error) / len(Y)).refuted
    assert is_subgradient(lambda v: np.abs(Y - X @ v).mean(), w, X.T @ np.sign(error) / len(Y)).refuted
    w = X[0] * y[0] / (X[0] @ X[0])  # row 0 lies at the kink of the hinge
    rest = -((y * (y * (X @ w) < 1 - 1e-12))[1:] @ X[1:])
    for theta in (0.0, 0.5, 1.0):
        slope = rest - theta * y[0] * X[0]
        assert not is_subgradient(lambda v: np.maximum(1 - y * (X @ v), 0).sum(), w, slope).refuted
    assert is_subgradient(lambda v: np.maximum(1 - y * (X @ v), 0).sum(), w, rest - 1.5 * y[0] * X[0]).refuted


@pytest.mark.covers("intro_to_ml:A.7", "cs443:3.11", by="optimize.first_order_residual")
def test_an_active_constraint_holds_against_the_gradient() -> None:
    """At the nearest point to the origin the gradient is (2, 2): it need not vanish, on the set's border."""
    half_space = penalties.HalfSpace([-2.0, -2.0], -4.0)
    assert first_order_residual([1.0, 1.0], [2.0, 2.0], half_space) == pytest.approx(0.0, abs=1e-14)
    assert first_order_residual([2.0, 1.0], [4.0, 2.0], half_space) > 1
    for y in RNG.normal(size=(50, 2)):
        inside = half_space.prox(y, 1.0)
        assert np.array([2.0, 2.0]) @ (inside - 1.0) >= -1e-12
    # The lasso of the identity: y = (3, -0.5), α = 1 gives (2, 0).
    assert first_order_residual([2.0, 0.0], [-1.0, 0.5], penalties.L1(1.0)) == 0.0
    assert first_order_residual([2.0, 0.1], [-1.0, 0.6], penalties.L1(1.0)) > 0.05


@pytest.mark.covers("ml_lecture_notes:3.2", by="optimize.bregman_divergence")
def test_bregman_divergences_in_closed_form() -> None:
    u, v = RNG.random(4) + 0.1, RNG.random(4) + 0.1

    def entropy(x: Any) -> Any:
        return np.sum(x * np.log(x))

    assert bregman_divergence(lambda x: 0.5 * x @ x, u, v) == pytest.approx(
        0.5 * np.sum((u - v) ** 2), rel=1e-9
    )
    assert bregman_divergence(entropy, u, v) == pytest.approx(np.sum(u * np.log(u / v) - u + v), rel=1e-7)
    a, b = RNG.normal(size=(2, 3))
    assert bregman_divergence(half_mean_square, a, b) == pytest.approx(
        np.sum((X @ (a - b)) ** 2) / (2 * len(Y)), rel=1e-8
    )
    assert bregman_divergence(entropy, u, v) != pytest.approx(bregman_divergence(entropy, v, u), rel=1e-3)
    assert bregman_divergence(lambda x: -(x @ x), u, v) < 0


@pytest.mark.covers("ml_lecture_notes:3.3", by="optimize.jensen_shannon_distance")
def test_jensen_shannon_distances_in_both_forms() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.exp(x)) + 0.5 * x @ x

    for u, v, share in zip(RNG.normal(size=(9, 3)), RNG.normal(size=(9, 3)), RNG.random(9), strict=True):
        between = share * u + (1 - share) * v
        parts = [bregman_divergence(f, end, between, lambda x: np.exp(x) + x) for end in (u, v)]
        assert jensen_shannon_distance(f, u, v, share) == pytest.approx(
            share * parts[0] + (1 - share) * parts[1], abs=1e-12
        )
        assert jensen_shannon_distance(f, u, v) == pytest.approx(jensen_shannon_distance(f, v, u), abs=1e-13)
        square = jensen_shannon_distance(lambda x: 0.5 * x @ x, u, v, share)
        assert square == pytest.approx(0.5 * share * (1 - share) * np.sum((u - v) ** 2), abs=1e-12)
    with pytest.raises(ParameterError, match=r"share=1\.5"):
        jensen_shannon_distance(f, u, v, 1.5)


@pytest.mark.covers("ml_lecture_notes:3.5", by="optimize.probe_smoothness")
def test_known_constants_of_smoothness() -> None:
    length = np.linalg.norm(X, 2)
    signs = np.where(Y > 0, 1.0, -1.0)
    box = box_sampler([-3.0] * 3, [3.0] * 3)
    known = {
        length**2 / len(Y): lambda w: X.T @ (X @ w - Y) / len(Y),
        length**2: lambda w: X.T @ (X @ w - Y),
        length**2 + 0.7: lambda w: X.T @ (X @ w - Y) + 0.7 * w,
        length**2 / 4: lambda w: -X.T @ (signs / (1 + np.exp(signs * (X @ w)))),
        length**2 + 0.7 / 0.1: lambda w: X.T @ (X @ w - Y) + 0.7 * np.clip(w / 0.1, -1, 1),
    }
    for constant, gradient in known.items():
        found = probe_smoothness(half_mean_square, box, constant, gradient)
        assert not found.refuted
        assert 0 < found.seen <= constant * (1 + 1e-12)
    sharp = probe_smoothness(
        half_mean_square, box, 0.9 * length**2 / len(Y), known[length**2 / len(Y)], trials=2000
    )
    assert sharp.refuted
    assert probe_smoothness(lambda x: abs(x[0]) ** 1.5, box_sampler([-1.0], [1.0]), 5.0).refuted
    # 1/(2τ)‖w‖² - E is convex where E is 1/τ-smooth, and not for a larger τ.
    top = length**2 / len(Y)
    assert not probe_convexity(lambda w: 0.5 * top * w @ w - half_mean_square(w), box).refuted
    assert probe_convexity(lambda w: 0.4 * top * w @ w - half_mean_square(w), box).refuted


@pytest.mark.covers("ml_lecture_notes:3.5", by="optimize.bregman_divergence")
def test_the_three_point_identity_of_a_proximal_step() -> None:
    """w* minimises E + D_J(., w̄): E(w*) + D_E(w, w*) + D_J(w, w*) + D_J(w*, w̄) = E(w) + D_J(w, w̄)."""
    gram = X.T @ X / len(Y)
    tau = 1 / np.linalg.norm(gram, 2)

    def slope(w: Any) -> Any:
        return gram @ w - X.T @ Y / len(Y)

    def J(w: Any) -> Any:
        return w @ w / (2 * tau) - half_mean_square(w)

    def J_slope(w: Any) -> Any:
        return w / tau - slope(w)

    start = RNG.normal(size=3)
    best = start - tau * slope(start)  # the variational form of one step of gradient descent
    for w in RNG.normal(size=(6, 3)):
        left = half_mean_square(best) + bregman_divergence(half_mean_square, w, best, slope)
        left += bregman_divergence(J, w, best, J_slope) + bregman_divergence(J, best, start, J_slope)
        assert left == pytest.approx(
            half_mean_square(w) + bregman_divergence(J, w, start, J_slope), rel=1e-11
        )


@pytest.mark.covers("cs443:2.2", "cs443:2.3", by="optimize.linear_program")
def test_the_constant_that_fits_best_is_the_mean_or_the_median() -> None:
    from surefit.optimize import linear_program

    y = np.array([1.0, 2.0, 4.0, 7.0, 100.0])
    squares = quadratic_program([[2.0 * len(y)]], [-2.0 * y.sum()])
    assert squares.x[0] == pytest.approx(y.mean())
    rows = np.vstack([np.column_stack([sign * np.ones(5), -np.eye(5)]) for sign in (1.0, -1.0)])
    sizes = linear_program(np.append(0.0, np.ones(5)), rows, np.concatenate([y, -y]))
    assert sizes.x[0] == pytest.approx(np.median(y))
    for loss in (losses.Squared(), losses.Absolute()):  # symmetric and convex, in w as in z
        assert loss.value(np.array([1.0]), np.array([3.0])) == loss.value(np.array([1.0]), np.array([-1.0]))
        assert not probe_convexity(
            lambda w, loss=loss: loss.value(Y, X @ w).mean(), box_sampler([-2.0] * 3, [2.0] * 3)
        ).refuted


@pytest.mark.covers("intro_to_ml:A.23", by="optimize.classify_stationary")
def test_the_mean_is_the_point_of_least_squared_distance() -> None:
    points = RNG.normal(size=(7, 2))

    def total(x: Any) -> float:
        return float(np.sum((points - x) ** 2))

    found = classify_stationary(total, points.mean(axis=0))
    assert found.kind == "minimum"
    np.testing.assert_allclose(found.eigenvalues, 14.0, rtol=1e-7)


def test_the_condition_of_a_problem_is_that_of_its_gram_matrix() -> None:
    problem = condition_of_problem(half_mean_square, np.zeros(3))
    assert problem.number == pytest.approx(np.linalg.cond(X) ** 2, rel=1e-6)
    flat = condition_of_problem(lambda x: (x[0] + x[1]) ** 2, [0.0, 0.0])
    assert flat.number == np.inf
    np.testing.assert_allclose(np.abs(flat.weakest), np.sqrt(0.5), rtol=1e-6)
