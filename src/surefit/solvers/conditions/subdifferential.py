"""Whether a vector is a subgradient: a slope that stays below the function everywhere."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from surefit.solvers.conditions.differences import Function
from surefit.solvers.conditions.probe import ROUNDINGS, Probe, Sampler


def is_subgradient(
    f: Function,
    x: ArrayLike,
    slope: ArrayLike,
    sampler: Sampler | None = None,
    *,
    trials: int = 1000,
    random_state: int = 0,
) -> Probe:
    """Look for a point u with f(u) < f(x) + slope · (u - x); without a sampler, around x at all distances.

    >>> is_subgradient(lambda x: abs(x[0]), [0.0], [0.5]).refuted
    False
    >>> is_subgradient(lambda x: abs(x[0]), [0.0], [1.5]).refuted
    True
    """
    rng = np.random.default_rng(random_state)
    point, direction = (np.atleast_1d(np.array(given, dtype=np.float64)) for given in (x, slope))
    here = float(np.asarray(f(point), dtype=np.float64).sum())
    reach = max(1.0, float(np.abs(point).max()))
    found = Probe(f"the subgradient {np.array2string(direction, precision=6, threshold=8)}", trials)
    for _ in range(trials):
        if sampler is not None:
            other = sampler(rng)
        else:
            other = point + reach * 10.0 ** rng.uniform(-6, 2) * rng.normal(size=point.shape)
        with np.errstate(all="ignore"):
            there = float(np.asarray(f(other), dtype=np.float64).sum())
        rise = float(direction @ (other - point))
        size = abs(here) + abs(there) + float(np.abs(direction) @ np.abs(other - point))
        excess = (here + rise - there) / size if size > 0 and np.isfinite(there) else 0.0
        if excess > max(ROUNDINGS, found.worst):
            found = Probe(found.of, trials, excess, {"u": other, "excess": excess * size})
    return found
