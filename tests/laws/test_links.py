"""What holds for every link: its inverse undoes it, its derivatives are derivatives, far scores are safe."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from surefit.core.parameters import Interval
from surefit.core.registry import members
from surefit.losses.links import Link, Logit, MultinomialLogit

LINKS: dict[str, type[Link]] = dict(members("link"))  # type: ignore[arg-type]
SCALAR = [cls() for name, cls in LINKS.items() if name != "multinomial_logit"]
each_link = pytest.mark.parametrize("link", SCALAR, ids=lambda link: link.name)


def inner(interval: Interval) -> Any:
    """Return numbers well inside, from near one end to near the other."""
    if interval.high is not None:
        return np.concatenate([[1e-9, 1e-4], np.linspace(0.02, 0.98, 25), [1 - 1e-4, 1 - 1e-9]])
    return np.linspace(-3.0, 3.0, 25) if interval.low is None else np.geomspace(1e-3, 1e3, 25)


def slope(f: Any, x: Any, interval: Interval) -> Any:
    """Return the central difference of sixth order, its step small beside the way to either end."""
    h = 1e-3 * np.minimum(1.0, np.abs(x))
    h = h if interval.high is None else np.minimum(h, 1e-3 * (interval.high - x))
    near, middle, far = (f(x + k * h) - f(x - k * h) for k in (1, 2, 3))
    return (45 * near - 9 * middle + far) / (60 * h)


def test_the_links_that_models_need_are_here() -> None:
    wanted = {"identity", "log", "logit", "multinomial_logit", "probit", "cloglog", "inverse", "sqrt"}
    assert wanted | {"inverse_squared", "power"} == set(LINKS)


@each_link
def test_the_inverse_undoes_the_link(link: Link) -> None:
    mean = inner(link.domain)
    np.testing.assert_allclose(link.inverse(link.forward(mean)), mean, rtol=1e-12)
    z = inner(link.range)
    rounded = np.finfo(float).eps * np.abs(link.inverse(z) / link.inverse_derivative(z))
    assert (np.abs(link.forward(link.inverse(z)) - z) <= 4 * rounded + 1e-14).all()


@each_link
def test_scores_and_means_lie_where_declared(link: Link) -> None:
    assert all(link.range.holds(float(z)) for z in link.forward(inner(link.domain)))
    assert all(link.domain.holds(float(mean)) for mean in link.inverse(inner(link.range)))


@each_link
def test_the_derivatives_are_derivatives(link: Link) -> None:
    mean = inner(link.domain)
    mean = mean[(mean > 1e-3) & (mean < 1 - 1e-3)] if link.domain.high is not None else mean[mean != 0]
    np.testing.assert_allclose(link.derivative(mean), slope(link.forward, mean, link.domain), rtol=1e-9)
    z = inner(link.range)
    z = z[z != 0]
    np.testing.assert_allclose(
        link.inverse_derivative(z), slope(link.inverse, z, link.range), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(
        link.derivative(mean) * link.inverse_derivative(link.forward(mean)), 1, rtol=1e-9
    )


@each_link
def test_the_bend_is_the_derivative_of_the_slope(link: Link) -> None:
    z = inner(link.range)
    z = z[z != 0]
    wanted = slope(link.inverse_derivative, z, link.range)
    np.testing.assert_allclose(link.inverse_bend(z), wanted, rtol=1e-8, atol=1e-12)


@each_link
def test_links_are_monotone(link: Link) -> None:
    steps = np.diff(link.forward(inner(link.domain)))
    assert (steps > 0).all() or (steps < 0).all()
    assert (np.sign(link.derivative(0.3)) == np.sign(steps)).all()


@each_link
def test_far_scores_give_means_at_the_ends_without_a_warning(link: Link) -> None:
    z = np.array([1e-3, 800.0]) if link.range.low == 0 else np.array([-800.0, 800.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mean, speed = link.inverse(z), link.inverse_derivative(z)
    assert not np.isnan(mean).any()
    assert not np.isnan(speed).any()
    assert mean[0] != mean[1]


def test_the_logit_keeps_its_digits() -> None:
    z = np.array([-700.0, -40.0, -1e-9, 1e-9])
    p = Logit().inverse(z)
    np.testing.assert_allclose(p[:2], np.exp(z[:2]), rtol=1e-15)
    wide = z.astype(np.longdouble)
    np.testing.assert_allclose(p, (1 / (1 + np.exp(-wide))).astype(float), rtol=1e-15)
    small = np.array([1e-300, 0.5 + 2.0**-40, 0.5])
    np.testing.assert_allclose(Logit().forward(small), [np.log(1e-300), 2.0**-38, 0.0], rtol=1e-15)


def test_the_multinomial_logit_and_its_matrices() -> None:
    rng = np.random.default_rng(0)
    link, z = MultinomialLogit(), rng.normal(size=(5, 3))
    p = link.inverse(z)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-15)
    np.testing.assert_allclose(link.forward(p), z - z.mean(axis=1, keepdims=True), atol=1e-14)
    np.testing.assert_array_equal(link.inverse([[800.0, -800.0]]), [[1.0, 0.0]])
    centre = np.eye(3) - 1 / 3
    product = link.derivative(p) @ link.inverse_derivative(z)
    np.testing.assert_allclose(product, np.broadcast_to(centre, product.shape), atol=1e-13)
    for k in range(3):
        h = 1e-4 * np.eye(3)[k]
        difference = (link.inverse(z + h) - link.inverse(z - h)) / 2e-4
        np.testing.assert_allclose(link.inverse_derivative(z)[:, :, k], difference, atol=1e-8)
