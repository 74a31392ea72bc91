"""The measures that take tables and distributions alike."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.distributions.base import Array, Distribution
from surefit.distributions.information import tables
from surefit.distributions.information.tables import nats_in
from surefit.distributions.univariate import Univariate, covers


def entropy(p: Any, *, base: float = math.e, axis: int = -1) -> Any:
    r"""Return :math:`H = -\sum p \log p`, or :math:`-\int p \log p` of a continuous distribution.

    p holds probabilities or counts along an axis, or is a distribution.

    >>> from surefit.distributions import Normal
    >>> entropy([2, 1, 1], base=2), round(entropy(Normal()), 6)
    (1.5, 1.418939)
    """
    nats = p.entropy if isinstance(p, Distribution) else tables.entropy(p, axis)
    return _plain(nats / nats_in(base))


def cross_entropy(p: Any, q: Any, *, base: float = math.e, axis: int = -1) -> Any:
    r"""Return :math:`H(p, q) = -\sum p \log q = H(p) + KL(p \| q)`.

    >>> round(cross_entropy([0.5, 0.5], [0.9, 0.1]), 10)
    1.2039728043
    """
    if _both(p, q):
        return (p.entropy + _divergence_of(p, q)) / nats_in(base)
    return _plain(tables.cross_entropy(p, q, axis) / nats_in(base))


def kl_divergence(p: Any, q: Any, *, base: float = math.e, axis: int = -1) -> Any:
    r"""Return :math:`KL(p \| q) = \sum p \log(p / q)`; inf where q cannot have what p has.

    Distributions of one family have a closed form; others of one number are summed or integrated.

    >>> round(kl_divergence([0.5, 0.5], [0.9, 0.1]), 10), kl_divergence([0.5, 0.5], [1.0, 0.0])
    (0.5108256238, inf)
    """
    if _both(p, q):
        return _divergence_of(p, q) / nats_in(base)
    return _plain(tables.divergence(p, q, axis) / nats_in(base))


def jensen_shannon(p: Any, q: Any, *, share: float = 0.5, base: float = math.e, axis: int = -1) -> Any:
    r"""Return :math:`s\, KL(p \| m) + (1 - s)\, KL(q \| m)` with :math:`m = s p + (1 - s) q`, never infinite.

    >>> jensen_shannon([1.0, 0.0], [0.0, 1.0], base=2)
    1.0
    """
    if not 0 <= share <= 1:
        raise ParameterError(f"share={share!r} is not allowed; it must be a number in [0, 1].")
    if _both(p, q):
        return _jensen_shannon_of(p, q, share) / nats_in(base)
    return _plain(tables.jensen_shannon(p, q, share, axis) / nats_in(base))


def _both(p: Any, q: Any) -> bool:
    """Whether both are distributions; one of each kind is an error."""
    kinds = {isinstance(p, Distribution), isinstance(q, Distribution)}
    if len(kinds) == 2:
        raise DataError("one is a distribution and the other a table: give two of a kind.")
    return kinds == {True}


def _plain(nats: Any) -> Any:
    return nats if getattr(nats, "ndim", 0) else float(nats)


def _divergence_of(p: Distribution, q: Distribution) -> float:
    """Return the Kullback-Leibler divergence: in closed form within a family, else summed or integrated."""
    if type(p) is type(q) and hasattr(p, "divergence"):
        try:
            return float(p.divergence(q))
        except RefusalError:
            if not isinstance(p, Univariate):
                raise
    one, two = _comparable(p, q)
    if not covers(two, one):
        return np.inf
    return max(float(one.expectation(lambda x: one.log_density(x) - two.log_density(x))), 0.0)


def _jensen_shannon_of(p: Distribution, q: Distribution, share: float) -> float:
    """Return the Jensen-Shannon divergence of two distributions of one number, summed or integrated."""
    one, two = _comparable(p, q)

    def excess(of: Univariate) -> float:
        def ratio(x: Array) -> Any:
            with np.errstate(divide="ignore"):
                own = (np.log(share) + one.log_density(x), np.log1p(-share) + two.log_density(x))
            return of.log_density(x) - np.logaddexp(*own)

        return float(of.expectation(ratio))

    parts = ((share, one), (1.0 - share, two))
    return max(sum(part * excess(of) for part, of in parts if part > 0), 0.0)


def _comparable(p: Distribution, q: Distribution) -> tuple[Univariate, Univariate]:
    """Refuse what has neither a closed form nor one number to integrate over."""
    if isinstance(p, Univariate) and isinstance(q, Univariate) and p.discrete == q.discrete:
        return p, q
    raise RefusalError(
        f"there is no closed form between {p!r} and {q!r}, and only two discrete or two continuous "
        "distributions of one number can be compared without one: estimate it from samples."
    )
