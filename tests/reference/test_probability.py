"""Probability against the courses' numbers and independent formulas."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats

from surefit import distributions, probability
from surefit.errors import DataError, ParameterError, RefusalError


def coins():
    return probability.FiniteSpace({"head": 0.3, "tail": 0.7})


@pytest.mark.covers("intro_to_ml:B.1", by="probability.FiniteSpace")
def test_the_axioms_of_a_finite_space():
    space = probability.FiniteSpace.equally_likely(range(1, 7))
    A, B = space.event({1, 2, 3}), space.event(lambda k: k % 2 == 0)
    assert space.probability(space.outcomes) == 1
    assert space.probability([]) == 0
    assert space.probability(A) == Fraction(len(A), 6)  # Laplace
    assert space.probability(space.complement(A)) == 1 - space.probability(A)
    both = space.probability(A) + space.probability(B) - space.probability(A & B)
    assert space.probability(A | B) == both == Fraction(5, 6)
    for wrong, words in (
        ({"a": 0.5, "b": 0.6}, "sum to 1.1"),
        ({"a": -0.1, "b": 1.1}, "'a' is -0.1"),
        ({}, "at least one outcome"),
        ({"a": float("nan")}, "finite number"),
    ):
        with pytest.raises(DataError, match=words):
            probability.FiniteSpace(wrong)
    with pytest.raises(DataError, match="9 is no outcome"):
        space.probability({9})


@pytest.mark.covers("intro_to_ml:B.2", by="probability.FiniteSpace")
def test_conditions_bayes_and_independence_of_a_die():
    die = probability.FiniteSpace.equally_likely(range(1, 7))
    even, large, low = (die.event(which) for which in (lambda k: k % 2 == 0, lambda k: k > 3, range(1, 5)))
    assert die.probability(even, given=large) == Fraction(2, 3)
    assert not die.independent(even, large)
    assert die.independent(even, low)
    assert die.chain(large, even) == die.probability(large & even)
    parts = [{1, 2}, {3, 4, 5}, {6}]
    assert die.total_probability(even, parts) == die.probability(even)
    assert die.bayes(parts, even) == [Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)]
    with pytest.raises(DataError, match="share 2"):
        die.total_probability(even, [{1, 2}, {2, 3, 4, 5, 6}])
    with pytest.raises(DataError, match="no part holds"):
        die.bayes([{1, 2}], even)
    with pytest.raises(DataError, match="probability 0"):
        die.probability(even, given=[])


def test_pairwise_independence_is_not_mutual():
    two = probability.die(2) ** 2
    first, second, equal = (
        two.event(which) for which in (lambda o: o[0] == 1, lambda o: o[1] == 1, lambda o: o[0] == o[1])
    )
    assert two.independent(first, second)
    assert two.independent(first, equal)
    assert not two.independent(first, second, equal)


@pytest.mark.covers("intro_to_ml:B.3", by="probability.RandomVariable")
def test_the_sum_of_two_dice():
    space = probability.die() ** 2
    X, Y = (probability.RandomVariable(space, lambda o, i=i: o[i]) for i in (0, 1))
    total = X + Y
    assert space.probability(total.equals(7)) == Fraction(1, 6)
    assert total.mean == 7
    assert total.variance == Fraction(35, 6)
    assert (3 * X).mean == Fraction(21, 2)
    assert (X * Y).mean == Fraction(49, 4)
    assert total.cdf(1.9) == 0
    assert total.cdf(4) == Fraction(6, 36)
    assert total.quantile(0.5) == 7


@pytest.mark.covers("intro_to_ml:B.4", by="probability.JointDensity")
def test_rules_of_mass_functions_and_densities():
    law = (probability.die() ** 2).variable(sum).law
    assert sum(law.values()) == 1
    pair = probability.JointDensity(lambda x, y: x + y, x=(0, 1), y=(0, 1))
    assert pair.expectation(lambda x, y: 1) == pytest.approx(1, abs=1e-12)
    interval = pair.expectation(lambda x, y: np.where(x <= 0.5, 1.0, 0.0))  # a jump between two pieces
    assert interval == pytest.approx(0.375, abs=1e-12)
    # Bayes' form: p(x|y) p(y) = p(y|x) p(x), the latter (x + y) at any point.
    assert pair.conditional(0.2, given_y=0.6) * pair.marginal_y(0.6) == pytest.approx(0.8, abs=1e-12)
    assert not pair.independent
    assert probability.JointDensity(lambda x, y: 4 * x * y, x=(0, 1), y=(0, 1)).independent
    with pytest.raises(DataError, match=r"integrates to 0\.5"):
        probability.JointDensity(lambda x, y: x * y * 2, x=(0, 1), y=(0, 1))


@pytest.mark.covers("ml_lecture_notes:1.5", by="probability.JointDensity")
@pytest.mark.covers("ml_lecture_notes:1.5", by="probability.RandomVariable")
def test_expectations_discrete_continuous_and_of_two_variables():
    points = [2.0, 5.0, 5.0, 12.0]
    space = probability.FiniteSpace.equally_likely(range(4))
    X = probability.RandomVariable(space, lambda i: points[i])
    assert X.mean == pytest.approx(np.mean(points), rel=1e-15)
    assert X.variance == pytest.approx(X.expectation(lambda x: x**2) - X.mean**2, rel=1e-14)
    bell = distributions.Normal(1.0, 2.0)
    inside = bell.expectation(lambda x: (x >= 0) & (x <= 3))
    assert inside == pytest.approx(bell.cdf(3) - bell.cdf(0), abs=1e-11)

    def density(x, y):
        return np.exp(-(x**2 + y**2) / 2) / (2 * math.pi)

    pair = probability.JointDensity(density, x=(-9, 9), y=(-9, 9))
    assert pair.independent
    assert pair.expectation(lambda x, y: x**2 * y**2) == pytest.approx(1, abs=1e-10)
    posterior = space.bayes([{0}, {1, 2}, {3}], [0, 1])
    assert sum(posterior) == 1


@pytest.mark.covers("intro_to_ml:B.8", by="probability.RandomVariable")
def test_covariance_and_correlation():
    space = probability.FiniteSpace({(0, 0): 0.4, (0, 1): 0.1, (1, 0): 0.1, (1, 1): 0.4})
    X, Y = (probability.RandomVariable(space, lambda o, i=i: o[i]) for i in (0, 1))
    assert X.covariance(Y) == pytest.approx((X * Y).mean - X.mean * Y.mean, abs=1e-15)
    assert X.covariance(Y) == pytest.approx(0.15, abs=1e-15)
    assert X.correlation(Y) == pytest.approx(0.6, abs=1e-14)
    assert X.covariance(X) == X.variance
    assert (X + Y).variance == pytest.approx(X.variance + Y.variance + 2 * X.covariance(Y), abs=1e-15)
    assert X.correlation(-X) == pytest.approx(-1.0)
    with pytest.raises(DataError, match="constant"):
        X.correlation(X * 0)


@pytest.mark.covers("intro_to_ml:B.9", by="probability.RandomVariable")
def test_conditional_expectation_and_the_tower_rule():
    space = probability.die() ** 2
    first, total = probability.RandomVariable(space, lambda o: o[0]), space.variable(sum)
    assert total.expectation(given=first.equals(2)) == Fraction(11, 2)
    inner = total.conditional_expectation(first)
    assert inner.law == {Fraction(2 * k + 7, 2): Fraction(1, 6) for k in range(1, 7)}
    assert inner.mean == total.mean
    parts = [first.equals(k) for k in range(1, 7)]
    assert sum(total.expectation(given=part) * space.probability(part) for part in parts) == total.mean


@pytest.mark.covers("intro_to_ml:B.10", by="probability.RandomVariable")
def test_independence_is_more_than_no_covariance():
    space = probability.FiniteSpace.equally_likely([-1, 0, 1])
    X = probability.RandomVariable(space, lambda k: k)
    assert X.covariance(X**2) == 0
    assert not X.independent_of(X**2)
    two = probability.die() ** 2
    A, B = (probability.RandomVariable(two, lambda o, i=i: o[i]) for i in (0, 1))
    assert A.independent_of(B)
    for x, y in product((1, 3, 6), (2, 5)):
        assert two.probability((x >= A) & (y >= B)) == A.cdf(x) * B.cdf(y)


@pytest.mark.covers("intro_to_ml:B.13", by="probability.jensen")
def test_jensen():
    die = probability.die().variable()
    assert probability.jensen(lambda x: x**2, die).holds
    assert probability.jensen(np.exp, distributions.Normal(0.0, 1.0)).bound == pytest.approx(math.exp(0.5))
    assert not probability.jensen(np.sqrt, die).holds  # concave
    assert probability.jensen(lambda x: 3 * x - 1, die).bound == pytest.approx(9.5)  # equal for a line


@pytest.mark.covers("intro_to_ml:B.14", by="probability.chebyshev")
def test_chebyshev():
    found = probability.chebyshev(2.0, distributions.Normal(5.0, 3.0))
    assert found.bound == 0.25
    assert found.truth == pytest.approx(0.0455002639, abs=1e-10)
    tight = probability.chebyshev(1.0, probability.FiniteSpace.equally_likely([-1, 1]).variable())
    assert (tight.truth, tight.bound) == (1.0, 1.0)
    assert probability.chebyshev(1.5, np.random.default_rng(0).exponential(size=500)).holds


@pytest.mark.covers("intro_to_ml:B.15", by="probability.markov")
def test_markov():
    found = probability.markov(3.0, distributions.Exponential(rate=1.0))
    assert found.bound == pytest.approx(1 / 3)
    assert found.truth == pytest.approx(math.exp(-3))
    assert probability.markov(4.0, mean=2.0).bound == 0.5
    with pytest.raises(DataError, match="X >= 0"):
        probability.markov(1.0, distributions.Normal(0.0, 1.0))


@pytest.mark.covers("intro_to_ml:B.16", by="probability.chernoff")
@pytest.mark.parametrize("a", [0.5, 1.0, 3.0])
def test_chernoff_with_its_best_exponent(a):
    found = probability.chernoff(a, distributions.Normal(0.0, 1.0))
    assert found.bound == pytest.approx(math.exp(-(a**2) / 2), rel=1e-9)
    assert found.used["t"] == pytest.approx(a, rel=1e-4)
    assert found.truth == pytest.approx(stats.norm.sf(a))
    # Any exponent gives a bound, the best one the least: an exponential has M(t) = 1 / (1 - t) for t < 1.
    tail = distributions.Exponential(rate=1.0)
    assert probability.chernoff(a + 1, tail, t=0.3).bound == pytest.approx(math.exp(-0.3 * (a + 1)) / 0.7)
    best = probability.chernoff(a + 1, tail)
    assert best.bound == pytest.approx((a + 1) * math.exp(-a), rel=1e-9)
    assert best.holds


@pytest.mark.covers("intro_to_ml:B.17", by="probability.hoeffding")
def test_hoeffding_for_an_interval_beside_the_truth():
    assert probability.hoeffding(100, 0.1).bound == pytest.approx(0.2706705665, abs=1e-10)
    coin = probability.FiniteSpace.equally_likely([0, 10]).variable()
    found = probability.hoeffding(20, 2.0, low=0, high=10, of=coin)
    assert found.bound == pytest.approx(2 * math.exp(-2 * 20 * 0.04))
    assert found.truth == pytest.approx(2 * stats.binom.cdf(6, 20, 0.5), rel=1e-12)
    assert found.holds
    assert probability.markov(7.0, coin).bound > probability.hoeffding(20, 2.0, low=0, high=10).bound


@pytest.mark.covers("intro_to_ml:B.18", by="probability.cauchy_schwarz")
def test_cauchy_schwarz():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 50))
    found = probability.cauchy_schwarz(x, y)
    assert found.holds
    assert found.truth < found.bound
    assert probability.cauchy_schwarz(x, -2 * x).truth == pytest.approx(
        probability.cauchy_schwarz(x, -2 * x).bound
    )
    space = probability.die() ** 2
    X, Y = (probability.RandomVariable(space, lambda o, i=i: o[i]) for i in (0, 1))
    centred = probability.cauchy_schwarz(X - X.mean, Y - Y.mean)  # Cov² <= Var Var
    assert centred.bound == pytest.approx(35 / 12)
    assert centred.truth == 0


@pytest.mark.covers("intro_to_ml:B.19", by="probability.union_bound")
def test_union_bound():
    found = probability.union_bound({1, 2}, {2, 3}, space=probability.die())
    assert (found.bound, found.truth) == (pytest.approx(4 / 6), 0.5)
    assert probability.union_bound(0.1, 0.2, 0.05).bound == pytest.approx(0.35)
    with pytest.raises(ParameterError, match="space="):
        probability.union_bound(2.0)


@pytest.mark.covers("intro_to_ml:B.20", by="probability.law_of_large_numbers")
def test_means_settle_at_the_expected_value():
    found = probability.law_of_large_numbers(distributions.Poisson(rate=3.0), 20_000, sequences=8)
    spread = math.sqrt(3.0)
    for n in (100, 1000, 20_000):  # five standard errors, eight sequences
        assert found.furthest[n - 1] < 5 * spread / math.sqrt(n)
    die = probability.law_of_large_numbers(probability.die().variable(), 2000)
    assert die.expected == 3.5
    assert die.means[:, -1] == pytest.approx(3.5, abs=0.2)


@pytest.mark.covers("intro_to_ml:B.21", by="probability.central_limit")
def test_standardised_sums_approach_the_normal_distribution():
    found = probability.central_limit(distributions.Exponential(rate=2.0), (1, 4, 16, 64), repeats=20_000)
    assert (np.diff(found.distances) < 0).all()
    assert found.draws.mean(axis=1) == pytest.approx(0, abs=5 / math.sqrt(20_000))
    # Binomial and Poisson are sums of many: one draw of them is nearly normal already.
    for law in (distributions.Binomial(2000, 0.4), distributions.Poisson(rate=2000.0)):
        near = probability.central_limit(law, 1, repeats=20_000)
        assert near.distances[0] < near.chance() + 0.5 / math.sqrt(2 * math.pi * law.variance)
    with pytest.raises(ParameterError, match="finite variance"):
        probability.central_limit(probability.FiniteSpace.equally_likely([1]).variable())


@pytest.mark.covers("intro_to_ml:B.24", by="probability.estimator_study")
def test_bias_variance_and_squared_error_of_estimators():
    law = distributions.Normal(1.0, 2.0)
    biased = probability.estimator_study(np.var, law, 5, truth=4.0, repeats=20_000)
    assert biased.mean_squared_error == pytest.approx(biased.bias**2 + biased.variance, rel=1e-12)
    assert abs(biased.bias + 0.8) < 4 * biased.bias_error
    assert not biased.unbiased
    mean = probability.estimator_study(np.mean, law, [4, 16, 64])
    assert all(study.unbiased for study in mean)
    for study in mean:  # consistent: the error falls as 1 / n
        assert abs(study.mean_squared_error - 4 / study.n) < 4 * study.mean_squared_error_error


@pytest.mark.covers("intro_to_ml:B.25", by="probability.sample_mean")
@pytest.mark.covers("intro_to_ml:B.25", by="probability.sample_variance")
@pytest.mark.covers("intro_to_ml:B.25", by="probability.sample_covariance")
def test_sample_moments_are_unbiased():
    law = distributions.Gamma(shape=2.0, rate=0.5)  # mean 4, variance 8
    for estimator, truth in (
        (probability.sample_mean, 4.0),
        (probability.sample_variance, 8.0),
        (lambda x: probability.sample_variance(x, mean=4.0), 8.0),
    ):
        assert probability.estimator_study(estimator, law, 6, truth=truth, repeats=4000).unbiased
    pairs = distributions.MultivariateNormal([0.0, 1.0], [[1.0, 0.3], [0.3, 0.5]])
    for means in (None, (0.0, 1.0)):
        study = probability.estimator_study(
            lambda rows, means=means: probability.sample_covariance(rows[:, 0], rows[:, 1], means=means),
            pairs,
            6,
            truth=0.3,
            repeats=4000,
        )
        assert study.unbiased
    x = np.array([1.0, 2.0, 6.0, 7.5])
    assert probability.sample_covariance(x, x) == pytest.approx(probability.sample_variance(x))
    with pytest.raises(DataError, match="one value"):
        probability.sample_variance([1.0])


@pytest.mark.covers("intro_to_ml:B.27", by="probability.method_of_moments")
def test_method_of_moments():
    x = np.array([0.5, 1.0, 2.5, 4.0])
    mean, square = x.mean(), np.mean(x**2)
    found = probability.method_of_moments(x, lambda p: [p[0], p[0] ** 2 + p[1]], start=[1, 1])
    assert found == pytest.approx([mean, np.var(x)], rel=1e-9)  # the normal's, with 1/n
    rate = probability.method_of_moments(x, lambda p: [1 / np.maximum(p[0], 1e-9)], start=[1.0])
    assert rate == pytest.approx([1 / mean])
    gamma = probability.method_of_moments(
        x, lambda p: [p[0] / p[1], p[0] / p[1] ** 2 + (p[0] / p[1]) ** 2], start=[1.0, 1.0]
    )
    named = distributions.Gamma.fit(x, method="moments")
    assert gamma == pytest.approx([named.shape, named.rate], rel=1e-7)
    assert distributions.Poisson.fit([0, 2, 4], method="moments").rate == 2.0
    assert distributions.Bernoulli.fit([0, 1, 1, 1], method="moments").probability == 0.75
    assert named.mean == pytest.approx(mean)
    assert square == pytest.approx(named.variance + mean**2)
    with pytest.raises(RefusalError, match="no parameters found"):
        probability.method_of_moments([-1.0, -2.0], lambda p: [p[0] ** 2], start=[1.0])


def test_exact_and_rounded_probabilities_agree():
    exact = probability.FiniteSpace({"a": Fraction(1, 3), "b": Fraction(2, 3)})
    rounded = probability.FiniteSpace({"a": 1 / 3, "b": 2 / 3})
    assert float(exact.probability("a")) == pytest.approx(rounded.probability("a"))
    assert (coins() * exact).probability(lambda o: o == ("head", "a")) == pytest.approx(0.1)
    assert (coins() ** 3).probability(lambda o: o.count("head") == 2) == pytest.approx(3 * 0.09 * 0.7)
    drawn = coins().variable(lambda o: o == "head").sample(2000, random_state=0)
    assert drawn.mean() == pytest.approx(0.3, abs=0.05)
