"""What holds for every penalty: its prox is the best point, its conjugate and subdifferential fit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.laws.penalties import CASES, each, each_class, each_shape, each_step, points, subgradient

from surefit.penalties.base import CASE_COLUMNS, Penalty


@each()
@each_shape
@each_step
def test_no_point_is_better_than_the_proximal_one(penalty: Penalty, shape: Any, step: float) -> None:
    def objective(w: np.ndarray, v: np.ndarray) -> float:
        return step * penalty.value(w) + 0.5 * float(np.sum((w - v) ** 2))

    rng = np.random.default_rng(1)
    for v in points(shape, 5):
        best = penalty.prox(v, step)
        lowest = objective(best, v)
        assert lowest < math.inf
        for other in points(shape, 8, seed=2):
            inside = penalty.prox(other, step)  # in every constraint, so that some rivals are finite
            near = best + rng.choice([1e-3, 1e-1]) * rng.normal(size=shape) * (rng.random(shape) < 0.4)
            for rival in (other, inside, near, penalty.prox(near, 1e-3), best + 0.01 * (inside - best), v):
                assert lowest <= objective(rival, v) + 1e-13 * (1 + lowest)


@each("subdifferential_distance")
@each_shape
@each_step
def test_what_the_prox_takes_away_is_a_subgradient(penalty: Penalty, shape: Any, step: float) -> None:
    for v in points(shape, 15):
        w = penalty.prox(v, step)
        distance = penalty.subdifferential_distance(w, -(v - w) / step)
        assert distance.shape == shape
        # Some roundings of v and w, divided by the step or times a curvature, which is below 30 in all cases.
        np.testing.assert_allclose(distance, 0, atol=1e-14 * (1 + np.abs(v).max()) * max(1 / step, 30))


@each("subdifferential_distance")
@each_shape
def test_the_distance_is_how_fast_a_short_proximal_step_moves(penalty: Penalty, shape: Any) -> None:
    """(w - prox(w - t g, t)) / t tends to the shortest vector of g + the subdifferential, as t does to 0."""
    step, moved = 1e-9, 0
    for start, gradient in zip(points(shape, 15), points(shape, 15, seed=5), strict=True):
        w = penalty.prox(start, 0.5)
        speed = np.abs(w - penalty.prox(w - step * gradient, step)) / step
        distance = penalty.subdifferential_distance(w, gradient)
        # A rounding of w over the step; the step times curvature is less.
        np.testing.assert_allclose(distance, speed, atol=3e-6 * (1 + np.abs(gradient).max()))
        moved += int(distance.max() > 1e-3)
    assert moved > 0


@each("convex", "subdifferential_distance")
@each_shape
@each_step
def test_stationary_points_are_those_that_proximal_steps_leave(
    penalty: Penalty, shape: Any, step: float
) -> None:
    for v, change in zip(points(shape, 8), points(shape, 8, seed=6), strict=True):
        w = penalty.prox(v, step)
        for gradient in ((w - v) / step, (w - v) / step + change):
            residual = np.linalg.norm(w - penalty.prox(w - step * gradient, step))
            distance = np.linalg.norm(penalty.subdifferential_distance(w, gradient))
            assert residual <= step * distance + 1e-13 * (1 + np.abs(v).max())
            assert (residual > 1e-10) == (distance > 1e-10)


@each()
@each_shape
@each_step
def test_the_prox_is_firmly_non_expansive_where_declared_convex(
    penalty: Penalty, shape: Any, step: float
) -> None:
    rng, worst = np.random.default_rng(4), 0.0
    for one in points(shape, 60):
        two = one + rng.choice([0.1, 1.0, 5.0]) * rng.normal(size=shape)
        moved = penalty.prox(one, step) - penalty.prox(two, step)
        worst = max(worst, float(np.sum(moved**2) - np.sum(moved * (one - two))))
    assert worst <= 1e-12 if penalty.convex else worst > 1e-3


@each()
@each_shape
def test_the_value_is_convex_along_segments_where_declared(penalty: Penalty, shape: Any) -> None:
    rng, worst = np.random.default_rng(4), 0.0
    for one, two in zip(points(shape, 60), points(shape, 60, seed=8), strict=True):
        one, two, share = penalty.prox(one, 0.2), penalty.prox(two, 0.2), rng.random()
        chord = share * penalty.value(one) + (1 - share) * penalty.value(two)
        worst = max(worst, penalty.value(two + share * (one - two)) - chord)
    assert worst <= 1e-12 if penalty.convex else worst > 1e-3


@each("conjugate")
@each_shape
@each_step
def test_moreau_splits_a_point_between_penalty_and_conjugate(
    penalty: Penalty, shape: Any, step: float
) -> None:
    rivals = [subgradient(penalty, other, step)[1] for other in points(shape, 6, seed=9)]
    for v in points(shape, 6):
        w, u = subgradient(penalty, v, step)

        def dual(u: np.ndarray, v: np.ndarray = v) -> float:
            return step * penalty.conjugate(u) + 0.5 * float(np.sum((step * u - v) ** 2))

        primal = step * penalty.value(w) + 0.5 * float(np.sum((w - v) ** 2))
        half_square = 0.5 * float(np.sum(v**2))
        assert primal + dual(u) == pytest.approx(half_square, rel=1e-12, abs=1e-13)
        for rival in rivals:
            for share in (1.0, 0.1, 0.001):
                assert dual(u) <= dual(u + share * (rival - u)) + 1e-12 * (1 + half_square)


@each("conjugate")
@each_shape
def test_fenchel_and_young(penalty: Penalty, shape: Any) -> None:
    for start, v in zip(points(shape, 20), points(shape, 20, seed=10), strict=True):
        w, u = subgradient(penalty, v, 0.7)
        product = float(np.sum(u * w))
        scale = 1e-12 * (1 + abs(product) + float(np.sum(np.abs(u))) + abs(penalty.conjugate(u)))
        assert penalty.value(w) + penalty.conjugate(u) == pytest.approx(product, abs=scale)
        elsewhere = penalty.prox(start, 0.3)
        bound = penalty.value(elsewhere) + penalty.conjugate(u) - float(np.sum(u * elsewhere))
        assert bound >= -scale


@each("conjugate")
@each_shape
def test_the_conjugate_is_the_supremum(penalty: Penalty, shape: Any) -> None:
    """Proximal steps up the linear function reach the supremum, or go on for ever where it is infinite."""
    step = 1e3
    slopes = points(shape, 5, seed=11)
    slopes += [0.9 * penalty.dual_scaling(u) * u for u in slopes]
    slopes += [subgradient(penalty, v, 0.5)[1] for v in points(shape, 3, seed=12)]
    for u in slopes:
        w, reached = penalty.prox(np.zeros(shape), step), []
        for _ in range(30):
            w = penalty.prox(w + step * u, step)
            reached.append(float(np.sum(u * w)) - penalty.value(w))
        claimed = penalty.conjugate(u)
        if claimed < math.inf:
            assert reached[-1] == pytest.approx(claimed, rel=1e-9, abs=1e-9)
        else:
            growth = np.diff(reached)
            assert growth[-1] > 0.5 * growth[0] > 1e-6


@each("dual_scaling")
@each_shape
def test_dual_scaling_leads_just_into_the_domain(penalty: Penalty, shape: Any) -> None:
    assert penalty.dual_scaling(np.zeros(shape)) == 1.0
    for u in points(shape, 60, seed=13):
        factor = penalty.dual_scaling(u)
        assert 0 <= factor <= 1
        assert penalty.conjugate(factor * u) < math.inf
        assert (factor == 1) == (penalty.conjugate(u) < math.inf)
        if factor < 1:
            assert penalty.conjugate(max(1.000001 * factor, 1e-6) * u) == math.inf


@each("largest")
@each_shape
def test_zero_is_stationary_from_the_largest_strength_on(penalty: Penalty, shape: Any) -> None:
    step, zero = 0.1, np.zeros(shape)
    for gradient in (points(shape, 10, seed=14), [np.abs(points(shape, 1)[0])]):
        for g in gradient:
            level = penalty.largest(g)
            below = level * (1 - 1e-6) if level < math.inf else 1e6
            if level > 0:
                assert np.any(penalty.replace(strength=below).prox(-step * g, step))
                assert np.any(penalty.replace(strength=below).subdifferential_distance(zero, g))
            if level < math.inf:
                above = penalty.replace(strength=level * (1 + 1e-6))
                assert not np.any(above.prox(-step * g, step))
                assert not np.any(above.subdifferential_distance(zero, g))
    assert penalty.largest(zero) == 0.0
    assert penalty.replace(strength=9.0).largest(g) == penalty.largest(g)


@each("table")
@each_shape
def test_the_table_says_it_all(penalty: Penalty, shape: Any) -> None:
    table = penalty.table(CASE_COLUMNS)
    assert penalty.separable
    assert penalty.convex
    for v in points(shape, 10):
        cost, nearest = 0.0, np.empty(shape)
        for place, number in np.ndenumerate(v):
            l1, l2, low, high = (getattr(table, name)[place[0]] for name in ("l1", "l2", "lower", "upper"))
            shrunk = max(abs(number) - 0.7 * l1, 0.0) / (1 + 0.7 * l2)
            nearest[place] = min(max(math.copysign(shrunk, number), low), high)
            cost += l1 * abs(number) + 0.5 * l2 * number**2 if low <= number <= high else math.inf
        np.testing.assert_allclose(penalty.prox(v, 0.7), nearest, rtol=1e-14, atol=1e-15)
        assert penalty.value(v) == pytest.approx(cost, rel=1e-13)


@each("separable")
@each_shape
def test_a_separable_penalty_moves_each_coefficient_by_itself(penalty: Penalty, shape: Any) -> None:
    v, other = points(shape, 2, seed=20)
    mixed = np.where(np.arange(v.size).reshape(shape) % 2, v, other)
    by_itself = np.where(mixed == v, penalty.prox(v, 0.5), penalty.prox(other, 0.5))
    np.testing.assert_array_equal(penalty.prox(mixed, 0.5), by_itself)


@each_class
def test_what_is_not_declared_separable_is_not(cls: type[Penalty]) -> None:
    def spreads(penalty: Penalty, sign: float) -> bool:
        v = sign * np.linspace(1.0, 3.0, CASE_COLUMNS)
        moved = penalty.prox(v + 2.0 * (np.arange(CASE_COLUMNS) == 0), 0.5) - penalty.prox(v, 0.5)
        return bool(np.abs(moved[1:]).max() > 1e-6)

    cases = list(cls.cases(np.random.default_rng(3)))
    assert any(spreads(penalty, sign) for penalty in cases for sign in (1.0, -1.0)) != cls.separable


@each()
def test_a_matrix_of_one_column_is_the_vector(penalty: Penalty) -> None:
    for v in points((CASE_COLUMNS,), 10):
        column = v[:, None]
        np.testing.assert_allclose(
            penalty.prox(column, 0.5)[:, 0], penalty.prox(v, 0.5), rtol=1e-13, atol=1e-15
        )
        assert penalty.value(column) == pytest.approx(penalty.value(v), rel=1e-13)
        for method in ("conjugate", "dual_scaling", "largest"):
            if penalty.offers(method):
                one, other = getattr(penalty, method)(column), getattr(penalty, method)(v)
                assert one == pytest.approx(other, rel=1e-13)


@pytest.mark.parametrize("penalty", [case for case in CASES if not case.id.startswith("group_l1")])
def test_columns_of_a_matrix_are_penalised_one_by_one(penalty: Penalty) -> None:
    for v in points((CASE_COLUMNS, 3), 10):
        w = penalty.prox(v, 0.5)
        apart = np.column_stack([penalty.prox(column, 0.5) for column in v.T])
        np.testing.assert_allclose(w, apart, rtol=1e-12, atol=1e-14)
        assert penalty.value(w) == pytest.approx(sum(penalty.value(column) for column in apart.T), rel=1e-12)
