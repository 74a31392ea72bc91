"""How much a neighbour counts by its distance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from surefit.core.arrays import Matrix
from surefit.core.errors import DataError

Weights = (
    Literal["uniform", "distance", "triangular", "epanechnikov", "quartic", "tricube", "cosine", "gaussian"]
    | Callable[..., Any]
    | None
)

# Kernels of u = distance / bandwidth, up to a factor.
KERNELS: dict[str, Callable[[Matrix], Matrix]] = {
    "triangular": lambda u: 1 - u,
    "epanechnikov": lambda u: 1 - u**2,
    "quartic": lambda u: (1 - u**2) ** 2,
    "tricube": lambda u: (1 - u**3) ** 3,
    "cosine": lambda u: np.cos(np.pi / 2 * u),
    "gaussian": lambda u: np.exp(-0.5 * (2 * u) ** 2),
}


def is_plain(weights: Any) -> bool:
    """Whether all neighbours count alike."""
    return weights is None or (isinstance(weights, str) and weights == "uniform")


def needs_bandwidth(weights: Any) -> bool:
    """Whether a weight depends on how far the next neighbour is."""
    return isinstance(weights, str) and weights in KERNELS


def counting(found: Matrix) -> Matrix:
    """Return weights (m, k) that a function gave: infinite ones count alone, and some must be above 0.

    >>> counting(np.array([[np.inf, 2.0], [1.0, 2.0]]))
    array([[1., 0.],
           [1., 2.]])
    """
    endless = np.isposinf(found)
    alone = endless.any(axis=1)
    if alone.any():
        found = found.copy()
        found[alone] = endless[alone]
    if found.shape[1] and (found == 0).all(axis=1).any():
        raise DataError(
            "All neighbors of some sample is getting zero weights. Please modify 'weights' to avoid this "
            "case if you are using a user-defined function."
        )
    return found


def weights_of(weights: Any, distance: Matrix, bandwidth: Any = None) -> Matrix:
    """Return the weights of neighbours (m, k) by their distances.

    "distance": one over it; where some are 0, those alone count. A kernel: of the distance over the
    ``bandwidth``, one a row; where nothing lies within it, all count alike.

    >>> weights_of("distance", np.array([[0.0, 1.0], [1.0, 2.0]]))
    array([[1. , 0. ],
           [1. , 0.5]])
    """
    if is_plain(weights):
        return np.ones_like(distance)
    if callable(weights):
        found = np.asarray(weights(distance), dtype=np.float64)
        if found.shape != distance.shape or np.isnan(found).any():
            raise DataError(
                "weights: the function must return one number for each distance, none of them NaN."
            )
        return counting(found)
    if weights == "distance":
        zero = distance == 0
        with np.errstate(divide="ignore"):
            found = 1 / distance
        there = zero.any(axis=1)
        found[there] = zero[there]
        return np.asarray(found)
    wide = np.asarray(bandwidth, dtype=np.float64)[:, None]
    u = np.divide(distance, wide, out=np.zeros_like(distance), where=wide > 0)
    found = np.maximum(KERNELS[weights](np.minimum(u, 1.0)), 0.0)
    found[~(found > 1e-12).any(axis=1)] = 1.0
    return np.asarray(found)
