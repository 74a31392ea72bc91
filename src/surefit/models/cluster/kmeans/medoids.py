"""k-medoids: clusters about rows of the table, for any metric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import ClusterMixin

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import FormatError, ParameterError
from surefit.core.native.centres.medoid_swaps import medoid_swaps
from surefit.core.parameters import Count, RandomState
from surefit.core.trace import Trace
from surefit.data.door import Accepts
from surefit.data.source import Source, in_memory
from surefit.distances import Distance, as_distance
from surefit.engine.base import Engine
from surefit.models.base import Estimator, Learned
from surefit.models.cluster.kmeans.base import check_count, rows_and_weights, warn_of_duplicates, weights_by
from surefit.models.rows_in_memory import gathered
from surefit.resample.streams import seed_of, stream
from surefit.stats.cluster_sums import dense_blocks

METRICS = Literal[
    "euclidean", "sqeuclidean", "manhattan", "cityblock", "chebyshev", "cosine", "correlation", "canberra",
    "braycurtis", "hamming", "jaccard", "gower", "precomputed",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class KMedoidsParameters:
    """The medoids, their row numbers, the cluster of each row, the loss, swaps, the weight of each cluster,
    and the distance with what it took from the rows, where it is one of ours.
    """

    cluster_centers: Matrix
    medoid_indices: NDArray[np.int64]
    labels: NDArray[np.int32]
    inertia: float
    n_iter: int
    cluster_weights: Vector
    distance: Distance | None


class KMedoids(ClusterMixin, Estimator):
    r"""Find k rows that minimise :math:`\sum_i s_i \min_k d(x_i, x_{m_k})`, by swaps (FasterPAM).

    Every row is tried in turn as a medoid in place of the one that it serves best, and taken at once if the
    loss falls, until no swap lowers it; that is what the certificate says and verification tries again.
    metric: one of scipy's by name, ``"gower"`` for numbers and categories side by side (missing cells may be
    among them), one of ``surefit.distances`` that compares rows or cells, a function of two rows, or
    ``"precomputed"``, where X holds the distances of all pairs. init: ``"k-means++"`` draws rows far from
    those so far, ``"build"`` takes the best one after the other, ``"random"`` any. n_init: restarts. All
    pairs of distances are in memory.

    >>> from surefit import KMedoids
    >>> model = KMedoids(2, metric="manhattan", random_state=0).fit([[0.0], [1.0], [2.0], [9.0], [99.0]])
    >>> sorted(model.medoid_indices_.tolist()), model.inertia_
    ([1, 4], 10.0)
    >>> mixed = [[1.0, "a"], [2.0, "a"], [3.0, "a"], [8.0, "b"], [9.0, "b"]]
    >>> KMedoids(2, metric="gower", random_state=0).fit(mixed).labels_
    array([0, 0, 0, 1, 1], dtype=int32)
    """

    accepts = Accepts()
    learns = KMedoidsParameters

    cluster_centers_: Matrix
    medoid_indices_: NDArray[np.int64]
    labels_: NDArray[np.int32]
    inertia_: float
    cluster_weights_: Vector
    distance_: Distance | None

    def __init__(
        self,
        n_clusters: Count = 8,
        *,
        metric: METRICS | Callable[..., Any] = "euclidean",
        init: Literal["k-means++", "build", "random"] = "k-means++",
        n_init: Count = 1,
        max_iter: Count = 300,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def _iteration_limit(self) -> int:
        return self.n_init

    def _given_distance(self) -> Distance | None:
        """One of ours, where it is that."""
        if not isinstance(self.metric, Distance):
            return as_distance("gower") if self.metric == "gower" else None
        if self.metric.takes not in ("rows", "cells"):
            raise ParameterError(f'KMedoids: give what {self.metric!r} says of all pairs as "precomputed".')
        return self.metric

    def _accepted(self) -> Accepts:
        if self.metric == "precomputed":
            return Accepts(sparse=False, pairwise=True)
        given = self._given_distance()
        if given is None:
            return self.accepts
        return Accepts(sparse=False, missing=given.missing, cells=given.takes == "cells")

    def _rows(self, source: Source, distance: Distance | None) -> tuple[Matrix, Vector, Distance | None]:
        """All rows as numbers, their weights, and the distance with what it takes from them."""
        if distance is None:
            return *rows_and_weights(source), None
        if distance.takes == "rows":
            X, weight = rows_and_weights(source)
            return X, weight, distance.fitted(X)
        batch = in_memory(source)
        batch = gathered(source) if batch is None else batch
        fitted = distance.fitted(batch.X)
        X = self._coded(batch.X, fitted)
        return X, np.ones(len(X)) if batch.weight is None else batch.weight, fitted

    @staticmethod
    def _coded(X: Any, distance: Distance) -> Matrix:
        return np.asarray(distance.inputs(X).values, dtype=np.float64)

    def _apart(self, X: Matrix, Y: Matrix, distance: Distance | None) -> Matrix:
        if distance is not None:
            return distance.between(distance.held(X), distance.held(Y))
        metric: Any = "cityblock" if self.metric == "manhattan" else self.metric
        found = cdist(X, Y, metric)
        if np.isnan(found).any():
            raise ParameterError(
                f"KMedoids: the metric {self.metric!r} is not defined for some pairs of rows."
            )
        return found

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        X, weight, distance = self._rows(source, self._given_distance())
        counted = np.flatnonzero(weight > 0)
        check_count(type(self).__name__, len(counted), self.n_clusters)
        if self.metric == "precomputed":
            first, s = counted, weight[counted]
            turned = np.ascontiguousarray(X[np.ix_(counted, counted)].T)
        else:  # equal rows are one, and in the order of their cells
            plain = np.nan_to_num(X[counted], nan=-np.inf, posinf=np.inf, neginf=-np.inf)
            _, first, place = np.unique(plain, axis=0, return_index=True, return_inverse=True)
            support = X[counted[first]]
            first, s = counted[first], weights_by(place, weight[counted], len(support))
            turned = self._apart(support, support, distance)
            if callable(self.metric):  # which may not be symmetric
                turned = np.ascontiguousarray(turned.T)
        clusters = min(self.n_clusters, len(s))
        seed = 0 if self.random_state is None else seed_of(self.random_state)
        best: Any = None
        for restart in trace.iterations(self.n_init):
            medoids = self._start(turned, s, clusters, stream(seed, restart))
            swaps, rounds = medoid_swaps(turned, s, medoids, self.max_iter)
            loss = float(s @ turned[medoids].min(axis=0))
            trace.record(objective=loss, swaps=float(swaps))
            if best is None or loss < best[0]:
                best = loss, np.sort(medoids), rounds
        _, medoids, rounds = best
        rows = first[medoids]
        rows = np.concatenate([rows, np.repeat(rows[-1:], self.n_clusters - clusters)]).astype(np.int64)
        centres = X[rows]
        squares = X[:, rows] if self.metric == "precomputed" else self._apart(X, centres, distance)
        labels = squares.argmin(axis=1).astype(np.int32)
        total = weights_by(labels, weight, self.n_clusters)
        warn_of_duplicates(type(self).__name__, total)
        loss = float(weight @ squares.min(axis=1))
        found = KMedoidsParameters(centres, rows, labels, loss, rounds, total, distance)
        return Learned(found, self._stated(0.0 if rounds < self.max_iter else 1.0, 0.0))

    def _start(self, turned: Matrix, s: Vector, k: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """First medoids: numbers of rows, all different."""
        tickets, chosen = rng.random(k), np.empty(k, dtype=np.int64)
        share, near = s.copy(), np.full(len(s), np.inf)
        for c, ticket in enumerate(tickets):
            if self.init == "build":
                losses = np.minimum(turned, near) @ s if c else turned @ s
                losses[chosen[:c]] = np.inf
                chosen[c] = losses.argmin()
            else:
                if not share.any():
                    share = np.where(np.isin(np.arange(len(s)), chosen[:c]), 0.0, s)
                cumulative = np.cumsum(share)
                place = int(np.searchsorted(cumulative, ticket * cumulative[-1], side="right"))
                chosen[c] = min(place, int(np.flatnonzero(share)[-1]))
            near = np.minimum(near, turned[chosen[c]])
            share = s * near if self.init == "k-means++" else s.copy()
            share[chosen[: c + 1]] = 0.0
        return chosen

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[np.int32]:
        """Return the number of the nearest medoid of each row, or write it ``to`` a file.

        With precomputed distances, X holds those of new rows to all rows of the fit.
        """
        found: NDArray[np.int32] = self._answer(self._predict, X, to, ["cluster"])
        return found

    def _predict(self, X: Any) -> NDArray[np.int32]:
        if self.metric == "precomputed":
            return np.asarray(X)[:, self.medoid_indices_].argmin(axis=1).astype(np.int32)
        if self.distance_ is not None and self.distance_.takes == "cells":
            X = self._coded(X, self.distance_)
        parts = [np.zeros(0, np.int32)]
        for _, block in dense_blocks(X):
            parts.append(
                self._apart(block, self.cluster_centers_, self.distance_).argmin(axis=1).astype(np.int32)
            )
        return np.concatenate(parts)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """The loss again, and that of every swap of a medoid for a row."""
        X, weight, distance = self._rows(source, self._given_distance())
        rows, k = self.medoid_indices_, self.n_clusters
        if len(X) != len(self.labels_) or rows.max() >= len(X):
            return self._stated(np.inf, np.inf)
        apart = X[:, rows] if self.metric == "precomputed" else self._apart(X, X[rows], distance)
        order = np.sort(apart, axis=1)
        own = apart.argmin(axis=1)
        near, after = order[:, 0], order[:, 1] if k > 1 else np.full(len(X), np.inf)
        loss = float(weight @ near)
        size = max(loss, 1e-300)
        member = np.zeros((len(X), k))
        member[np.arange(len(X)), own] = weight
        best, step = loss, max(1, 2**23 // len(X))
        for start in range(0, len(X), step):
            some = np.flatnonzero(weight[start : start + step] > 0) + start
            to = X[:, some] if self.metric == "precomputed" else self._apart(X, X[some], distance)
            kept = np.minimum(to, near[:, None])
            base = weight @ kept
            lost = member.T @ (np.minimum(to, after[:, None]) - kept)  # k x candidates
            best = min(best, float((base + lost).min(initial=np.inf)))
        total = np.bincount(own, weight, k)
        change = max(
            abs(loss - self.inertia_) / size,
            float((own != self.labels_).any()),
            float(np.abs(total - self.cluster_weights_).max() / max(total.sum(), 1e-300)),
            0.0
            if np.array_equal(X[rows], self.cluster_centers_, equal_nan=True) and distance == self.distance_
            else np.inf,
        )
        return self._stated((loss - best) / size, change)

    @staticmethod
    def _stated(gain: float, change: float) -> Certificate:
        parts = {"what the best swap would gain": gain, "change of a medoid, label, loss or weight": change}
        measure = "what the best swap of a medoid would gain, relative"
        return Certificate("fixed point", measure, float(np.max([gain, change])), 1e-9, parts)

    def check_loaded(self) -> None:
        """Labels are numbers of medoids, and medoids of rows."""
        labels, rows = self.labels_, self.medoid_indices_
        if (self._given_distance() is None) != (self.distance_ is None):
            raise FormatError("the file has not the distance that its metric asks for.")
        if (
            rows.dtype != np.int64
            or rows.ndim != 1
            or len(rows) != len(self.cluster_centers_)
            or not len(rows)
        ):
            raise FormatError("the file has not one row for each medoid.")
        if labels.dtype != np.int32 or labels.ndim != 1 or not ((labels >= 0) & (labels < len(rows))).all():
            raise FormatError("a label of the file is no number of a cluster.")
        if not ((rows >= 0) & (rows < max(len(labels), 1))).all():
            raise FormatError("a medoid of the file is no number of a row.")
