"""t-distributed stochastic neighbour embedding."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import ParameterError
from surefit.core.native.scores.t_forces import t_forces, t_forces_twin
from surefit.core.parameters import Count, Fraction, Interval, NonNegative, Positive, RandomState, WholeNumber
from surefit.core.trace import Trace
from surefit.models.factor.embedding import (
    Distinct,
    NeighbourEmbedding,
    neighbours,
    principal_places,
    symmetric,
)
from surefit.resample.streams import seed_of, stream

EXPLORE = 250  # iterations with exaggerated attraction
EXACT = 3000  # points up to which the objective is found from all pairs


class TSNE(NeighbourEmbedding):
    r"""Points whose neighbourhoods are like those of the rows (van der Maaten and Hinton, 2008).

    :math:`p_{j|i} \propto \exp(-\|x_i - x_j\|^2 / 2\sigma_i^2)`, with :math:`\sigma_i` so that the entropy is
    the logarithm of ``perplexity``; :math:`q_{ij} \propto 1/(1 + \|y_i - y_j\|^2)`; the divergence of q from
    p is lowered by gradient steps with momentum. method: "barnes_hut" takes the nearest 3 ``perplexity``
    rows for p and a tree for q, "exact" all pairs. init: "pca", "random" or an array. The fit is the same for
    the same parameters, on any number of threads; ``random_state`` is for ``init="random"`` alone.

    A picture for looking at: distances between groups and their sizes mean little.

    >>> import numpy as np
    >>> from surefit import TSNE
    >>> X = np.repeat([[0.0, 0, 0], [9, 9, 9]], 15, axis=0) + np.random.default_rng(0).normal(size=(30, 3))
    >>> places = TSNE(perplexity=5, max_iter=300).fit_transform(X)
    >>> places.shape
    (30, 2)
    """

    def __init__(
        self,
        n_components: Count = 2,
        *,
        perplexity: Positive = 30.0,
        early_exaggeration: Annotated[float, Interval(1, None)] = 12.0,
        learning_rate: Positive | Literal["auto"] = "auto",
        max_iter: Annotated[int, Interval(250, None)] = 1000,
        n_iter_without_progress: Annotated[int, Interval(-1, None)] = 300,
        min_grad_norm: NonNegative = 1e-7,
        metric: str = "euclidean",
        metric_params: dict[str, Any] | None = None,
        init: Literal["pca", "random"] | NDArray[Any] = "pca",
        verbose: WholeNumber | bool = 0,
        random_state: RandomState = None,
        method: Literal["barnes_hut", "exact"] = "barnes_hut",
        angle: Fraction = 0.5,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.perplexity = perplexity
        self.early_exaggeration = early_exaggeration
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.n_iter_without_progress = n_iter_without_progress
        self.min_grad_norm = min_grad_norm
        self.metric = metric
        self.metric_params = metric_params
        self.init = init
        self.verbose = verbose
        self.random_state = random_state
        self.method = method
        self.angle = angle
        self.n_jobs = n_jobs

    @property
    def kl_divergence_(self) -> float:
        """The divergence of the points' neighbourhoods from those of the rows."""
        return float(self.objective_)

    @property
    def learning_rate_(self) -> float:
        """The step size that was used."""
        return self._step(len(self.places_))

    def _step(self, count: int) -> float:
        if self.learning_rate == "auto":
            return float(max(count / self.early_exaggeration / 4, 50.0))
        return float(self.learning_rate)

    def _check_rows(self, count: int) -> None:
        if self.perplexity >= count:
            raise ParameterError(
                f"perplexity ({self.perplexity}) must be less than n_samples ({count}): lower it, or give "
                "more rows."
            )
        if self.method == "barnes_hut" and self.n_components > 3:
            raise ParameterError(
                "'n_components' should be inferior to 4 for the barnes_hut algorithm as it relies on "
                "quad-tree or oct-tree."
            )
        if self.metric not in ("euclidean", "sqeuclidean"):
            raise ParameterError(
                f"metric={self.metric!r}: rows are compared by Euclid's distance; take KernelPCA first for "
                "others."
            )

    def _alike(self, distinct: Distinct) -> sparse.csr_array:
        """How alike pairs of rows are, adding up to 1."""
        n = len(distinct.rows)
        whole = self.method == "exact" or n <= 3 * self.perplexity + 1
        index, far = neighbours(distinct.rows, n - 1 if whole else int(3 * self.perplexity) + 1)
        if index.shape[1] == 0:
            return sparse.csr_array((n, n))
        chance = conditional(far, distinct.weight[index], min(self.perplexity, max(1.0, n - 1.0)))
        graph = symmetric(index, chance * distinct.weight[:, None])
        graph = (graph + graph.T).tocsr()
        graph.sort_indices()
        return graph / max(float(graph.sum()), np.finfo(np.float64).tiny)

    def _begin(self, distinct: Distinct) -> Matrix:
        n = len(distinct.rows)
        if isinstance(self.init, str):
            if self.init == "pca":
                return principal_places(distinct, self.n_components, 1e-4)
            rng = stream(0 if self.random_state is None else seed_of(self.random_state), 0)
            return 1e-4 * rng.standard_normal((n, self.n_components))
        given = np.asarray(self.init, dtype=np.float64)
        if given.shape != (len(distinct.which), self.n_components):
            raise ParameterError(
                f"init must have the shape {(len(distinct.which), self.n_components)}, not {given.shape}."
            )
        places = np.zeros((n, self.n_components))
        places[distinct.which] = given
        return places

    def _place(self, distinct: Distinct, trace: Trace) -> tuple[Matrix, int]:
        P = self._alike(distinct)
        starts, ends = P.indptr.astype(np.int64), P.indices.astype(np.int64)
        mass = np.ascontiguousarray(distinct.weight)
        Y = np.ascontiguousarray(self._begin(distinct))
        step, speed, gain = self._step(len(distinct.which)), np.zeros_like(Y), np.ones_like(Y)
        forces = t_forces if self.method == "barnes_hut" and self.n_components in (2, 3) else t_forces_twin
        own = np.maximum(mass, np.finfo(np.float64).tiny)[:, None]  # a point of mass m moves as m points do
        best, since, size = np.inf, 0, np.inf
        for iteration in trace.iterations(self.max_iter):
            early = iteration < EXPLORE
            pull = self.early_exaggeration if early else 1.0
            total, repulsion, attraction = forces(Y, mass, starts, ends, P.data, self.angle)
            slope = 4 * (pull * attraction - repulsion / max(total, np.finfo(np.float64).tiny)) / own
            gain = np.where(speed * slope < 0, gain + 0.2, gain * 0.8)
            gain = np.maximum(gain, 0.01)
            speed = (0.5 if early else 0.8) * speed - step * gain * slope
            Y = np.ascontiguousarray(Y + speed)
            size = float(np.sqrt((slope**2).sum()))
            trace.record(gap=size)
            if iteration % 50 == 49:
                now = self._divergence(P, Y, mass, total)
                since = 0 if now < best or early else since + 50
                best = np.inf if iteration == EXPLORE - 1 else min(best, now)
                if not early and (size <= self.min_grad_norm or 0 <= self.n_iter_without_progress < since):
                    break
        return Y - mass @ Y / mass.sum(), len(trace)

    def _divergence(self, P: Any, Y: Matrix, mass: Vector, total: float) -> float:
        """KL divergence, given the sum of all kernels; p of a pair against its share of the kernels."""
        begins = np.repeat(np.arange(len(Y)), np.diff(P.indptr))
        q = mass[begins] * mass[P.indices] / (1 + ((Y[begins] - Y[P.indices]) ** 2).sum(axis=1))
        p, q = P.data[P.data > 0], np.maximum(q[P.data > 0] / max(total, 1e-300), 1e-300)
        return float(p @ np.log(p / q))

    def _objective(self, distinct: Distinct, places: Matrix) -> float:
        P = self._alike(distinct)
        places, mass = np.ascontiguousarray(places), np.ascontiguousarray(distinct.weight)
        none = np.zeros(len(places) + 1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
        if len(places) <= EXACT or self.n_components not in (2, 3):
            total = t_forces_twin(places, mass, *none, 0.0)[0]
        else:
            total = t_forces(places, mass, *none, 0.2)[0]
        return self._divergence(P, places, mass, total)


def conditional(far: Matrix, weight: Matrix, perplexity: float) -> Matrix:
    """p(j | i) of neighbours at squared distances ``far``, each width by bisection on the entropy."""
    n = len(far)
    least = far.min(axis=1, keepdims=True)
    scale = np.maximum((far - least).mean(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    apart = (far - least) / scale
    low, high, beta = np.zeros((n, 1)), np.full((n, 1), np.inf), np.ones((n, 1))
    target = np.log(perplexity)
    for _ in range(100):
        chance = weight * np.exp(-beta * apart)
        total = np.maximum(chance.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        # Rows of weight m are m rows alike: their entropy is that of all of them.
        entropy = np.log(total) + beta * (chance * apart).sum(axis=1, keepdims=True) / total
        above = entropy > target
        low, high = np.where(above, beta, low), np.where(above, high, beta)
        beta = np.where(np.isinf(high), beta * 2, 0.5 * (low + high))
        if np.abs(entropy - target).max() < 1e-10:
            break
    return chance / total
