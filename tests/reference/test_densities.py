"""Kernel classifiers and regressions, histograms and the empirical distribution: formulas and numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import surefit

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 2))
Y = np.sin(2 * X[:, 0]) + 0.1 * RNG.normal(size=120)
Q = RNG.normal(size=(30, 2))
W = RNG.integers(1, 4, 120).astype(float)


def weights(queries: np.ndarray, h: float) -> Any:
    apart = ((queries[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    return W * np.exp(-0.5 * apart / h**2)


@pytest.mark.covers("ml_for_data_science:6.8", by="NadarayaWatson")
def test_local_averages() -> None:
    model = surefit.NadarayaWatson(bandwidth=0.4).fit(X, Y, W)
    shares = weights(Q, 0.4)
    np.testing.assert_allclose(model.predict(Q), shares @ Y / shares.sum(axis=1), rtol=1e-12)
    assert surefit.verify(model, X, Y, W).holds


def test_local_lines_by_weighted_least_squares() -> None:
    model = surefit.LocalLinearRegressor(bandwidth=0.6).fit(X, Y, W)
    for query, share, found in zip(Q, weights(Q, 0.6), model.predict(Q), strict=True):
        root = np.sqrt(share)[:, None]
        design = np.column_stack([np.ones(len(X)), X - query])
        right = np.linalg.lstsq(root * design, root[:, 0] * Y, rcond=None)[0][0]
        np.testing.assert_allclose(found, right, rtol=1e-7, atol=1e-9)
    line = surefit.LocalLinearRegressor(bandwidth=0.6).fit(X, 1 + X @ [2.0, -3.0])
    np.testing.assert_allclose(line.predict(Q), 1 + Q @ [2.0, -3.0], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", ["NadarayaWatson", "LocalLinearRegressor"])
def test_the_bandwidth_of_the_left_out_error(name: str) -> None:
    model = getattr(surefit, name)(bandwidth="left out").fit(X, Y)
    assert surefit.verify(model, X, Y).holds

    def error(h: float) -> float:
        gaps = []
        for i in range(len(X)):
            keep = np.arange(len(X)) != i
            found = getattr(surefit, name)(bandwidth=h).fit(X[keep], Y[keep]).predict(X[i : i + 1])
            gaps.append((found[0] - Y[i]) ** 2)
        return float(np.mean(gaps))

    here = error(model.bandwidth_)
    assert here <= min(error(model.bandwidth_ * 0.8), error(model.bandwidth_ * 1.25))


def test_where_no_row_is_near_the_mean_answers() -> None:
    model = surefit.NadarayaWatson(bandwidth=0.1, kernel="tophat").fit([[0.0], [1.0]], [2.0, 4.0])
    assert model.predict([[9.0], [1.0]]).tolist() == [3.0, 4.0]
    far = surefit.NadarayaWatson(bandwidth=0.1).fit([[0.0], [1.0]], [2.0, 4.0])
    np.testing.assert_allclose(far.predict([[99.0]]), [4.0])  # the nearest row outweighs all others


@pytest.mark.covers("ml_for_data_science:6.8", by="KDEClassifier")
def test_bayes_rule_with_kernel_densities() -> None:
    labels = np.array(["a", "b"])[(Y > 0).astype(int)]
    for bandwidth in (0.5, "scott", "likelihood"):
        model = surefit.KDEClassifier(bandwidth=bandwidth).fit(X, labels)
        joint = np.column_stack(
            [
                np.log(np.mean(labels == c))
                + surefit.KernelDensity(bandwidth=bandwidth).fit(X[labels == c]).score_samples(Q)
                for c in ("a", "b")
            ]
        )
        np.testing.assert_allclose(model.predict_joint_log_proba(Q), joint, rtol=1e-9)
        np.testing.assert_array_equal(model.predict(Q), np.array(["a", "b"])[joint.argmax(axis=1)])
        assert surefit.verify(model, X, labels).holds
    drawn, classes = model.sample(300, random_state=0)
    assert drawn.shape == (300, 2)
    assert set(classes) == {"a", "b"}


@pytest.mark.parametrize("rule", ["auto", "fd", "scott", "rice", "sturges", "doane", "sqrt"])
def test_the_rules_of_bins_are_numpys(rule: Any) -> None:
    for x in (X[:, 0], np.random.default_rng(1).exponential(size=1000), np.arange(7.0)):
        assert surefit.bin_number(x, rule) == len(np.histogram_bin_edges(x, rule)) - 1
    times = W.astype(int)
    assert surefit.bin_number(X[:, 0], rule, W) == surefit.bin_number(np.repeat(X[:, 0], times), rule)


def test_a_histogram_is_numpys_and_integrates_to_one() -> None:
    for bins in (7, "fd"):
        right, edges = np.histogram(X[:, 0], bins, density=True)
        model = surefit.HistogramDensity(bins=bins).fit(X[:, :1])
        np.testing.assert_allclose(model.bin_edges_[0], edges)
        middle = 0.5 * (edges[1:] + edges[:-1])
        np.testing.assert_allclose(np.exp(model.score_samples(middle[:, None])), right, rtol=1e-12)
    grid = surefit.HistogramDensity(bins=4).fit(X)
    right, one, two = np.histogram2d(X[:, 0], X[:, 1], 4, density=True)
    at = np.array([[a, b] for a in 0.5 * (one[1:] + one[:-1]) for b in 0.5 * (two[1:] + two[:-1])])
    np.testing.assert_allclose(np.exp(grid.score_samples(at)), right.ravel(), rtol=1e-12)
    assert grid.score_samples([[99.0, 0.0]])[0] == -np.inf
    assert np.isfinite(grid.score_samples(grid.sample(200, random_state=0))).all()


@pytest.mark.covers("intro_to_ml:B.22", by="EmpiricalDistribution")
def test_the_empirical_distribution_and_its_band() -> None:
    found = surefit.EmpiricalDistribution.fit([3.0, 1.0, 2.0, 2.0])
    assert found.cdf([0.5, 1.0, 2.5, 3.0]).tolist() == [0.0, 0.25, 0.75, 1.0]
    assert [found.quantile(p) for p in (0.0, 0.25, 0.26, 0.75, 1.0)] == [1.0, 1.0, 2.0, 2.0, 3.0]
    assert (found.mean, found.variance) == (2.0, 0.5)
    np.testing.assert_allclose(found.half_width(0.95), np.sqrt(np.log(40) / 8), rtol=1e-14)
    # The true distribution function stays in the band about as often as is promised, at least.
    inside = []
    for seed in range(400):
        x = np.random.default_rng(seed).random(50)
        low, high = surefit.EmpiricalDistribution.fit(x).band(np.sort(x), 0.9)
        truth = np.sort(x)
        inside.append(bool((truth >= low - 1e-12).all() and (truth <= high).all()))
    assert np.mean(inside) >= 0.9
