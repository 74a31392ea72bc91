r"""Expectation and maximisation: the likelihood of a model with hidden variables, climbed step by step.

For any distribution q of the hidden Z, :math:`\log p(X|\theta) = \Psi(q, \theta) + KL(q \| p(Z|X, \theta))`
with the bound :math:`\Psi = \sum_Z q \log \frac{p(X, Z|\theta)}{q}`. The E-step makes the divergence 0, the
M-step raises the bound; so the likelihood never falls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from scipy.special import logsumexp, xlogy

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import RefusalError
from surefit.core.public import public
from surefit.core.trace import Trace

Theta = TypeVar("Theta")
ROUNDING = 1e-9  # of a log-likelihood: what sums of many logarithms may lose


@dataclass(frozen=True, slots=True)
class Climb(Generic[Theta]):
    """Where a climb ended: the last parameters, those two steps before, and the likelihoods of all before."""

    parameters: Theta
    before: Theta
    likelihoods: tuple[float, ...]
    converged: bool
    last: float = -np.inf  # the likelihood before the first step, where it is known

    @property
    def gain(self) -> float:
        """What the last step that was judged gained; infinite after a single one."""
        return gain_of(self.likelihoods, self.last)


def gain_of(likelihoods: Sequence[float], last: float = -np.inf) -> float:
    """How much the last of some likelihoods is above the one before; ``last`` is that before the first."""
    all_of_them = (last, *likelihoods)
    return all_of_them[-1] - all_of_them[-2] if len(all_of_them) > 1 else np.inf


def climb(
    step: Callable[[Theta], tuple[float, Theta]],
    start: Theta,
    tolerance: float,
    limit: int,
    trace: Trace,
    last: float = -np.inf,
) -> Climb[Theta]:
    """Repeat a step, which returns the likelihood where it began and where it leads to.

    It ends when a step gains less than ``tolerance``, after ``limit`` steps, or when a callback asks.
    """
    before = previous = now = start
    found: list[float] = []
    converged = False
    for _ in trace.iterations(limit):
        likelihood, following = step(now)
        found.append(likelihood)
        gain = gain_of(found, last)
        trace.record(objective=-likelihood, gap=abs(gain) if np.isfinite(gain) else None)
        converged = abs(gain) < tolerance
        if len(found) > 1:
            before = previous
        previous, now = now, following
        if converged:
            break
    return Climb(now, before, tuple(found), converged, last)


class Identity(NamedTuple):
    """The two sides of log-likelihood = bound + divergence."""

    log_likelihood: float
    bound: float
    divergence: float

    @property
    def error(self) -> float:
        """How far the two sides are apart, relative to their size."""
        size = 1 + abs(self.log_likelihood) + abs(self.bound)
        return abs(self.log_likelihood - self.bound - self.divergence) / size


@public
class ExpectationMaximization:
    r"""EM for a model of your own.

    e_step(X, theta): the posterior of the hidden variable, a row of probabilities for each row of X.
    m_step(X, q): the parameters that are best for these. log_likelihood(X, theta): the sum over all rows.
    log_joint(X, theta): :math:`\log p(x_i, z)` for each row and value of z; with ``check=True`` the identity
    log-likelihood = bound + divergence, for the posterior and for uniform q, and that the likelihood does
    not fall, are checked at every step. tol: the gain of log-likelihood at which to stop.

    >>> import numpy as np
    >>> from surefit import ExpectationMaximization
    >>> heads = np.array([5, 9, 8, 4, 7])  # of ten throws of one of two coins, nobody knows which
    >>> def log_joint(x, p):
    ...     return np.log(0.5) + x[:, None] * np.log(p) + (10 - x[:, None]) * np.log(1 - p)
    >>> def log_likelihood(x, p):
    ...     return np.logaddexp.reduce(log_joint(x, p), axis=1).sum()
    >>> def e_step(x, p):
    ...     return np.exp(log_joint(x, p) - np.logaddexp.reduce(log_joint(x, p), axis=1)[:, None])
    >>> def m_step(x, q):
    ...     return (q * x[:, None]).sum(axis=0) / (10 * q.sum(axis=0))
    >>> em = ExpectationMaximization(e_step, m_step, log_likelihood, log_joint, check=True, tol=1e-10)
    >>> em.run(heads, np.array([0.6, 0.5])).round(3)
    array([0.797, 0.52 ])
    """

    log_likelihoods_: Vector
    trace_: Trace
    converged_: bool

    def __init__(
        self,
        e_step: Callable[[Any, Any], Any],
        m_step: Callable[[Any, Any], Any],
        log_likelihood: Callable[[Any, Any], float],
        log_joint: Callable[[Any, Any], Any] | None = None,
        *,
        check: bool = False,
        max_iter: int = 1000,
        tol: float = 1e-6,
    ) -> None:
        if check and log_joint is None:
            raise RefusalError("check=True compares with the joint density: give log_joint(X, theta).")
        self.e_step = e_step
        self.m_step = m_step
        self.log_likelihood = log_likelihood
        self.log_joint = log_joint
        self.check = check
        self.max_iter = max_iter
        self.tol = tol

    def run(self, X: Any, start: Any) -> Any:
        """Climb from ``start`` and return the parameters reached; ``log_likelihoods_`` has every step's."""
        self.trace_ = Trace()
        last = -np.inf

        def step(theta: Any) -> tuple[float, Any]:
            nonlocal last
            likelihood = float(self.log_likelihood(X, theta))
            q = self.e_step(X, theta)
            if self.check:
                self._hold(X, theta, q, likelihood, last)
                last = likelihood
            return likelihood, self.m_step(X, q)

        found = climb(step, start, self.tol, self.max_iter, self.trace_)
        self.log_likelihoods_ = np.array(found.likelihoods)
        self.converged_ = found.converged
        return found.parameters

    def identity(self, X: Any, theta: Any, q: Any = None) -> Identity:
        """The log-likelihood, and the bound and the divergence of q, by default the posterior."""
        if self.log_joint is None:
            raise RefusalError("bound and divergence come of the joint density: give log_joint(X, theta).")
        joint = np.asarray(self.log_joint(X, theta), dtype=np.float64)
        shares: Matrix = np.asarray(self.e_step(X, theta) if q is None else q, dtype=np.float64)
        posterior = joint - logsumexp(joint, axis=1, keepdims=True)
        entropy = -xlogy(shares, shares).sum()
        bound = _expected(shares, joint) + entropy
        divergence = -entropy - _expected(shares, posterior)
        return Identity(float(self.log_likelihood(X, theta)), float(bound), float(divergence))

    def _hold(self, X: Any, theta: Any, q: Any, likelihood: float, last: float) -> None:
        uniform = np.full(np.shape(q), 1 / np.shape(q)[1])
        for name, tried in (("the posterior of e_step", q), ("uniform q", uniform)):
            found = self.identity(X, theta, tried)
            if not found.error <= ROUNDING:
                raise RefusalError(
                    f"log-likelihood {found.log_likelihood:.10g} is not the bound {found.bound:.10g} plus "
                    f"the divergence {found.divergence:.10g} for {name}: log_likelihood or log_joint is "
                    "wrong, or the rows of q do not add up to 1."
                )
        if not self.identity(X, theta, q).divergence <= ROUNDING * (1 + abs(likelihood)):
            raise RefusalError("what e_step returns is not the posterior of log_joint: correct one of them.")
        if not likelihood >= last - ROUNDING * (1 + abs(last)):
            raise RefusalError(
                f"the log-likelihood fell from {last:.10g} to {likelihood:.10g}: m_step does not maximise "
                "the expected log-likelihood."
            )


def _expected(shares: Matrix, logs: Matrix) -> float:
    """The sum of q log p, where q = 0 takes no part."""
    return float(np.where(shares > 0, shares * logs, 0.0).sum())
