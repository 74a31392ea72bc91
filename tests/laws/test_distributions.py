"""What holds for every distribution: totals, tails, quantiles, moments, samples, inputs, errors."""

from __future__ import annotations

import inspect
import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

import surefit
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.core.registry import lookup, members
from surefit.distributions.base import Distribution
from surefit.distributions.univariate import Univariate

DISTRIBUTIONS: dict[str, type[Distribution]] = dict(members("distribution"))  # type: ignore[arg-type]
CASES = [
    pytest.param(case, id=f"{name}-{number}")
    for name, cls in DISTRIBUTIONS.items()
    for number, case in enumerate(cls.cases())
]
each_case = pytest.mark.parametrize("one", CASES)
each_class = pytest.mark.parametrize("cls", DISTRIBUTIONS.values(), ids=DISTRIBUTIONS.keys())
NUMBERS = [case for case in CASES if isinstance(case.values[0], Univariate)]
VECTORS = [case for case in CASES if not isinstance(case.values[0], Univariate)]
CONTINUOUS = [case for case in NUMBERS if not case.values[0].discrete]
each_number = pytest.mark.parametrize("one", NUMBERS)
each_vector = pytest.mark.parametrize("one", VECTORS)
QUANTILES = np.array([1e-6, 0.01, 0.1, 0.3, 0.5, 0.6, 0.9, 0.99, 1.0 - 1e-6])
SIGMAS = 5.0  # a fixed seed that lies further out than this is a defect, not chance


def property_of(one: Any, name: str) -> Any:
    try:
        return getattr(one, name)
    except RefusalError:
        return None


def test_the_laws_see_the_distributions() -> None:
    expected = {"Normal", "Bernoulli", "Gamma", "MultivariateNormal", "Wishart", "BetaBinomial", "StudentT"}
    assert expected <= set(DISTRIBUTIONS)
    assert len(DISTRIBUTIONS) >= 34


@each_number
def test_the_density_adds_up_to_the_cdf(one: Any) -> None:
    """Between quantiles, by scipy's adaptive quadrature or a sum; and the ends have all the rest."""
    ends = one.quantile(QUANTILES[[0, -1]])
    if one.discrete:
        x = np.arange(ends[0], ends[1] + 1.0)
        assert one.density(x).sum() == pytest.approx(one.cdf(ends[1]) - one.cdf(ends[0] - 1.0), abs=1e-12)
        np.testing.assert_allclose(
            one.cdf(ends[0] - 1.0) + np.cumsum(one.density(x)), one.cdf(x), rtol=0, atol=1e-11
        )
        return
    places = one.quantile(QUANTILES)
    low = one.ends[0] if np.isfinite(one.ends[0]) else None

    def total(a: float, b: float) -> float:
        """Over the logarithm of the distance to the lower end, where a pole may be."""
        if low is None:
            return float(quad(one.density, a, b, epsabs=0, epsrel=1e-10, limit=200)[0])
        inner = lambda s: one.density(low + np.exp(s)) * np.exp(s)  # noqa: E731
        return float(quad(inner, np.log(a - low), np.log(b - low), epsabs=0, epsrel=1e-10, limit=200)[0])

    masses = [total(a, b) for a, b in pairwise(places)]
    np.testing.assert_allclose(masses, np.diff(one.cdf(places)), rtol=1e-8)


@each_number
def test_the_expectation_of_one_is_one(one: Any) -> None:
    assert float(one.expectation(np.ones_like)) == pytest.approx(1.0, abs=1e-9)


@each_number
def test_cdf_and_survival_and_quantile_agree(one: Any) -> None:
    x = one.quantile(QUANTILES)
    np.testing.assert_allclose(one.cdf(x) + one.survival(x), 1.0, atol=1e-12)
    assert (np.diff(one.cdf(np.sort(one.sample(200, 0)))) >= 0).all()
    if one.discrete:
        assert (one.cdf(x) >= QUANTILES).all()
        assert (one.cdf(x - 1.0) < QUANTILES).all()
    else:
        # The rounding of x itself, one unit of it, moves the cdf by the density there.
        slack = 4.0 * np.spacing(np.abs(x)) * one.density(x)
        assert (np.abs(one.cdf(x) - QUANTILES) <= 1e-9 * QUANTILES + slack).all()
    low, high = one.ends
    assert one.quantile(0.0) == low
    assert one.quantile(1.0) == high
    assert np.isnan(one.quantile([-0.1, 1.1, np.nan])).all()
    np.testing.assert_array_equal(one.cdf([-np.inf, np.inf]), [0.0, 1.0])
    np.testing.assert_array_equal(one.survival([-np.inf, np.inf]), [1.0, 0.0])


