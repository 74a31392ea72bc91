"""How far data lie from a truth: distances in standard errors, and in roundings where nothing is random."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def total(found: ArrayLike, mean: ArrayLike, variance: ArrayLike) -> float:
    """Distance of a sum of independent numbers from its expectation; the largest, column by column."""
    gap = np.abs(np.sum(np.asarray(found) - np.asarray(mean), axis=0))
    spread = np.sqrt(np.sum(np.broadcast_to(variance, np.shape(found)), axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.max(np.where(gap == 0, 0.0, gap / spread)))


def noise(residual: ArrayLike, deviation: ArrayLike) -> float:
    """Distance of the spread of normal residuals from their true standard deviation.

    By the cube root of the chi-square variable, which is normal to the third order already for few residuals.
    """
    scaled = np.asarray(residual) / np.asarray(deviation)
    step = 2.0 / (9.0 * scaled.size)
    return float(abs(np.cbrt(np.mean(scaled**2)) - (1.0 - step)) / np.sqrt(step))


def score(design: NDArray[Any], residual: ArrayLike, deviation: ArrayLike) -> float:
    """Distance of the residuals from being unrelated to each column and to the constant, the largest."""
    columns = np.column_stack([np.ones(len(design)), design])
    scale = np.broadcast_to(deviation, len(design))
    gap = np.abs(columns.T @ np.asarray(residual))
    return float(np.max(gap / np.sqrt((columns**2).T @ scale**2)))


def labels(y: NDArray[Any], posterior: NDArray[np.float64]) -> float:
    """Distance of the labels from the probabilities that the truth gives them.

    Plain totals see a wrong class frequency; totals weighted by the probability see labels at wrong rows.
    """
    classes = np.arange(posterior.shape[1])
    gap = (y[:, None] == classes) - posterior
    variance = posterior * (1.0 - posterior)
    weight = posterior - posterior.mean(axis=0)
    return max(total(gap, 0.0, variance), total(weight * gap, 0.0, weight**2 * variance))


def exact(found: ArrayLike, truth: ArrayLike, tolerance: float) -> float:
    """Distance in units of a tolerance relative to the largest entry of the truth."""
    truth = np.asarray(truth, dtype=np.float64)
    scale = tolerance * max(float(np.max(np.abs(truth), initial=0.0)), np.finfo(np.float64).tiny)
    return float(np.max(np.abs(np.asarray(found) - truth), initial=0.0) / scale)
