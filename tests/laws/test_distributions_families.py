"""What holds for every exponential family and for every conjugate prior."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from surefit.core.errors import RefusalError
from surefit.core.registry import members
from surefit.distributions.base import Distribution
from surefit.distributions.conjugacy import Conjugate
from surefit.distributions.exponential_family import ExponentialFamily
from surefit.distributions.information import kl_divergence
from surefit.distributions.univariate import Univariate

DISTRIBUTIONS: dict[str, type[Distribution]] = dict(members("distribution"))  # type: ignore[arg-type]
FAMILIES = [
    pytest.param(case, id=f"{name}-{number}")
    for name, cls in DISTRIBUTIONS.items()
    if issubclass(cls, ExponentialFamily)
    for number, case in enumerate(cls.cases())
    if np.isfinite(case.natural).all()  # an outcome that never comes has log-odds of minus infinity
]
each_family = pytest.mark.parametrize("one", FAMILIES)


def usable(prior: Any) -> bool:
    """Priors of everyday size: quadrature over a rate of 1e12 says nothing about the update."""
    spread = np.asarray(prior.variance)
    return bool((np.abs(prior.mean) < 1e5).all() and (spread < 1e5).all() and (spread > 1e-10).all())


def known(cls: Any, prior: Any) -> dict[str, Any]:
    given = {name: getattr(next(cls.cases()), name) for name in ("trials", "size") if hasattr(cls, name)}
    return {"scale": 2.0} if type(prior) is cls else given


CONJUGATE = [
    pytest.param(cls, prior, known(cls, prior), id=f"{name}-{type(prior).__name__}-{number}")
    for name, cls in DISTRIBUTIONS.items()
    if issubclass(cls, Conjugate)
    for kind in cls._prior_classes()
    for number, prior in enumerate(filter(usable, kind.cases()))
]
each_prior = pytest.mark.parametrize(("cls", "prior", "given"), CONJUGATE)


def test_the_laws_see_the_families() -> None:
    names = {type(case.values[0]).__name__ for case in FAMILIES}
    assert {"Normal", "Poisson", "Bernoulli", "Gamma", "Wishart", "Categorical"} <= names
    assert {case.values[0].__name__ for case in CONJUGATE} >= {"Normal", "Poisson", "MultivariateNormal"}


@each_family
def test_the_form_is_the_log_density(one: Any) -> None:
    x = one.sample(200, 1)
    eta, A = one.natural, float(one.log_partition(one.natural))
    terms = one.sufficient(x) * eta
    form = one.log_base(x) + terms.sum(axis=-1) - A
    size = np.abs(terms).sum(axis=-1) + abs(A) + np.abs(one.log_base(x))
    # Both are sums of these terms; matrices add the rounding of a solve.
    assert (np.abs(form - one.log_density(x)) <= 1e-13 * (1.0 + size)).all()


@each_family
def test_natural_and_usual_parameters_are_one_to_one(one: Any) -> None:
    again = one.with_natural(one.natural)
    for name, value in one.options.items():
        size = np.abs(np.asarray(value, dtype=float)).max()
        np.testing.assert_allclose(getattr(again, name), value, rtol=1e-9, atol=1e-9 * size)


def shifted(one: Any, i: int, step: Any) -> Any:
    eta = one.natural.astype(np.longdouble)
    eta[i] += step
    return one.log_partition(eta)


def unit(eta: float) -> float:
    return abs(eta) if eta else 1.0


@each_family
def test_the_gradient_of_the_log_partition_is_the_mean(one: Any) -> None:
    """By central differences of sixth order, in long doubles wherever A keeps them."""
    eta, mean = one.natural, one.mean_sufficient
    A = one.log_partition(eta.astype(np.longdouble))
    rounding = float(np.finfo(np.asarray(A).dtype).eps)
    for i in range(len(eta)):
        h = np.longdouble(unit(eta[i]) * rounding ** (1 / 7) / 16)
        near, middle, far = (shifted(one, i, k * h) - shifted(one, i, -k * h) for k in (1, 2, 3))
        slope = float((45 * near - 9 * middle + far) / (60 * h))
        bound = 1e3 * rounding ** (6 / 7) * (abs(float(A)) / unit(eta[i]) + abs(mean[i])) + 1e-12 * abs(
            mean[i]
        )
        assert abs(slope - mean[i]) <= bound, i


@each_family
def test_the_hessian_of_the_log_partition_is_the_covariance(one: Any) -> None:
    if (
        not isinstance(one, Univariate)
        or np.asarray(one.log_partition(one.natural.astype(np.longdouble))).dtype != np.longdouble
    ):
        draws = one.sufficient(one.sample(20_000, 2))
        away = (draws - one.mean_sufficient) ** 2
        found, error = away.mean(axis=0), 5.0 * away.std(axis=0) / np.sqrt(len(draws))
    else:
        found = one.expectation(lambda x: (one.sufficient(x).T - one.mean_sufficient[:, None]) ** 2)
        error = 1e-7 * found
    eta = one.natural
    A = float(one.log_partition(eta))
    for i in range(len(eta)):
        h = max(1e-3 * unit(eta[i]), 3e-4 / np.sqrt(found[i]))
        both = [
            shifted(one, i, k * np.longdouble(h)) + shifted(one, i, -k * np.longdouble(h)) for k in (1, 2)
        ]
        bend = float(
            (16 * both[0] - both[1] - 30 * one.log_partition(eta.astype(np.longdouble))) / (12 * h * h)
        )
        # A itself is known to the rounding of a float, here divided by the square of the step.
        slack = 1e-16 * abs(A) / h**2 if np.asarray(both[0]).dtype != np.longdouble else 0.0
        assert abs(bend - found[i]) <= error[i] + 1e-6 * abs(bend) + 64.0 * slack, i


@each_family
def test_the_log_partition_is_convex(one: Any) -> None:
    rng = np.random.default_rng(4)
    for _ in range(10):
        try:
            a, b = (
                one.with_natural(one.natural * (1 + 0.1 * rng.normal(size=one.natural.shape))) for _ in "ab"
            )
        except (ValueError, np.linalg.LinAlgError):
            continue  # outside the domain
        ends = [float(one.log_partition(side.natural)) for side in (a, b)]
        middle = float(one.log_partition((a.natural + b.natural) / 2))
        assert middle <= sum(ends) / 2 + 1e-12 * (1.0 + max(map(abs, ends)))


@each_family
def test_divergences_within_a_family_are_those_of_the_densities(one: Any) -> None:
    assert one.divergence(one) == pytest.approx(0.0, abs=1e-9)
    try:
        other = one.with_natural(one.natural * 1.05)
    except (ValueError, np.linalg.LinAlgError):
        other = one.with_natural(one.natural * 0.95)
    closed = kl_divergence(one, other)
    assert closed >= 0
    if isinstance(one, Univariate):
        direct = float(one.expectation(lambda x: one.log_density(x) - other.log_density(x)))
        assert closed == pytest.approx(direct, rel=1e-6, abs=1e-9)
    else:
        ratio = (lambda x: one.log_density(x) - other.log_density(x))(one.sample(20_000, 8))
        assert abs(closed - ratio.mean()) <= 5.0 * ratio.std() / np.sqrt(len(ratio)) + 1e-9


@each_prior
def test_the_posterior_is_likelihood_times_prior(cls: Any, prior: Any, given: Any) -> None:
    rows = cls.predictive(prior, **given).sample(12, 1)
    posterior = cls.posterior(prior, rows, **given)
    assert type(posterior) is type(prior)
    theta = posterior.sample(30, 2)
    likelihood = np.array([cls.given(value, **given).log_density(rows).sum() for value in theta])
    product = likelihood + prior.log_density(theta)
    constant = product - posterior.log_density(theta)
    np.testing.assert_allclose(constant, constant[0], rtol=0, atol=1e-10 * (1.0 + np.abs(product).max()))
    # Bayes' rule says what the constant is.
    evidence = cls.log_evidence(prior, rows, **given)
    assert evidence == pytest.approx(constant[0], rel=1e-9, abs=1e-9 * (1.0 + np.abs(product).max()))


@each_prior
def test_updates_one_at_a_time_are_one_update(cls: Any, prior: Any, given: Any) -> None:
    rows = cls.predictive(prior, **given).sample(9, 3)
    at_once = cls.posterior(prior, rows, **given)
    step, chain = prior, 0.0
    for row in rows:
        chain += float(cls.predictive(step, **given).log_density(row))
        step = cls.posterior(step, row[None], **given)
    same(step, at_once)
    merged = cls.statistic(rows[:4], **given) + cls.statistic(rows[4:], **given)
    same(cls.update(prior, merged, **given), at_once)
    # The evidence is the product of what each row was given by those before it.
    assert chain == pytest.approx(cls.log_evidence(prior, rows, **given), rel=1e-9, abs=1e-8)


@each_prior
def test_weights_repeat_in_updates(cls: Any, prior: Any, given: Any) -> None:
    rows = cls.predictive(prior, **given).sample(6, 4)
    times = np.array([2, 0, 1, 3, 1, 0])
    repeated = cls.posterior(prior, np.repeat(rows, times, axis=0), **given)
    same(cls.posterior(prior, rows, times, **given), repeated)
    nothing = cls.statistic(rows[:0], **given)
    assert cls.update(prior, nothing, **given) == prior


@each_prior
def test_the_predictive_is_the_likelihood_averaged_over_the_prior(cls: Any, prior: Any, given: Any) -> None:
    predictive = cls.predictive(prior, **given)
    x = predictive.sample(4, 5)
    found = predictive.density(x)

    def likelihood(theta: Any) -> Any:
        return np.array([cls.given(value, **given).density(x) for value in theta]).T

    if isinstance(prior, Univariate):
        np.testing.assert_allclose(prior.expectation(likelihood), found, rtol=1e-7)
    else:
        each = likelihood(prior.sample(500, 6))
        assert (np.abs(each.mean(axis=1) - found) <= 5.0 * each.std(axis=1) / np.sqrt(500) + 1e-12).all()


@each_prior
def test_a_prior_of_another_family_is_refused(cls: Any, prior: Any, given: Any) -> None:
    from surefit.distributions import Laplace

    with pytest.raises(RefusalError, match=f"^{cls.__name__} takes a .* as its conjugate prior, not Laplace"):
        cls.predictive(Laplace(), **given)


def same(one: Any, two: Any) -> None:
    for name, value in one.options.items():
        np.testing.assert_allclose(value, getattr(two, name), rtol=1e-10, atol=1e-10, err_msg=name)