@each_number
def test_moments_are_those_of_the_density(one: Any) -> None:
    mean, variance = one.mean, one.variance
    if np.isfinite(mean):
        # E x itself would lose the digits of a mean that is large against the spread.
        middle = one.median
        unit = float(one.quantile(0.9) - one.quantile(0.1)) or 1.0
        assert float(one.expectation(lambda x: (x - middle) / unit)) == pytest.approx(
            (mean - middle) / unit, abs=1e-7
        )
    if np.isfinite(variance) and variance > 0:
        moment = lambda k: float(one.expectation(lambda x: ((x - mean) / np.sqrt(variance)) ** k))  # noqa: E731
        assert moment(2) == pytest.approx(1.0, rel=1e-6)
        for k, name in ((3, "skewness"), (4, "kurtosis")):
            found = property_of(one, name)
            if found is not None and np.isfinite(found):
                assert moment(k) == pytest.approx(found, rel=1e-5, abs=1e-7), name


@each_number
def test_the_entropy_is_that_of_the_density(one: Any) -> None:
    found = float(one.expectation(lambda x: -one.log_density(x)))
    assert one.entropy == pytest.approx(found, rel=1e-8, abs=1e-8)


@each_case
def test_nothing_is_likelier_than_the_mode(one: Any) -> None:
    mode = property_of(one, "mode")
    if mode is None or not np.isfinite(np.asarray(mode)).all():
        return
    draws = one.sample(500, 3)
    assert one.log_density(mode) >= one.log_density(draws).max() - 1e-9


@each_number
def test_samples_follow_the_cdf(one: Any) -> None:
    """Kolmogorov's distance, whose 1 - 1e-6 quantile at n draws is below 2.7 / sqrt(n)."""
    n = 4000
    x = np.sort(one.sample(n, 11))
    if one.discrete:
        values, last = np.unique(x, return_index=True)
        share = np.append(last[1:], n) / n
        gap = np.abs(share - one.cdf(values)).max()
    else:
        ranks = np.arange(n + 1) / n
        gap = max(np.abs(one.cdf(x) - ranks[1:]).max(), np.abs(one.cdf(x) - ranks[:-1]).max())
    assert gap < 2.7 / np.sqrt(n)


@each_vector
def test_samples_have_the_moments(one: Any) -> None:
    n = 20_000
    x = one.sample(n, 5)
    assert x.shape == (n, *one.event_shape)
    error = np.sqrt(np.maximum(one.variance, 1e-300) / n)
    if np.isfinite(error).all():
        assert (np.abs(x.mean(axis=0) - one.mean) <= SIGMAS * error).all()
        # The standard error of a variance, from the sample's own fourth moment.
        squares = (x - one.mean) ** 2
        assert (
            np.abs(squares.mean(axis=0) - one.variance) <= SIGMAS * squares.std(axis=0) / np.sqrt(n)
        ).all()
    entropy = property_of(one, "entropy")
    if entropy is not None:
        logs = -one.log_density(x)
        assert abs(logs.mean() - entropy) <= SIGMAS * logs.std() / np.sqrt(n) + 1e-9


@each_vector
def test_the_density_of_vectors_has_total_one(one: Any) -> None:
    """By importance: the mean of q / p over draws of p is 1 for a q of the same support."""
    draws = one.sample(20_000, 6)
    tilted = next(case for case in type(one).cases() if case.event_shape == one.event_shape)
    wider = _nudged(tilted)
    ratio = np.exp(wider.log_density(draws) - one.log_density(draws)) if tilted == one else np.ones(1)
    assert abs(ratio.mean() - 1.0) <= SIGMAS * ratio.std() / np.sqrt(len(ratio)) + 1e-9


def _nudged(one: Any) -> Any:
    """The same distribution with every positive parameter a little larger."""
    changed = {}
    for name, value in one.options.items():
        if name in ("concentration", "dof", "strength", "shape"):
            changed[name] = np.asarray(value) * 1.1 if np.ndim(value) else value * 1.1
        elif name == "probabilities":
            changed[name] = (np.asarray(value) + 0.1) / (np.asarray(value) + 0.1).sum()
        elif name in ("mean", "location"):
            scale = np.sqrt(np.asarray(one.variance).reshape(-1)[: np.size(value)]) if np.ndim(value) else 0.2
            changed[name] = np.asarray(value) + 0.1 * np.where(np.isfinite(scale), scale, 1.0)
    return type(one)(**{**one.options, **{k: v if np.ndim(v) else float(v) for k, v in changed.items()}})


@each_case
def test_sampling_is_decided_by_the_random_state(one: Any) -> None:
    np.testing.assert_array_equal(one.sample(7, 1), one.sample(7, np.random.default_rng(1)))
    assert one.sample(0, 1).shape == (0, *one.event_shape)
    assert one.sample(1, np.random.RandomState(1)).shape == (1, *one.event_shape)
    assert np.isfinite(one.log_density(one.sample(50, 2))).all()


