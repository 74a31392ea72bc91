"""k-means that moves its centres after a few rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.native.centres.cluster_sums import cluster_cost, cluster_sums
from surefit.core.native.centres.nearest_centre import nearest_centre
from surefit.core.parameters import Count, NonNegative, RandomState, Tolerance, WholeNumber, validate
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.source import ArraySource, Source
from surefit.engine.base import Engine, choose_engine
from surefit.models.base import Learned
from surefit.models.cluster.kmeans.base import (
    EXACT,
    CentreModel,
    HalfSteps,
    check_count,
    recomputed,
    scale_of,
    warn_of_duplicates,
)
from surefit.models.cluster.kmeans.kmeans import Init
from surefit.models.cluster.kmeans.passes import Farthest, passes_over
from surefit.models.cluster.kmeans.starts import Starts, distinct_rows
from surefit.resample.streams import seed_of, stream
from surefit.stats.cluster_sums import dense_blocks
from surefit.stats.spread import Spread


@dataclass(frozen=True, slots=True)
class MiniBatchParameters:
    """Centres, the cluster of each row, the cost, iterations over all rows, steps, the weight of each
    cluster, and the weight that each centre has seen.
    """

    cluster_centers: Matrix
    labels: NDArray[np.int32]
    inertia: float
    n_iter: int
    n_steps: int
    cluster_weights: Vector
    counts: Vector


class MiniBatchKMeans(CentreModel):
    r"""Find k centres by k-means on a few rows at a time (Sculley 2010): each centre is the mean of all rows
    that were put to it so far, :math:`c_k \leftarrow c_k + (S_k - W_k c_k) / N_k`.

    batch_size: rows of a step, drawn with chances proportional to their weights; where there are no more, a
    step takes all of them. A source is read block by block in its own order instead. max_iter: passes over
    as many rows as there are. tol, max_no_improvement: the movement of centres, and the number of steps
    without a lower smoothed cost, at which a fit ends. reassignment_ratio: a centre that has seen less than
    this share of what the busiest has seen is moved to a row that lies far from its centre. init, n_init: as
    in KMeans; of several starts the best on the rows they are drawn from is taken. init_size, verbose:
    without effect. compute_labels: whether all rows are put to their centres in the end.

    The certificate is measured: labels, cost and weights of the clusters, again. That centres are means it
    does not say; ``trace_`` shows how far they moved.

    >>> from surefit import MiniBatchKMeans
    >>> model = MiniBatchKMeans(2, random_state=0).fit([[0.0], [1.0], [9.0], [10.0]])
    >>> sorted(model.cluster_centers_.ravel().tolist())
    [0.5, 9.5]
    """

    learns = MiniBatchParameters
    n_steps_: int
    counts_: Vector

    def __init__(
        self,
        n_clusters: Count = 8,
        *,
        init: Init = "k-means++",
        max_iter: Count = 100,
        batch_size: Count = 1024,
        verbose: WholeNumber | bool = 0,
        compute_labels: bool = True,
        random_state: RandomState = None,
        tol: Tolerance = 0.0,
        max_no_improvement: WholeNumber | None = 10,
        init_size: Count | None = None,
        n_init: Literal["auto"] | Count = "auto",
        reassignment_ratio: NonNegative = 0.01,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.verbose = verbose
        self.compute_labels = compute_labels
        self.random_state = random_state
        self.tol = tol
        self.max_no_improvement = max_no_improvement
        self.init_size = init_size
        self.n_init = n_init
        self.reassignment_ratio = reassignment_ratio

    def _iteration_limit(self) -> None:
        return None

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        spread = engine.accumulate(Spread.of, source)
        check_count(type(self).__name__, spread.rows, self.n_clusters)
        state = _State(self._start(source, engine), np.zeros(self.n_clusters), self.reassignment_ratio)
        rows = source.schema.rows or spread.rows
        most = max(1, self.max_iter * ceil(rows / min(self.batch_size, rows)))
        batches = self._batches(source, rows)
        watch = _Watch(self.tol * scale_of(spread).variance, self.max_no_improvement)
        for _ in trace.iterations(most):
            batch = next(batches)
            cost, moved = state.step(*batch)
            trace.record(objective=cost, step=float(np.sqrt(moved)))
            if watch.ends(cost, moved, len(batch[0]) / rows):
                break
        steps = len(trace)
        found = self._counted(state, source, engine, ceil(steps * min(self.batch_size, rows) / rows), steps)
        warn_of_duplicates(type(self).__name__, found.cluster_weights)
        evidence = {"column_moments": spread.moments, "rows": spread.rows}
        return Learned(found, self._stated(0.0, 0.0, 0.0), evidence)

    def _start(self, source: Source, engine: Engine) -> Matrix:
        starts = Starts(self.init, self.n_clusters, source, engine, self.random_state)
        several = 3 if self.n_init == "auto" and (self.init == "random" or callable(self.init)) else 1
        count = several if self.n_init == "auto" else int(self.n_init)
        if count == 1 or not isinstance(self.init, str):
            return starts.of(0)
        drawn = [starts.of(restart) for restart in range(count)]
        pool = starts.pool()
        costs = []
        for centres in drawn:
            labels = np.zeros(len(pool.X), np.int32)
            nearest_centre(pool.X, centres, labels)
            costs.append(cluster_cost(pool.X, pool.weight, centres, labels))
        return drawn[int(np.argmin(costs))]

    def _batches(self, source: Source, rows: int) -> Iterator[tuple[NDArray[Any], Vector | None]]:
        """Rows of a step and their weights, for ever."""
        if not isinstance(source, ArraySource):
            while True:
                for batch in source:
                    yield from _pieces(batch, self.batch_size)
        whole = source.batch
        if rows <= self.batch_size:
            block = np.concatenate([block for _, block in dense_blocks(whole.X)])
            while True:
                yield block, whole.weight
        rng = stream(0 if self.random_state is None else seed_of(self.random_state), 10**6)
        cumulative = None if whole.weight is None else np.cumsum(whole.weight)
        X: Any = whole.X
        while True:
            tickets = rng.random(self.batch_size)
            if cumulative is None or whole.weight is None:
                chosen = (tickets * rows).astype(np.intp)
            else:
                chosen = np.searchsorted(cumulative, tickets * cumulative[-1], side="right")
                chosen = np.minimum(chosen, int(np.flatnonzero(whole.weight)[-1]))
            some: Any = X[np.sort(chosen)]
            yield np.ascontiguousarray(some.toarray() if hasattr(some, "toarray") else some), None

    def _counted(
        self, state: _State, source: Source, engine: Engine, iterations: int, steps: int
    ) -> MiniBatchParameters:
        """The state with all rows put to its centres, if that is asked for."""
        centres, labels = state.centres, np.zeros(0, np.int32)
        cost, weight = 0.0, state.counts.copy()
        if self.compute_labels:
            passes = passes_over(source, engine, "plain", len(centres))
            weight = passes.step(centres, None).weight
            labels, cost = passes.labels(), passes.cost(centres)
        return MiniBatchParameters(centres, labels, cost, iterations, steps, weight, state.counts)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take one step with these rows; the first of them draw the centres. ``labels_`` are those of the
        rows.
        """

        def step() -> None:
            validate(self)
            first = not self.__sklearn_is_fitted__()
            source = self._source(X, y, sample_weight, reset=first)
            engine = choose_engine(source)
            spread = engine.accumulate(Spread.of, source)
            if first:
                check_count(type(self).__name__, spread.rows, self.n_clusters)
                centres, counts = self._start(source, engine), np.zeros(self.n_clusters)
            else:
                centres, counts = self.cluster_centers_.copy(), self.counts_.copy()
            state = _State(centres, counts, self.reassignment_ratio)
            for batch in source:
                for block in _pieces(batch, max(len(batch), 1)):
                    state.step(*block)
            self.trace_ = Trace()
            steps = 1 if first else self.n_steps_ + 1
            found = self._counted(state, source, engine, 1 if first else self.n_iter_, steps)
            self._adopt(Learned(found, self._stated(0.0, 0.0, 0.0), {}), source.schema)

        return self._atomically(step)

    def _certificate_of(self, steps: HalfSteps, spread: Spread) -> Certificate:
        if not self.compute_labels:
            return self._stated(0.0, 0.0, 0.0)
        parts = recomputed(self, steps, scale_of(spread), self.tol).parts
        if len(parts) == 1:
            return self._stated(np.inf, np.inf, np.inf)
        return self._stated(*list(parts.values())[1:])

    @staticmethod
    def _stated(nearer: float, cost: float, weight: float) -> Certificate:
        parts = {"cost of rows nearer to another centre": nearer, "cost": cost, "weight": weight}
        measure = "largest change of labels, cost and weights, relative"
        return Certificate("measured", measure, float(np.max([nearer, cost, weight])), EXACT, parts)


