"""The exponential-family form of a distribution."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import RefusalError
from surefit.distributions.base import Array, Distribution


class ExponentialFamily(Distribution, abstract=True):
    r"""A distribution of the form :math:`p(x) = h(x) \exp(\eta' T(x) - A(\eta))`.

    Fields that are not part of :math:`\eta`, such as a number of trials, are kept: ``log_partition`` is a
    method of the instance, and ``with_natural`` a copy of it.

    >>> from surefit.distributions import Poisson
    >>> coin = Poisson(rate=3.0)
    >>> coin.natural, float(coin.log_partition(coin.natural)), coin.mean_sufficient
    (array([1.09861229]), 3.0000000000000004, array([3.]))
    """

    @property
    @abstractmethod
    def natural(self) -> Array:
        r"""The natural parameters :math:`\eta`, a vector."""

    @abstractmethod
    def with_natural(self, natural: Any) -> Self:
        """Return the member of the family with these natural parameters."""

    @abstractmethod
    def sufficient(self, x: Any) -> Array:
        """Return T(x), one vector a value along the last axis."""

    def log_base(self, x: Any) -> Any:
        """Return log h(x) at points of the support."""
        return np.zeros(np.shape(self.sufficient(x))[:-1])

    @abstractmethod
    def log_partition(self, natural: NDArray[Any]) -> Any:
        r"""Return :math:`A(\eta)`; long doubles keep their digits where no matrix is factored."""

    @property
    @abstractmethod
    def mean_sufficient(self) -> Array:
        r"""The expected T(x), which is the gradient of A."""

    @property
    def mean_log_base(self) -> float:
        """The expected log h(x)."""
        return 0.0

    @property
    def entropy(self) -> float:
        r"""Minus the expected log-density, in nats: :math:`A(\eta) - \eta' E T - E \log h`."""
        natural = self.natural
        return float(self.log_partition(natural) - natural @ self.mean_sufficient) - self.mean_log_base

    def divergence(self, other: Self) -> float:
        r"""Return the Kullback-Leibler divergence to another member: Bregman's distance of A,

        .. math:: A(\eta_2) - A(\eta_1) - (\eta_2 - \eta_1)' \nabla A(\eta_1).
        """
        self._check_family(other)
        one, two = self.natural, other.natural
        gap = self.log_partition(two) - self.log_partition(one) - (two - one) @ self.mean_sufficient
        return max(float(gap), 0.0)

    def _check_family(self, other: Distribution) -> None:
        """Refuse a member of another family: all fields but the natural ones must agree."""
        if type(self) is not type(other) or self.event_shape != other.event_shape:
            raise RefusalError(
                f"{self!r} and {other!r} belong to different families, so their divergence has no closed "
                "form."
            )


def columns(*parts: Any) -> Array:
    """Join functions of x as the last axis."""
    return np.stack(np.broadcast_arrays(*(np.asarray(part, dtype=np.float64) for part in parts)), axis=-1)


def xlogx_ratio(p: Array, q: Array) -> Array:
    """Return p log(p / q), which is 0 where p = 0 and inf where only q = 0."""
    from scipy.special import rel_entr

    return np.asarray(rel_entr(p, q))
