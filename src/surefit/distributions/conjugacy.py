"""Conjugate priors: what is known of the parameters before and after some rows."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np

from surefit.core.errors import RefusalError
from surefit.distributions.base import Distribution


class Conjugate(Distribution, abstract=True):
    r"""A distribution whose parameters have a prior of the same form as their posterior.

    The posterior needs the data only through the statistic, so rows may come one at a time or all at once,
    from anywhere. ``known`` parameters are held fixed and given by keyword.

    >>> from surefit.distributions import Bernoulli
    >>> prior = Bernoulli.conjugate_prior(2, 2)
    >>> posterior = Bernoulli.posterior(prior, [0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
    >>> posterior, round(posterior.mode, 6), Bernoulli.predictive(posterior)
    (Beta(alpha=8.0, beta=6.0), 0.583333, Bernoulli(probability=0.5714285714285714))
    """

    @classmethod
    @abstractmethod
    def _prior_classes(cls) -> tuple[type[Distribution], ...]:
        """The classes of priors, the usual one first."""

    @classmethod
    @abstractmethod
    def _updated(cls, prior: Any, statistic: Any, **known: Any) -> Any:
        """Return the posterior."""

    @classmethod
    @abstractmethod
    def _predictive(cls, prior: Any, **known: Any) -> Distribution:
        """Return the distribution of one row, with the parameters integrated out."""

    @classmethod
    @abstractmethod
    def given(cls, parameter: Any, **known: Any) -> Self:
        """Return the distribution at a value that the prior can draw."""

    @classmethod
    def conjugate_prior(cls, *arguments: Any, **named: Any) -> Any:
        """Make a prior, by the parameters of its class."""
        return cls._prior_classes()[0](*arguments, **named)

    @classmethod
    def posterior(cls, prior: Any, x: Any, sample_weight: Any = None, **known: Any) -> Any:
        """Return the posterior after these rows; weights are frequencies."""
        return cls.update(prior, cls.statistic(x, sample_weight, **known), **known)

    @classmethod
    def update(cls, prior: Any, statistic: Any, **known: Any) -> Any:
        """Return the posterior after the rows of a statistic."""
        cls._check_prior(prior)
        if not np.any(np.asarray(statistic.weight) > 0):
            return prior
        return cls._updated(prior, statistic, **known)

    @classmethod
    def predictive(cls, prior: Any, **known: Any) -> Distribution:
        """Return the distribution of the next row, under a prior or a posterior."""
        cls._check_prior(prior)
        return cls._predictive(prior, **known)

    @classmethod
    def log_evidence(cls, prior: Any, x: Any, sample_weight: Any = None, **known: Any) -> float:
        r"""Return the log-probability of the rows: Bayes' rule, solved at the posterior mean for

        .. math:: p(x) = p(x | \theta)\, p(\theta) / p(\theta | x).
        """
        posterior = cls.posterior(prior, x, sample_weight, **known)
        theta = posterior.mean
        each = cls.given(theta, **known).log_density(np.asarray(x, dtype=np.float64))
        weight = np.ones(np.shape(each)) if sample_weight is None else np.asarray(sample_weight)
        return float(weight @ each + prior.log_density(theta) - posterior.log_density(theta))

    @classmethod
    def _check_prior(cls, prior: Any) -> None:
        if not isinstance(prior, cls._prior_classes()):
            names = " or ".join(known.__name__ for known in cls._prior_classes())
            raise RefusalError(
                f"{cls.__name__} takes a {names} as its conjugate prior, not {prior!r}: give one of those."
            )
