"""How many clusters: every number tried, by four criteria at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_array

from surefit import metrics
from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import ParameterError
from surefit.core.public import public
from surefit.models.cluster.kmeans.kmeans import KMeans
from surefit.resample.streams import seed_of, stream

Criterion = Literal["silhouette", "gap", "stability", "bic"]
CRITERIA: tuple[Criterion, ...] = ("silhouette", "gap", "stability", "bic")
POINTS = 2000  # rows of a silhouette, all of whose distances are taken


@dataclass(frozen=True, slots=True)
class ClusterChoice:
    """Each number of clusters with its scores, the best number by each criterion, and the model of the chosen
    one.

    cost: the within-cluster sum of squares. gap_error: the standard error of the gap; stability: the mean
    adjusted Rand index of pairs of subsamples. A score that one cluster does not have is NaN.
    """

    k: NDArray[np.int64]
    cost: Vector
    silhouette: Vector
    gap: Vector
    gap_error: Vector
    stability: Vector
    bic: Vector
    best: Mapping[str, int]
    by: Criterion
    model: Any

    @property
    def chosen(self) -> int:
        """The number of clusters that the criterion asked for is best at."""
        return self.best[self.by]

    def __str__(self) -> str:
        others = ", ".join(f"{name} {k}" for name, k in self.best.items() if name != self.by)
        return f"{self.chosen} clusters by {self.by} (by others: {others})"


@public
def choose_clusters(
    X: Any,
    numbers: Sequence[int] = tuple(range(1, 11)),
    *,
    by: Criterion = "silhouette",
    model: Any = None,
    draws: int = 10,
    random_state: Any = 0,
) -> ClusterChoice:
    r"""Fit a model for each number of clusters, and compare them by four criteria.

    silhouette: its mean, the largest is best. gap: :math:`E^* \log W_k - \log W_k` over ``draws`` uniform
    tables in the same box (Tibshirani et al. 2001); the smallest k whose gap is within a standard error of
    the next one is best. stability: how alike pairs of fits to two thirds of the rows are. bic: of normal
    distributions with one variance for all columns and clusters; the smallest is best. model: a clusterer
    with ``n_clusters``; by default KMeans with 5 restarts. See ``surefit.plots.plot_cluster_choice`` for the
    picture.

    >>> import numpy as np, surefit
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(c, 0.3, size=(30, 2)) for c in (0.0, 3.0, 6.0)])
    >>> choice = surefit.choose_clusters(X, range(1, 6))
    >>> choice.chosen, choice.best["gap"], choice.best["bic"]
    (3, 3, 3)
    """
    rows = check_array(X, dtype=np.float64)
    ks = np.array(sorted({int(k) for k in numbers}), dtype=np.int64)
    if not len(ks) or ks[0] < 1 or ks[-1] >= len(rows):
        raise ParameterError(
            "choose_clusters: numbers must be whole, at least 1 and below the number of rows."
        )
    if by not in CRITERIA:
        raise ParameterError(f"choose_clusters: by={by!r} must be one of {', '.join(CRITERIA)}.")
    seed = seed_of(random_state) if random_state is not None else 0
    base = KMeans(n_init=5, random_state=seed) if model is None else model
    fits = [clone(base).set_params(n_clusters=int(k)).fit(rows) for k in ks]
    cost = np.array([_scatter(rows, fit.labels_) for fit in fits])
    gap, error = _gap(base, rows, ks, cost, draws, seed)
    silhouette = np.array([_silhouette(rows, fit.labels_) for fit in fits])
    stability = np.array([_stability(base, rows, int(k), draws, seed) for k in ks])
    bic = np.array([_bic(rows, fit.labels_, within) for fit, within in zip(fits, cost, strict=True)])
    best = {
        "silhouette": _largest(ks, silhouette),
        "gap": _by_gap(ks, gap, error),
        "stability": _largest(ks, stability),
        "bic": int(ks[np.argmin(bic)]),
    }
    chosen = fits[int(np.flatnonzero(ks == best[by])[0])]
    return ClusterChoice(ks, cost, silhouette, gap, error, stability, bic, best, by, chosen)


def _scatter(X: Matrix, labels: NDArray[Any]) -> float:
    return float(
        sum(np.square(X[labels == k] - X[labels == k].mean(axis=0)).sum() for k in np.unique(labels))
    )


def _silhouette(X: Matrix, labels: NDArray[Any]) -> float:
    some = slice(None, None, max(1, len(X) // POINTS))
    found = labels[some]
    if not 2 <= len(np.unique(found)) < len(found):
        return float("nan")
    return float(metrics.silhouette_score(X[some], found))


def _gap(
    model: Any, X: Matrix, ks: NDArray[np.int64], cost: Vector, draws: int, seed: int
) -> tuple[Vector, Vector]:
    low, high, tiny = X.min(axis=0), X.max(axis=0), np.finfo(float).tiny
    logs = np.empty((draws, len(ks)))
    for draw in range(draws):
        table = low + (high - low) * stream(seed, 1000 + draw).random(X.shape)
        for place, k in enumerate(ks):
            labels = clone(model).set_params(n_clusters=int(k)).fit(table).labels_
            logs[draw, place] = np.log(max(_scatter(table, labels), tiny))
    return (
        logs.mean(axis=0) - np.log(np.maximum(cost, tiny)),
        logs.std(axis=0) * np.sqrt(1 + 1 / max(draws, 1)),
    )


def _stability(model: Any, X: Matrix, k: int, draws: int, seed: int) -> float:
    if k == 1 or len(X) * 2 // 3 <= k:
        return float("nan")
    found = []
    for draw in range(draws):
        rng, labels = stream(seed, 2000 + draw), []
        for _ in range(2):
            some = np.sort(rng.permutation(len(X))[: len(X) * 2 // 3])
            labels.append(clone(model).set_params(n_clusters=k).fit(X[some]).predict(X))
        found.append(metrics.adjusted_rand_score(*labels))
    return float(np.mean(found))


def _bic(X: Matrix, labels: NDArray[Any], cost: float) -> float:
    n, d = X.shape
    sizes = np.unique(labels, return_counts=True)[1]
    k = len(sizes)
    variance = max(cost, np.finfo(float).tiny) / (d * max(n - k, 1))
    log_likelihood = float(sizes @ np.log(sizes / n)) - n * d / 2 * np.log(2 * np.pi * variance)
    log_likelihood -= d * (n - k) / 2
    return float(-2 * log_likelihood + (k * d + k) * np.log(n))


def _largest(ks: NDArray[np.int64], scores: Vector) -> int:
    return int(ks[np.nanargmax(scores)]) if np.isfinite(scores).any() else int(ks[0])


def _by_gap(ks: NDArray[np.int64], gap: Vector, error: Vector) -> int:
    enough = np.flatnonzero(gap[:-1] >= gap[1:] - error[1:])
    return int(ks[enough[0]]) if len(enough) else int(ks[-1])
