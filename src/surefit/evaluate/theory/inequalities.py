"""Inequalities of probability: each returns its bound and, where a law is given, the true value beside it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from surefit.core.arrays import Vector
from surefit.core.errors import DataError, ParameterError
from surefit.distributions.probability.finite_space import RandomVariable
from surefit.distributions.univariate import Univariate
from surefit.evaluate.theory.hoeffding import hoeffding_probability

_ROUNDING = 1e-12
_LARGEST_STEP = 1e8  # where a search for the best exponent ends


@dataclass(frozen=True)
class Bound:
    """What an inequality says: the bound, the true value where it is known, and what the bound used."""

    name: str
    bound: float
    truth: float | None = None
    used: dict[str, float] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether the true value is within the bound; a bound without one to compare with is not refuted."""
        return self.truth is None or self.truth <= self.bound + _ROUNDING * max(1.0, abs(self.bound))

    def __str__(self) -> str:
        beside = "" if self.truth is None else f"; the true value is {self.truth:.6g}"
        used = "".join(f", {name} = {value:.6g}" for name, value in self.used.items())
        return f"{self.name}: at most {self.bound:.6g}{beside}{used}"


class _Law:
    """A distribution, a random variable or data, asked the same questions."""

    def __init__(self, of: Any) -> None:
        self.of = of
        if isinstance(of, Univariate):
            return
        if isinstance(of, RandomVariable):
            law = of.law
            self.values: Vector = np.array([float(value) for value in law])
            self.shares: Vector = np.array([float(chance) for chance in law.values()])
        else:
            self.values = np.asarray(of, dtype=np.float64).ravel()
            if not self.values.size or not np.isfinite(self.values).all():
                raise DataError("data must be at least one finite number.")
            self.shares = np.full(self.values.size, 1 / self.values.size)

    def expectation(self, function: Callable[[Any], Any]) -> float:
        if isinstance(self.of, Univariate):
            return float(self.of.expectation(function))
        return float(self.shares @ np.asarray(function(self.values), dtype=np.float64))

    @property
    def mean(self) -> float:
        return float(self.of.mean) if isinstance(self.of, Univariate) else self.expectation(lambda x: x)

    @property
    def spread(self) -> float:
        if isinstance(self.of, Univariate):
            return math.sqrt(self.of.variance)
        return math.sqrt(self.expectation(lambda x: (x - self.mean) ** 2))

    @property
    def lowest(self) -> float:
        return self.of.ends[0] if isinstance(self.of, Univariate) else float(self.values.min())

    def above(self, x: float) -> float:
        """P(X > x)."""
        if isinstance(self.of, Univariate):
            return float(self.of.survival(x))
        return float(self.shares[self.values > x].sum())

    def at_least(self, x: float) -> float:
        """P(X >= x)."""
        if isinstance(self.of, Univariate):
            return self.above(x) + (float(self.of.density(x)) if self.of.discrete else 0.0)
        return float(self.shares[self.values >= x].sum())

    def at_most(self, x: float) -> float:
        """P(X <= x)."""
        return 1.0 - self.above(x)

    def generating(self, t: float) -> float:
        """E exp(tX)."""
        if isinstance(self.of, Univariate):
            return self.of.moment_generating(t)
        with np.errstate(over="ignore"):
            return self.expectation(lambda x: np.exp(t * x))


def markov(t: float, of: Any = None, *, mean: float | None = None) -> Bound:
    r"""Bound a tail of a variable that is not negative: :math:`P(X > t) \le E[X] / t`.

    of: a distribution, a random variable or data, which give the mean and the true value; or ``mean`` alone.

    >>> from surefit.distributions import Exponential
    >>> print(markov(3.0, Exponential(rate=1.0)))
    Markov: at most 0.333333; the true value is 0.0497871
    """
    _positive(t=t)
    if of is None:
        if mean is None or mean < 0:
            raise ParameterError("give a law or data as of=, or a mean= that is not negative.")
        return Bound("Markov", mean / t)
    law = _Law(of)
    if law.lowest < 0:
        raise DataError(f"values go down to {law.lowest:g}, but the bound is for X >= 0: use chebyshev.")
    return Bound("Markov", law.mean / t, law.above(t))


def chebyshev(t: float, of: Any = None) -> Bound:
    r"""Bound the chance to be far from the mean: :math:`P(|X - \mu| \ge t \sigma) \le 1 / t^2`.

    >>> from surefit.distributions import Normal
    >>> print(chebyshev(2.0, Normal(0.0, 1.0)))
    Chebyshev: at most 0.25; the true value is 0.0455003
    """
    _positive(t=t)
    if of is None:
        return Bound("Chebyshev", 1 / t**2)
    law = _Law(of)
    far = t * law.spread
    return Bound("Chebyshev", 1 / t**2, law.at_least(law.mean + far) + law.at_most(law.mean - far))


def chernoff(
    a: float, of: Any = None, *, t: float | None = None, generating: Callable[[float], float] | None = None
) -> Bound:
    r"""Bound a tail by the moment-generating function: :math:`P(X > a) \le \min_{t > 0} M(t) e^{-ta}`.

    t: one exponent, in place of the best one. generating: M, where it is not that of a law.

    >>> from surefit.distributions import Normal
    >>> print(chernoff(2.0, Normal(0.0, 1.0)))      # exp(-a²/2) at t = a
    Chernoff: at most 0.135335; the true value is 0.0227501, t = 2
    """
    if (of is None) == (generating is None):
        raise ParameterError("give either a law or data as of=, or its moment-generating function.")
    law = None if of is None else _Law(of)
    function = law.generating if law is not None else generating
    assert function is not None

    def exponent(step: float) -> float:
        value = function(step)
        return math.log(value) - step * a if 0 < value < math.inf else math.inf

    best = _least(exponent) if t is None else t
    _positive(t=best)
    bound = math.exp(min(exponent(best), 700.0)) if exponent(best) < math.inf else math.inf
    truth = None if law is None else law.above(a)
    return Bound("Chernoff", min(bound, 1.0) if t is None else bound, truth, {"t": best})


