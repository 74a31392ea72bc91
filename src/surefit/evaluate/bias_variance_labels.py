"""The 0-1 loss of labels, split in the two ways of the textbooks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError

Vector = NDArray[np.float64]
FOLDS = 20  # groups of training sets whose spread gives the error of a term that is not a mean


@dataclass(frozen=True, slots=True)
class Split:
    """Means of bias, variance, noise and total, their errors, the same at each point, and further terms."""

    means: tuple[float, float, float, float]
    errors: Mapping[str, float]
    points: Mapping[str, Vector]
    terms: Mapping[str, float]


def decompose_labels(answers: NDArray[Any], truth: Any, form: str) -> Split:
    """Split the loss of labels, (draws, points), against labels or probabilities of classes at the points.

    >>> found = decompose_labels(np.array([["a", "b"], ["a", "a"], ["b", "a"]]), ["a", "b"], "kohavi_wolpert")
    >>> [round(value, 4) for value in found.means]
    [0.2778, 0.2222, 0.0, 0.5]
    """
    classes, share = _truth(answers, truth)
    codes = np.searchsorted(classes, answers)
    one = _domingos if form == "domingos" else _kohavi_wolpert
    points, terms = one(_frequencies(codes, len(classes)), share)
    names = ("bias", "variance", "noise", "total")
    groups = [part for part in np.array_split(np.arange(len(codes)), min(FOLDS, len(codes))) if len(part)]
    # Leaving out one group after the other (the jackknife) gives the error of any smooth function of shares.
    left = []
    for part in groups:
        rest = np.delete(codes, part, axis=0)
        if len(rest):
            found, _ = one(_frequencies(rest, len(classes)), share)
            left.append([found[name].mean() for name in names])
    table = np.array(left)
    spread = np.sqrt((len(table) - 1) / len(table) * ((table - table.mean(axis=0)) ** 2).sum(axis=0))
    errors = {name: float(value) for name, value in zip(names, spread, strict=True)}
    means = tuple(float(points[name].mean()) for name in names)
    return Split(means, errors, points, terms)  # type: ignore[arg-type]


def _truth(answers: NDArray[Any], truth: Any) -> tuple[NDArray[Any], Vector]:
    given = np.asarray(truth)
    if given.ndim == 2:
        classes = np.unique(answers)
        if given.shape[0] != answers.shape[1] or not np.allclose(given.sum(axis=1), 1.0):
            raise DataError("truth must hold a row of probabilities, which sum to 1, for each point.")
        if len(classes) > given.shape[1]:
            raise DataError(f"truth has {given.shape[1]} classes, but the answers have {len(classes)}.")
        if len(classes) < given.shape[1]:  # codes stand for themselves where a class was never predicted
            classes = np.arange(given.shape[1])
            if not np.isin(answers, classes).all():
                raise DataError(
                    "with probabilities as truth, let labels be 0, 1, ...: one is never predicted."
                )
        return classes, given.astype(np.float64)
    if given.shape != answers.shape[1:]:
        raise DataError(
            f"truth has shape {given.shape} for {answers.shape[1]} points; give one label a point."
        )
    classes = np.unique(np.concatenate([np.unique(answers), np.unique(given)]))
    return classes, (given[:, None] == classes).astype(np.float64)


def _frequencies(codes: NDArray[np.intp], classes: int) -> Vector:
    return np.stack([(codes == code).mean(axis=0) for code in range(classes)], axis=1)


def _kohavi_wolpert(q: Vector, p: Vector) -> tuple[dict[str, Vector], dict[str, float]]:
    """bias^2 = 1/2 sum (p - q)^2, variance = 1/2 (1 - sum q^2), noise = 1/2 (1 - sum p^2)."""
    bias = ((p - q) ** 2).sum(axis=1) / 2
    variance, noise = (1 - (q**2).sum(axis=1)) / 2, (1 - (p**2).sum(axis=1)) / 2
    return {"bias": bias, "variance": variance, "noise": noise, "total": bias + variance + noise}, {}


def _domingos(q: Vector, p: Vector) -> tuple[dict[str, Vector], dict[str, float]]:
    """loss = c1 noise + bias + c2 variance, with the bias of the main prediction against the best label."""
    rows = np.arange(len(q))
    best, main = p.argmax(axis=1), q.argmax(axis=1)
    bias = (best != main).astype(np.float64)
    variance, noise = 1 - q[rows, main], 1 - p[rows, best]
    against_best = 1 - q[rows, best]  # the loss if there were no noise: bias + c2 variance
    total = 1 - (p * q).sum(axis=1)
    points = {
        "bias": bias,
        "variance": against_best - bias,
        "noise": total - against_best,
        "total": total,
        "main": main.astype(np.float64),
    }
    terms = {
        "variance where unbiased": float((variance * (bias == 0)).mean()),
        "variance where biased": float((variance * (bias == 1)).mean()),
        "disagreement": float(variance.mean()),
        "bayes error": float(noise.mean()),
    }
    return points, terms
