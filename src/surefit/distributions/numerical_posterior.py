"""The posterior of one parameter under any prior and likelihood, by quadrature."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.integrate import quad_vec
from scipy.optimize import minimize_scalar

from surefit.core.arrays import Vector
from surefit.core.errors import DataError, RefusalError
from surefit.core.public import public
from surefit.distributions.univariate import Univariate

LEVELS = 4001  # quantiles of the prior among which the top is looked for
DEEP = 60.0  # in log units below the top nothing counts: e^-60 is far below rounding
ACCURACY = 1e-9  # relative to each integral's size; beyond 1e-6 the answer is refused


@dataclass(frozen=True, slots=True)
class NumericalPosterior:
    """What is known of a parameter: evidence, most probable value, mean, variance and density."""

    log_evidence: float
    mode: float
    mean: float
    variance: float
    error: float
    _log_joint: Callable[[Any], Vector] = field(repr=False)

    def density(self, parameter: Any) -> Vector:
        """Return the posterior's density."""
        with np.errstate(under="ignore"):
            return np.exp(self._log_joint(np.asarray(parameter, dtype=np.float64)) - self.log_evidence)


@public
def numerical_posterior(prior: Univariate, log_likelihood: Callable[[Vector], Any]) -> NumericalPosterior:
    r"""Return the posterior of one number, :math:`p(x | \theta)\, p(\theta) / p(x)`, by quadrature.

    prior: any continuous distribution of ``surefit.distributions`` of one number. log_likelihood: takes
    parameters as a vector, returns the log-likelihood of the data at each. error: the quadrature's own
    estimate, relative. Where prior and likelihood are conjugate, ``posterior`` of the distribution is exact.

    >>> import numpy as np
    >>> from surefit.distributions import Beta
    >>> found = numerical_posterior(Beta(2, 2), lambda p: 6 * np.log(p) + 4 * np.log1p(-p))
    >>> round(found.mode, 6), round(found.mean, 6)
    (0.583333, 0.571429)
    """
    if not isinstance(prior, Univariate) or prior.discrete:
        raise DataError(f"prior={prior!r} must be a continuous distribution of one number.")

    def log_joint(theta: Any) -> Vector:
        with np.errstate(all="ignore"):
            total = prior.log_density(theta) + np.asarray(log_likelihood(theta), dtype=np.float64)
        return np.where(np.isnan(total), -np.inf, total)

    mode, top, low, high, breaks = _span(prior, log_joint)

    def moments(theta: float) -> Vector:
        mass = math.exp(min(float(log_joint(np.array([theta]))[0]) - top, 1.0))
        away = theta - mode
        return mass * np.array([1.0, away, away * away])

    found, error = quad_vec(moments, low, high, epsabs=0.0, epsrel=ACCURACY, norm="max", points=breaks)
    if not np.isfinite(found).all() or error > 1e-6 * np.abs(found).max():
        raise RefusalError(
            "the posterior could not be integrated: its mass lies in places too narrow or too far."
        )
    mean = float(found[1] / found[0])
    return NumericalPosterior(
        log_evidence=top + math.log(found[0]),
        mode=mode,
        mean=mode + mean,
        variance=float(found[2] / found[0]) - mean**2,
        error=float(error / np.abs(found).max()),
        _log_joint=log_joint,
    )


def _span(
    prior: Univariate, log_joint: Callable[[Any], Vector]
) -> tuple[float, float, float, float, list[float]]:
    """Return the top and its place, the interval outside which nothing counts, and where to divide it."""
    inner = (np.arange(LEVELS) + 0.5) / LEVELS
    tails = np.logspace(-300, -4, 75)
    grid = np.unique(np.r_[prior.quantile(tails), prior.quantile(inner), _upper(prior, tails)])
    grid = grid[np.isfinite(grid)]
    heights = log_joint(grid)
    at = int(np.argmax(heights))
    if not np.isfinite(heights[at]):
        raise DataError("the likelihood is zero or infinite wherever the prior is not: check log_likelihood.")
    left, right = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
    options = {"xatol": 1e-12 * max(abs(left), abs(right), right - left)}
    finer = minimize_scalar(
        lambda x: -float(log_joint(np.array([x]))[0]), bounds=(left, right), method="bounded", options=options
    )
    mode, top = (float(finer.x), -float(finer.fun)) if -finer.fun >= heights[at] else (grid[at], heights[at])
    place = int(np.searchsorted(grid, mode))  # the peak may be narrower than the grid is fine
    grid, heights = np.insert(grid, place, mode), np.insert(heights, place, top)
    counts = np.flatnonzero(heights > top - DEEP)
    low = min(_edge(log_joint, top, mode, grid[max(counts[0] - 1, 0)]), grid[counts[0]])
    high = max(_edge(log_joint, top, mode, grid[min(counts[-1] + 1, len(grid) - 1)]), grid[counts[-1]])
    peaks = 1 + np.flatnonzero((heights[1:-1] > heights[:-2]) & (heights[1:-1] >= heights[2:]))
    others = [float(x) for x in grid[peaks[heights[peaks] > top - DEEP]]]
    return float(mode), float(top), float(low), float(high), sorted({float(mode), *others})


def _upper(prior: Univariate, tails: Vector) -> Vector:
    return np.asarray(prior.quantile(1.0 - tails))


def _edge(log_joint: Callable[[Any], Vector], top: float, inside: float, outside: float) -> float:
    """Return where, between a point that counts and one that does not, the joint density ceases to."""
    if log_joint(np.array([outside]))[0] > top - DEEP:
        return outside
    for _ in range(60):
        middle = 0.5 * (inside + outside)
        if log_joint(np.array([middle]))[0] > top - DEEP:
            inside = middle
        else:
            outside = middle
    return outside
