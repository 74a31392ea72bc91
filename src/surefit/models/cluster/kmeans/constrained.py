"""k-means whose clusters obey constraints: rows that belong together or apart, and sizes."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import ParameterError, RefusalError
from surefit.core.parameters import Count, RandomState, Tolerance, WholeNumber
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.cluster.kmeans.base import (
    CentreModel,
    CentreParameters,
    check_count,
    fixed_point,
    rows_and_weights,
    scale_of,
    weights_by,
)
from surefit.models.cluster.kmeans.starts import Starts
from surefit.stats.spread import Spread

Pairs = list[Any] | tuple[Any, ...] | NDArray[Any] | None


class ConstrainedKMeans(CentreModel):
    """k-means under constraints on rows, which are named by their numbers.

    must_link, cannot_link: pairs of rows that belong to the same cluster, or to different ones; what must be
    linked is so transitively. size_min, size_max: how many rows a cluster may have.

    assignment: ``"greedy"`` puts rows to clusters in ``order`` (by default as they come), each to the nearest
    that violates nothing against the rows before it (COP-KMeans, Wagstaff et al. 2001): the order matters,
    and a clustering may fail though another order would not. ``"optimal"`` finds the assignment with the
    least cost by a minimum-cost flow, or with links by a mixed-integer programme. ``"auto"`` is the first for
    links alone, and the second with sizes. A failure names the rows in conflict. init, n_init, max_iter, tol:
    as in KMeans; ``predict`` puts new rows to the nearest centre. The certificate is a fixed point of both
    half steps.

    >>> from surefit import ConstrainedKMeans
    >>> model = ConstrainedKMeans(2, init=[[0.0], [10.0]], cannot_link=[(0, 1)])
    >>> model.fit([[0.0], [1.0], [9.0], [10.0]]).labels_.tolist()
    [0, 1, 1, 1]
    """

    def __init__(
        self,
        n_clusters: Count = 8,
        *,
        must_link: Pairs = None,
        cannot_link: Pairs = None,
        size_min: WholeNumber | None = None,
        size_max: Count | None = None,
        assignment: Literal["auto", "greedy", "optimal"] = "auto",
        order: list[int] | NDArray[Any] | None = None,
        init: Literal["k-means++", "random"] | NDArray[Any] | list[Any] | tuple[Any, ...] = "k-means++",
        n_init: Count = 1,
        max_iter: Count = 300,
        tol: Tolerance = 1e-8,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.must_link = must_link
        self.cannot_link = cannot_link
        self.size_min = size_min
        self.size_max = size_max
        self.assignment = assignment
        self.order = order
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _iteration_limit(self) -> int:
        return self.n_init * self.max_iter

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        X, weight = rows_and_weights(source)
        spread = Spread.of(Batch(X, weight=weight))
        check_count(type(self).__name__, spread.rows, self.n_clusters)
        scale, rules = scale_of(spread), self._rules(len(X))
        starts = Starts(self.init, self.n_clusters, source, engine, self.random_state)
        best: Any = None
        for restart in range(self.n_init):
            centres, count, shift = starts.of(restart), 0, np.inf
            labels = rules.assign(X, centres)
            for _ in trace.iterations(self.max_iter):
                centres = _means(X, weight, labels, centres)
                labels, count = rules.assign(X, centres), count + 1
                shift = float(np.linalg.norm(_means(X, weight, labels, centres) - centres))
                shift /= float(np.sqrt(scale.variance))
                trace.record(objective=_cost(X, weight, labels, centres), gap=shift)
                if shift**2 <= self.tol:
                    break
            cost = _cost(X, weight, labels, centres)
            if best is None or cost < best[2]:
                best = centres, labels, cost, count, shift
        centres, labels, cost, count, shift = best
        total = weights_by(labels, weight, self.n_clusters)
        parameters = CentreParameters(centres, labels, cost, count, total)
        return Learned(parameters, fixed_point(shift, self.tol))

    def _rules(self, rows: int) -> Rules:
        sized = self.size_min is not None or self.size_max is not None
        if sized and self.assignment == "greedy":
            raise ParameterError("ConstrainedKMeans: sizes need assignment='optimal', or 'auto'.")
        optimal = sized or self.assignment == "optimal"
        must, cannot = (
            _pairs("must_link", self.must_link, rows),
            _pairs("cannot_link", self.cannot_link, rows),
        )
        order = np.arange(rows) if self.order is None else np.asarray(self.order, dtype=np.intp)
        if not np.array_equal(np.sort(order), np.arange(rows)):
            raise ParameterError(f"ConstrainedKMeans: order must name each of {rows} rows once.")
        sizes = (self.size_min or 0, rows if self.size_max is None else self.size_max)
        return Rules(rows, self.n_clusters, must, cannot, sizes, order, optimal)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Both half steps again: the assignment from the stored centres, and the means of the stored
        labels.
        """
        X, weight = rows_and_weights(source)
        labels, centres = self.labels_, self.cluster_centers_
        if len(labels) != len(X):
            return fixed_point(np.inf, self.tol)
        scale, rules = scale_of(Spread.of(Batch(X, weight=weight))), self._rules(len(X))
        size = max(scale.scatter, 1e-300)
        cost, total = _cost(X, weight, labels, centres), weights_by(labels, weight, self.n_clusters)
        again = _cost(X, weight, rules.assign(X, centres), centres)
        return fixed_point(
            float(np.linalg.norm(_means(X, weight, labels, centres) - centres) / np.sqrt(scale.variance)),
            self.tol,
            violated_constraints=float(rules.violations(labels)),
            change_of_the_assignment=abs(cost - again) / size,
            change_of_the_cost=abs(self.inertia_ - cost) / size,
            change_of_a_weight=float(np.abs(self.cluster_weights_ - total).max() / max(total.sum(), 1e-300)),
        )


