r"""Half the deviance of any family through any link: what a generalised linear model minimises.

Pairs that are used most have losses of their own, fused so that nothing is lost far out and with a conjugate
for the duality gap. This one takes all others: a few by :mod:`~surefit.losses.fused_pairs`, the rest through
the mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.parameters import Interval
from surefit.losses.arrays import Array, aligned
from surefit.losses.base import Loss
from surefit.losses.families import Binomial, Family
from surefit.losses.fused_pairs import Derivatives, fused_pair
from surefit.losses.links import Link

# Pairs whose half deviance is convex in the score, for every target: the canonical ones, and a few more.
CONVEX = {
    ("gaussian", "identity"),
    ("binomial", "logit"),
    ("binomial", "probit"),
    ("binomial", "cloglog"),
    ("poisson", "log"),
    ("poisson", "identity"),
    ("gamma", "log"),
    ("gamma", "inverse"),
    ("inverse_gaussian", "inverse_squared"),
    ("negative_binomial", "log"),
}
CLOSEST = 1e-300  # a mean that rounds to an end of its range is this far from it


class FamilyLoss(Loss):
    r""":math:`f = d(y, \mu(z)) / 2`; infinite where z is the score of no mean.

    ``curvature`` is the expected one, :math:`\mu'(z)^2 / V(\mu)`: never negative, and the true one under a
    canonical link. ``observed_curvature`` is the second derivative.

    >>> from surefit.losses.families import Gamma
    >>> from surefit.losses.links import Inverse
    >>> FamilyLoss(Gamma(), Inverse()).value([2.0, 1.0], [0.5, 1.0])
    array([0., 0.])
    """

    def __init__(self, family: Family, link: Link) -> None:
        self.family, self.link = family, link  # type: ignore[misc]
        self.name = f"{family.name} {link.name}"  # type: ignore[misc]

    def _fused(self, y: Any, z: Any) -> Derivatives | None:
        """Return the derivatives by the pair's own formulas; None where it has none."""
        of = fused_pair(self.family.name, self.link.name)
        if of is None:
            return None
        with np.errstate(all="ignore"):  # of two branches, one may overflow where the other is taken
            return of(y, z)

    @property
    def options(self) -> dict[str, Any]:
        """None that can be changed by name."""
        return {}

    def __repr__(self) -> str:
        return f"FamilyLoss({self.family!r}, {self.link!r})"

    @property
    def domain(self) -> Interval:
        """The family's targets."""
        return self.family.targets

    @property
    def convex(self) -> bool:
        """Whether this pair is known to be."""
        return (self.family.name, self.link.name) in CONVEX

    def mean(self, z: Any) -> tuple[Array, Any]:
        """Return means and which scores have one; the others' are 1."""
        z = np.atleast_1d(np.asarray(z, dtype=np.float64))
        known = np.isfinite(z)
        if self.link.range.low is not None and not self.link.two_roots:
            known &= z > self.link.range.low
        with np.errstate(all="ignore"):
            mean = np.asarray(self.link.inverse(np.where(known, z, 1.0)))
        low, high = self.family.means.low, self.family.means.high
        known &= np.isfinite(mean)
        if low is not None and self.link.domain.low is None:
            known &= mean > low
        if high is not None and self.link.domain.high is None:
            known &= mean < high
        if low is not None:
            mean = np.maximum(mean, CLOSEST)
        if high is not None:
            mean = np.minimum(mean, 1.0 - np.finfo(float).eps / 2)
        return np.where(known, mean, 0.5 if isinstance(self.family, Binomial) else 1.0), known

    def value(self, y: Any, z: Any) -> Array:
        """Return half the unit deviance."""
        y, z = aligned(y, z)
        if (fused := self._fused(y, z)) is not None:
            return np.where(np.isfinite(z) & ~np.isnan(fused.value), fused.value, np.inf)
        mean, known = self.mean(z)
        with np.errstate(all="ignore"):
            found = 0.5 * self.family.deviance(y, mean)
        return np.where(known & ~np.isnan(found), found, np.inf)

    def gradient(self, y: Any, z: Any) -> Array:
        """Return (mean - y) mean' / V(mean)."""
        y, z = aligned(y, z)
        if (fused := self._fused(y, z)) is not None:
            return _finite(fused.slope)
        mean, known = self.mean(z)
        with np.errstate(all="ignore"):
            found = (mean - y) * self.link.inverse_derivative(z) / self.family.variance(mean)
        return np.where(known & np.isfinite(found), found, 0.0)

    def curvature(self, y: Any, z: Any) -> Array:
        """Return mean'^2 / V(mean)."""
        y, z = aligned(y, z)
        if (fused := self._fused(y, z)) is not None:
            return _finite(fused.expected)
        mean, known = self.mean(z)
        with np.errstate(all="ignore"):
            found = self.link.inverse_derivative(z) ** 2 / self.family.variance(mean)
        return np.where(known & np.isfinite(found), found, 0.0)

    def observed_curvature(self, y: Any, z: Any) -> Array:
        """Return the second derivative."""
        y, z = aligned(y, z)
        if (fused := self._fused(y, z)) is not None:
            return _finite(fused.observed)
        mean, known = self.mean(z)
        with np.errstate(all="ignore"):
            v, slope = self.family.variance(mean), self.link.inverse_derivative(z)
            rest = self.link.inverse_bend(z) / v - slope**2 * self.family.variance_slope(mean) / v**2
            found = slope**2 / v + (mean - y) * rest
        return np.where(known & np.isfinite(found), found, 0.0)

    def check(self, y: Any) -> None:
        """Raise an error that names the first row whose target the family does not take."""
        y = np.asarray(y, dtype=np.float64)
        self._refuse(y, ~self.family.allowed(y), f"numbers in {self.domain}")


def _finite(each: Array) -> Array:
    """Return the numbers, 0 for what is none: such a row has no finite loss."""
    return np.where(np.isfinite(each), each, 0.0)
