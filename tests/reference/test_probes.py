"""Searches for counterexamples: what they must find, and where they must find nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import surefit
from surefit import penalties
from surefit.core.errors import DataError
from surefit.optimize import (
    box_sampler,
    classify_stationary,
    is_subgradient,
    numerical_hessian,
    probe_convex_set,
    probe_convexity,
    probe_curvature,
    probe_smoothness,
    probe_tangents,
    segment_sampler,
)

RNG = np.random.default_rng(4)
X, Y = RNG.normal(size=(20, 3)), RNG.normal(size=20)


def likelihood(x: Any) -> Any:
    return x[0] ** 6 * (1 - x[0]) ** 4


def negative_log(x: Any) -> Any:
    return -6 * np.log(x[0]) - 4 * np.log(1 - x[0])


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


@pytest.mark.covers("ml_lecture_notes:3.4", by="minimize")
@pytest.mark.covers("ml_lecture_notes:3.4", by="optimize.classify_stationary")
def test_where_the_slope_of_a_convex_function_vanishes_it_is_lowest_of_all() -> None:
    def f(w: Any) -> Any:
        return 0.5 * np.sum((X @ w - Y) ** 2)

    def slope(w: Any) -> Any:
        return X.T @ (X @ w - Y)

    found = surefit.minimize(f, np.ones(3), gradient=slope)
    assert np.abs(slope(found.x)).max() < 1e-5
    assert "minimum" in str(classify_stationary(f, found.x))
    rng = np.random.default_rng(0)
    others = found.x + rng.normal(size=(200, 3)) * rng.choice([1e-2, 1.0, 30.0], size=(200, 1))
    assert all(f(w) >= found.value - 1e-12 * abs(found.value) for w in others)
    # And conversely: where the slope does not vanish, a step against it leads lower.
    for w in others[:20]:
        assert f(w - 1e-4 * slope(w)) < f(w)
    # Without convexity a slope of zero promises nothing: x³ at 0 is neither.
    assert "minimum" not in str(classify_stationary(lambda x: x[0] ** 3, [0.0]))
    # In one dimension: convex on an interval if and only if the second derivative is nowhere negative there.
    cubic = lambda x: float(x[0] ** 3)  # noqa: E731
    assert not probe_curvature(cubic, box_sampler([0.1], [2.0]), trials=60).refuted
    assert not probe_convexity(cubic, box_sampler([0.0], [2.0])).refuted
    assert probe_curvature(cubic, box_sampler([-2.0], [2.0]), trials=60).refuted
    assert probe_convexity(cubic, box_sampler([-2.0], [2.0])).refuted


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


@pytest.mark.covers("intro_to_ml:A.23", by="optimize.probe_smoothness")
def test_what_coordinate_descent_is_and_is_not_suited_for() -> None:
    """It needs a convex sum of a smooth part and one function a coordinate."""
    box = box_sampler([-7.0] * 3, [7.0] * 3)
    assert probe_convexity(lambda x: abs(x @ x - 42), box).refuted
    slope, start = X[:3] @ X[:3].T, np.ones(3)

    def kinked(x: Any) -> Any:
        return np.where(x @ Y[:3] > 0, 1.0, 0.0) * Y[:3]

    def unsquared(x: Any) -> Any:
        return slope.T @ (slope @ (x - start)) / np.linalg.norm(slope @ (x - start))

    around = segment_sampler(start - 1e-3, start + 1e-3)
    assert probe_smoothness(np.sum, segment_sampler(-0.01 * Y[:3], 0.01 * Y[:3]), 1e2, kinked).refuted
    assert probe_smoothness(np.sum, around, 1e2, unsquared).refuted
    squared = probe_smoothness(
        np.sum, around, 2 * np.linalg.norm(slope, 2) ** 2, lambda x: 2 * slope.T @ slope @ (x - start)
    )
    assert not squared.refuted
