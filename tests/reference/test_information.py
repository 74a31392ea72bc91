"""Information measures against scipy, scikit-learn, closed forms and the worked numbers of the catalogue."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.spatial.distance import jensenshannon
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from sklearn.metrics import mutual_info_score

from surefit import distributions as d
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.distributions import information as info

P, Q = [0.5, 0.25, 0.25], [1 / 3, 1 / 3, 1 / 3]
tables = st.lists(st.floats(0.0, 1e6), min_size=4, max_size=4).filter(lambda p: sum(p) > 1e-3)


@pytest.mark.covers("course_summary:1", by="information.entropy")
def test_the_worked_numbers_of_the_summary() -> None:
    assert info.entropy(P) == pytest.approx(1.0397207708, abs=5e-11)
    assert info.entropy(P, base=2) == pytest.approx(1.5)
    assert info.cross_entropy(P, Q) == pytest.approx(1.0986122887, abs=5e-11)
    assert info.kl_divergence(P, Q) == pytest.approx(0.0588915178, abs=5e-11)
    assert info.kl_divergence(Q, P) == pytest.approx(0.0566330123, abs=5e-11)
    np.testing.assert_allclose(info.information_content(P, base=2), [1.0, 2.0, 2.0])
    assert info.information_content(0.0) == np.inf
    # Jensen: a convex function of the mean is at most the mean of the function; a concave one at least.
    for one in (d.Gamma(2.0, 3.0), d.Poisson(4.0)):
        assert np.exp(0.1 * one.mean) < float(one.expectation(lambda x: np.exp(0.1 * x)))
        assert np.sqrt(one.mean) > float(one.expectation(np.sqrt))


@pytest.mark.covers("intro_to_ml:B.23", by="information.kl_divergence")
def test_the_worked_numbers_of_the_introduction() -> None:
    p, q = [0.5, 0.5], [0.9, 0.1]
    assert info.kl_divergence(p, q) == pytest.approx(0.5108256238, abs=5e-11)
    assert info.kl_divergence(q, p) == pytest.approx(0.3680642072, abs=5e-11)
    assert info.entropy(p) == pytest.approx(0.6931471806, abs=5e-11)
    assert info.cross_entropy(p, q) == pytest.approx(1.2039728043, abs=5e-11)
    assert info.mutual_information([[0.4, 0.1], [0.1, 0.4]]) == pytest.approx(0.1927447570, abs=5e-11)
    assert info.kl_divergence(p, [1.0, 0.0]) == np.inf
    assert info.entropy([1.0, 0.0]) == 0.0
    assert info.entropy(d.Normal(3.0, 2.0)) == pytest.approx(0.5 * np.log(2 * np.pi * np.e * 4.0))


@pytest.mark.covers("intro_to_ml:7.17", by="information.mutual_information")
def test_what_correlation_does_not_see() -> None:
    x = np.array([-1, 0, 1])
    assert info.mutual_information(info.label_counts(x, x**2)) == pytest.approx(0.6365141683, abs=5e-11)
    for counts, expected in (
        ([[1, 1], [1, 1]], 0.0),
        ([[2, 0], [0, 2]], np.log(2)),
        ([[3, 1], [1, 3]], 0.1308120359),
    ):
        assert info.mutual_information(counts) == pytest.approx(expected, abs=5e-11)
    assert info.mutual_information([[3, 1], [1, 3]], base=2) == pytest.approx(0.1887218755, abs=5e-11)
    # Two columns of an exclusive or tell nothing alone and everything together.
    a, b = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    assert info.mutual_information(info.label_counts(a, a ^ b)) == 0.0
    assert info.mutual_information(info.label_counts(2 * a + b, a ^ b)) == pytest.approx(np.log(2))


@settings(derandomize=True, max_examples=200, deadline=None)
@given(tables, tables)
def test_the_identities(p: list[float], q: list[float]) -> None:
    h, cross, kl = info.entropy(p), info.cross_entropy(p, q), info.kl_divergence(p, q)
    assert 0.0 <= h <= np.log(4) + 1e-12
    assert kl >= 0.0
    assert cross >= h - 1e-12
    if np.isfinite(cross):
        assert cross == pytest.approx(h + kl, rel=1e-9, abs=1e-9)
    js = info.jensen_shannon(p, q)
    assert -1e-15 <= js <= np.log(2) + 1e-12
    assert js == pytest.approx(info.jensen_shannon(q, p), abs=1e-14)
    assert js == pytest.approx(jensenshannon(p, q) ** 2, abs=1e-12) or js < 1e-12
    assert info.entropy(np.multiply(p, 7.0)) == pytest.approx(h, abs=1e-12)
    middle = (info.tables.shares(p) + info.tables.shares(q)) / 2
    assert js == pytest.approx(info.entropy(middle) - (h + info.entropy(q)) / 2, abs=1e-12)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.lists(st.lists(st.integers(0, 50), min_size=3, max_size=3), min_size=2, max_size=5))
def test_mutual_information_is_what_is_left_of_the_entropies(rows: list[list[int]]) -> None:
    joint = np.array(rows, dtype=float)
    if joint.sum() == 0:
        return
    mi = info.mutual_information(joint)
    h_x, h_y, h_xy = (info.entropy(part) for part in (joint.sum(axis=1), joint.sum(axis=0), joint.ravel()))
    assert mi == pytest.approx(h_x + h_y - h_xy, abs=1e-12)
    assert mi == pytest.approx(h_x - info.conditional_entropy(joint), abs=1e-12)
    assert mi == pytest.approx(info.mutual_information(joint.T), abs=1e-14)


def test_labels_and_weights() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(4, size=200), rng.integers(3, size=200)
    counts = info.label_counts(x, y)
    assert info.mutual_information(counts) == pytest.approx(mutual_info_score(x, y))
    times = rng.integers(0, 3, 200)
    np.testing.assert_array_equal(
        info.label_counts(x, y, times), info.label_counts(np.repeat(x, times), np.repeat(y, times))
    )
    assert info.label_counts(["b", "a", "b"]).tolist() == [1.0, 2.0]


def test_many_tables_at_once() -> None:
    nodes = np.array([[9, 5], [4, 0], [2, 3]])
    np.testing.assert_allclose(info.entropy(nodes, base=2), [0.9402859587, 0.0, 0.9709505945], atol=5e-11)
    np.testing.assert_allclose(info.kl_divergence(nodes, nodes[::-1], axis=1)[1], 0.0)


@pytest.mark.parametrize(
    ("p", "q"),
    [
        (d.Normal(1e6, 2.0), d.Normal(1e6 + 1.0, 3.0)),
        (d.Laplace(0.0, 1.0), d.Laplace(1.0, 2.0)),
        (d.Weibull(2.0, 1.0), d.Weibull(1.5, 2.0)),
        (d.Uniform(1.0, 2.0), d.Uniform(0.0, 4.0)),
        (d.DiscreteUniform(1, 3), d.DiscreteUniform(0, 6)),
        (d.Pareto(3.0, 2.0), d.Pareto(2.0, 1.0)),
        (d.Binomial(9, 0.4), d.Binomial(9, 0.6)),
    ],
    ids=lambda one: type(one).__name__,
)
def test_closed_forms_are_the_integrals(p: Any, q: Any) -> None:
    ratio = lambda x: (p.log_density(x) - q.log_density(x)) * p.density(x)  # noqa: E731
    low, high = p.quantile([1e-12, 1.0 - 1e-12])
    if p.discrete:
        direct = float(ratio(np.arange(low, high + 1)).sum())
    else:
        direct = quad(ratio, low, high, points=[p.median, q.median], limit=400, epsabs=1e-11)[0]
    assert info.kl_divergence(p, q) == pytest.approx(direct, rel=1e-7)
    assert info.cross_entropy(p, q, base=2) == pytest.approx((p.entropy + direct) / np.log(2), rel=1e-7)


def test_distributions_of_two_families() -> None:
    gamma, exponential, normal = d.Gamma(1.0, 2.0), d.Exponential(2.0), d.Normal()
    assert info.kl_divergence(gamma, exponential) == pytest.approx(0.0, abs=1e-9)
    assert info.kl_divergence(normal, gamma) == np.inf
    assert info.kl_divergence(gamma, normal) < np.inf
    assert info.kl_divergence(d.Uniform(0, 2), d.Uniform(0, 1)) == np.inf
    assert info.kl_divergence(d.Pareto(1.0, 1.0), d.Pareto(1.0, 2.0)) == np.inf
    assert info.kl_divergence(d.Bernoulli(0.5), d.Bernoulli(1.0)) == np.inf
    # Of unequal sizes there is no closed form, and the sum takes over.
    assert info.kl_divergence(d.Binomial(3, 0.5), d.Binomial(5, 0.5)) > 0
    assert info.kl_divergence(d.Binomial(5, 0.5), d.Binomial(3, 0.5)) == np.inf
    assert info.jensen_shannon(d.Uniform(0, 1), d.Uniform(5, 6), base=2) == pytest.approx(1.0)
    assert info.jensen_shannon(normal, normal) == pytest.approx(0.0, abs=1e-12)
    coins = info.jensen_shannon(d.Bernoulli(0.2), d.Bernoulli(0.7))
    assert coins == pytest.approx(info.jensen_shannon([0.8, 0.2], [0.3, 0.7]))
    with pytest.raises(RefusalError, match="estimate it from samples"):
        info.kl_divergence(normal, d.Poisson(1.0))
    with pytest.raises(DataError, match="give two of a kind"):
        info.kl_divergence(normal, [0.5, 0.5])


@pytest.mark.parametrize("neighbors", [1, 3, 7])
def test_kraskovs_estimate_is_scikit_learns(neighbors: int) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=400)
    y = np.sin(x) + 0.3 * rng.normal(size=400)
    ours = info.estimated_mutual_information(x, y, neighbors=neighbors)
    theirs = mutual_info_regression(x[:, None], y, n_neighbors=neighbors, random_state=0)[0]
    assert ours == pytest.approx(theirs, abs=1e-9)
    classes = np.digitize(x + 0.5 * rng.normal(size=400), [-1.0, 0.5])
    ours = info.estimated_mutual_information(y, classes, labels=True, neighbors=neighbors)
    theirs = mutual_info_classif(y[:, None], classes, n_neighbors=neighbors, random_state=0)[0]
    assert ours == pytest.approx(theirs, abs=1e-9)


def test_estimates_from_samples_approach_the_closed_forms() -> None:
    rng = np.random.default_rng(2)
    n, correlation = 4000, 0.8
    x = rng.normal(size=n)
    y = correlation * x + np.sqrt(1 - correlation**2) * rng.normal(size=n)
    truth = -0.5 * np.log(1 - correlation**2)
    # The estimators' standard deviation at n = 4000 is about 0.015 (Kraskov et al., figure 4); five of them.
    assert info.estimated_mutual_information(x, y) == pytest.approx(truth, abs=0.075)
    assert info.estimated_mutual_information(1e9 * x - 5, 1e-9 * y) == info.estimated_mutual_information(
        1e9 * x - 5, 1e-9 * y, base=2
    ) * np.log(2)
    assert info.estimated_mutual_information(x, rng.normal(size=n)) == pytest.approx(0.0, abs=0.075)
    for one in (d.Normal(2.0, 3.0), d.Exponential(0.5), d.Uniform(0.0, 5.0)):
        assert info.estimated_entropy(one.sample(n, 3)) == pytest.approx(one.entropy, abs=0.1)
    plane = d.MultivariateNormal([0, 0], [[1.0, 0.3], [0.3, 0.5]])
    assert info.estimated_entropy(plane.sample(n, 4)) == pytest.approx(plane.entropy, abs=0.1)


def test_ties_are_counts() -> None:
    rng = np.random.default_rng(3)
    x = rng.integers(3, size=3000)
    y = np.where(rng.random(3000) < 0.7, x, rng.integers(3, size=3000))
    plug_in = info.mutual_information(info.label_counts(x, y))
    # digamma(n) is log n up to 1 / 2n: with some 200 rows a cell, 0.01 in all.
    assert info.estimated_mutual_information(x, y) == pytest.approx(plug_in, abs=0.01)
    assert info.estimated_mutual_information(x, y, labels=True) == pytest.approx(plug_in, abs=0.01)
    assert info.estimated_entropy(x) == -np.inf
    assert info.estimated_mutual_information(np.ones(50), rng.normal(size=50)) == pytest.approx(
        0.0, abs=1e-12
    )


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: info.entropy([-1.0, 2.0]), DataError, "finite, nonnegative numbers"),
        (lambda: info.entropy([np.nan]), DataError, "finite, nonnegative numbers"),
        (lambda: info.entropy([0.0, 0.0]), DataError, "sums to zero"),
        (lambda: info.entropy([]), DataError, "sums to zero"),
        (lambda: info.entropy([1.0], base=1), ParameterError, "base=1 is not allowed"),
        (lambda: info.entropy([1.0], base=-2), ParameterError, "base=-2 is not allowed"),
        (lambda: info.kl_divergence([1, 2], [1, 2, 3]), DataError, "p has 2 outcomes and q has 3"),
        (lambda: info.jensen_shannon([1], [1], share=2.0), ParameterError, "share=2.0"),
        (lambda: info.information_content([1.5]), DataError, "numbers from 0 to 1"),
        (lambda: info.mutual_information([1, 2]), DataError, "rows and columns"),
        (lambda: info.label_counts([1, 2], [1]), DataError, "equal length"),
        (lambda: info.estimated_entropy([1.0, 2.0]), DataError, "2 rows have no neighbour number 3"),
        (lambda: info.estimated_entropy([1.0, 2.0], neighbors=0), ParameterError, "neighbors=0"),
        (lambda: info.estimated_entropy([1.0, np.inf]), DataError, "finite numbers"),
        (lambda: info.estimated_mutual_information([1.0], [1.0, 2.0]), DataError, "equal length"),
        (
            lambda: info.estimated_mutual_information([1.0, 2.0], [0, 1], labels=True),
            DataError,
            "one row only",
        ),
    ],
)
def test_bad_input_gets_a_sentence(call: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        call()
    assert str(caught.value).endswith(".")
