"""Distributions against scipy.stats, closed forms and the worked numbers of the catalogue."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from surefit import distributions as d
from surefit import numerical_posterior
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.distributions.special import binomial_log, log_gamma, poisson_log

COIN_DATA = [0, 0, 0, 0, 1, 1, 1, 1, 1, 1]
PAIRS: list[tuple[Any, Any]] = [
    (d.Bernoulli(0.3), stats.bernoulli(0.3)),
    (d.Binomial(10, 0.6), stats.binom(10, 0.6)),
    (d.Poisson(2.0), stats.poisson(2.0)),
    (d.Poisson(1e4), stats.poisson(1e4)),
    (d.Geometric(0.3), stats.geom(0.3, loc=-1)),
    (d.NegativeBinomial(2.5, 0.3), stats.nbinom(2.5, 0.3)),
    (d.BetaBinomial(12, 2.0, 3.0), stats.betabinom(12, 2.0, 3.0)),
    (d.BetaNegativeBinomial(2.0, 9.0, 3.0), stats.betanbinom(2.0, 9.0, 3.0)),
    (d.DiscreteUniform(1, 6), stats.randint(1, 7)),
    (d.Uniform(-1.0, 3.0), stats.uniform(-1.0, 4.0)),
    (d.Normal(1.0, 2.0), stats.norm(1.0, 2.0)),
    (d.LogNormal(1.0, 0.5), stats.lognorm(0.5, scale=np.e)),
    (d.Exponential(2.0), stats.expon(scale=0.5)),
    (d.Gamma(3.0, 2.0), stats.gamma(3.0, scale=0.5)),
    (d.Gamma(0.5, 2.0), stats.gamma(0.5, scale=0.5)),
    (d.InverseGamma(3.0, 2.0), stats.invgamma(3.0, scale=2.0)),
    (d.Beta(8.0, 6.0), stats.beta(8.0, 6.0)),
    (d.Laplace(1.0, 2.0), stats.laplace(1.0, 2.0)),
    (d.Logistic(1.0, 2.0), stats.logistic(1.0, 2.0)),
    (d.StudentT(5.0, 1.0, 2.0), stats.t(5.0, 1.0, 2.0)),
    (d.StudentT(1.0), stats.cauchy()),
    (d.Weibull(0.7, 2.0), stats.weibull_min(0.7, scale=2.0)),
    (d.ChiSquared(5.5), stats.chi2(5.5)),
    (d.F(5.0, 12.0), stats.f(5.0, 12.0)),
    (d.Pareto(5.0, 2.0), stats.pareto(5.0, scale=2.0)),
    (d.Lomax(5.0, 2.0), stats.lomax(5.0, scale=2.0)),
    (d.InverseGaussian(2.0, 30.0), stats.invgauss(2.0 / 30.0, scale=30.0)),
]
each_pair = pytest.mark.parametrize(
    ("ours", "theirs"),
    [pytest.param(*pair, id=f"{i}-{type(pair[0]).__name__}") for i, pair in enumerate(PAIRS)],
)


@each_pair
def test_density_tails_and_quantiles_are_scipys(ours: Any, theirs: Any) -> None:
    q = np.array([1e-8, 0.01, 0.2, 0.5, 0.77, 0.99, 1.0 - 1e-8])
    x = theirs.ppf(q)
    np.testing.assert_allclose(ours.quantile(q), x, rtol=1e-8, atol=1e-12)
    log_density = theirs.logpmf if ours.discrete else theirs.logpdf
    outside = [-7.5, -1.0, 0.25, 1e3 + 0.5]
    # scipy's Poisson and binomial lose digits as their terms grow.
    np.testing.assert_allclose(ours.log_density(x), log_density(x), rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(ours.log_density(outside), log_density(outside), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(ours.cdf([*x, *outside]), theirs.cdf([*x, *outside]), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(ours.survival(x), theirs.sf(x), rtol=1e-7, atol=1e-15)


@each_pair
def test_entropy_and_moments_are_scipys(ours: Any, theirs: Any) -> None:
    if ours != d.Poisson(1e4):  # where scipy's sum does not converge, and an expansion is the reference
        assert ours.entropy == pytest.approx(float(theirs.entropy()), rel=1e-7)
    mean, variance, skewness, excess = (float(v) for v in theirs.stats("mvsk"))
    np.testing.assert_allclose([ours.mean, ours.variance], [mean, variance], rtol=1e-10)
    if np.isfinite([skewness, excess]).all() and not isinstance(ours, d.BetaNegativeBinomial):
        np.testing.assert_allclose(
            [ours.skewness, ours.kurtosis - 3.0], [skewness, excess], rtol=1e-8, atol=1e-10
        )


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (
            d.MultivariateNormal([1, 2], [[2, 0.5], [0.5, 1]]),
            stats.multivariate_normal([1, 2], [[2, 0.5], [0.5, 1]]),
        ),
        (
            d.MultivariateStudentT(5, [1, 2], [[2, 0.5], [0.5, 1]]),
            stats.multivariate_t([1, 2], [[2, 0.5], [0.5, 1]], 5),
        ),
        (d.Dirichlet([8, 2, 4]), stats.dirichlet([8, 2, 4])),
        (d.Multinomial(5, [0.5, 0.3, 0.2]), stats.multinomial(5, [0.5, 0.3, 0.2])),
        (d.DirichletMultinomial(8, [2, 3, 1.5]), stats.dirichlet_multinomial([2, 3, 1.5], 8)),
        (d.Wishart(5.5, [[1, 0.4], [0.4, 0.8]]), stats.wishart(5.5, [[1, 0.4], [0.4, 0.8]])),
        (d.InverseWishart(9.5, [[1, 0.4], [0.4, 0.8]]), stats.invwishart(9.5, [[1, 0.4], [0.4, 0.8]])),
    ],
    ids=lambda one: type(one).__name__,
)
def test_densities_of_arrays_are_scipys(ours: Any, theirs: Any) -> None:
    x = ours.sample(20, 0)
    log_density = theirs.logpmf if hasattr(theirs, "logpmf") else theirs.logpdf
    expected = [float(np.ravel(log_density(row))[0]) for row in x]
    np.testing.assert_allclose(ours.log_density(x), expected, rtol=1e-10)
    # scipy's entropy of an inverse Wishart matrix is not the mean of its own log-densities; a law has ours.
    if hasattr(theirs, "entropy") and not isinstance(ours, d.InverseWishart):
        assert ours.entropy == pytest.approx(float(theirs.entropy()), rel=1e-9)


@pytest.mark.parametrize(
    ("x", "ours", "theirs"),
    [
        ("gamma", d.Gamma, lambda x: (lambda a, _, s: (a, 1 / s))(*stats.gamma.fit(x, floc=0))),
        ("gamma", d.Weibull, lambda x: (lambda c, _, s: (c, s))(*stats.weibull_min.fit(x, floc=0))),
        ("gamma", d.LogNormal, lambda x: (lambda s, _, m: (np.log(m), s))(*stats.lognorm.fit(x, floc=0))),
        ("t", d.Logistic, lambda x: stats.logistic.fit(x)),
        ("t", d.Laplace, lambda x: stats.laplace.fit(x)),
        ("t", d.StudentT, lambda x: stats.t.fit(x)),
        ("beta", d.Beta, lambda x: stats.beta.fit(x, floc=0, fscale=1)[:2]),
    ],
)
def test_fits_are_scipys_or_better(x: str, ours: Any, theirs: Any) -> None:
    rng = np.random.default_rng(0)
    data = {
        "gamma": rng.gamma(2.0, 3.0, 501),
        "t": rng.standard_t(4.0, 501) + 2.0,
        "beta": rng.beta(2, 5, 501),
    }[x]
    found, other = ours.fit(data), ours(*map(float, theirs(data)))
    np.testing.assert_allclose(list(found.options.values()), list(other.options.values()), rtol=2e-3)
    assert found.log_density(data).sum() >= other.log_density(data).sum() - 1e-9


def test_large_counts_keep_their_digits() -> None:
    """Against the plain formula in long doubles, which have three digits more than it loses."""
    for k, m in ((1e6, 1.0005e6), (1e6, 1e6), (400.0, 317.5), (70.0, 1e4)):
        big, mean = np.longdouble(k), np.longdouble(m)
        expected = big * np.log(mean) - mean - log_gamma(big + 1)
        assert float(poisson_log(k, m)) == pytest.approx(float(expected), rel=1e-13)
        n, p = np.longdouble(3) * big, np.longdouble(0.3)
        ways = log_gamma(n + 1) - log_gamma(big + 1) - log_gamma(n - big + 1)
        expected = ways + big * np.log(p) + (n - big) * np.log1p(-p)
        assert float(binomial_log(k, 3 * k, 0.3, 0.7)) == pytest.approx(float(expected), rel=1e-11)


def test_the_entropy_of_many_events_is_that_of_a_bell() -> None:
    rate = 1e4
    expansion = 0.5 * np.log(2 * np.pi * np.e * rate) - 1 / (12 * rate) - 1 / (24 * rate**2)
    assert d.Poisson(rate).entropy == pytest.approx(expansion, abs=1e-11)


@pytest.mark.covers("intro_to_ml:B.5", by="distributions.Normal")
def test_the_worked_densities() -> None:
    assert d.Binomial(10, 0.6).density(6) == pytest.approx(0.2508226560, abs=5e-11)
    assert d.Poisson(2.0).density(3) == pytest.approx(0.1804470443, abs=5e-11)
    assert d.Normal(0.0, 1.0).density(0.0) == pytest.approx(0.3989422804, abs=5e-11)
    both = d.MultivariateNormal([0, 0], [[1.0, 0.3], [0.3, 0.5]])
    assert both.density([0, 0]) == pytest.approx(0.2485582619, abs=5e-11)
    assert d.Laplace(0.0, 3.0).variance == 18.0
    assert float(d.Beta(2.0, 3.0).expectation(np.ones_like)) == pytest.approx(1.0)


@pytest.mark.covers("cs443:5.1", by="distributions.MultivariateNormal")
def test_the_normal_density_of_vectors_is_that_of_its_independent_parts() -> None:
    x = np.random.default_rng(0).normal(size=(9, 3))
    parts = [d.Normal(m, s) for m, s in ((0.0, 1.0), (1.0, 2.0), (-1.0, 0.5))]
    whole = d.MultivariateNormal([0, 1, -1], np.diag([1.0, 4.0, 0.25]))
    expected = sum(part.log_density(x[:, j]) for j, part in enumerate(parts))
    np.testing.assert_allclose(whole.log_density(x), expected, rtol=1e-13)


@pytest.mark.covers("intro_to_ml:B.12", by="distributions.Normal.moment_generating")
@pytest.mark.parametrize("t", [-0.3, 0.2])
def test_moment_generating_functions(t: float) -> None:
    p, rate, b, mean, scale = 0.3, 2.0, 1.5, 0.7, 1.3
    expected = {
        d.Bernoulli(p): 1 - p + p * np.exp(t),
        d.Binomial(7, p): (1 - p + p * np.exp(t)) ** 7,
        d.Poisson(rate): np.exp(rate * (np.exp(t) - 1)),
        d.Exponential(rate): rate / (rate - t),
        d.Laplace(mean, b): np.exp(mean * t) / (1 - (b * t) ** 2),
        d.Normal(mean, scale): np.exp(t * mean + (scale * t) ** 2 / 2),
    }
    for one, value in expected.items():
        assert one.moment_generating(t) == pytest.approx(value, rel=1e-13), one
        assert one.moment_generating(t) == pytest.approx(float(one.expectation(lambda x: np.exp(t * x)))), one
        assert one.moment_generating(0.0) == 1.0
        # The k-th derivative at 0 is the k-th moment; a central difference of step h is off by order h².
        h = 1e-4
        ends = one.moment_generating(h), one.moment_generating(-h)
        assert (ends[0] - ends[1]) / (2 * h) == pytest.approx(one.mean, rel=1e-5), one
        second = (ends[0] - 2.0 + ends[1]) / h**2
        assert second == pytest.approx(one.variance + one.mean**2, rel=1e-5), one


@pytest.mark.covers("intro_to_ml:B.12", by="distributions.Exponential.moment_generating")
def test_where_no_moment_generating_function_exists() -> None:
    assert d.Exponential(2.0).moment_generating(2.0) == np.inf
    assert d.Exponential(2.0).moment_generating(1.999) == pytest.approx(2000.0)
    assert d.Laplace(0.0, 1.5).moment_generating(-0.7) == np.inf
    assert d.Gamma(3.0, 2.0).moment_generating(1.0) == pytest.approx(8.0)
    assert d.Gamma(3.0, 2.0).moment_generating(5.0) == np.inf
    assert d.Uniform(0.0, 1.0).moment_generating(2.0) == pytest.approx((np.exp(2) - 1) / 2)  # by quadrature
    assert d.Normal(0.0, 1e3).moment_generating(1.0) == np.inf  # beyond what a float holds
    with pytest.raises(RefusalError, match="moment-generating function of LogNormal"):
        d.LogNormal().moment_generating(0.1)
    with pytest.raises(ParameterError, match="t=nan must be a finite number"):
        d.Normal().moment_generating(np.nan)


@pytest.mark.covers("intro_to_ml:B.6", "intro_to_ml:B.7", by="distributions.Normal.expectation")
def test_expectations_and_variances() -> None:
    one = d.Gamma(3.0, 2.0)
    assert float(one.expectation(lambda x: 2 * x + 1)) == pytest.approx(2 * one.mean + 1)
    square = float(one.expectation(lambda x: x**2))
    assert one.variance == pytest.approx(square - one.mean**2)
    inside = float(d.Normal().expectation(lambda x: (x >= -1.0) & (x <= 0.5)))
    # An indicator is no smooth function, and the quadrature is of order 1 / nodes there.
    assert inside == pytest.approx(d.Normal().cdf(0.5) - d.Normal().cdf(-1.0), abs=0.02)
    die = d.Categorical(np.full(6, 1 / 6))
    assert die.mean == pytest.approx(2.5)
    assert float(die.expectation(lambda k: k >= 4)) == pytest.approx(1 / 3)
    np.testing.assert_allclose(d.Normal(5.0, 2.0).expectation(lambda x: np.array([x, x**2])), [5.0, 29.0])


@pytest.mark.covers("intro_to_ml:B.6", by="distributions.Binomial.expectation")
def test_expectations_are_sums_or_integrals_and_linear() -> None:
    counts = d.Binomial(4, 0.3)
    by_hand = sum(k**2 * counts.density(k) for k in range(5))
    assert float(counts.expectation(lambda k: k**2)) == pytest.approx(by_hand, rel=1e-14)
    among = float(counts.expectation(lambda k: (k == 1) | (k == 3)))
    assert among == pytest.approx(counts.density(1) + counts.density(3), rel=1e-14)  # E of an indicator is P
    x = np.linspace(-12, 12, 200_001)
    for one in (counts, d.Normal(0.5, 1.2), d.Gamma(2.0, 1.5)):
        assert float(one.expectation(lambda x: np.full(np.shape(x), 3.0))) == pytest.approx(3.0, rel=1e-9)
        parts = [float(one.expectation(g)) for g in (np.cos, np.square)]
        assert float(one.expectation(lambda x: 2 * np.cos(x) - 5 * x**2)) == pytest.approx(
            2 * parts[0] - 5 * parts[1]
        )
    # E g(X) without the law of g(X), and with it: the square of a standard normal is chi squared.
    direct = np.trapezoid(np.cos(x) * d.Normal().density(x), x)
    assert float(d.Normal().expectation(np.cos)) == pytest.approx(direct, rel=1e-9)
    of_square = d.ChiSquared(1.0).expectation(np.sqrt)
    assert float(d.Normal().expectation(np.abs)) == pytest.approx(float(of_square), rel=1e-6)


@pytest.mark.covers("intro_to_ml:B.11", by="distributions.Normal.kurtosis")
def test_standardised_moments() -> None:
    assert (d.Normal(3.0, 2.0).skewness, d.Normal(3.0, 2.0).kurtosis) == (0.0, 3.0)
    third = float(d.Exponential(2.0).expectation(lambda x: ((x - 0.5) / 0.5) ** 3))
    assert d.Exponential(2.0).skewness == pytest.approx(third)


def test_probabilities_of_intervals() -> None:
    one = d.Exponential(1.5)
    x = np.linspace(1.0, 2.0, 20_001)
    assert one.cdf(2.0) - one.cdf(1.0) == pytest.approx(np.trapezoid(one.density(x), x), rel=1e-8)
    np.testing.assert_allclose(
        np.cumsum(d.Poisson(2.0).density(np.arange(9))), d.Poisson(2.0).cdf(np.arange(9))
    )


def test_the_method_of_moments() -> None:
    x = np.array([1.0, 2.0, 2.0, 7.0])
    assert d.Normal.fit(x, method="moments") == d.Normal(3.0, float(np.sqrt(np.mean((x - 3.0) ** 2))))
    assert d.Exponential.fit(x, method="moments").rate == 1 / 3
    assert d.Poisson.fit(x, method="moments").rate == 3.0
    assert d.Bernoulli.fit(COIN_DATA, method="moments").probability == pytest.approx(0.6)
    found = d.Gamma.fit(x, method="moments")
    np.testing.assert_allclose([found.mean, found.variance], [3.0, x.var()])


@pytest.mark.covers("intro_to_ml:B.28", by="distributions.Bernoulli.fit")
def test_maximum_likelihood() -> None:
    coin = d.Bernoulli.fit(COIN_DATA)
    assert coin.probability == pytest.approx(0.6)
    assert -coin.log_density(COIN_DATA).sum() == pytest.approx(6.7301166701, abs=5e-11)
    assert d.Laplace.fit([1.0, 5.0, 2.0, 9.0]) == d.Laplace(3.5, 2.75)
    assert d.Laplace.fit([1.0, 5.0], [1.0, 2.0]).location == 5.0


@pytest.mark.covers(
    "cs443:11.1", "cs443:11.2", "cs443:11.3", "cs443:11.6", by="distributions.Normal.log_partition"
)
def test_the_normal_as_an_exponential_family() -> None:
    one = d.Normal(1.5, float(np.sqrt(0.7)))
    assert one.log_partition(one.natural) == pytest.approx(2.3477439184, abs=5e-11)
    again = one.with_natural(one.natural)
    np.testing.assert_allclose([again.mean, again.scale], [one.mean, one.scale], rtol=1e-14)
    np.testing.assert_allclose(one.mean_sufficient, [1.5, 1.5**2 + 0.7])


@pytest.mark.covers("cs443:11.4", by="distributions.Bernoulli.natural")
@pytest.mark.covers("cs443:11.5", by="distributions.Poisson.natural")
def test_coins_and_counts_as_exponential_families() -> None:
    coin, count = d.Bernoulli(0.3), d.Poisson(3.0)
    assert coin.natural[0] == pytest.approx(np.log(0.3 / 0.7))
    assert coin.log_partition(coin.natural) == pytest.approx(-np.log(0.7))
    assert coin.with_natural(coin.natural).probability == pytest.approx(0.3)
    assert count.natural[0] == pytest.approx(np.log(3.0))
    assert count.log_partition(count.natural) == pytest.approx(3.0)


@pytest.mark.covers("cs443:11.7", by="distributions.Poisson.fit")
def test_the_likeliest_natural_parameters_match_the_mean_statistic() -> None:
    found = d.Poisson.fit([1, 2, 3, 6])
    assert found.natural[0] == pytest.approx(np.log(3.0))
    assert d.Bernoulli.fit(COIN_DATA).natural[0] == pytest.approx(np.log(0.6 / 0.4))
    x = np.random.default_rng(0).gamma(2.0, size=40)
    for family in (d.Normal, d.Gamma, d.InverseGaussian, d.LogNormal, d.Exponential):
        fit: Any = family.fit(x)
        np.testing.assert_allclose(fit.mean_sufficient, fit.sufficient(x).mean(axis=0), rtol=1e-9)


@pytest.mark.covers("intro_to_ml:4.14", by="distributions.Bernoulli.posterior")
def test_beta_and_bernoulli() -> None:
    posterior = d.Bernoulli.posterior(d.Beta(2, 2), COIN_DATA)
    assert posterior == d.Beta(8, 6)
    assert posterior.mode == pytest.approx(7 / 12)
    assert d.Bernoulli.posterior(d.Beta(1, 1), COIN_DATA).mode == pytest.approx(0.6)
    expected = log_gamma(4.0) - 2 * log_gamma(2.0) + log_gamma(8.0) + log_gamma(6.0) - log_gamma(14.0)
    assert d.Bernoulli.log_evidence(d.Beta(2, 2), COIN_DATA) == pytest.approx(float(expected))


@pytest.mark.covers("intro_to_ml:B.29", "intro_to_ml:B.30", by="numerical_posterior")
def test_posteriors_of_any_prior_and_likelihood_by_quadrature() -> None:
    coin = [0, 0, 0, 0, 1, 1, 1, 1, 1, 1]

    def tosses(p: Any) -> Any:
        return 6 * np.log(p) + 4 * np.log1p(-p)

    found = numerical_posterior(d.Beta(2, 2), tosses)
    assert (found.mode, found.mean) == (pytest.approx(7 / 12, abs=1e-7), pytest.approx(4 / 7, abs=1e-12))
    exact = d.Bernoulli.posterior(d.Beta(2, 2), coin)
    assert found.variance == pytest.approx(exact.variance, rel=1e-9)
    assert found.log_evidence == pytest.approx(d.Bernoulli.log_evidence(d.Beta(2, 2), coin), abs=1e-9)
    p = np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(found.density(p), exact.density(p), rtol=1e-9)
    flat = numerical_posterior(d.Beta(1, 1), tosses)
    assert flat.mode == pytest.approx(0.6, abs=1e-7)  # a flat prior: the most probable is the likeliest
    # The mean has the least expected squared error of all guesses.
    guesses = found.mean + np.array([-0.05, -0.01, 0.0, 0.01, 0.05])
    risks = [float(exact.expectation(lambda p, guess=guess: (p - guess) ** 2)) for guess in guesses]
    assert int(np.argmin(risks)) == 2
    assert risks[2] == pytest.approx(found.variance, rel=1e-6)
    # No conjugate pair: a normal mean under a Laplace prior, against sums over a fine grid.
    x = np.array([1.0, 2.0, 4.0])
    both = numerical_posterior(
        d.Laplace(0.0, 0.5), lambda m: d.Normal(0.0, 1.0).log_density(x[:, None] - m).sum(axis=0)
    )
    m = np.linspace(-6, 8, 400_001)
    joint = d.Laplace(0.0, 0.5).density(m) * d.Normal().density(x[:, None] - m).prod(axis=0)
    total = np.trapezoid(joint, m)
    assert both.log_evidence == pytest.approx(np.log(total), abs=1e-8)
    assert both.mean == pytest.approx(np.trapezoid(m * joint, m) / total, abs=1e-8)
    assert both.mode == pytest.approx(m[np.argmax(joint)], abs=1e-4)


def test_posteriors_in_narrow_or_several_places_are_found() -> None:
    x = np.random.default_rng(0).normal(50, 1, size=10_000)
    fixed = -0.5 * ((x - x.mean()) ** 2).sum() - 5000 * np.log(2 * np.pi)
    found = numerical_posterior(d.Normal(0, 1000), lambda m: fixed - 5000 * (m - x.mean()) ** 2)
    exact = d.Normal.posterior(d.Normal(0, 1000), x, scale=1.0)
    assert (found.mean, found.variance) == (
        pytest.approx(exact.mean),
        pytest.approx(exact.variance, rel=1e-8),
    )
    two = numerical_posterior(d.Normal(), lambda m: np.logaddexp(-200 * (m - 3) ** 2, -200 * (m + 3) ** 2))
    assert two.mean == pytest.approx(0.0, abs=1e-8)
    assert two.variance == pytest.approx(9.0, rel=0.01)
    with pytest.raises(DataError, match="must be a continuous distribution of one number"):
        numerical_posterior(d.Poisson(1.0), lambda m: m)
    with pytest.raises(DataError, match="zero or infinite"):
        numerical_posterior(d.Normal(), lambda m: np.full(np.shape(m), -np.inf))


@pytest.mark.covers("intro_to_ml:B.29", "intro_to_ml:B.30", by="distributions.Normal.posterior")
def test_posterior_mode_and_mean() -> None:
    assert d.Beta(8, 6).mean == pytest.approx(4 / 7)
    x = [1.0, 2.0, 4.0, 5.0]
    flat = d.Normal.posterior(d.Normal(0.0, 1e8), x, scale=2.0)
    assert flat.mode == pytest.approx(d.Normal.fit(x).mean)
    # The posterior mean by quadrature over the prior.
    prior = d.Normal(0.0, 1.0)
    weight = lambda m: np.exp(-0.5 * ((np.array(x)[:, None] - m) / 2.0) ** 2).prod(axis=0)  # noqa: E731
    top, bottom = prior.expectation(lambda m: np.array([m * weight(m), weight(m)]))
    assert d.Normal.posterior(prior, x, scale=2.0).mean == pytest.approx(float(top / bottom))


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        (lambda: d.Normal.fit([2.0, 2.0]), "Normal cannot be fitted: all values are equal"),
        (lambda: d.Gamma.fit([1.0, 0.0]), r"x\[1\] is 0.0, but Gamma.fit takes numbers in \(0, inf\)"),
        (
            lambda: d.Poisson.fit([1.0, 2.5]),
            r"x\[1\] is 2.5, but Poisson.fit takes whole numbers in \[0, inf\)",
        ),
        (
            lambda: d.Binomial.fit([4], trials=3),
            r"x\[0\] is 4.0, but Binomial.fit takes whole numbers in \[0, 3\]",
        ),
        (lambda: d.NegativeBinomial.fit([1, 1, 1, 2]), "tends to the Poisson limit"),
        (lambda: d.MultivariateNormal.fit([[1.0, 2.0], [2.0, 4.0], [0.0, 0.0]]), "depends on others"),
        (lambda: d.MultivariateNormal.fit([[1.0, 2.0], [2.0, 5.0]]), "depends on others"),
        (lambda: d.MultivariateNormal.fit([1.0, 2.0]), "takes vectors, one a row"),
        (lambda: d.Dirichlet.fit([[0.5, 0.4]]), "positive shares that add up to 1"),
        (lambda: d.Multinomial.fit([[1, 1]], trials=3), "counts that add up to trials=3"),
    ],
)
def test_what_cannot_be_fitted_says_why(fit: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        fit()


CONTINUOUS = [
    d.Normal(),
    d.Exponential(2.0),
    d.Beta(0.5, 0.5),
    d.Beta(30000.0, 10000.0),
    d.StudentT(3.0),
    d.LogNormal(),
    d.Gamma(0.05, 1.0),
    d.Lomax(1.5),
    d.Uniform(1e6, 1e6 + 3),
    d.Weibull(0.7),
    d.Pareto(1.2),
]


@pytest.mark.parametrize("one", CONTINUOUS, ids=repr)
@pytest.mark.parametrize("share", [0.001, 0.01, 0.3, 0.5, 0.77, 0.9, 0.999])
def test_the_expectation_of_an_indicator_is_a_probability(one: Any, share: float) -> None:
    edge = float(one.quantile(share))
    above, below = one.expectation(lambda x: np.array([x > edge, x <= edge]))
    assert above == pytest.approx(float(one.survival(edge)), abs=1e-10)
    assert below == pytest.approx(float(one.cdf(edge)), abs=1e-10)


def test_jumps_near_the_edges_of_panels_are_found() -> None:
    one = d.Exponential(2.0)
    for edge in np.linspace(0.01, 3.0, 199):
        assert float(one.expectation(lambda x, at=edge: x > at)) == pytest.approx(
            np.exp(-2 * edge), abs=1e-10
        )


@pytest.mark.parametrize(
    ("one", "function"),
    [
        (d.Exponential(2.0), lambda x: np.exp(2 * x)),
        (d.Exponential(2.0), lambda x: np.exp(3 * x)),
        (d.StudentT(1.0), np.abs),
        (d.StudentT(1.0), lambda x: x),
        (d.StudentT(2.0), np.square),
        (d.LogNormal(), np.exp),
        (d.Normal(), lambda x: np.exp(x**2 / 2)),
        (d.Beta(0.5, 1.0), lambda x: 1 / x),
        (d.Uniform(), lambda x: 1 / x),
        (d.Pareto(1.0), lambda x: x),
        (d.Normal(), np.log),
        (d.Geometric(0.5), lambda x: 2.0**x),
        (d.Poisson(3.0), lambda x: np.exp(x**2)),
    ],
)
def test_what_does_not_converge_is_refused(one: Any, function: Any) -> None:
    with pytest.raises(
        RefusalError, match=r"cannot be computed, for the .*: give a function that grows"
    ) as caught:
        one.expectation(function)
    assert "\n" not in str(caught.value)


def test_what_hardly_converges_is_right() -> None:
    assert float(d.Exponential(2.0).expectation(lambda x: np.exp(1.9 * x))) == pytest.approx(20.0, rel=1e-9)
    assert float(d.Normal().expectation(lambda x: np.exp(x**2 / 4))) == pytest.approx(np.sqrt(2), rel=1e-12)
    assert float(d.StudentT(2.1).expectation(np.square)) == pytest.approx(21.0, rel=1e-9)
    # Failures before the first success: 0.5 times the sum of 0.95^k over k from 0 on.
    assert float(d.Geometric(0.5).expectation(lambda x: 1.9**x)) == pytest.approx(10.0)
