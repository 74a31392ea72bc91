"""What holds for every loss with a conjugate and a prox: Fenchel's inequality, Moreau's split, optimality."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from surefit.core.errors import RefusalError
from surefit.core.registry import members
from surefit.losses import Tweedie
from surefit.losses.base import Loss
from surefit.losses.cases import Case
from surefit.losses.root_finding import increasing_root

LOSSES: dict[str, type[Loss]] = dict(members("loss"))  # type: ignore[arg-type]
CASES = [
    pytest.param(case, id=f"{name}-{number}")
    for name, cls in LOSSES.items()
    if hasattr(cls, "conjugate")
    for number, case in enumerate(cls.cases(np.random.default_rng(23)))
    if case.loss.convex
]
each_case = pytest.mark.parametrize("case", CASES)
STEPS = (1e-3, 0.5, 1.0, 20.0)


def product(u: Any, z: Any) -> Any:
    each = u * z
    return each.sum(axis=1) if each.ndim == 2 else each


def near(case: Case) -> Any:
    """Return scores at which no value is too large for its last digits to be compared."""
    return np.clip(case.z, -30.0, 30.0)


def test_every_convex_loss_has_both() -> None:
    for name, cls in LOSSES.items():
        for case in cls.cases(np.random.default_rng(0)):
            both = hasattr(case.loss, "conjugate") and hasattr(case.loss, "prox")
            assert both or not case.loss.convex, name


def test_a_loss_that_is_not_convex_refuses() -> None:
    for part in (Tweedie(3.0).conjugate, lambda y, v: Tweedie(3.0).prox(y, v, 1.0)):
        with pytest.raises(RefusalError, match="power 3 is not convex and has no"):
            part([1.0], [1.0])


@each_case
def test_fenchels_inequality_is_an_equality_at_the_gradient(case: Case) -> None:
    rng = np.random.default_rng(29)
    loss, y = case.loss, case.y
    for z in (near(case), near(case) + rng.normal(size=case.z.shape)):
        u = loss.gradient(y, z)
        f, dual, uz = loss.value(y, z), loss.conjugate(y, u), product(u, z)
        scale = np.abs(f) + np.abs(dual) + product(np.abs(u), 1.0 + np.abs(z))
        assert (np.abs(f + dual - uz) <= 1e-13 * scale + 1e-300).all()
        for other in (near(case)[::-1], 5.0 * rng.normal(size=z.shape)):
            f, uz = loss.value(y, other), product(u, other)
            slack = 1e-13 * (np.abs(f) + np.abs(dual) + product(np.abs(u), np.abs(other)))
            assert (f + dual >= uz - slack).all()


@each_case
def test_every_slope_of_a_kink_gives_the_equality(case: Case) -> None:
    """The gap of a kinked loss takes its dual point anywhere between the slopes."""
    loss, y = case.loss, case.y
    kinks = [k for k in (near(case), np.zeros_like(case.z), np.ones_like(case.z)) if k.shape == y.shape]
    for z in [*kinks, y.astype(float)] if kinks else [near(case)]:
        low, high = loss.subdifferential(y, z)
        for t in (0.0, 0.3, 1.0):
            u = low + t * (high - low)
            f, dual, uz = loss.value(y, z), loss.conjugate(y, u), product(u, z)
            slack = 1e-13 * (np.abs(f) + np.abs(dual) + product(np.abs(u), 1.0 + np.abs(z))) + 1e-300
            assert (np.abs(f + dual - uz) <= slack).all()


@pytest.mark.parametrize("case", [case for case in CASES if case.values[0].z.ndim == 1])
def test_the_conjugate_is_the_supremum_found_on_a_grid(case: Case) -> None:
    rng = np.random.default_rng(31)
    a, b = rng.uniform(-4.0, 4.0, size=(2, len(case.y)))
    t = rng.random(len(case.y))
    # A slope between those at a and b is reached between a and b, so the grid need not be wider.
    slopes = case.loss.gradient(case.y, a), case.loss.gradient(case.y, b)
    u = np.clip(t * slopes[0] + (1 - t) * slopes[1], np.minimum(*slopes), np.maximum(*slopes))
    low, high = np.minimum(a, b) - 1e-3, np.maximum(a, b) + 1e-3
    rows = np.arange(len(u))
    for _ in range(6):
        grid = np.linspace(low, high, 401)
        heights = np.array([u * z - case.loss.value(case.y, z) for z in grid])
        best = heights.argmax(axis=0)
        low, high = grid[np.maximum(best - 1, 0), rows], grid[np.minimum(best + 1, 400), rows]
    np.testing.assert_allclose(case.loss.conjugate(case.y, u), heights.max(axis=0), rtol=1e-11, atol=1e-11)


@each_case
def test_the_conjugate_is_infinite_beyond_the_slopes(case: Case) -> None:
    loss, y = case.loss, case.y
    if case.z.ndim == 2:
        off = loss.gradient(y, near(case)) + 0.1  # shares that do not add up to 1
        assert np.isinf(loss.conjugate(y, off)).all()
        return
    for side in (-1.0, 1.0):
        slope, further = (loss.gradient(y, np.full_like(case.z, side * z)) for z in (400.0, 800.0))
        # The slopes end at their limit, but for those that still grow, or fall to -inf, between the two.
        ends = np.abs(slope - further) <= 1e-9
        dual = loss.conjugate(y[ends], further[ends] + side * 0.1)
        assert np.isinf(dual).all()
        assert (dual > 0).all()


@each_case
def test_conjugate_and_prox_give_no_warning_and_no_nan(case: Case) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        slope = case.loss.gradient(case.y, case.z)
        for u in (np.where(np.isfinite(slope), slope, 0.0), case.z, np.zeros_like(case.z)):
            assert not np.isnan(case.loss.conjugate(case.y, u)).any()
        for step in STEPS:
            assert np.isfinite(case.loss.prox(case.y, case.z, step)).all()


@each_case
@pytest.mark.parametrize("step", STEPS)
def test_the_prox_leaves_a_slope_of_the_loss(case: Case, step: float) -> None:
    """Moreau's split: v = z + step u, with u a slope of the loss at z."""
    z = case.loss.prox(case.y, case.z, step)
    u = (case.z - z) / step
    low, high = case.loss.subdifferential(case.y, z)
    bend = case.loss.curvature(case.y, z) if case.loss.curvature_kind == "exact" else np.zeros_like(z)
    bend = np.abs(bend).sum(axis=2) if bend.ndim == 3 else bend
    # The slope moves by its curvature as z is rounded, and u by the rounding of v.
    slack = 1e-14 * (np.abs(case.z) + np.abs(z) + 1.0) * (1.0 / step + bend) + 1e-13 * np.abs(u)
    assert ((u >= low - slack) & (u <= high + slack)).all()


