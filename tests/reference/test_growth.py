"""Growth functions, VC dimensions and the bounds made of them, against the courses' numbers."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

import surefit
from surefit import theory
from surefit.errors import ParameterError, RefusalError


@pytest.mark.covers("intro_to_ml:1.7", by="theory.growth_function")
@pytest.mark.covers("intro_to_ml:1.7", by="theory.labellings")
def test_growth_functions_of_lines_and_thresholds():
    assert [theory.growth_function("halfspaces", n) for n in range(1, 7)] == [2, 4, 8, 14, 22, 32]
    assert [theory.halfspace_growth(n) for n in range(1, 7)] == [2, 4, 8, 14, 22, 32]
    assert [theory.growth_function("signed thresholds", n) for n in range(1, 6)] == [2, 4, 6, 8, 10]
    assert [theory.growth_function("thresholds", n) for n in range(1, 6)] == [2, 3, 4, 5, 6]
    assert [theory.growth_function("intervals", n) for n in (1, 2, 3, 4)] == [2, 4, 7, 11]
    xor = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], dtype=float)
    found = {tuple(row) for row in theory.labellings("halfspaces", xor)}
    assert len(found) == 14
    assert (False, True, True, False) not in found
    # In three dimensions, against Cover's count; and points on a line are no general position.
    assert theory.growth_function("halfspaces", 5, dimension=3) == theory.halfspace_growth(5, 3) == 30
    assert len(theory.labellings("halfspaces", [[0, 0], [1, 1], [2, 2]])) == 6


def test_labellings_of_functions_answers_and_estimators():
    x = np.array([0.0, 1.0, 2.0])
    finite = [lambda x, t=t: x > t for t in (-1, 0.5, 0.7, 1.5)]
    assert len(theory.labellings(finite, x)) == 3
    assert len(theory.labellings(np.array([f(x) for f in finite]), x)) == 3
    stump = surefit.DecisionTreeClassifier(max_depth=1)
    assert len(theory.labellings(stump, x[:, None])) == 6  # as signed thresholds
    with pytest.raises(RefusalError, match="at most 16"):
        theory.labellings(stump, np.zeros((17, 1)))
    with pytest.raises(ParameterError, match="must be one of"):
        theory.labellings("circles", x)


@pytest.mark.covers("intro_to_ml:1.8", by="theory.vc_dimension")
def test_vc_dimensions():
    assert theory.vc_dimension("halfspaces") == 3
    assert theory.vc_dimension("signed thresholds") == 2
    assert theory.vc_dimension("thresholds") == 1
    assert theory.vc_dimension("intervals") == 2
    assert theory.vc_dimension("rectangles") == 4
    assert theory.vc_dimension("halfspaces", dimension=3) == 4


@pytest.mark.covers("intro_to_ml:1.9", by="theory.sauer_bound")
def test_sauers_lemma():
    assert theory.sauer_bound(10, 3) == 176
    assert theory.sauer_bound(10, 3, closed=True) == pytest.approx(743.9087749, abs=5e-8)
    assert (theory.sauer_bound(4, 3), theory.sauer_bound(5, 3)) == (15, 26)
    for n in range(1, 7):
        assert theory.growth_function("halfspaces", n) <= theory.sauer_bound(n, 3)
    with pytest.raises(RefusalError, match="n >= d"):
        theory.sauer_bound(2, 3, closed=True)


@pytest.mark.covers("intro_to_ml:1.10", by="theory.vc_deviation")
def test_the_bound_of_vapnik_and_chervonenkis_in_three_forms():
    closed = theory.vc_deviation(1000, 0.05, vc_dimension=3, closed=True)
    sauer = theory.vc_deviation(1000, 0.05, vc_dimension=3)
    exact = theory.vc_deviation(1000, 0.05, growth=theory.halfspace_growth(2000))
    assert (closed, sauer, exact) == pytest.approx((0.4638007947, 0.4507147727, 0.3958113887), abs=5e-11)
    # The deviation at delta is where the probability falls to delta.
    assert theory.vc_probability(1000, sauer, vc_dimension=3) == pytest.approx(0.05, rel=1e-10)
    rows = theory.vc_rows(0.05, vc_dimension=10)
    assert theory.vc_deviation(rows, vc_dimension=10) <= 0.05
    assert theory.vc_deviation(rows - 1, vc_dimension=10) > 0.05
    with pytest.raises(ParameterError, match="either growth="):
        theory.vc_deviation(10)


def test_the_bound_holds_in_a_simulation():
    rng = np.random.default_rng(0)
    n, eps = 400, 0.25
    grid = np.linspace(0, 1, 101)
    exceeded = 0
    for _ in range(200):  # thresholds on uniform points with labels that are noise: every risk is 1/2
        x, y = rng.uniform(size=n), rng.integers(0, 2, n)
        risks = np.array([np.mean((x > t) != y) for t in grid])
        exceeded += np.abs(risks - 0.5).max() >= eps
    assert exceeded / 200 <= min(1.0, theory.vc_probability(n, eps, growth=2 * n + 1))


def test_sample_sizes_of_finite_classes():
    rows = theory.pac_rows(1000, 0.05, realizable=True)
    assert 1000 * (1 - 0.05) ** rows <= 0.05
    agnostic = theory.pac_rows(1000, 0.05)
    assert 2 * 1000 * math.exp(-2 * agnostic * 0.05**2) <= 0.05
    assert agnostic == theory.hoeffding_rows(0.05, 0.05, models=1000)


def test_rademacher_complexity_is_counted_and_bounded():
    x = np.random.default_rng(3).normal(size=8)
    answers = np.where(theory.labellings("thresholds", x), 1, -1)
    signs = np.array(list(product([-1, 1], repeat=8)))
    expected = np.mean([max(answers @ s) for s in signs]) / 8
    assert theory.rademacher_complexity("thresholds", x) == (pytest.approx(expected, rel=1e-14), 0.0)
    value, error = theory.rademacher_complexity("thresholds", np.arange(40.0), draws=2000)
    massart = math.sqrt(2 * math.log(41) / 40)
    assert 0 < value - 4 * error < value < massart
    assert theory.rademacher_deviation(value, 40) > value
