"""Normal numbers between bounds against scipy, and far in the tails against what must hold there."""

from __future__ import annotations

import numpy as np
from scipy import integrate, stats

from surefit.distributions.truncated_standard_normal import draw_between, excess_between, log_between

RNG = np.random.default_rng(3)
LOW = RNG.normal(size=2000) * RNG.choice([1.0, 4.0], size=2000)
WIDTH = 10 ** RNG.uniform(-3, 1.2, size=2000)
HIGH = np.where(RNG.random(2000) < 0.2, np.inf, LOW + WIDTH)
LOW = np.where(RNG.random(2000) < 0.2, -np.inf, LOW)
SHARE = RNG.random(2000)


def test_draws_are_quantiles():
    x = draw_between(LOW, HIGH, SHARE)
    assert ((x >= LOW) & (x <= HIGH)).all()
    expected = stats.truncnorm(LOW, HIGH).ppf(SHARE)
    np.testing.assert_allclose(x, expected, rtol=1e-9, atol=1e-11)
    # Whatever scipy says: the share below a draw is the one that was asked for.
    np.testing.assert_allclose(np.exp(log_between(LOW, x) - log_between(LOW, HIGH)), SHARE, atol=1e-9)


def test_probabilities_of_intervals_are_integrals():
    for low, high in ((-1.0, 2.0), (3.0, 3.0 + 1e-4), (-9.0, -8.0), (30.0, 30.5), (-np.inf, -37.0)):
        middle = min(abs(low), abs(high)) if low * high > 0 else 0.0

        def density(x, middle=middle):
            return np.exp(-0.5 * x * x + 0.5 * middle**2)

        ends = (max(low, -60.0), min(high, 60.0))
        value = integrate.quad(density, *ends, epsabs=0, epsrel=1e-12, limit=500, points=None)[0]
        expected = np.log(value) - 0.5 * middle**2 - 0.5 * np.log(2 * np.pi)
        found = float(log_between(np.array(low), np.array(high)))
        np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_far_in_a_tail_the_excess_is_exponential():
    for t in (1e4, 1e8, 1e150):  # up to (1 - log(0.1) / 2) / t^2, which the square of the excess takes
        below, excess = excess_between(np.full(5, t), np.full(5, np.inf), np.linspace(0.1, 0.9, 5))
        assert below.all()
        np.testing.assert_allclose(excess * t, -np.log1p(-np.linspace(0.1, 0.9, 5)), rtol=2.2 / t**2 + 1e-12)
        below, excess = excess_between(np.full(5, -np.inf), np.full(5, -t), np.linspace(0.9, 0.1, 5))
        assert not below.any()
        np.testing.assert_allclose(excess * t, -np.log1p(-np.linspace(0.1, 0.9, 5)), rtol=2.2 / t**2 + 1e-12)


def test_between_bounds_that_are_almost_one_draws_are_spread_out():
    for low in (0.0, 1.0, -7.0, 1e3):
        width = 1e-9
        _, excess = excess_between(np.full(3, low), np.full(3, low + width), np.array([0.25, 0.5, 0.75]))
        shown = np.sort(excess) / ((low + width) - low)
        np.testing.assert_allclose(shown, [0.25, 0.5, 0.75], atol=1e-5)
    assert draw_between(np.array([3.0]), np.array([3.0]), np.array([0.7])) == 3.0
