"""What holds for every fit of a distribution: sample, refit, compare; weights, merges, optimality."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from surefit.core.errors import DataError, ParameterError, RefusalError, SurefitError
from surefit.core.registry import members
from surefit.distributions.base import Distribution
from surefit.distributions.exponential_family import ExponentialFamily
from surefit.distributions.univariate import Univariate
from surefit.stats.base import Statistic

DISTRIBUTIONS: dict[str, type[Distribution]] = dict(members("distribution"))  # type: ignore[arg-type]
NEVER_FITTED = {
    "MultivariateStudentT",
    "NormalInverseWishart",
}  # predictive and prior: their docstrings say so
IRREGULAR = {"Uniform", "DiscreteUniform", "Pareto"}  # the support moves with the parameters
CASES = [
    pytest.param(case, id=f"{name}-{number}")
    for name, cls in DISTRIBUTIONS.items()
    if name not in NEVER_FITTED
    for number, case in enumerate(cls.cases())
]
each_case = pytest.mark.parametrize("one", CASES)
each_class = pytest.mark.parametrize(
    "cls", [pytest.param(cls, id=name) for name, cls in DISTRIBUTIONS.items() if name not in NEVER_FITTED]
)
ROWS = 3000
EPS = float(np.finfo(np.float64).eps)


def known(one: Any) -> dict[str, Any]:
    found = {name: getattr(one, name) for name in one.known}
    if type(one).__name__ == "Categorical":
        found["categories"] = len(one.probabilities)
    return found


def attempt(make: Callable[[], Any]) -> tuple[Any, str]:
    """Return what is made, or the sentence that refuses it."""
    try:
        return make(), ""
    except DataError as error:
        return None, str(error)


def average(one: Any, x: Any, weight: Any = None) -> float:
    return float(np.average(one.log_density(x), weights=weight))


def fitted(one: Any, seed: int = 21, **options: Any) -> tuple[Any, Any]:
    x = one.sample(ROWS, seed)
    return type(one).fit(x, **known(one), **options), x


def close(one: Any, two: Any, rtol: float = 1e-9) -> None:
    for name, value in one.options.items():
        other = np.asarray(getattr(two, name), dtype=float)
        size = np.abs(other).max()
        np.testing.assert_allclose(value, other, rtol=rtol, atol=rtol * size, err_msg=name)


def parameters(one: Any) -> int:
    return sum(np.size(value) for name, value in one.options.items() if name not in one.known)


@each_case
def test_a_fit_to_its_own_sample_is_near(one: Any) -> None:
    """Twice the gain in log-likelihood over the truth is chi-squared, with as many degrees of freedom as
    parameters (Wilks), and never negative at a maximum; 40 + 2 p is beyond its 1 - 1e-8 quantile.
    """
    x = one.sample(ROWS, 21)
    found, refusal = attempt(lambda: type(one).fit(x, **known(one)))
    if refusal:
        assert "limit is left" in refusal, "only a sample that looks like the limit may be refused"
        return
    gain = 2.0 * ROWS * (average(found, x) - average(one, x))
    assert -1e-5 <= gain <= 40.0 + 2.0 * parameters(one)


@each_case
def test_the_method_of_moments_meets_the_moments(one: Any) -> None:
    x = one.sample(ROWS, 22)
    try:
        found = type(one).fit(x, **known(one), method="moments")
    except DataError:
        # Without a mean, a variance or a fourth moment of its own, a sample may have none that fit.
        assert not np.isfinite(np.asarray(one.variance)).all() or type(one).__name__ in {"NegativeBinomial"}
        return
    spread = np.sqrt(x.var(axis=0).max())
    np.testing.assert_allclose(
        found.mean,
        x.mean(axis=0),
        rtol=1e-9,
        atol=1e-9 * spread + 0.51 * (type(one).__name__ == "DiscreteUniform"),
    )
    if isinstance(one, Univariate) and parameters(one) > 1 and type(one).__name__ != "DiscreteUniform":
        assert found.variance == pytest.approx(x.var(), rel=1e-8)


@each_case
def test_a_weight_is_a_repetition(one: Any) -> None:
    x = one.sample(300, 23)
    times = np.random.default_rng(1).integers(0, 4, 300)
    for method in ("likelihood", "moments"):
        try:
            repeated = type(one).fit(np.repeat(x, times, axis=0), method=method, **known(one))
        except DataError as error:
            with pytest.raises(type(error)):
                type(one).fit(x, times, method=method, **known(one))
            continue
        close(type(one).fit(x, times.astype(float), method=method, **known(one)), repeated, rtol=1e-7)


@each_case
def test_pieces_add_up_to_the_whole(one: Any) -> None:
    x = one.sample(301, 24)
    weight = np.random.default_rng(2).uniform(0.5, 2.0, 301)
    cls, given = type(one), known(one)
    whole = cls.statistic(x, weight, **given)
    assert isinstance(whole, Statistic)
    pieces = [cls.statistic(x[a:b], weight[a:b], **given) for a, b in ((0, 1), (1, 90), (90, 301))]
    joined = pieces[1] + pieces[2] + pieces[0]
    # A mean is rounded at its own size, which counts on the scale of the spread.
    offset = np.abs(x.mean(axis=0)).max() / x.std(axis=0).min() if x.std(axis=0).min() > 0 else 0.0
    assert whole.distance(joined) <= 1e-12 + 4.0 * EPS * offset
    try:
        expected = cls.from_statistic(whole, **given)
    except DataError:
        return
    close(cls.from_statistic(joined, **given), expected, rtol=1e-7)


@each_case
def test_the_likeliest_parameters_beat_their_neighbours(one: Any) -> None:
    try:
        found, x = fitted(one, 25)
    except DataError:
        return
    best = average(found, x)
    rng = np.random.default_rng(3)
    for size in (1e-3, 1e-2):
        for _ in range(8):
            other = moved(found, size, rng)
            if other is not None:
                assert average(other, x) <= best + 1e-12 * (1.0 + abs(best))


def moved(one: Any, size: float, rng: np.random.Generator) -> Any:
    """Another distribution nearby: natural parameters where there are some, all numbers elsewhere."""
    if isinstance(one, ExponentialFamily) and np.isfinite(one.natural).all():
        natural = one.natural * (1.0 + size * rng.normal(size=one.natural.shape))
        try:
            return one.with_natural(natural)
        except (SurefitError, ValueError, np.linalg.LinAlgError):
            return None
    changed = {
        name: np.asarray(value) * (1.0 + size * rng.normal(size=np.shape(value)))
        for name, value in one.options.items()
        if name not in one.known and name not in ("probabilities", "low", "high")
    }
    if not changed:
        return None
    return type(one)(**{**one.options, **{k: v if v.ndim else float(v) for k, v in changed.items()}})


@pytest.mark.parametrize(
    "one",
    [
        case
        for case in CASES
        if isinstance(case.values[0], Univariate) and type(case.values[0]).__name__ not in IRREGULAR
    ],
)
def test_the_score_has_mean_zero_at_the_truth(one: Any) -> None:
    for name, value in one.options.items():
        if name in one.known or name == "probabilities":
            continue
        unit = (
            abs(value)
            if name not in ("location", "mean")
            else float(one.quantile(0.75) - one.quantile(0.25)) or 1.0
        )
        step = 1e-4 * min(unit, 1.0 - value if name == "probability" else unit)
        near = [type(one)(**{**one.options, name: value + k * step}) for k in (-2, -1, 1, 2)]

        def score(x: Any, near: Any = near) -> Any:
            two, one_, up, upup = (other.log_density(x) for other in near)
            return (8.0 * (up - one_) - (upup - two)) / 12.0 / 1e-4

        found = float(one.expectation(score))
        scale = np.sqrt(float(one.expectation(lambda x: score(x) ** 2)))
        assert abs(found) <= 1e-7 * scale + 1e-9, name


@each_class
def test_data_that_cannot_be_are_refused(cls: type[Distribution]) -> None:
    one: Any = next(iter(cls.cases()))
    x = one.sample(5, 0)
    for bad in (np.nan, np.inf):
        spoilt = x.copy()
        spoilt[3] = bad
        with pytest.raises(DataError, match=rf"^x\[3\] is .*{cls.__name__}.fit takes finite numbers.*\.$"):
            cls.fit(spoilt, **known(one))
    with pytest.raises(DataError, match="weight"):
        cls.fit(x, np.zeros(5), **known(one))
    with pytest.raises(DataError, match="weight has shape"):
        cls.fit(x, np.ones(4), **known(one))
    with pytest.raises(ParameterError, match="method='median' is not allowed"):
        cls.fit(x, method="median", **known(one))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="no parameter 'colour'"):
        cls.fit(x, colour=1, **known(one))
    with pytest.raises(DataError, match="no row with positive weight"):
        cls.fit(x[:0], **known(one))
    for name in cls.known:
        with pytest.raises(ParameterError, match=f"needs {name}="):
            cls.fit(x)


@each_class
def test_one_row_is_fitted_or_refused_with_a_reason(cls: type[Distribution]) -> None:
    one: Any = next(iter(cls.cases()))
    for rows in (one.sample(1, 0), np.repeat(one.sample(1, 0), 9, axis=0)):
        for method in ("likelihood", "moments"):
            found, refusal = attempt(lambda: cls.fit(rows, method=method, **known(one)))  # type: ignore[arg-type]  # noqa: B023
            if refusal:
                assert refusal.startswith((cls.__name__, "the likelihood"))
                assert refusal.endswith(".")
            else:
                assert np.isfinite(average(found, rows))


@pytest.mark.parametrize("name", sorted(NEVER_FITTED))
def test_what_is_not_fitted_says_so(name: str) -> None:
    one: Any = next(iter(DISTRIBUTIONS[name].cases()))
    with pytest.raises(RefusalError, match="no maximum-likelihood estimate"):
        type(one).fit(one.sample(50, 0))


@pytest.mark.parametrize("form", ["list", "float32", "read-only", "fortran", "strided"])
def test_any_form_of_numbers_is_fitted(form: str) -> None:
    from surefit.distributions import Gamma, MultivariateNormal

    x = np.round(np.random.default_rng(0).gamma(2.0, size=(50, 2)), 2).astype(np.float32).astype(np.float64)
    forms: dict[str, Any] = {
        "list": x.tolist(),
        "float32": x.astype(np.float32),
        "read-only": x.copy(),
        "fortran": np.asfortranarray(x),
        "strided": np.repeat(x, 2, axis=0)[::2],
    }
    forms["read-only"].flags.writeable = False
    assert MultivariateNormal.fit(forms[form]) == MultivariateNormal.fit(x)
    column = [row[0] for row in forms[form]] if form == "list" else forms[form][:, 0]
    assert Gamma.fit(column) == Gamma.fit(x[:, 0])