class Rules:
    """Constraints on the labels of rows, and the assignments that obey them.

    Rows that must be linked are a group; links between rows are links between groups.
    """

    def __init__(
        self,
        rows: int,
        clusters: int,
        must: NDArray[np.intp],
        cannot: NDArray[np.intp],
        sizes: tuple[int, int],
        order: NDArray[np.intp],
        optimal: bool,
    ) -> None:
        self.clusters, self.sizes, self.order, self.optimal = clusters, sizes, order, optimal
        links = csr_array((np.ones(len(must)), (must[:, 0], must[:, 1])), shape=(rows, rows))
        self.groups, group = connected_components(links, directed=False)
        self.group = group.astype(np.intp)
        self.linked = bool(len(must) or len(cannot))
        for a, b in cannot:
            if group[a] == group[b]:
                chain = np.flatnonzero(group == group[a]).tolist()
                raise RefusalError(
                    f"ConstrainedKMeans: rows {a} and {b} must not be linked, but are, through the rows "
                    f"{chain} that must be: drop one of these constraints."
                )
        self.apart = np.unique(np.sort(group[cannot], axis=1), axis=0) if len(cannot) else cannot
        self.enemies: dict[int, list[int]] = {}
        for a, b in self.apart.tolist():
            self.enemies.setdefault(a, []).append(b)
            self.enemies.setdefault(b, []).append(a)

    def assign(self, X: Matrix, centres: Matrix) -> NDArray[np.int32]:
        """The cluster of each row."""
        squares = cdist(X, centres, "sqeuclidean")
        if self.optimal:
            return self._optimal(squares)
        if not self.linked:
            return squares.argmin(axis=1).astype(np.int32)
        return self._greedy(squares)

    def _greedy(self, squares: Matrix) -> NDArray[np.int32]:
        ranked = np.argsort(squares, axis=1, kind="stable")
        labels = np.full(len(squares), -1, dtype=np.int32)
        taken = np.full(self.groups, -1)  # the cluster of the first row of each group
        for row in self.order.tolist():
            own = self.group[row]
            barred = {int(taken[enemy]) for enemy in self.enemies.get(int(own), [])}
            wanted = [c for c in ranked[row].tolist() if taken[own] in (-1, c) and c not in barred]
            if not wanted:
                raise RefusalError(self._conflict(row, taken, labels))
            labels[row] = taken[own] = wanted[0]
        return labels

    def _conflict(self, row: int, taken: NDArray[Any], labels: NDArray[np.int32]) -> str:
        own = int(self.group[row])
        mates = np.flatnonzero((self.group == own) & (labels >= 0)).tolist()
        foes = [
            r
            for enemy in self.enemies.get(own, [])
            for r in np.flatnonzero(self.group == enemy)
            if labels[r] >= 0
        ]
        reasons = [f"must not be linked to rows {sorted(int(r) for r in foes)}"] if foes else []
        reasons += [f"must be linked to rows {mates}"] if mates else []
        return (
            f"ConstrainedKMeans: no cluster is left for row {row}, which {' and '.join(reasons)}, and these "
            "stand in clusters already: give more clusters, drop a constraint, change the order, or ask for "
            "assignment='optimal'."
        )

    def _optimal(self, squares: Matrix) -> NDArray[np.int32]:
        """The least cost of groups to clusters; without links a flow, whose vertices are whole numbers."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        k, size = self.clusters, np.bincount(self.group, minlength=self.groups)
        self._refuse_sizes(size)
        cost = np.zeros((self.groups, k))
        np.add.at(cost, self.group, squares)
        cells = np.arange(self.groups * k)
        group, cluster = cells // k, cells % k
        shape = (self.groups, len(cells))
        once = coo_array((np.ones(len(cells)), (group, cells)), shape=shape)
        held = coo_array((size[group].astype(float), (cluster, cells)), shape=(k, len(cells)))
        limits = [LinearConstraint(once.tocsr(), 1, 1), LinearConstraint(held.tocsr(), *self.sizes)]
        if len(self.apart):
            pair = np.repeat(np.arange(len(self.apart)), k) * k + np.tile(np.arange(k), len(self.apart))
            ends = [np.repeat(side, k) * k + np.tile(np.arange(k), len(self.apart)) for side in self.apart.T]
            both = coo_array(
                (np.ones(2 * len(pair)), (np.concatenate([pair, pair]), np.concatenate(ends))),
                shape=(len(self.apart) * k, len(cells)),
            )
            limits.append(LinearConstraint(both.tocsr(), -np.inf, 1))
        scale = max(float(cost.max()), 1e-300)
        whole = 1 if self.linked else 0  # a flow needs none
        found = milp(cost.ravel() / scale, integrality=whole, bounds=Bounds(0, 1), constraints=limits)
        if found.x is None:
            raise RefusalError(self._impossible())
        best: NDArray[np.int32] = found.x.reshape(self.groups, k).argmax(axis=1).astype(np.int32)
        return best[self.group]

    def _refuse_sizes(self, size: NDArray[Any]) -> None:
        low, high = self.sizes
        rows = int(size.sum())
        if not low * self.clusters <= rows <= high * self.clusters or low > high:
            raise RefusalError(
                f"ConstrainedKMeans: {rows} rows do not make {self.clusters} clusters of {low} to {high} "
                "rows."
            )
        if size.max() > high:
            chain = np.flatnonzero(self.group == size.argmax()).tolist()
            raise RefusalError(
                f"ConstrainedKMeans: rows {chain} must be linked, but a cluster may have {high} at the most."
            )

    def _impossible(self) -> str:
        rows = np.flatnonzero(np.isin(self.group, list(self.enemies))).tolist()
        return (
            f"ConstrainedKMeans: no assignment to {self.clusters} clusters obeys all constraints on the rows "
            f"{rows} and the sizes: give more clusters, or drop some."
        )

    def violations(self, labels: NDArray[np.int32]) -> int:
        """How many constraints labels violate."""
        first = np.zeros(self.groups, dtype=np.int64)
        first[self.group[::-1]] = labels[::-1]
        broken = int((labels != first[self.group]).sum())
        broken += int((first[self.apart[:, 0]] == first[self.apart[:, 1]]).sum()) if len(self.apart) else 0
        counts = np.bincount(labels, minlength=self.clusters)
        return broken + int(((counts < self.sizes[0]) | (counts > self.sizes[1])).sum())


def _means(X: Matrix, weight: Vector, labels: NDArray[np.int32], centres: Matrix) -> Matrix:
    k = len(centres)
    total = np.bincount(labels, weight, k)
    pull = csr_array((weight, (labels, np.arange(len(X)))), shape=(k, len(X))) @ (X - centres[labels])
    found: Matrix = centres + pull / np.where(total > 0, total, 1.0)[:, None]
    return found


def _cost(X: Matrix, weight: Vector, labels: NDArray[np.int32], centres: Matrix) -> float:
    return float(weight @ np.square(X - centres[labels]).sum(axis=1))


def _pairs(name: str, pairs: Any, rows: int) -> NDArray[np.intp]:
    if pairs is None or len(pairs) == 0:
        return np.empty((0, 2), dtype=np.intp)
    found = np.asarray(pairs)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        raise ParameterError(f"ConstrainedKMeans: {name} must be pairs of row numbers, such as [(0, 1)].")
    if found.min() < 0 or found.max() >= rows:
        raise ParameterError(f"ConstrainedKMeans: {name} names a row that is not there; there are {rows}.")
    return found.astype(np.intp)
