"""Where a climb begins: centres among a sample of the rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.stats.sampled_rows import SampledRows

MOST = 20_000  # rows that centres are chosen from
ROUNDS = 50  # of moving centres


def sampled(source: Source, engine: Engine) -> tuple[Matrix, Vector]:
    """Some rows and their weights, in an order that depends on their values alone; gaps filled by means."""
    found = engine.accumulate(partial(SampledRows.of, most=MOST), source)
    X, weight = found.X, found.weight
    gaps = np.isnan(X)
    if gaps.any():
        there = np.where(gaps, 0.0, weight[:, None])
        total = there.sum(axis=0)
        means = (there * np.nan_to_num(X)).sum(axis=0) / np.where(total > 0, total, 1.0)
        X = np.where(gaps, means, X)
    order = np.lexsort(X.T[::-1])
    return X[order], weight[order]


def spread_out(X: Matrix, weight: Vector, count: int, rng: Any) -> Matrix:
    """Rows that are far apart, each drawn by its squared distance to those before (k-means++).

    Of several draws at a time the one that leaves least is kept.
    """
    trials = 2 + int(np.log(count))
    centres = X[_drawn(weight, rng, 1)]
    nearest = _squares(X, centres)[:, 0]
    while len(centres) < count:
        mass = weight * nearest
        tried = _drawn(mass if mass.sum() > 0 else weight, rng, trials)
        left = np.minimum(nearest[:, None], _squares(X, X[tried]))
        best = int(np.argmin(weight @ left))
        centres = np.vstack([centres, X[tried[best]]])
        nearest = left[:, best]
    return centres


def moved(X: Matrix, weight: Vector, centres: Matrix) -> Matrix:
    """Centres moved to the mean of the rows next to them, until none changes side."""
    label = np.full(len(X), -1)
    for _ in range(ROUNDS):
        now = _squares(X, centres).argmin(axis=1)
        if (now == label).all():
            break
        label = now
        total = np.bincount(label, weight, len(centres))
        sums = np.column_stack([np.bincount(label, weight * column, len(centres)) for column in X.T])
        kept = total[:, None] > 0  # a centre without rows stays where it is
        centres = np.where(kept, sums / np.where(kept, total[:, None], 1.0), centres)
    return centres


def _squares(X: Matrix, centres: Matrix) -> Matrix:
    shift = centres.mean(axis=0)
    A, B = X - shift, centres - shift
    found: Matrix = (A * A).sum(axis=1)[:, None] - 2 * (A @ B.T) + (B * B).sum(axis=1)
    return np.maximum(found, 0.0)


def _drawn(mass: Vector, rng: Any, count: int) -> Any:
    cumulative = np.cumsum(mass)
    at = rng.random(count) * cumulative[-1]
    return np.minimum(np.searchsorted(cumulative, at, side="right"), len(mass) - 1)


def distinct_rows(X: Matrix, weight: Vector, count: int, rng: Any) -> Matrix:
    """Rows drawn by their weight, none twice where there are enough."""
    mass = weight.copy()
    chosen: list[int] = []
    for _ in range(count):
        one = int(_drawn(mass if mass.sum() > 0 else weight, rng, 1)[0])
        chosen.append(one)
        mass[one] = 0.0
    return X[chosen]


def centres_by(
    how: str, source: Source, engine: Engine, count: int, rng_of: Callable[[int], Any]
) -> tuple[Matrix, Vector]:
    """Centres for components, and the variance of each column of the sample."""
    X, weight = sampled(source, engine)
    spread = np.average((X - np.average(X, axis=0, weights=weight)) ** 2, axis=0, weights=weight)
    rng = rng_of(1)
    if how == "random_from_data":
        return distinct_rows(X, weight, count, rng), spread
    centres = spread_out(X, weight, count, rng)
    return (moved(X, weight, centres) if how == "kmeans" else centres), spread
