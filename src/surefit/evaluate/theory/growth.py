"""How many labellings a class of hypotheses can give to n points: growth function and VC dimension."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from sklearn.base import clone

from surefit.core.errors import ParameterError, RefusalError

Points = NDArray[np.float64]
Labels = NDArray[np.bool_]
_MOST_POINTS = 16  # of which all labellings are tried one by one


def labellings(hypotheses: Any, X: Any) -> Labels:
    r"""Return every labelling of the rows of X that some hypothesis gives, one a row.

    hypotheses: "halfspaces" (:math:`w'x + b > 0`), "thresholds" (:math:`x > t`), "signed thresholds",
    "intervals", "rectangles" (sides along the axes); a list of functions of X, or an array of their answers,
    a row each; or an estimator, whose labellings are those that it reproduces when it is fitted to them.

    >>> len(labellings("halfspaces", [[0, 0], [1, 0], [0, 1], [1, 1]]))    # not the two of exclusive or
    14
    """
    points = np.asarray(X, dtype=np.float64)
    points = points[:, None] if points.ndim == 1 else points
    if isinstance(hypotheses, str):
        if hypotheses not in _SHAPES:
            raise ParameterError(f"hypotheses={hypotheses!r} must be one of {', '.join(_SHAPES)}.")
        return _extended(points, _SHAPES[hypotheses])
    if hasattr(hypotheses, "fit"):
        return _reproduced(points, hypotheses)
    answers = hypotheses if isinstance(hypotheses, np.ndarray) else [each(X) for each in hypotheses]
    return np.unique(np.asarray(answers).astype(np.bool_).reshape(len(answers), len(points)), axis=0)


def growth_function(
    hypotheses: Any, n: int, *, dimension: int = 2, tries: int = 20, random_state: Any = 0
) -> int:
    r"""Return the most labellings of n points: :math:`\max_{x_1 \ldots x_n} |\{(h(x_1), \ldots, h(x_n))\}|`.

    Points are placed at random ``tries`` times and the largest count is kept; for half-spaces, thresholds and
    intervals one placement in general position is as good as any.

    >>> [growth_function("halfspaces", n) for n in range(1, 5)]
    [2, 4, 8, 14]
    """
    if n < 1:
        raise ParameterError(f"n={n} must be at least 1.")
    width = 1 if hypotheses in ("thresholds", "signed thresholds", "intervals") else dimension
    rng, most = np.random.default_rng(random_state), 0
    for _ in range(1 if isinstance(hypotheses, str) and hypotheses != "rectangles" else tries):
        most = max(most, len(labellings(hypotheses, rng.normal(size=(n, width)))))
        if most == 2**n:
            break
    return most


def vc_dimension(
    hypotheses: Any, *, dimension: int = 2, largest: int = 8, tries: int = 200, random_state: Any = 0
) -> int:
    r"""Return the most points that are shattered, those that get all :math:`2^n` labellings.

    It is searched among random placements: a shattered set proves that it is at least so large; that no
    larger one exists is proved for the named shapes, and is what the search saw for others.

    >>> vc_dimension("halfspaces"), vc_dimension("signed thresholds"), vc_dimension("rectangles")
    (3, 2, 4)
    """
    found = 0
    for n in range(1, largest + 1):
        count = growth_function(hypotheses, n, dimension=dimension, tries=tries, random_state=random_state)
        if count < 2**n:
            return found
        found = n
    return found


def halfspace_growth(n: int, dimension: int = 2) -> int:
    r"""Return Cover's count for half-spaces in d dimensions: :math:`2 \sum_{i=0}^{d} \binom{n - 1}{i}`.

    >>> [halfspace_growth(n) for n in range(1, 7)]
    [2, 4, 8, 14, 22, 32]
    """
    return 2 * sum(math.comb(n - 1, i) for i in range(dimension + 1))


def sauer_bound(n: int, vc_dimension: int, *, closed: bool = False) -> float:
    r"""Bound the growth by :math:`\sum_{i=0}^{d} \binom{n}{i}`, or in closed form by :math:`(ne/d)^d`.

    The closed form needs :math:`n \ge d`.

    >>> sauer_bound(10, 3), round(sauer_bound(10, 3, closed=True), 7)
    (176, 743.9087749)
    """
    d = vc_dimension
    if n < 0 or d < 0:
        raise ParameterError(f"n={n} and vc_dimension={d} must not be negative.")
    if not closed:
        return sum(math.comb(n, i) for i in range(min(n, d) + 1))
    if n < d or d == 0:
        raise RefusalError(f"(ne/d)^d bounds the growth for n >= d > 0 only, not for n={n}, d={d}.")
    return (n * math.e / d) ** d


def rademacher_complexity(
    hypotheses: Any, X: Any, *, draws: int = 10_000, random_state: Any = 0
) -> tuple[float, float]:
    r"""Return :math:`E_\sigma \max_h \frac1n \sum_i \sigma_i h(x_i)` and its standard error.

    Labels count as -1 and 1. Up to 12 points all signs are gone through and the error is 0;
    beyond, ``draws`` random ones.

    >>> rademacher_complexity("signed thresholds", [0.0, 1.0])     # both points are shattered
    (1.0, 0.0)
    """
    answers = np.where(labellings(hypotheses, X), 1.0, -1.0)
    n = answers.shape[1]
    if n <= 12:
        signs = np.array(list(product([-1.0, 1.0], repeat=n)))
        return float((signs @ answers.T).max(axis=1).mean() / n), 0.0
    signs = np.random.default_rng(random_state).choice([-1.0, 1.0], size=(draws, n))
    best = (signs @ answers.T).max(axis=1) / n
    return float(best.mean()), float(best.std(ddof=1) / math.sqrt(draws))


def _extended(points: Points, possible: Callable[[Points, Labels], bool]) -> Labels:
    """Grow labellings point by point: a part of one that is possible is possible itself."""
    found: list[tuple[bool, ...]] = [()]
    for n in range(1, len(points) + 1):
        longer = [(*labels, more) for labels in found for more in (False, True)]
        found = [labels for labels in longer if possible(points[:n], np.array(labels))]
    return np.array(found, dtype=np.bool_)


def _separable(points: Points, labels: Labels) -> bool:
    """Whether some half-space has just the points labelled true: a linear programme without an objective."""
    if labels.all() or not labels.any():
        return True
    signs = np.where(labels, -1.0, 1.0)[:, None]
    rows = signs * np.column_stack([points, np.ones(len(points))])
    found = linprog(np.zeros(rows.shape[1]), A_ub=rows, b_ub=-np.ones(len(rows)), bounds=(None, None))
    return bool(found.status == 0)


def _in_rectangle(points: Points, labels: Labels) -> bool:
    """Whether the smallest rectangle around the points labelled true holds none of the others."""
    if not labels.any():
        return True
    inside = points[labels]
    held = ((points >= inside.min(axis=0)) & (points <= inside.max(axis=0))).all(axis=1)
    return not bool((held & ~labels).any())


def _above_threshold(points: Points, labels: Labels) -> bool:
    return bool(labels.all() or not labels.any() or points[labels].min() > points[~labels].max())


def _beside_threshold(points: Points, labels: Labels) -> bool:
    return _above_threshold(points, labels) or _above_threshold(points, ~labels)


_SHAPES: dict[str, Callable[[Points, Labels], bool]] = {
    "halfspaces": _separable,
    "thresholds": _above_threshold,
    "signed thresholds": _beside_threshold,
    "intervals": _in_rectangle,
    "rectangles": _in_rectangle,
}


def _reproduced(points: Points, model: Any) -> Labels:
    if len(points) > _MOST_POINTS:
        raise RefusalError(
            f"an estimator is asked for all 2^n labellings: give at most {_MOST_POINTS} points."
        )
    found: list[Sequence[bool]] = []
    for labels in product([False, True], repeat=len(points)):
        wanted = np.array(labels)
        constant = wanted.all() or not wanted.any()
        if constant or (clone(model).fit(points, wanted).predict(points) == wanted).all():
            found.append(labels)
    return np.array(found, dtype=np.bool_)
