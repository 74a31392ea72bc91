"""Probabilities of a few outcomes, as parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.distributions.base import Array, Distribution, array_parameter, refuse_parameter


def prepare_shares(distribution: Distribution, name: str = "probabilities") -> None:
    """Check that a parameter holds probabilities, and divide away the rounding of their sum."""
    shares = array_parameter(distribution, name, 1)
    if (shares < 0).any() or abs(shares.sum() - 1.0) > 1e-8:
        refuse_parameter(distribution, name, "it must hold nonnegative numbers that add up to 1")
    shares = shares / shares.sum()
    shares.flags.writeable = False
    object.__setattr__(distribution, name, shares)


def log_odds(shares: Array) -> Array:
    """Return the logarithms of all shares but the last, relative to the last."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(shares[:-1]) - np.log(shares[-1]))


def softmax(odds: Any) -> Array:
    """Return the shares of these log-odds and of 0."""
    logs = np.append(np.asarray(odds, dtype=np.float64), 0.0)
    high = np.exp(logs - logs.max())
    return np.asarray(high / high.sum())


def log_sum(odds: NDArray[Any]) -> Any:
    """Return log(1 + sum of exp(odds)); long doubles keep their digits."""
    high = np.maximum(odds.max(initial=0), 0)
    return high + np.log(np.exp(-high) + np.exp(odds - high).sum())
