"""k-means: clusters about centres that are the means of their rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from numpy.typing import NDArray

from surefit.core.parameters import Count, RandomState, Tolerance, WholeNumber
from surefit.core.trace import Trace
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.cluster.kmeans.base import (
    CentreModel,
    CentreParameters,
    check_count,
    fixed_point,
    scale_of,
    warn_of_duplicates,
)
from surefit.models.cluster.kmeans.lloyd import Found, lloyd
from surefit.models.cluster.kmeans.passes import Passes, Skips, passes_over
from surefit.models.cluster.kmeans.starts import Starts
from surefit.stats.spread import Spread

Algorithm = Literal["lloyd", "elkan", "hamerly", "plain"]
Init = (
    Literal["k-means++", "k-means||", "random"]
    | Callable[..., Any]
    | NDArray[Any]
    | list[Any]
    | tuple[Any, ...]
)


class KMeans(CentreModel):
    r"""Find k centres that minimise :math:`J = \sum_i s_i \min_k \|x_i - c_k\|^2`, by Lloyd's iterations.

    Each puts every row to its nearest centre (the first of equals), then every centre to the mean of its
    rows; neither half step can raise J, so the iterations end, in a local minimum. n_clusters: k. init: how
    first centres are drawn: greedy ``"k-means++"``, ``"k-means||"`` (five passes over the rows, for large k
    or sources), ``"random"`` rows, a function of X, k and random_state, or the centres themselves. n_init:
    restarts, of which the one with the lowest J is kept; ``"auto"`` is 1 for k-means++ and given centres, 10
    for others. tol: squared movement of all centres, over the mean variance of the columns, at which a fit
    ends.

    algorithm: which distances are computed; labels are the same. ``"lloyd"`` and ``"hamerly"`` skip rows that
    provably stay in their cluster, ``"elkan"`` single distances, with a bound for each row and centre, and
    ``"plain"`` nothing. verbose and copy_x: without effect (see ``trace_``; X is never changed).

    A cluster that loses all rows gets the row farthest from its centre. Over a source each iteration is a
    pass, and first centres are drawn from 32768 of its rows. The certificate is a fixed point: both half
    steps again. ``cluster_weights_`` are the weights of the clusters.

    >>> from surefit import KMeans
    >>> model = KMeans(2, random_state=0).fit([[0.0], [1.0], [9.0], [10.0]])
    >>> sorted(model.cluster_centers_.ravel().tolist()), model.inertia_
    ([0.5, 9.5], 1.0)
    """

    def __init__(
        self,
        n_clusters: Count = 8,
        *,
        init: Init = "k-means++",
        n_init: Literal["auto"] | Count = "auto",
        max_iter: Count = 300,
        tol: Tolerance = 1e-4,
        verbose: WholeNumber | bool = 0,
        random_state: RandomState = None,
        copy_x: bool = True,
        algorithm: Algorithm = "lloyd",
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.copy_x = copy_x
        self.algorithm = algorithm

    def _restarts(self) -> int:
        if not isinstance(self.init, str):
            return 1 if not callable(self.init) or self.n_init == "auto" else int(self.n_init)
        if self.n_init == "auto":
            return 10 if self.init == "random" else 1
        return int(self.n_init)

    def _iteration_limit(self) -> int:
        return self._restarts() * self.max_iter

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        spread = engine.accumulate(Spread.of, source)
        check_count(type(self).__name__, spread.rows, self.n_clusters)
        scale = scale_of(spread)
        evidence = {"column_moments": spread.moments, "rows": spread.rows}
        starts = Starts(self.init, self.n_clusters, source, engine, self.random_state)
        best: tuple[Found, Learned] | None = None
        for restart in range(self._restarts()):
            passes = passes_over(source, engine, skips_of(self.algorithm), self.n_clusters)
            learned = partial(self._learned, passes, evidence)
            found = lloyd(passes, starts.of(restart), scale, self.max_iter, self.tol, trace, learned)
            if best is None or found.cost < best[0].cost:
                best = found, learned(found)
            if trace.asked_to_stop:
                break
        assert best is not None
        warn_of_duplicates(type(self).__name__, best[0].weight)
        return best[1]

    def _learned(self, passes: Passes, evidence: dict[str, Any], found: Found) -> Learned:
        labels = passes.labels()
        parameters = CentreParameters(found.centres, labels, found.cost, found.iterations, found.weight)
        evidence = {**evidence, "cluster_weights": found.weight}
        return Learned(parameters, fixed_point(found.shift, self.tol), evidence)


def skips_of(algorithm: Algorithm) -> Skips:
    """Which distances an algorithm skips."""
    return "hamerly" if algorithm == "lloyd" else algorithm
