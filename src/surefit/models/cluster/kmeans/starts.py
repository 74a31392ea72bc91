"""First centres: rows drawn at random, by k-means++, by k-means||, or given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from math import frexp, log
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError, ParameterError
from surefit.core.native.centres.cluster_sums import cluster_cost
from surefit.core.native.centres.nearest_centre import nearest_centre
from surefit.core.native.centres.seeding import BLOCK, seeding_accept, seeding_potentials
from surefit.core.public import public
from surefit.data.batches.batch import Batch
from surefit.data.source import ArraySource, Source
from surefit.engine.base import Engine
from surefit.resample.streams import seed_of, stream
from surefit.stats.cluster_sums import ClusterSums, dense_blocks

FEW = 2**15  # rows that are put in the order of their cells before any is drawn
ROUNDS = 5  # passes of k-means||
_CELLS = 2**25  # of the rows that first centres are drawn from, where the table is larger than memory


def row_chances(numbers: NDArray[Any], seed: int) -> NDArray[np.float64]:
    """Uniform numbers in (0, 1), decided by the numbers of the rows and a seed alone (splitmix64)."""
    with np.errstate(over="ignore"):
        z = (numbers.astype(np.uint64) + np.uint64(seed % 2**64)) * np.uint64(0x9E3779B97F4A7C15)
        z += np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return ((z >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


@dataclass(frozen=True, slots=True)
class RowSample:
    r"""``count`` rows drawn without replacement, in row order, with their weights.

    Chances are proportional to the weights, or with ``centres`` to weight times squared distance to the
    nearest of them: of all rows those with the least :math:`-\log(u_i) / w_i` are kept (Efraimidis and
    Spirakis). Rows without weight, or at distance 0, are never drawn; where there are no more than ``count``
    others, all are.

    >>> RowSample.of(Batch(np.array([[2.0], [5.0], [1.0]])), count=2, seed=3).X.shape
    (2, 1)
    """

    count: int
    numbers: NDArray[np.int64]
    keys: NDArray[np.float64]
    X: NDArray[np.float64]
    weight: NDArray[np.float64]
    seen: int

    @classmethod
    def of(
        cls, batch: Batch, *, count: int = 10, seed: int = 0, centres: Any = None, **context: Any
    ) -> RowSample:
        """Draw from some rows."""
        weight = np.ones(len(batch)) if batch.weight is None else batch.weight
        numbers = batch.start + np.arange(len(batch))
        share = weight.copy()
        if centres is not None:
            for rows, block in dense_blocks(batch.X):
                labels, squares = np.zeros(len(block), np.int32), np.empty(len(block))
                nearest_centre(block, centres, labels)
                cluster_cost(block, None, centres, labels, squares)
                share[rows] *= squares
        with np.errstate(divide="ignore"):
            keys = -np.log(row_chances(numbers, seed)) / share
        counted = np.flatnonzero(share > 0)
        kept = counted[np.sort(np.argsort(keys[counted], kind="stable")[:count])]
        X: Any = batch.X[kept]  # type: ignore[index]
        dense = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        return cls(count, numbers[kept], keys[kept], dense, weight[kept], len(counted))

    def __add__(self, other: RowSample) -> RowSample:
        keys = np.concatenate([self.keys, other.keys])
        numbers = np.concatenate([self.numbers, other.numbers])
        best = np.lexsort((numbers, keys))[: self.count]
        kept = best[np.argsort(numbers[best], kind="stable")]
        return RowSample(
            self.count,
            numbers[kept],
            keys[kept],
            np.concatenate([self.X, other.X])[kept],
            np.concatenate([self.weight, other.weight])[kept],
            self.seen + other.seen,
        )


def _sampled(draw: Callable[[Batch], RowSample], source: Source, engine: Engine) -> RowSample:
    """Draw from all batches; rows that are kept are no sums, so a checkpoint does not hold them."""
    return reduce(add, engine.map(draw, source))


class Pool:
    """The rows that first centres are drawn from, with their weights.

    Up to 32768 rows in memory are put in the order of their cells, and equal ones become one, so that neither
    their order nor a weight in place of a repetition changes what is drawn. Of a source, and of a sparse
    table, that many rows are drawn first.
    """

    def __init__(self, source: Source, engine: Engine, seed: int, least: int) -> None:
        if isinstance(source, ArraySource) and isinstance(source.batch.X, np.ndarray):
            X: Any = source.batch.X
            weight = source.batch.weight
        else:
            most = max(least, min(FEW, _CELLS // max(1, source.schema.width)))
            drawn = _sampled(partial(RowSample.of, count=most, seed=seed), source, engine)
            # Rows that were drawn by their weight count once.
            X, weight = drawn.X, drawn.weight if drawn.seen <= most else None
        self.places: NDArray[np.intp] | None = None
        if len(X) <= FEW:
            X, weight, self.places = distinct_rows(X, weight)
        self.X = np.ascontiguousarray(X)
        self.weight = weight


def distinct_rows(X: NDArray[Any], weight: Vector | None) -> tuple[NDArray[Any], Vector, NDArray[np.intp]]:
    """The different rows that count, in the order of their cells; their weights, and where each is first."""
    s = np.ones(len(X)) if weight is None else weight
    counted = np.flatnonzero(s > 0)
    order = counted[np.lexsort(X[counted].T[::-1])]
    rows = X[order]
    fresh = np.ones(len(rows), dtype=bool)
    fresh[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    total: Vector = np.bincount(np.cumsum(fresh) - 1, s[order]).astype(np.float64)
    return rows[fresh], total, order[fresh]


def plus_plus(
    X: NDArray[Any], weight: Vector | None, count: int, rng: np.random.Generator, trials: int | None = None
) -> NDArray[np.intp]:
    """The numbers of the rows that greedy k-means++ draws (Arthur and Vassilvitskii 2007).

    Each is the best of some candidates, drawn with chances proportional to weight times squared distance to
    the nearest centre so far.
    """
    trials = 2 + int(log(count)) if trials is None else trials
    origin = np.average(X, axis=0, weights=weight).astype(np.float64)
    size = float(np.abs(X - origin).max(initial=0.0)) if X.size < 2**24 else float(np.abs(X).max())
    scale = 2.0 ** float(np.clip(-frexp(size)[1], -1000, 1000)) if size > 0 else 1.0
    chosen = np.empty(count, dtype=np.intp)
    chosen[0] = _drawn(np.ones(len(X)) if weight is None else weight, rng.random(1))[0]
    closest = np.full(len(X), np.inf, dtype=np.float32)
    totals = seeding_accept(X, weight, origin, scale, _row(X, chosen[0]), closest)
    for c in range(1, count):
        tickets = rng.random(trials)
        if totals.sum() == 0:  # every row is a centre already
            chosen[c] = _drawn(np.ones(len(X)) if weight is None else weight, tickets[:1])[0]
            continue
        candidates = _drawn_far(closest, weight, totals, tickets)
        rows = np.ascontiguousarray(X[candidates], dtype=np.float64)
        best = int(seeding_potentials(X, weight, origin, scale, rows, closest).argmin()) if trials > 1 else 0
        chosen[c] = candidates[best]
        totals = seeding_accept(X, weight, origin, scale, rows[best], closest)
    return chosen


def _row(X: NDArray[Any], place: Any) -> Vector:
    return np.ascontiguousarray(X[place], dtype=np.float64)


def _drawn(share: Vector, tickets: Vector) -> NDArray[np.intp]:
    """Rows by inverse cumulative share; one without a share is never drawn."""
    cumulative = np.cumsum(share, dtype=np.float64)
    found = np.searchsorted(cumulative, tickets * cumulative[-1], side="right")
    last = int(np.flatnonzero(share > 0)[-1])
    return np.minimum(found, last)


def _drawn_far(
    closest: NDArray[np.float32], weight: Vector | None, totals: Vector, tickets: Vector
) -> NDArray[np.intp]:
    """The same in two steps: the block of rows, then the row."""
    cumulative = np.cumsum(totals)
    wanted = tickets * cumulative[-1]
    last = int(np.flatnonzero(totals > 0)[-1])
    blocks = np.minimum(np.searchsorted(cumulative, wanted, side="right"), last)
    found = np.empty(len(tickets), dtype=np.intp)
    for place, (block, want) in enumerate(zip(blocks.tolist(), wanted.tolist(), strict=True)):
        rows = slice(block * BLOCK, (block + 1) * BLOCK)
        share = closest[rows].astype(np.float64) * (1.0 if weight is None else weight[rows])
        before = cumulative[block] - totals[block]
        inside = np.searchsorted(np.cumsum(share), want - before, side="right")
        found[place] = block * BLOCK + min(int(inside), int(np.flatnonzero(share > 0)[-1]))
    return found


def at_random(pool: Pool, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Different rows with chances proportional to their weights."""
    share = np.ones(len(pool.X)) if pool.weight is None else pool.weight.astype(np.float64).copy()
    if len(share) > FEW:
        keys = -np.log(1.0 - rng.random(len(share))) / np.where(share > 0, share, np.nan)
        return np.argsort(keys)[:count]
    chosen = np.empty(count, dtype=np.intp)
    for c, ticket in enumerate(rng.random(count)):
        if not share.any():
            share = np.ones(len(share))
        chosen[c] = _drawn(share, np.array([ticket]))[0]
        share[chosen[c]] = 0.0
    return chosen


