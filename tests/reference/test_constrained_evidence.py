"""The evidence of posteriors cut to constraints, by quadrature and by the rows that come."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from surefit import BayesianLinearRegression
from surefit.penalties import Box, Monotone

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 5))
Y = X @ np.array([1.0, -0.6, 0.4, 0.1, 0.8]) + 2.0 + RNG.normal(size=60)
DEVIATIONS = 5.0  # of a Monte Carlo error: one test in a million fails by chance


def posterior_of(y, rows, w, noise, precision):
    """The log-density of the targets and the coefficients together, without constraints, up to nothing."""
    residual = y - rows @ w
    squares = residual @ residual / noise + precision * (w @ w)
    sizes = len(y) * math.log(2 * math.pi * noise) + len(w) * math.log(2 * math.pi / precision)
    return -0.5 * (squares + sizes)


def test_the_evidence_of_known_noise_is_that_of_quadrature():
    rows, y = X[:6, :2], Y[:6] - 2.0

    def joint(b, a):
        return np.exp(posterior_of(y, rows, np.array([a, b]), 0.7, 2.0))

    sets = {
        "bounds": (Box(0.1, 0.4), (0.1, 0.4, lambda a: 0.1, lambda a: 0.4)),
        "order": (Monotone([[0, 1]]), (-6.0, 6.0, lambda a: a, lambda a: 6.0)),
        "order against the rows": (
            [Monotone([[0, 1]]), Box(-0.3, 2.0)],
            (-0.3, 2.0, lambda a: a, lambda a: 2.0),
        ),
    }
    for held, area in sets.values():
        share = integrate.dblquad(
            lambda b, a: math.exp(-(a**2) - b**2) / math.pi, *area, epsabs=0, epsrel=1e-8
        )[0]
        value = integrate.dblquad(joint, *area, epsabs=0, epsrel=1e-8)[0]
        model = BayesianLinearRegression(2.0, noise_variance=0.7, fit_intercept=False, constraints=held)
        model.fit(rows, y)
        error = model.log_evidence_error_
        assert error < 1e-3
        assert abs(model.log_evidence_ - np.log(value / share)) <= DEVIATIONS * error + 1e-7
        point = np.array([0.2, 0.3])
        density = posterior_of(y, rows, point, 0.7, 2.0) - np.log(value)
        assert model.posterior_.log_density(point) == pytest.approx(density, abs=1e-3)
        assert model.posterior_.log_density([0.3, -9.0]) == -np.inf


def test_the_evidence_of_unknown_noise_is_that_of_quadrature():
    rows, y = X[:6, :1], Y[:6] - 3.0  # whose coefficient would be negative
    model = BayesianLinearRegression(2.0, fit_intercept=False, constraints=Box(0.5, 2.0)).fit(rows, y)

    def joint(log_noise, w):
        noise = np.exp(log_noise)
        density = posterior_of(y, rows, np.array([w]), noise, 2.0 / noise)
        return np.exp(density + stats.invgamma.logpdf(noise, 1.0, scale=1.0) + log_noise)

    def share(log_noise, w):
        noise = np.exp(log_noise)
        prior = stats.norm.pdf(w, scale=np.sqrt(noise / 2.0))
        return prior * stats.invgamma.pdf(noise, 1.0, scale=1.0) * noise

    area = (0.5, 2.0, -8.0, 30.0)
    value = integrate.dblquad(joint, *area, epsabs=0, epsrel=1e-8)[0]
    before = integrate.dblquad(share, *area, epsabs=0, epsrel=1e-8)[0]
    error = model.log_evidence_error_
    assert error < 1e-2
    assert abs(model.log_evidence_ - np.log(value / before)) <= DEVIATIONS * error + 1e-6


@pytest.mark.parametrize("noise", [None, 1.0])
def test_the_evidence_grows_by_the_predictive_density_of_a_row(noise):
    held = [Monotone([[0, 1]]), Box(-1.5, 0.75)]
    model = BayesianLinearRegression(noise_variance=noise, constraints=held).fit(X[:30], Y[:30])
    before, expected = model.log_evidence_, model.predictive(X[30:31])
    density = stats.norm.pdf(Y[30], expected.planes[0], expected.scale)
    assert expected.logpdf(Y[30])[0] == pytest.approx(np.log(density.mean()))
    blur = density.std() / density.mean() / np.sqrt(2400)
    model.partial_fit(X[30:31], Y[30:31])
    grown = model.log_evidence_ - before
    assert abs(grown - np.log(density.mean())) <= DEVIATIONS * blur + 2 * model.log_evidence_error_


def test_a_coefficient_held_at_one_number_is_a_smaller_model():
    held = Box([0.5, -9, -9, -9, -9], [0.5, 9, 9, 9, 9])
    model = BayesianLinearRegression(noise_variance=1.0, constraints=held).fit(X, Y)
    assert model.coef_[0] == 0.5
    assert model.posterior_mean_[0] == 0.5
    rest = BayesianLinearRegression(noise_variance=1.0).fit(X[:, 1:], Y - 0.5 * X[:, 0])
    np.testing.assert_allclose(model.coef_[1:], rest.coef_, atol=1e-10)
    assert model.log_evidence_ == pytest.approx(rest.log_evidence_, abs=1e-6)