class _State:
    """Centres, and the weight that each has seen."""

    def __init__(self, centres: Matrix, counts: Vector, ratio: float) -> None:
        self.centres, self.counts, self._ratio = centres, counts, ratio
        self._since = 0

    def step(self, X: NDArray[Any], weight: Vector | None) -> tuple[float, float]:
        """Move the centres; return the mean cost of the rows before, and the squared movement."""
        labels, before = np.zeros(len(X), np.int32), self.centres
        nearest_centre(X, before, labels)
        high = np.zeros((len(before), X.shape[1] + 1))
        low = np.zeros_like(high)
        cluster_sums(X, weight, None, labels, high, low)
        high += low
        cost = cluster_cost(X, weight, before, labels) / max(high[:, -1].sum(), 1e-300)
        self.counts = self.counts + high[:, -1]
        some = high[:, -1] > 0
        rate = np.where(some, self.counts, 1.0)[:, None]
        pull = high[:, :-1] - high[:, -1:] * before
        self.centres = np.where(some[:, None], before + pull / rate, before)
        self._since += len(X)
        if self._since >= 10 * len(before) or not self.counts.all():
            self._since = 0
            self._reassign(X, weight)
        return cost, float(np.square(self.centres - before).sum())

    def _reassign(self, X: NDArray[Any], weight: Vector | None) -> None:
        """Move centres that have seen little to rows that lie far, half as many as there are rows at the
        most.
        """
        idle = np.flatnonzero(self.counts < self._ratio * self.counts.max())[: max(1, len(X) // 2)]
        if not len(idle):
            return
        rows, total, _ = distinct_rows(X, weight)
        far = Farthest.of(
            Batch(np.ascontiguousarray(rows), weight=total), centres=self.centres, count=len(idle)
        )
        idle = idle[: len(far.X)]
        self.centres = self.centres.copy()
        self.centres[idle] = far.X[: len(idle)]
        rest = np.delete(self.counts, idle)
        self.counts[idle] = rest.min() if len(rest) else 1.0


class _Watch:
    """Whether steps still lead anywhere."""

    def __init__(self, allowed: float, patience: int | None) -> None:
        self._allowed, self._patience = allowed, patience
        self._smooth: float | None = None
        self._best, self._vain, self._first = np.inf, 0, True

    def ends(self, cost: float, moved: float, share: float) -> bool:
        if self._first:  # of a cost before any centre has moved
            self._first = False
            return False
        alpha = min(1.0, 2.0 * share)
        self._smooth = cost if self._smooth is None else self._smooth * (1 - alpha) + cost * alpha
        if moved <= self._allowed and (self._allowed > 0 or share >= 1):
            return True
        self._vain = 0 if self._smooth < self._best else self._vain + 1
        self._best = min(self._best, self._smooth)
        return self._patience is not None and self._vain >= self._patience


def _pieces(batch: Batch, size: int) -> Iterator[tuple[NDArray[Any], Vector | None]]:
    for rows, block in dense_blocks(batch.X):
        weight = None if batch.weight is None else batch.weight[rows]
        for start in range(0, len(block), size):
            some = slice(start, start + size)
            yield np.ascontiguousarray(block[some]), None if weight is None else weight[some]