def in_parallel(source: Source, engine: Engine, count: int, rng: np.random.Generator) -> Matrix:
    """Draw 2k rows far from those so far in each of five passes, and reduce them to k by weighted k-means++
    (Bahmani et al. 2012).
    """
    seeds = rng.integers(2**62, size=ROUNDS + 1)
    found = _sampled(partial(RowSample.of, count=1, seed=int(seeds[0])), source, engine).X
    for seed in seeds[1:]:
        drawn = partial(RowSample.of, count=2 * count, seed=int(seed), centres=found)
        more = _sampled(drawn, source, engine).X
        found = np.concatenate([found, more])
    if len(found) <= count:
        return _filled(found, count)
    sums = engine.accumulate(partial(ClusterSums.of, centres=found), source)
    weight = sums.high[:, -1]
    return found[plus_plus(found, np.where(weight > 0, weight, 0.0), count, rng)]


def _filled(found: Matrix, count: int) -> Matrix:
    """The rows, the last of them again and again where there are too few."""
    return found[np.minimum(np.arange(count), len(found) - 1)]


Init = str | Callable[..., Any] | NDArray[Any] | list[Any] | tuple[Any, ...]


class Starts:
    """First centres for each restart, as ``init`` asks for them."""

    def __init__(self, init: Any, count: int, source: Source, engine: Engine, random_state: Any) -> None:
        self._init, self._count = init, count
        self._source, self._engine = source, engine
        self._seed = 0 if random_state is None else seed_of(random_state)
        self._pool: Pool | None = None
        if not isinstance(init, str) and (isinstance(init, list | tuple) or hasattr(init, "__array__")):
            self._init = self._checked(init)

    def of(self, restart: int) -> Matrix:
        """The first centres of one restart."""
        init, rng = self._init, stream(self._seed, restart)
        if isinstance(init, np.ndarray):
            return init.copy()
        if callable(init):
            batch = self._source.batch if isinstance(self._source, ArraySource) else None
            if batch is None:
                raise ParameterError("init: a function needs rows in memory; give the first centres.")
            random = np.random.RandomState(int(rng.integers(2**32)))
            return self._checked(init(batch.X, self._count, random_state=random))
        if init == "k-means||":
            return in_parallel(self._source, self._engine, self._count, rng)
        pool = self.pool()
        if len(pool.X) < self._count:
            places = np.minimum(np.arange(self._count), len(pool.X) - 1)
        elif init == "random":
            places = at_random(pool, self._count, rng)
        else:
            places = plus_plus(pool.X, pool.weight, self._count, rng)
        return np.ascontiguousarray(pool.X[places], dtype=np.float64)

    def pool(self) -> Pool:
        """The rows that first centres are drawn from."""
        if self._pool is None:
            self._pool = Pool(self._source, self._engine, self._seed, self._count)
        return self._pool

    def _checked(self, given: Any) -> Matrix:
        centres: Matrix = np.ascontiguousarray(given, dtype=np.float64)
        shape, width = centres.shape, self._source.schema.width
        if centres.ndim != 2 or shape[0] != self._count:
            raise DataError(
                f"The shape of the initial centers {shape} does not match the number of clusters "
                f"{self._count}."
            )
        if shape[1] != width:
            raise DataError(
                f"The shape of the initial centers {shape} does not match the number of features of the "
                f"data {width}."
            )
        if not np.isfinite(centres).all():
            raise DataError("the initial centers have missing or infinite cells: give finite ones.")
        return centres


