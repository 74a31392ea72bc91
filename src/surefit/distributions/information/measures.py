"""The measures that take tables and distributions alike."""

from __future__ import annotations

import math
from typing import Any

from surefit.core.errors import DataError, ParameterError
from surefit.distributions.base import Distribution
from surefit.distributions.information import between, tables
from surefit.distributions.information.tables import nats_in


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
        return (p.entropy + between.divergence(p, q)) / nats_in(base)
    return _plain(tables.cross_entropy(p, q, axis) / nats_in(base))


def kl_divergence(p: Any, q: Any, *, base: float = math.e, axis: int = -1) -> Any:
    r"""Return :math:`KL(p \| q) = \sum p \log(p / q)`; inf where q cannot have what p has.

    Distributions of one family have a closed form; others of one number are summed or integrated.

    >>> round(kl_divergence([0.5, 0.5], [0.9, 0.1]), 10), kl_divergence([0.5, 0.5], [1.0, 0.0])
    (0.5108256238, inf)
    """
    if _both(p, q):
        return between.divergence(p, q) / nats_in(base)
    return _plain(tables.divergence(p, q, axis) / nats_in(base))


def jensen_shannon(p: Any, q: Any, *, share: float = 0.5, base: float = math.e, axis: int = -1) -> Any:
    r"""Return :math:`s\, KL(p \| m) + (1 - s)\, KL(q \| m)` with :math:`m = s p + (1 - s) q`, never infinite.

    >>> jensen_shannon([1.0, 0.0], [0.0, 1.0], base=2)
    1.0
    """
    if not 0 <= share <= 1:
        raise ParameterError(f"share={share!r} is not allowed; it must be a number in [0, 1].")
    if _both(p, q):
        return between.jensen_shannon(p, q, share) / nats_in(base)
    return _plain(tables.jensen_shannon(p, q, share, axis) / nats_in(base))


def _both(p: Any, q: Any) -> bool:
    """Whether both are distributions; one of each kind is an error."""
    kinds = {isinstance(p, Distribution), isinstance(q, Distribution)}
    if len(kinds) == 2:
        raise DataError("one is a distribution and the other a table: give two of a kind.")
    return kinds == {True}


def _plain(nats: Any) -> Any:
    return nats if getattr(nats, "ndim", 0) else float(nats)