@each_number
def test_outside_the_support_there_is_nothing(one: Any) -> None:
    low, high = one.ends
    outside = [-np.inf, np.inf]
    outside += [low - 1.0] if np.isfinite(low) else []
    outside += [high + 1.0] if np.isfinite(high) else []
    outside += [one.median + 0.5] if one.discrete else []
    assert (one.log_density(outside) == -np.inf).all()
    assert np.isnan(one.log_density([np.nan])).all()
    assert np.isnan(one.cdf(np.nan))


@each_number
def test_any_shape_and_type_of_numbers_is_taken(one: Any) -> None:
    x = one.sample(6, 4)
    expected = one.log_density(x)
    frozen = x.copy()
    frozen.flags.writeable = False
    for form in (x.tolist(), frozen, np.asfortranarray(x.reshape(2, 3)), np.repeat(x, 2)[::2]):
        np.testing.assert_array_equal(np.ravel(one.log_density(form)), expected)
    assert np.shape(one.log_density(x[0])) == ()
    np.testing.assert_array_equal(
        one.cdf(x.astype(np.float32)), one.cdf(x.astype(np.float32).astype(np.float64))
    )


@each_vector
def test_values_of_another_shape_are_refused(one: Any) -> None:
    with pytest.raises(DataError, match="give arrays whose last axes are that"):
        one.log_density(np.zeros((3, *[size + 1 for size in one.event_shape])))
    unknown = one.sample(2, 0)
    unknown[0] = np.nan
    assert np.isnan(one.log_density(unknown)).tolist() == [True, False]


@each_case
def test_it_is_a_value(one: Any) -> None:
    same = eval(repr(one), {type(one).__name__: type(one)})
    assert same == one
    assert hash(same) == hash(one)
    assert pickle.loads(pickle.dumps(one)) == one
    assert one != type(one)(**_nudged_any(one))
    with pytest.raises(AttributeError):
        setattr(one, next(iter(one.options)), 1.0)
    for value in one.options.values():
        if isinstance(value, np.ndarray):
            assert not value.flags.writeable


def _nudged_any(one: Any) -> dict[str, Any]:
    name, value = next(iter(one.options.items()))
    if name == "probabilities":
        return {**one.options, name: value[::-1] * 0.9 + 0.1 / len(value)}
    if name in ("trials", "low"):
        return {**one.options, name: value + 1, **({"high": one.high + 2} if name == "low" else {})}
    return {**one.options, name: value * 0.5 + 0.2}


@each_class
def test_a_bad_parameter_is_named(cls: type[Distribution]) -> None:
    for name in inspect.signature(cls).parameters:
        for bad in (np.nan, np.inf, "x", None, [[np.nan]]):
            with pytest.raises(ParameterError, match=rf"^{cls.__name__}: {name}=.* is not allowed; .*\.$"):
                cls(**{name: bad})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda d: d.Normal(scale=0.0),
            r"Normal: scale=0.0 is not allowed; it must be a number in \(0, inf\)",
        ),
        (lambda d: d.Bernoulli(1.5), r"Bernoulli: probability=1.5 is not allowed"),
        (lambda d: d.Uniform(2.0, 2.0), "Uniform: high=2.0 is not allowed; it must be above low=2.0"),
        (
            lambda d: d.DiscreteUniform(2, 1),
            "DiscreteUniform: high=1 is not allowed; it must not be below low=2",
        ),
        (lambda d: d.Categorical([0.5, 0.6]), "Categorical: probabilities=.* add up to 1"),
        (lambda d: d.Categorical([1.5, -0.5]), "Categorical: probabilities=.* nonnegative numbers"),
        (lambda d: d.Dirichlet([1.0, 0.0]), "Dirichlet: concentration=.* positive numbers"),
        (lambda d: d.MultivariateNormal([0, 0], [[1, 2], [2, 1]]), "covariance=.* positive definite"),
        (lambda d: d.MultivariateNormal([0, 0], [[1, 2], [0, 9]]), "covariance=.* symmetric"),
        (lambda d: d.MultivariateNormal([0], np.eye(2)), "covariance=.* each of the 1 means"),
        (lambda d: d.Wishart(0.5, np.eye(2)), "Wishart: dof=0.5 is not allowed; it must be above 1"),
        (lambda d: d.Binomial(2.5), "Binomial: trials=2.5 is not allowed; it must be a whole number"),
    ],
)
def test_what_no_interval_can_say_is_refused_too(make: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make(surefit.distributions)


def test_every_class_is_found_by_its_name() -> None:
    for name, cls in DISTRIBUTIONS.items():
        assert getattr(surefit.distributions, name) is cls is lookup("distribution", name)
        assert name in dir(surefit.distributions)
    with pytest.raises(AttributeError, match="no attribute 'Norml'"):
        surefit.distributions.Norml  # noqa: B018
