r"""From scores to probabilities that never contradict the predicted class.

A score f of two classes becomes :math:`1 / (1 + e^{-s f})`. The slope s >= 0 is the likeliest for scores of
rows that were held out, with the targets of Platt; there is no shift, so that a probability passes one half
where the score passes 0. Several classes are coupled out of their pairs by least squares (Wu, Lin and Weng),
and where that would put another class than the predicted one first, the two change places.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

from surefit.resample.streams import seed_of, stream

Floats = NDArray[np.float64]
FOLDS = 5
STEEPEST = 1e3  # slope times the mean score: certainty to hundreds of digits
FLATTEST = 1e-6  # the same; what knows nothing still says which class it would take


def sigmoid_slope(scores: Floats, positive: NDArray[np.bool_], weight: Floats) -> float:
    """Return the likeliest slope for scores that were held out.

    >>> one, y = np.ones(4), np.array([False, True, False, True])
    >>> sigmoid_slope(np.array([-2.0, -1.0, 1.0, 2.0]), y, one).__round__(3)
    0.103
    """
    scale = float(weight @ np.abs(scores)) / float(weight.sum())
    if not scale > 0:
        return 1.0
    ours, theirs = float(weight[positive].sum()), float(weight[~positive].sum())
    target = np.where(positive, (ours + 1) / (ours + 2), 1 / (theirs + 2))

    def fall(slope: float) -> float:
        return float(weight @ (scores * (expit(slope * scores / scale) - target)))

    if fall(FLATTEST) >= 0:
        return FLATTEST / scale
    if fall(STEEPEST) <= 0:
        return STEEPEST / scale
    return float(brentq(fall, FLATTEST, STEEPEST, xtol=1e-12)) / scale


def coupled(pairs: Floats, classes: int) -> Floats:
    """Return probabilities (n, classes) out of those of the first of each pair (n, pairs).

    They minimise the sum over pairs of (r_ba p_a - r_ab p_b)^2.
    """
    n = len(pairs)
    if classes == 2:
        return np.column_stack([pairs[:, 0], 1 - pairs[:, 0]])
    system = np.zeros((n, classes + 1, classes + 1))
    for at, (a, b) in enumerate(combinations(range(classes), 2)):
        first = np.clip(pairs[:, at], 1e-7, 1 - 1e-7)
        second = 1 - first
        system[:, a, a] += second**2
        system[:, b, b] += first**2
        system[:, a, b] -= first * second
        system[:, b, a] -= first * second
    system[:, :classes, classes] = system[:, classes, :classes] = 1.0
    right = np.zeros((n, classes + 1, 1))
    right[:, classes] = 1.0
    found = np.maximum(np.linalg.solve(system, right)[:, :classes, 0], 0.0)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def agreeing(probabilities: Floats, codes: NDArray[Any]) -> Floats:
    """Return probabilities whose largest is that of the predicted class in every row."""
    rows = np.arange(len(codes))
    found = probabilities.copy()
    first = found.argmax(axis=1)
    found[rows, first], found[rows, codes] = probabilities[rows, codes], probabilities[rows, first]
    tied = found.argmax(axis=1) != codes
    found[tied] *= 1 - 1e-12
    found[tied, codes[tied]] += 1e-12
    return found


def folds(codes: NDArray[Any], random_state: Any) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return rows to fit and rows to hold out, each class spread evenly; none where a class has one row."""
    counts = np.bincount(codes)
    parts = min(FOLDS, int(counts[counts > 0].min()))
    if parts < 2:
        return []
    rng = stream(seed_of(random_state), 0)
    fold = np.empty(len(codes), dtype=np.int64)
    for code in np.flatnonzero(counts):
        mine = np.flatnonzero(codes == code)
        fold[mine[rng.permutation(len(mine))]] = np.arange(len(mine)) % parts
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(parts)]
