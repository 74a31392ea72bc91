"""Lagrangians, KKT, Slater and first-order conditions against worked numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from surefit import penalties
from surefit.core.errors import DataError, ParameterError
from surefit.optimize import (
    ConstrainedProblem,
    Program,
    box_sampler,
    dual_value,
    first_order_residual,
    kkt_residuals,
    lagrangian,
    probe_convexity,
    quadratic_program,
    slater_of_problem,
    slater_of_program,
)

RNG = np.random.default_rng(4)
NEAREST = ConstrainedProblem(lambda x: x @ x, lambda x: 4 - 2 * x[0] - 2 * x[1], gradient=lambda x: 2 * x)


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


@pytest.mark.covers("intro_to_ml:A.7", by="optimize.first_order_residual")
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
