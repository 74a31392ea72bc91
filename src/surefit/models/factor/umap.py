"""Embedding of the fuzzy graph of nearest neighbours."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import ArpackError, eigsh

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import ParameterError
from surefit.core.parameters import Count, Fraction, NonNegative, Positive, RandomState
from surefit.core.trace import Trace
from surefit.models.factor.embedding import (
    Distinct,
    NeighbourEmbedding,
    neighbours,
    principal_places,
    symmetric,
)
from surefit.resample.streams import seed_of, stream

MOST = 4.0  # of a pull on a coordinate
PAIRS = 20  # drawn for each point to judge how far apart strangers are


class UMAP(NeighbourEmbedding):
    r"""Points whose graph of neighbours is like that of the rows (McInnes, Healy and Melville, 2018).

    A row is joined to its nearest ``n_neighbors`` rows with :math:`w = \exp(-(d - \rho_i) / \sigma_i)`,
    :math:`\rho_i` the distance to the nearest; the edges of both ends are united by w + w' - ww'. Points are
    joined by :math:`1/(1 + a d^{2b})`, a and b set by min_dist and spread; the cross-entropy of the two
    graphs is lowered by steps along edges, and away from ``negative_sample_rate`` points drawn for each. All
    steps of an epoch are taken together and draws follow ``random_state`` (None: 0), so the picture is the
    same every time, on any number of threads. n_epochs: None takes 200, and 100 beyond 10000 points.

    >>> import numpy as np
    >>> from surefit import UMAP
    >>> X = np.repeat([[0.0, 0, 0], [9, 9, 9]], 20, axis=0) + np.random.default_rng(0).normal(size=(40, 3))
    >>> places = UMAP(n_neighbors=5, n_epochs=50).fit_transform(X)
    >>> places.shape
    (40, 2)
    """

    def __init__(
        self,
        n_neighbors: Count = 15,
        n_components: Count = 2,
        *,
        min_dist: NonNegative = 0.1,
        spread: Positive = 1.0,
        n_epochs: Count | None = None,
        learning_rate: Positive = 1.0,
        init: Literal["spectral", "pca", "random"] = "spectral",
        set_op_mix_ratio: Fraction = 1.0,
        repulsion_strength: NonNegative = 1.0,
        negative_sample_rate: Count = 5,
        random_state: RandomState = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.min_dist = min_dist
        self.spread = spread
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.init = init
        self.set_op_mix_ratio = set_op_mix_ratio
        self.repulsion_strength = repulsion_strength
        self.negative_sample_rate = negative_sample_rate
        self.random_state = random_state

    def _check_rows(self, count: int) -> None:
        if self.min_dist > self.spread:
            raise ParameterError(f"min_dist={self.min_dist} must be at most spread={self.spread}.")

    def _graph(self, distinct: Distinct) -> sparse.csr_array:
        """The united graph; an edge counts with the mean weight of its ends."""
        n = len(distinct.rows)
        if n < 2:
            return sparse.csr_array((n, n))
        index, square = neighbours(distinct.rows, min(self.n_neighbors, n - 1))
        far = np.sqrt(square)
        joined = symmetric(index, memberships(far))
        both = joined.multiply(joined.T)
        mix = self.set_op_mix_ratio
        graph = sparse.csr_array(mix * (joined + joined.T - both) + (1 - mix) * both)
        mass = distinct.weight / distinct.weight.mean()
        begins = np.repeat(np.arange(n), np.diff(graph.indptr))
        graph.data = graph.data * 0.5 * (mass[begins] + mass[graph.indices])
        graph.sort_indices()
        return graph

    def _begin(self, distinct: Distinct, graph: Any, rng: Any) -> Matrix:
        n, k = len(distinct.rows), self.n_components
        if self.init == "spectral" and n > 3 * (k + 2):
            places = _spectral(graph, k)
            if places is not None:
                return places
        if self.init == "random":
            return rng.uniform(-10, 10, (n, k))
        places = principal_places(distinct, k, 1.0)
        size = float(np.abs(places).max(initial=0.0))
        return places * (10 / size if size > 0 else 1.0)

    def _place(self, distinct: Distinct, trace: Trace) -> tuple[Matrix, int]:
        graph, n = self._graph(distinct), len(distinct.rows)
        a, b = curve(self.min_dist, self.spread)
        epochs = self.n_epochs or (200 if n <= 10_000 else 100)
        rng = stream(0 if self.random_state is None else seed_of(self.random_state), 0)
        Y = self._begin(distinct, graph, rng)
        heads = np.repeat(np.arange(n), np.diff(graph.indptr))
        tails, weight = graph.indices, graph.data
        kept = weight > weight.max(initial=0.0) / epochs
        heads, tails = heads[kept], tails[kept]
        every = weight.max(initial=1.0) / weight[kept]  # epochs between two steps along an edge
        due = every.copy()
        for epoch in trace.iterations(epochs):
            now = due <= epoch + 1
            i, j = heads[now], tails[now]
            due[now] += every[now]
            step = self.learning_rate * (1 - epoch / epochs)
            pull = _pull(Y, i, j, a, b)
            moved = _summed(i, pull, n) - _summed(j, pull, n)
            if n > 1:
                start = np.repeat(i, self.negative_sample_rate)
                others = rng.integers(n, size=len(start))
                push = self.repulsion_strength * _push(Y, start, others, a, b)
                moved += _summed(start, push, n)
            Y = Y + step * np.clip(moved, -MOST, MOST)
            trace.record(step=float(np.sqrt((moved**2).mean())) if moved.size else 0.0)
        return Y - Y.mean(axis=0), len(trace)

    def _objective(self, distinct: Distinct, places: Matrix) -> float:
        """Cross-entropy along edges, and of strangers drawn once and for all."""
        graph, n = self._graph(distinct), len(places)
        if n < 2:
            return 0.0
        a, b = curve(self.min_dist, self.spread)
        heads = np.repeat(np.arange(n), np.diff(graph.indptr))
        near = _joined(places, heads, graph.indices, a, b)
        w = graph.data
        found = -float(w @ np.log(near))
        rng = np.random.default_rng(0)
        i, j = np.repeat(np.arange(n), PAIRS), rng.integers(n, size=n * PAIRS)
        strange = i != j
        apart = _joined(places, i[strange], j[strange], a, b)
        return (found - float(np.log1p(-np.minimum(apart, 1 - 1e-9)).sum()) * n / PAIRS / n) / n


def memberships(far: Matrix) -> Matrix:
    """How much each neighbour belongs to a row's neighbourhood; widths by bisection."""
    n, k = far.shape
    nearest = far.min(axis=1, keepdims=True)
    apart = np.maximum(far - nearest, 0.0)
    unit = np.maximum(apart.mean(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    apart, target = apart / unit, np.log2(k + 1)
    low, high, width = np.zeros((n, 1)), np.full((n, 1), np.inf), np.ones((n, 1))
    for _ in range(64):
        total = np.exp(-apart / width).sum(axis=1, keepdims=True)
        large = total > target
        low, high = np.where(large, low, width), np.where(large, width, high)
        width = np.where(np.isinf(high), width * 2, 0.5 * (low + high))
    return np.exp(-apart / np.maximum(width, 1e-3))


@cache
def curve(min_dist: float, spread: float) -> tuple[float, float]:
    """a and b of 1 / (1 + a d^2b), nearest to 1 up to min_dist and exp(-(d - min_dist) / spread) beyond.

    >>> tuple(round(value, 3) for value in curve(0.1, 1.0))
    (1.577, 0.895)
    """
    x = np.linspace(0, 3 * spread, 300)
    y = np.where(x < min_dist, 1.0, np.exp(-(x - min_dist) / spread))
    (a, b), _ = optimize.curve_fit(lambda d, a, b: 1 / (1 + a * d ** (2 * b)), x, y, p0=(1.0, 1.0))
    return float(a), float(b)


def _joined(Y: Matrix, i: Any, j: Any, a: float, b: float) -> Vector:
    square = ((Y[i] - Y[j]) ** 2).sum(axis=1)
    found: Vector = 1 / (1 + a * square**b)
    return found


def _pull(Y: Matrix, i: Any, j: Any, a: float, b: float) -> Matrix:
    apart = Y[i] - Y[j]
    square = (apart**2).sum(axis=1)
    safe = np.maximum(square, 1e-12)
    slope = np.where(square > 0, -2 * a * b * safe ** (b - 1) / (1 + a * safe**b), 0.0)
    return np.clip(slope[:, None] * apart, -MOST, MOST)


def _push(Y: Matrix, i: Any, j: Any, a: float, b: float) -> Matrix:
    apart = Y[i] - Y[j]
    square = (apart**2).sum(axis=1)
    slope = 2 * b / ((0.001 + square) * (1 + a * square**b))
    slope[i == j] = 0.0
    return np.clip(slope[:, None] * apart, -MOST, MOST)


def _summed(which: Any, values: Matrix, n: int) -> Matrix:
    return np.column_stack([np.bincount(which, column, n) for column in values.T])


def _spectral(graph: Any, count: int) -> NDArray[np.float64] | None:
    """Smallest eigenvectors of the normalised Laplacian, the constant one left out; None if there is none."""
    parts, _ = csgraph.connected_components(graph, directed=False)
    degree = np.asarray(graph.sum(axis=1)).ravel()
    if parts > 1 or not (degree > 0).all():
        return None
    root = 1 / np.sqrt(degree)
    scaled = sparse.diags_array(root) @ graph @ sparse.diags_array(root)
    n = graph.shape[0]
    try:
        if n <= 500:
            _, vectors = np.linalg.eigh(scaled.toarray())
            vectors = vectors[:, ::-1]
        else:
            values, vectors = eigsh(scaled, count + 1, which="LA", v0=np.ones(n), tol=1e-6, maxiter=5 * n)
            vectors = vectors[:, np.argsort(-values)]
    except ArpackError:
        return None
    found = vectors[:, 1 : count + 1]
    turn = np.sign(found[np.abs(found).argmax(axis=0), np.arange(count)])
    return 10 * found * turn / np.abs(found).max()