def hoeffding(n: int, eps: float, *, low: float = 0.0, high: float = 1.0, of: Any = None) -> Bound:
    r"""Bound how far a mean of n draws from [a, b] is off: :math:`2 e^{-2 n \epsilon^2 / (b - a)^2}`.

    of: a random variable or data from which n values are drawn independently; the true value beside the
    bound is then counted exactly, for n times the number of values below some thousand.

    >>> from surefit.probability import die
    >>> print(hoeffding(10, 1.5, low=1, high=6, of=die().variable()))
    Hoeffding: at most 0.330598; the true value is 0.00577996
    """
    bound = hoeffding_probability(n, eps, low=low, high=high)
    return Bound("Hoeffding", bound, None if of is None else _mean_is_off(_Law(of), n, eps))


def jensen(convex: Callable[[Any], Any], of: Any) -> Bound:
    r"""Compare both sides of Jensen's inequality, :math:`g(E[X]) \le E[g(X)]` for a convex g.

    The truth is :math:`g(E[X])`, the bound :math:`E[g(X)]`; it fails for a g that is not convex there.

    >>> from surefit.probability import die
    >>> jensen(lambda x: x**2, die().variable())
    Bound(name='Jensen', bound=15.166666666666666, truth=12.25, used={})
    """
    law = _Law(of)
    return Bound("Jensen", law.expectation(convex), float(convex(np.float64(law.mean))))


def cauchy_schwarz(x: Any, y: Any) -> Bound:
    r"""Compare both sides of :math:`|E[XY]| \le \sqrt{E[X^2] E[Y^2]}`, of two variables or columns of data.

    >>> cauchy_schwarz([1.0, 2.0], [3.0, 4.0])
    Bound(name='Cauchy-Schwarz', bound=5.5901699437494745, truth=5.5, used={})
    """
    if isinstance(x, RandomVariable) and isinstance(y, RandomVariable):
        product, squares = (x * y).mean, [(each * each).mean for each in (x, y)]
    else:
        one, two = (np.asarray(each, dtype=np.float64).ravel() for each in (x, y))
        if one.shape != two.shape or not one.size:
            raise DataError(f"x has {one.size} values and y {two.size}: give pairs.")
        product, squares = float(np.mean(one * two)), [float(np.mean(each**2)) for each in (one, two)]
    bound = math.sqrt(float(squares[0])) * math.sqrt(float(squares[1]))
    return Bound("Cauchy-Schwarz", bound, abs(float(product)))


def union_bound(*events: Any, space: Any = None) -> Bound:
    r"""Bound the chance that any event happens: :math:`P(\bigcup A_i) \le \sum_i P(A_i)`.

    events: probabilities; or events of a finite ``space``, whose true probability then stands beside.

    >>> from surefit.probability import die
    >>> print(union_bound({1, 2}, {2, 3}, space=die()))
    union bound: at most 0.666667; the true value is 0.5
    """
    if space is None:
        chances = [float(chance) for chance in events]
        if any(not 0 <= chance <= 1 for chance in chances):
            raise ParameterError("probabilities lie between 0 and 1; give space= for events.")
        return Bound("union bound", math.fsum(chances))
    sets = [space.event(event) for event in events]
    whole = space.probability(frozenset().union(*sets))
    return Bound("union bound", float(sum(space.probability(each) for each in sets)), float(whole))


def _least(exponent: Callable[[float], float]) -> float:
    """The minimiser of a convex function over t > 0, which may be infinite beyond some t."""
    high = 1.0
    while exponent(high) == math.inf and high > 1e-12:
        high /= 2
    while high < _LARGEST_STEP and exponent(2 * high) < exponent(high):
        high *= 2
    found = minimize_scalar(
        exponent, bounds=(0.0, 2 * high), method="bounded", options={"xatol": 1e-12 * high}
    )
    return max(float(found.x), np.finfo(np.float64).tiny)


def _mean_is_off(law: _Law, n: int, eps: float) -> float:
    """P(|mean of n - mean| >= eps), by adding up the laws of sums."""
    if isinstance(law.of, Univariate):
        raise DataError("the true value is counted for random variables of few values and for data only.")
    values, places = np.unique(law.values, return_inverse=True)
    shares = np.bincount(places.ravel(), law.shares)
    sums: Any = np.zeros(1)
    chances: Any = np.ones(1)
    for _ in range(n):
        if len(sums) * len(values) > 2**22:
            raise DataError(f"the law of a sum of {n} values is too long to count: leave of= out.")
        totals = np.round(np.add.outer(sums, values), 9).ravel()
        sums, where = np.unique(totals, return_inverse=True)
        chances = np.bincount(where.ravel(), np.outer(chances, shares).ravel())
    return float(chances[np.abs(sums / n - law.mean) >= eps - 1e-9].sum())


def _positive(**numbers: float) -> None:
    for name, value in numbers.items():
        if not value > 0 or not math.isfinite(value):
            raise ParameterError(f"{name}={value!r} must be a finite number above 0.")