@public
def seeding_probabilities(X: Any, centers: Any, sample_weight: Any = None) -> Vector:
    r"""Return the chance of each row to be the next centre that k-means++ draws: :math:`s_i d_i^2 / \sum s
    d^2`.

    d is the distance to the nearest of the centres so far. Where all rows are centres, chances go by weight.

    >>> import surefit
    >>> surefit.seeding_probabilities([[0.0], [1.0], [3.0]], [[0.0]]).round(10)
    array([0. , 0.1, 0.9])
    """
    rows, chosen = np.asarray(X, dtype=np.float64), np.asarray(centers, dtype=np.float64)
    if rows.ndim != 2 or chosen.ndim != 2 or rows.shape[1] != chosen.shape[1] or not len(chosen):
        raise DataError("seeding_probabilities: X and centers must be tables with the same columns.")
    weight = np.ones(len(rows)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    squares = np.min([np.square(rows - centre).sum(axis=1) for centre in chosen], axis=0)
    share = weight * squares
    share = share if share.any() else weight
    found: Vector = share / share.sum()
    return found


@public
def kmeans_plusplus(
    X: Any,
    n_clusters: int,
    *,
    sample_weight: Any = None,
    x_squared_norms: Any = None,
    random_state: Any = None,
    n_local_trials: int | None = None,
) -> tuple[Matrix, NDArray[np.intp]]:
    """Draw first centres by greedy k-means++: the rows, and their numbers.

    x_squared_norms: without effect, and not needed. n_local_trials: candidates for each centre; 2 + log(k).

    >>> import surefit
    >>> centers, rows = surefit.kmeans_plusplus([[0.0], [1.0], [90.0]], 2, random_state=0)
    >>> sorted(centers.ravel().tolist())[1]
    90.0
    """
    from sklearn.utils import check_array

    from surefit.data.checks.cells import check_weights

    rows = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    if rows.shape[0] < n_clusters:
        raise ParameterError(f"n_samples={rows.shape[0]} should be >= n_clusters={n_clusters}.")
    if x_squared_norms is not None and np.shape(x_squared_norms)[:1] != (rows.shape[0],):
        raise DataError(
            f"The length of x_squared_norms {np.shape(x_squared_norms)[0]} should be equal to the length of "
            f"n_samples {rows.shape[0]}."
        )
    dense = rows.toarray() if hasattr(rows, "toarray") else np.ascontiguousarray(rows)
    weight = check_weights(sample_weight, len(dense))
    rng = stream(0 if random_state is None else seed_of(random_state), 0)
    some, total, places = distinct_rows(dense, weight)
    if len(some) < n_clusters:
        counted = np.flatnonzero(np.ones(len(dense)) if weight is None else weight)
        chosen = places[np.minimum(np.arange(n_clusters), len(some) - 1)]
        free = np.setdiff1d(counted, chosen)[: n_clusters - len(some)]
        chosen[len(some) : len(some) + len(free)] = free
    else:
        chosen = places[plus_plus(np.ascontiguousarray(some), total, n_clusters, rng, n_local_trials)]
    return dense[chosen], chosen
