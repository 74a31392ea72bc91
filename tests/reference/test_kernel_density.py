"""Kernel densities: the courses' numbers, integrals, scikit-learn's answers, tolerances, draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.neighbors
from scipy.integrate import quad

import surefit
from surefit.core.errors import RefusalError

KERNELS: tuple[Any, ...] = ("gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(500, 3))
Q = 1.3 * RNG.normal(size=(80, 3))
W = RNG.integers(1, 4, 500).astype(float)


@pytest.mark.covers("ml_for_data_science:6.8", by="KernelDensity")
@pytest.mark.covers("course_summary:10.8", by="KernelDensity")
def test_the_parzen_window_of_three_points() -> None:
    model = surefit.KernelDensity(bandwidth=0.5).fit([[0.0], [1.0], [2.0]])
    found = np.exp(model.score_samples([[1.0], [0.0]]))
    np.testing.assert_allclose(found, [0.3379494756, 0.3020447181], rtol=0, atol=5e-11)
    assert model.certificate_.holds


@pytest.mark.covers("ml_for_data_science:6.8", by="kernel_values")
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_smoothing_kernel_has_mass_one_mean_zero_and_a_spread(kernel: Any) -> None:
    def moment(power: int, h: float) -> float:
        edge = 40 * h if kernel in ("gaussian", "exponential") else h

        def weighed(x: float) -> float:
            return x**power * float(surefit.kernel_values(kernel, x, h))

        return quad(weighed, -edge, 0)[0] + quad(weighed, 0, edge)[0]

    for h in (1.0, 0.3):
        np.testing.assert_allclose([moment(0, h), moment(1, h)], [1.0, 0.0], atol=1e-7)
        assert moment(2, h) > 0
    np.testing.assert_allclose(moment(2, 0.5), 0.25 * moment(2, 1.0), rtol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_volume_is_that_of_shells(kernel: Any, d: int) -> None:
    # |x| = u has the surface d V_d u^(d - 1).
    ball = np.exp(surefit.log_kernel_volume("tophat", d))
    shape = np.exp(surefit.log_kernel_volume(kernel, 1))
    edge = 60.0 if kernel in ("gaussian", "exponential") else 1.0
    right = quad(
        lambda u: d * ball * u ** (d - 1) * shape * float(surefit.kernel_values(kernel, u)), 0, edge
    )[0]
    np.testing.assert_allclose(np.exp(surefit.log_kernel_volume(kernel, d)), right, rtol=1e-6)
    np.testing.assert_allclose(
        surefit.log_kernel_volume(kernel, d, 0.1), np.log(right) + d * np.log(0.1), rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
def test_scikit_learn_finds_the_same(kernel: Any, metric: str) -> None:
    for weight in (None, W):
        options = {"kernel": kernel, "metric": metric, "bandwidth": 0.7}
        ours = surefit.KernelDensity(**options).fit(X, sample_weight=weight).score_samples(Q)
        theirs = sklearn.neighbors.KernelDensity(**options).fit(X, sample_weight=weight).score_samples(Q)
        # Theirs subtracts, so that where nothing is near some rounding is left.
        np.testing.assert_allclose(np.exp(ours), np.exp(theirs), rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("kernel", ["gaussian", "exponential", "epanechnikov"])
@pytest.mark.parametrize("rtol", [1e-2, 1e-5])
def test_the_bound_that_is_stated_holds(kernel: Any, rtol: float) -> None:
    rows = np.random.default_rng(1).normal(size=(20_000, 2))
    queries = 2 * np.random.default_rng(2).normal(size=(200, 2))
    exact = surefit.KernelDensity(bandwidth=0.4, kernel=kernel).fit(rows).score_samples(queries)
    model = surefit.KernelDensity(bandwidth=0.4, kernel=kernel, rtol=rtol).fit(rows)
    there = np.isfinite(exact)
    off = np.abs(np.expm1(model.score_samples(queries)[there] - exact[there]))
    bound = model.error_bounds(queries)
    assert (bound <= rtol * (1 + 1e-9)).all()
    assert (off <= bound[there] + 1e-10).all()
    assert model.certificate_.holds
    assert surefit.verify(model, rows).holds


def test_far_from_all_rows_the_logarithm_stays_finite() -> None:
    model = surefit.KernelDensity(bandwidth=0.1).fit(X)
    assert np.isfinite(model.score_samples([[1e3, 0.0, 0.0]])).all()
    assert surefit.KernelDensity(kernel="tophat").fit(X).score_samples([[1e3, 0, 0]])[0] == -np.inf


@pytest.mark.covers("ml_for_data_science:6.8", by="KernelDensity")
def test_the_bandwidth_of_the_left_out_likelihood() -> None:
    rows = np.random.default_rng(3).normal(size=(60, 1))

    def likelihood(h: float) -> float:
        values = np.exp(-0.5 * ((rows - rows.T) / h) ** 2) / (h * np.sqrt(2 * np.pi))
        np.fill_diagonal(values, 0.0)
        return float(np.log(values.sum(axis=1) / 59).mean())

    model = surefit.KernelDensity(bandwidth="likelihood").fit(rows)
    best = max(np.geomspace(0.05, 3, 400), key=likelihood)
    assert likelihood(model.bandwidth_) >= likelihood(best) - 1e-9
    assert surefit.verify(model, rows).holds
    model.bandwidth_ *= 1.01
    assert not surefit.verify(model, rows).holds
    with pytest.raises(RefusalError, match="all equal"):
        surefit.KernelDensity(bandwidth="likelihood").fit(np.ones((4, 1)))


@pytest.mark.covers("ml_for_data_science:6.8", by="KernelDensity")
def test_a_larger_bandwidth_has_more_bias_and_less_variance() -> None:
    truth, at = 1 / np.sqrt(2 * np.pi), [[0.0]]
    drawn = [np.random.default_rng(seed).normal(size=(200, 1)) for seed in range(60)]
    found = {
        h: np.array(
            [np.exp(surefit.KernelDensity(bandwidth=h).fit(rows).score_samples(at)[0]) for rows in drawn]
        )
        for h in (0.1, 1.0)
    }
    assert abs(found[1.0].mean() - truth) > abs(found[0.1].mean() - truth)
    assert found[1.0].var() < found[0.1].var()


@pytest.mark.parametrize("kernel", KERNELS)
def test_draws_have_the_spread_of_the_kernel(kernel: Any) -> None:
    model = surefit.KernelDensity(kernel=kernel, bandwidth=2.0).fit(np.zeros((1, 2)))
    drawn = model.sample(20_000, random_state=0)
    shape = np.exp(surefit.log_kernel_volume(kernel, 1))
    edge = 60.0 if kernel in ("gaussian", "exponential") else 1.0
    parts = [
        quad(lambda u, k=k: u**k * shape * float(surefit.kernel_values(kernel, u)), 0, edge)[0]
        for k in (1, 3)
    ]
    np.testing.assert_allclose((drawn**2).sum(axis=1).mean(), 4 * parts[1] / parts[0], rtol=0.05)
    assert np.isfinite(model.score_samples(drawn)).all()


def test_a_changed_row_is_found() -> None:
    model = surefit.KernelDensity().fit(X)
    model.rows_.flat[np.argmax(np.abs(model.rows_))] *= 1.01
    assert not surefit.verify(model, X).holds
