"""Stationary points, divergences and smoothness against closed forms and worked numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from surefit import losses
from surefit.core.errors import ParameterError
from surefit.optimize import (
    box_sampler,
    bregman_divergence,
    classify_stationary,
    condition_of_problem,
    jensen_shannon_distance,
    probe_convexity,
    probe_smoothness,
    quadratic_program,
)

RNG = np.random.default_rng(4)
X, Y = RNG.normal(size=(20, 3)), RNG.normal(size=20)


def half_mean_square(w: Any) -> float:
    return float(np.sum((Y - X @ w) ** 2)) / (2 * len(Y))


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


@pytest.mark.covers("cs443:2.5", by="optimize.jensen_shannon_distance")
def test_the_exact_gap_of_the_mean_square() -> None:
    for w, other, share in zip(RNG.normal(size=(9, 3)), RNG.normal(size=(9, 3)), RNG.random(9), strict=True):
        gap = -jensen_shannon_distance(half_mean_square, w, other, share)
        assert gap == pytest.approx(
            -share * (1 - share) * np.sum((X @ (w - other)) ** 2) / (2 * len(Y)), rel=1e-9
        )


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
