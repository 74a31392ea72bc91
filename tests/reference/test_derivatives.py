"""Numerical derivatives against formulas, at friendly points and at awkward ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from surefit.core.errors import DataError, RefusalError
from surefit.optimize import (
    check_gradient,
    numerical_gradient,
    numerical_hessian,
    numerical_jacobian,
    taylor_model,
)

RNG = np.random.default_rng(0)
A = RNG.normal(size=(4, 4))
X = RNG.normal(size=4)


def rosenbrock(x: Any) -> Any:
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


def rosenbrock_gradient(x: Any) -> Any:
    return np.array([-400 * x[0] * (x[1] - x[0] ** 2) - 2 * (1 - x[0]), 200 * (x[1] - x[0] ** 2)])


@pytest.mark.covers("ml_lecture_notes:1.4", by="optimize.numerical_gradient")
@pytest.mark.parametrize("method", ["central", "complex"])
def test_slopes_of_a_hard_function(method: Any) -> None:
    for x in ([-1.2, 1.0], [0.5, 3.0], [1.0, 1.0]):
        found = numerical_gradient(rosenbrock, x, method=method)
        np.testing.assert_allclose(found, rosenbrock_gradient(x), rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize(
    ("f", "slope", "x"),
    [
        (np.log, lambda x: 1 / x, 1e-12),
        (np.log, lambda x: 1 / x, 1e12),
        (np.sin, np.cos, 1e6),
        (lambda x: np.exp(1e9 * x), lambda x: 1e9 * np.exp(1e9 * x), 1e-9),
        (lambda x: (x - 1e6) ** 2, lambda x: 2 * (x - 1e6), 1e6 + 1.0),
        (np.sqrt, lambda x: 0.5 / np.sqrt(x), 1e-6),
        (lambda x: 1e-12 * x**2, lambda x: 2e-12 * x, 3.0),
        (lambda x: 7.0 + 0 * x, lambda x: 0.0, 5.0),
    ],
    ids=["log small", "log large", "sine far out", "steep", "mean 1e6", "near the border", "tiny", "flat"],
)
def test_the_step_finds_its_own_size(f: Any, slope: Any, x: float) -> None:
    found = numerical_gradient(lambda v: f(v[0]), [x])[0]
    # A function known to a rounding of x loses as many digits as x has before what matters.
    assert found == pytest.approx(float(slope(x)), rel=1e-6, abs=1e-13)


@pytest.mark.covers("course_summary:2.1", by="optimize.numerical_jacobian")
def test_the_four_rules_of_vector_calculus() -> None:
    np.testing.assert_allclose(numerical_jacobian(lambda w: A.T @ w, X).T, A, atol=1e-10)
    np.testing.assert_allclose(numerical_jacobian(lambda w: w @ A, X).T, A, atol=1e-10)
    np.testing.assert_allclose(numerical_jacobian(lambda w: A @ w, X).T, A.T, atol=1e-10)
    np.testing.assert_allclose(numerical_gradient(lambda w: w @ A @ w, X), (A + A.T) @ X, atol=1e-10)


@pytest.mark.covers("ml_lecture_notes:1.4", by="optimize.numerical_jacobian")
def test_the_chain_rule() -> None:
    def inner(x: Any) -> Any:
        return np.array([x[0] * x[1], np.sin(x[2]), x[3] ** 2])

    def outer(z: Any) -> Any:
        return np.array([z[0] + z[1] * z[2], np.exp(z[0])])

    whole = numerical_jacobian(lambda x: outer(inner(x)), X)
    np.testing.assert_allclose(
        whole, numerical_jacobian(outer, inner(X)) @ numerical_jacobian(inner, X), atol=1e-9
    )


@pytest.mark.covers("ml_lecture_notes:1.4", by="optimize.numerical_hessian")
def test_the_hessian_is_the_jacobian_of_the_gradient() -> None:
    x = np.array([-1.2, 1.0])
    exact = np.array([[1200 * x[0] ** 2 - 400 * x[1] + 2, -400 * x[0]], [-400 * x[0], 200.0]])
    of_values = numerical_hessian(rosenbrock, x)
    np.testing.assert_allclose(of_values, exact, rtol=1e-6)
    np.testing.assert_allclose(numerical_hessian(rosenbrock, x, rosenbrock_gradient), exact, rtol=1e-9)
    slopes = numerical_jacobian(lambda v: numerical_gradient(rosenbrock, v), x)
    np.testing.assert_allclose(of_values, slopes, rtol=1e-5)


@pytest.mark.covers("ml_lecture_notes:1.4", by="optimize.check_gradient")
@pytest.mark.parametrize("coordinate", [0, 1, 3])
def test_the_check_names_the_worst_coordinate(coordinate: int) -> None:
    def f(w: Any) -> Any:
        return float(np.sum(np.log1p(np.exp(A @ w))))

    def gradient(w: Any) -> Any:
        return A.T @ (1 / (1 + np.exp(-(A @ w))))

    assert check_gradient(f, gradient, X).holds

    def wrong(w: Any) -> Any:
        slope = gradient(w)
        slope[coordinate] *= 1.001
        return slope

    check = check_gradient(f, wrong, X)
    assert not check.holds
    assert check.worst == coordinate
    assert f"coordinate {coordinate} is" in check.statement
    assert not check_gradient(f, lambda w: np.full(4, np.nan), X).holds
    with pytest.raises(DataError, match="returns 1 numbers and the gradient 1; give one number and 4"):
        check_gradient(f, lambda w: 0.0, X)


def test_what_does_not_go_on_to_complex_numbers_is_refused() -> None:
    with pytest.raises(RefusalError, match="has no complex extension"):
        numerical_gradient(lambda x: np.abs(x[0]) * x[0], [2.0], method="complex")
    with pytest.raises(RefusalError, match="does not accept complex numbers"):
        numerical_gradient(lambda x: math.exp(x[0]), [2.0], method="complex")
    with pytest.raises(DataError, match="returns 2 numbers, so it has no gradient"):
        numerical_gradient(lambda x: [x[0], x[0]], [2.0])
    with pytest.raises(DataError, match="not finite around the point"):
        numerical_gradient(lambda x: np.log(x[0]), [-2.0])
    with pytest.raises(DataError, match="vector of finite numbers"):
        numerical_gradient(lambda x: x[0], [np.nan])


@pytest.mark.covers("intro_to_ml:A.10", by="optimize.taylor_model")
@pytest.mark.parametrize("order", [1, 2])
def test_taylor_models_err_by_the_next_power(order: Any) -> None:
    x, direction = np.array([0.3, -0.7]), np.array([0.6, 0.8])

    def f(v: Any) -> Any:
        return np.exp(v[0]) * np.cos(v[1])

    model = taylor_model(f, x, order)
    errors = [abs(model(x + h * direction) - f(x + h * direction)) for h in (1e-2, 5e-3)]
    assert errors[0] / errors[1] == pytest.approx(2.0 ** (order + 1), rel=0.02)
    assert model(x) == f(x)


def test_the_newton_step_minimises_the_second_model() -> None:
    model = taylor_model(rosenbrock, [-1.2, 1.0], 2, rosenbrock_gradient)
    step = model.centre - np.linalg.solve(model.hessian, model.gradient)
    for other in RNG.normal(size=(20, 2)):
        assert model(step) <= model(step + 0.1 * other)
