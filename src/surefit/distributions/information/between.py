"""Information between two distributions, in nats."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.errors import RefusalError
from surefit.distributions.base import Array, Distribution
from surefit.distributions.univariate import Univariate


def divergence(p: Distribution, q: Distribution) -> float:
    """Return the Kullback-Leibler divergence: in closed form within a family, else summed or integrated."""
    if type(p) is type(q) and hasattr(p, "divergence"):
        try:
            return float(p.divergence(q))
        except RefusalError:
            if not isinstance(p, Univariate):
                raise
    one, two = comparable(p, q)
    if not covers(two, one):
        return np.inf
    return max(float(one.expectation(lambda x: one.log_density(x) - two.log_density(x))), 0.0)


def jensen_shannon(p: Distribution, q: Distribution, share: float) -> float:
    """Return the Jensen-Shannon divergence of two distributions of one number, summed or integrated."""
    one, two = comparable(p, q)

    def excess(of: Univariate) -> float:
        def ratio(x: Array) -> Any:
            with np.errstate(divide="ignore"):
                own = (np.log(share) + one.log_density(x), np.log1p(-share) + two.log_density(x))
            return of.log_density(x) - np.logaddexp(*own)

        return float(of.expectation(ratio))

    parts = ((share, one), (1.0 - share, two))
    return max(sum(part * excess(of) for part, of in parts if part > 0), 0.0)


def comparable(p: Distribution, q: Distribution) -> tuple[Univariate, Univariate]:
    """Refuse what has neither a closed form nor one number to integrate over."""
    if isinstance(p, Univariate) and isinstance(q, Univariate) and p.discrete == q.discrete:
        return p, q
    raise RefusalError(
        f"there is no closed form between {p!r} and {q!r}, and only two discrete or two continuous "
        "distributions of one number can be compared without one: estimate it from samples."
    )


def covers(large: Univariate, small: Univariate) -> bool:
    """Whether one can take every value of the other."""
    (low, high), (first, last) = large._ends, small._ends
    return low <= first and last <= high