@each_case
@pytest.mark.parametrize("step", STEPS)
def test_nothing_is_better_than_the_prox(case: Case, step: float) -> None:
    rng = np.random.default_rng(37)
    v = near(case)

    def cost(z: Any) -> Any:
        return step * case.loss.value(case.y, z) + 0.5 * product(z - v, z - v)

    z = case.loss.prox(case.y, v, step)
    least = cost(z)
    for reach in (1e-6, 1e-2, 1.0, 10.0):
        other = cost(z + reach * rng.normal(size=z.shape))
        assert (
            other >= least - 1e-13 * (np.abs(least) + np.abs(other) + product(z, z) + product(v, v))
        ).all()


@each_case
@pytest.mark.parametrize("step", STEPS)
def test_the_prox_is_firmly_non_expansive(case: Case, step: float) -> None:
    rng = np.random.default_rng(41)
    a, b = near(case), near(case) + 4.0 * rng.normal(size=case.z.shape)
    moved, apart = case.loss.prox(case.y, a, step) - case.loss.prox(case.y, b, step), a - b
    assert (product(moved, moved) <= product(moved, apart) + 1e-12 * (1 + product(apart, apart))).all()


@each_case
def test_prox_keeps_shape_type_and_inputs(case: Case) -> None:
    y, v = case.y.copy(), near(case).astype(np.float32)
    y.flags.writeable = v.flags.writeable = False
    z = case.loss.prox(y, v, 0.7)
    assert z.shape == v.shape
    assert z.dtype == np.float64
    np.testing.assert_array_equal(v, near(case).astype(np.float32))


def test_a_root_is_found_from_far_away_and_on_a_plateau() -> None:
    def function(x: Any) -> Any:
        return np.exp(x) - [1e-3, 1e300, 2.0], np.exp(x)

    root = increasing_root(function, np.array([700.0, -700.0, 0.0]))
    np.testing.assert_allclose(root, np.log([1e-3, 1e300, 2.0]), rtol=1e-15)
    flat = increasing_root(lambda x: (np.clip(x, -3.0, -1.0) + 1.0, 1.0 * (x < -1.0)), np.array([-50.0]))
    assert flat[0] >= -1.0


@each_case
def test_kinks_add_up_to_the_loss(case: Case) -> None:
    """Where a loss says that it is made of straight pieces, it is, up to a term of y alone."""
    if not hasattr(case.loss, "kinks") or case.z.ndim == 2:
        return
    for z in (near(case), case.y.astype(float)):
        pieces = case.loss.kinks(case.y)
        value = sum(piece.value(z) for piece in pieces)
        np.testing.assert_allclose(value, case.loss.value(case.y, z), rtol=1e-13, atol=1e-12)
        low, high = sum(piece.low for piece in pieces), sum(piece.high for piece in pieces)
        slope = case.loss.gradient(case.y, z)
        assert (low <= slope).all()
        assert (slope <= high).all()


def test_every_loss_of_straight_pieces_tells_its_kinks() -> None:
    kinked = {name for name, cls in LOSSES.items() if hasattr(cls, "kinks")}
    assert kinked == {"absolute", "quantile", "hinge", "perceptron", "epsilon_insensitive"}
