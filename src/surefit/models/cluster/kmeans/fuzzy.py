"""Fuzzy c-means: every row belongs to every cluster, to a degree."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.native.centres.fuzzy_step import fuzzy_step
from surefit.core.parameters import Count, Interval, RandomState, Tolerance
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
)
from surefit.models.cluster.kmeans.passes import labels_of, nearest_of
from surefit.models.cluster.kmeans.starts import Starts
from surefit.stats.cluster_sums import dense_blocks
from surefit.stats.fuzzy_sums import FuzzySums
from surefit.stats.spread import Spread


class FuzzyCMeans(CentreModel):
    r"""Minimise :math:`J = \sum_{ik} s_i r_{ik}^m \|x_i - c_k\|^2` over memberships r, whose rows sum to 1,
    and centres c.

    The half steps are :math:`r_{ik} = 1 / \sum_j (d_{ik}^2 / d_{ij}^2)^{1/(m-1)}`, with r = 1 for a row at a
    centre, and :math:`c_k = \sum_i s_i r_{ik}^m x_i / \sum_i s_i r_{ik}^m`. m: the fuzzifier, above 1;
    towards 1 memberships become 0 and 1, as k-means has them, and for a large m all alike. init, n_init,
    max_iter, tol: as in KMeans. ``labels_`` are the clusters with the largest membership, ``predict_proba``
    gives memberships, ``inertia_`` is J and ``cluster_weights_`` the sums of :math:`s r^m`. One pass over a
    source an iteration.

    >>> from surefit import FuzzyCMeans
    >>> model = FuzzyCMeans(2, random_state=0, tol=1e-26).fit([[0.0], [1.0], [9.0], [10.0]])
    >>> [round(c, 10) for c in sorted(model.cluster_centers_.ravel().tolist())], round(model.inertia_, 10)
    ([0.4997401579, 9.5002598421], 0.9968943815)
    """

    def __init__(
        self,
        n_clusters: Count = 8,
        *,
        m: Annotated[float, Interval(1, None, open_low=True)] = 2.0,
        init: Literal["k-means++", "k-means||", "random"]
        | NDArray[Any]
        | list[Any]
        | tuple[Any, ...] = "k-means++",
        n_init: Count = 1,
        max_iter: Count = 300,
        tol: Tolerance = 1e-5,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.m = m
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _iteration_limit(self) -> int:
        return self.n_init * self.max_iter

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        spread = engine.accumulate(Spread.of, source)
        check_count(type(self).__name__, spread.rows, self.n_clusters)
        scale = scale_of(spread)
        starts = Starts(self.init, self.n_clusters, source, engine, self.random_state)
        best: Any = None
        for restart in range(self.n_init):
            centres, count, shift = starts.of(restart), 0, np.inf
            sums = self._sums(source, engine, centres)
            for _ in trace.iterations(self.max_iter):
                moved = float(np.linalg.norm(sums.means(centres) - centres))
                centres = sums.means(centres)
                sums, count = self._sums(source, engine, centres), count + 1
                shift = float(np.linalg.norm(sums.means(centres) - centres) / np.sqrt(scale.variance))
                trace.record(objective=sums.cost, gap=shift, step=moved, passes=count + 1)
                if shift**2 <= self.tol:
                    break
            if best is None or sums.cost < best[1].cost:
                best = centres, sums, count, shift
            if trace.asked_to_stop:
                break
        centres, sums, count, shift = best
        labels = np.concatenate(list(engine.map(partial(labels_of, centres), source)))
        parameters = CentreParameters(centres, labels, sums.cost, count, sums.sums[:, -1])
        return Learned(parameters, fixed_point(shift, self.tol), {"column_moments": spread.moments})

    def _sums(self, source: Source, engine: Engine, centres: Matrix) -> FuzzySums:
        return engine.accumulate(partial(FuzzySums.of, centres=centres, power=self.m), source)

    def memberships(self, X: Any, *, to: str | Path | None = None) -> Matrix:
        """Return the membership of each row in each cluster, or write them ``to`` a file."""
        names = (
            [str(k) for k in range(len(self.cluster_centers_))] if "cluster_centers_" in self.__dict__ else []
        )
        found: Matrix = self._answer(self._memberships, X, to, names)
        return found

    def _memberships(self, X: Any) -> Matrix:
        found = np.empty((X.shape[0], len(self.cluster_centers_)))
        for rows, block in dense_blocks(X):
            fuzzy_step(block, None, self.cluster_centers_, self.m, found[rows])
        return found

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the cost J of the rows, with their best memberships."""
        memberships = self.memberships(X)
        squares = np.square(np.asarray(self.transform(X), dtype=np.float64))
        cost = (memberships**self.m * squares).sum(axis=1)
        return -float(cost.sum() if sample_weight is None else np.asarray(sample_weight) @ cost)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Memberships by matrices of distances, and the centres and the cost that they give."""
        centres = self.cluster_centers_
        of = partial(FuzzySums.of, centres=centres, power=self.m, plain=True)
        sums, spread = engine.accumulate(of, source), engine.accumulate(Spread.of, source)
        scale = scale_of(spread)
        labels = np.concatenate([nearest_of(centres, batch.X) for batch in source])
        same = len(labels) == len(self.labels_) and bool((labels == self.labels_).all())
        weight: Vector = sums.sums[:, -1]
        return fixed_point(
            float(np.linalg.norm(sums.means(centres) - centres) / np.sqrt(scale.variance)),
            self.tol,
            rows_with_another_label=0.0 if same else 1.0,
            change_of_the_cost=abs(self.inertia_ - sums.cost) / max(scale.scatter, 1e-300),
            change_of_a_weight=float(
                np.abs(self.cluster_weights_ - weight).max() / max(weight.sum(), 1e-300)
            ),
        )
