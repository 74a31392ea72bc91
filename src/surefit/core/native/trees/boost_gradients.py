"""Gradients and curvatures of the losses that boosting knows, their largest entries and the loss itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.config import threads
from surefit.core.native import compiled

# In the order in which the kernel numbers them; "softmax" is for several scores a row.
LOSSES = ("squared", "absolute", "quantile", "poisson", "gamma", "logistic")


@dataclass(frozen=True, slots=True)
class Gradients:
    """What a round needs of the loss.

    gradient, curvature: weighted, of the shape of the scores; empty where only the loss was asked for.
    loss: the weighted sum over rows. The rest bounds the entries.
    """

    gradient: Vector
    curvature: Vector
    loss: float
    largest_gradient: float
    largest_curvature: float
    total_curvature: float


def boost_gradients(
    kind: str,
    y: Vector,
    score: Vector,
    weight: Vector | None = None,
    *,
    parameter: float = 0.0,
    only_loss: bool = False,
    _threads: int | None = None,
) -> Gradients:
    """Return them for scores (n,), or for the softmax (classes, n) with codes of classes as y.

    >>> found = boost_gradients("logistic", np.array([0.0, 1.0]), np.zeros(2))
    >>> found.gradient.tolist(), found.curvature.tolist(), round(found.loss, 3)
    ([0.5, -0.5], [0.25, 0.25], 1.386)
    """
    native = compiled()
    if native is None:
        return boost_gradients_twin(kind, y, score, weight, parameter=parameter, only_loss=only_loss)
    shape = (0,) * score.ndim if only_loss else score.shape
    gradient, curvature = np.empty(shape), np.empty(shape)
    workers = threads() if _threads is None else _threads
    if kind == "softmax":
        facts = native.boost_softmax(y, score, weight, gradient, curvature, workers)
    else:
        number = LOSSES.index(kind)
        facts = native.boost_gradients(number, parameter, y, score, weight, gradient, curvature, workers)
    return Gradients(gradient, curvature, *facts)


def boost_gradients_twin(
    kind: str,
    y: Vector,
    score: Vector,
    weight: Vector | None = None,
    *,
    parameter: float = 0.0,
    only_loss: bool = False,
) -> Gradients:
    """Do the same with whole arrays."""
    w = np.ones(len(y)) if weight is None else weight
    value, gradient, curvature = _softmax(y, score) if kind == "softmax" else _of(kind, parameter, y, score)
    gradient, curvature = w * gradient, w * curvature
    bounds = _bounds(gradient, curvature)
    if only_loss:
        gradient = curvature = np.empty((0,) * score.ndim)
    return Gradients(gradient, curvature, float(w @ value), *bounds)


def _bounds(gradient: Vector, curvature: Vector) -> tuple[float, float, float]:
    largest = float(np.abs(gradient).max(initial=0.0))
    return largest, float(curvature.max(initial=0.0)), float(curvature.sum())


def _of(kind: str, q: float, y: Vector, z: Vector) -> tuple[Any, Any, Any]:
    one, below = np.ones_like(z), y >= z
    if kind == "squared":
        return (z - y) ** 2 / 2, z - y, one
    if kind == "absolute":
        return np.abs(z - y), np.where(below, -1.0, 1.0), one
    if kind == "quantile":
        return np.where(below, q * (y - z), (1 - q) * (z - y)), np.where(below, -q, 1 - q), one
    if kind == "poisson":
        return np.exp(z) - y * z, np.exp(z) - y, np.exp(z)
    if kind == "gamma":
        ratio = y * np.exp(-z)
        return z + ratio, 1 - ratio, ratio
    small = np.exp(-np.abs(z))
    p = np.where(z > 0, 1.0, small) / (1 + small)
    return np.log1p(small) + np.maximum(z, 0) - y * z, p - y, small / (1 + small) ** 2


def _softmax(y: Vector, score: Vector) -> tuple[Any, Any, Any]:
    codes = y.astype(np.intp)
    top = score.max(axis=0)
    raised = np.exp(score - top)
    share = raised / raised.sum(axis=0)
    own = np.arange(len(score))[:, None] == codes
    value = np.log(raised.sum(axis=0)) + top - score[codes, np.arange(len(y))]
    return value, share - own, share * (1 - share)
