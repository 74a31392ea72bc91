"""Rows that stand for all others: drawn, by leverage, means of clusters, or where the error is largest."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import ParameterError
from surefit.data.source import Source, in_memory
from surefit.engine.base import Engine
from surefit.kernels import Kernel, pivoted_cholesky
from surefit.resample.streams import stream

Centres = Literal["uniform", "kmeans", "leverage", "pivoted"]
MOST_DRAWN = 20_000  # rows of a source among which centres are chosen
PILOT = 500  # rows by which leverages are estimated
ROUNDS = 20  # of k-means, which need not end: any centres will do


def drawn_rows(source: Source, engine: Engine, seed: int) -> tuple[Any, Vector, NDArray[np.int64]]:
    """Return the rows, their weights and places: all that are in memory, or as many as fit, drawn evenly.

    Each row of a source gets a random number by its place, and those of the least are kept: one pass.
    """
    batch = in_memory(source)
    if batch is not None:
        n = batch.X.shape[0]
        weight = np.ones(n) if batch.weight is None else np.asarray(batch.weight, dtype=np.float64)
        return batch.X, weight, np.arange(n)
    kept: list[tuple[Any, Vector, NDArray[np.int64], Vector]] = []
    for part in engine.map(_Draw(seed), source):
        kept.append(part)
        if sum(len(each[3]) for each in kept) > 2 * MOST_DRAWN:
            kept = [_least(kept)]
    X, weight, places, _ = _least(kept)
    order = np.argsort(places)
    return X[order], weight[order], places[order]


class _Draw:
    def __init__(self, seed: int) -> None:
        self.seed = seed

    def __call__(self, batch: Any) -> Any:
        n = len(batch)
        keys = stream(self.seed, 10**6 + batch.start).random(n)
        weight = np.ones(n) if batch.weight is None else np.asarray(batch.weight, dtype=np.float64)
        here = np.flatnonzero(weight > 0)
        if len(here) > MOST_DRAWN:
            here = here[np.argsort(keys[here])[:MOST_DRAWN]]
        return batch.X[here], weight[here], batch.start + here, keys[here]


def _least(kept: list[Any]) -> Any:
    blocks = [each[0] for each in kept]
    X = sparse.vstack(blocks, format="csr") if sparse.issparse(blocks[0]) else np.concatenate(blocks)
    weight, places, keys = (np.concatenate([each[j] for each in kept]) for j in (1, 2, 3))
    best = np.argsort(keys)[:MOST_DRAWN]
    return X[best], weight[best], places[best], keys[best]


def chosen_centres(
    how: Centres, kernel: Kernel, X: Any, weight: Vector, count: int, seed: int
) -> tuple[Any, NDArray[np.int64]]:
    """Return centres of rows, and their places; k-means has none, and answers -1."""
    here = np.flatnonzero(weight > 0)
    count = min(count, len(here))
    if how == "pivoted":
        found = pivoted_cholesky(kernel, X[here], count).pivots
        places = here[found]
        return X[places], places
    rng = stream(seed, 0)
    if how == "leverage":
        places = here[_by_leverage(kernel, X[here], weight[here], count, rng)]
        return X[places], places
    if how == "kmeans":
        if kernel.takes != "rows" or sparse.issparse(X):
            raise ParameterError(
                "centres='kmeans' needs dense rows of numbers: take 'uniform' or 'leverage'."
            )
        means = _k_means(np.asarray(X[here], dtype=np.float64), weight[here], count, rng)
        return means, np.full(len(means), -1)
    places = here[rng.permutation(len(here))[:count]]
    return X[places], places


def _by_leverage(kernel: Kernel, X: Any, weight: Vector, count: int, rng: np.random.Generator) -> Any:
    """Draw rows by their ridge leverage k(x, x) - k(x, P)(k(P, P) + t I)^-1 k(P, x), from a pilot sample."""
    n = len(weight)
    pilot = X[np.sort(rng.permutation(n)[:PILOT])]
    K = np.asarray(kernel(pilot), dtype=np.float64)
    strength = np.trace(K) / count
    factor = linalg.cholesky(K + max(strength, 1e-12) * np.eye(len(K)), lower=True)
    half = linalg.solve_triangular(factor, np.asarray(kernel(pilot, X), dtype=np.float64), lower=True)
    scores = np.maximum(np.asarray(kernel.diagonal(X)) - (half**2).sum(axis=0), 0.0) / strength
    scores = np.minimum(scores, 1.0) * weight
    shares = scores / scores.sum() if scores.sum() > 0 else weight / weight.sum()
    count = min(count, int((shares > 0).sum()))
    # Keys log(u) / share, of which the largest are a draw without repetition.
    with np.errstate(divide="ignore"):
        keys = np.where(shares > 0, np.log(rng.random(n)) / np.maximum(shares, 1e-300), -np.inf)
    return np.sort(np.argsort(-keys, kind="stable")[:count])


def _k_means(X: Matrix, weight: Vector, count: int, rng: np.random.Generator) -> Matrix:
    """Lloyd's rounds from rows that are drawn one after the other, far ones most likely."""
    squares = (X * X).sum(axis=1)
    means = X[[int(np.searchsorted(np.cumsum(weight), rng.random() * weight.sum()))]]
    left = np.full(len(X), np.inf)
    for _ in range(1, count):
        left = np.minimum(left, np.maximum(squares - 2 * X @ means[-1] + means[-1] @ means[-1], 0.0))
        total = np.cumsum(weight * left)
        if total[-1] <= 0:
            break
        means = np.vstack([means, X[int(np.searchsorted(total, rng.random() * total[-1], side="right"))]])
    for _ in range(ROUNDS):
        nearest = ((means * means).sum(axis=1) - 2 * X @ means.T).argmin(axis=1)
        sums = sparse.csr_matrix((weight, (nearest, np.arange(len(X)))), shape=(len(means), len(X)))
        size = np.asarray(sums.sum(axis=1)).ravel()
        new = np.where(size[:, None] > 0, (sums @ X) / np.maximum(size, 1e-300)[:, None], means)
        if np.array_equal(new, means):
            break
        means = new
    return np.asarray(means)
