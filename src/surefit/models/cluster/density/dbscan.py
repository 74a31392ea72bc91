"""DBSCAN: clusters of rows with many others within one distance."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import cKDTree

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import FormatError
from surefit.core.native.clusters.density import MOST_COLUMNS, grid_density, joined
from surefit.core.parameters import Count, Interval, NonNegative, Positive
from surefit.core.public import public
from surefit.core.trace import Trace
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.cluster.compared_rows import EUCLIDEAN, Rows, RowsCompared, distances
from surefit.models.rows_in_memory import gathered

WHOLE = 2000  # rows up to which everything is looked at again
SAMPLE = 200  # of more
_BLOCK = 2**24  # distances held at once
TREE_COLUMNS = 12  # beyond which a tree looks at nearly all rows
Pairs = tuple[NDArray[np.intp], NDArray[np.intp], Vector]


@dataclass(frozen=True, slots=True)
class DBSCANParameters:
    """Labels, which rows are core rows, these rows, and the weight of all rows."""

    labels: NDArray[np.int64]
    core_sample_indices: NDArray[np.int64]
    components: Any
    total_weight: float


class DBSCAN(RowsCompared):
    r"""Join rows that lie within ``eps`` of each other where they are many; the rest is noise, label -1.

    A core row has a weight of at least ``min_samples`` within ``eps``, itself included:
    :math:`\sum_{j:\, d(x_i, x_j) \le \varepsilon} s_j \ge M`. Clusters are the connected components of core
    rows within ``eps`` of each other, numbered by their first. A row that is no core row but has one within
    ``eps`` is on the border. border: ``"first"`` gives it to the cluster of least number among those, as
    scikit-learn does, which depends on the order of rows; ``"nearest"`` to that of its nearest core row, of
    equally near ones the first by its columns, in whatever order rows come.

    metric, metric_params, p: as in scikit-learn, ``"precomputed"`` included (sparse for near pairs only).
    algorithm, leaf_size, n_jobs: without effect; one to three columns go over a grid, others by pairs.
    ``predict`` gives a new row to the cluster of its nearest core row within ``eps``, or else to none.

    >>> from surefit import DBSCAN
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [20.0]]
    >>> DBSCAN(eps=1.0, min_samples=3).fit(X).labels_
    array([ 0,  0,  0,  1,  1,  1, -1])
    """

    accepts = Accepts()
    learns = DBSCANParameters

    core_sample_indices_: NDArray[np.int64]
    components_: Any
    total_weight_: float

    def __init__(
        self,
        eps: Positive = 0.5,
        *,
        min_samples: Count = 5,
        metric: str | Callable[..., Any] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        algorithm: Literal["auto", "ball_tree", "kd_tree", "brute"] = "auto",
        leaf_size: Count = 30,
        p: NonNegative | None = None,
        n_jobs: Annotated[int, Interval()] | None = None,
        border: Literal["first", "nearest"] = "first",
    ) -> None:
        self.eps = eps
        self.min_samples = min_samples
        self.metric = metric
        self.metric_params = metric_params
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.n_jobs = n_jobs
        self.border = border

    def _metric_parameters(self) -> dict[str, Any]:
        given = dict(self.metric_params or {})
        if "p" in given and self.p is not None:
            warnings.warn(
                "Parameter p is found in metric_params. The corresponding parameter from __init__ is "
                "ignored.",
                SyntaxWarning,
                stacklevel=3,
            )
        elif self.p is not None and self.metric == "minkowski":
            given["p"] = self.p
        return given

    def _power(self) -> float | None:
        parameters = dict(self.metric_params or {})
        return power_of(self.metric, parameters.get("p", self.p))

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        rows = self._rows(source)
        core, label = self._found(rows)
        places = np.flatnonzero(core)
        components = rows.X[places].copy() if len(rows) else rows.X
        every, numbers = label, places
        if rows.kept is not None:
            numbers = rows.kept[places]
            every = np.full(rows.total, -1, dtype=np.int64)
            every[rows.kept] = label
            left_out = np.setdiff1d(np.arange(rows.total), rows.kept)
            X: Any = gathered(source).X
            Q = X[left_out][:, numbers] if self._pairwise() else X[left_out]
            every[left_out] = self._labels_near(Q, components, label[places])
        weight = float(rows.weights.sum())
        parameters = DBSCANParameters(every, numbers.astype(np.int64), components, weight)
        return Learned(parameters, self._recounted(rows, core, label, SAMPLE, full=len(rows) <= 200))

    def _found(self, rows: Rows) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        nearest = self.border == "nearest"
        least = float(self.min_samples)
        plain = not sparse.issparse(rows.X) and rows.X.shape[1] <= MOST_COLUMNS
        if plain and self._power() == 2.0 and not self._pairwise():
            X = np.asarray(rows.X, dtype=np.float64)
            found = grid_density(X, float(self.eps), least, rows.weight, nearest=nearest)
            return found.core.astype(bool), found.label
        row, other, far = near_pairs(rows.X, float(self.eps), self.metric, self._metric_parameters())
        near = np.bincount(row, rows.weights[other], minlength=len(rows))
        core = near >= least
        rank = None
        if not sparse.issparse(rows.X) and not self._pairwise():
            rank = np.empty(len(rows), dtype=np.intp)
            rank[np.lexsort(rows.X.T[::-1])] = np.arange(len(rows))
        return core, joined(core, row, other, far, nearest=nearest, rank=rank)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Count what is near to rows again, by their distances to all others, and compare labels."""
        rows = self._rows(source)
        places = np.arange(rows.total) if rows.kept is None else rows.kept
        core = np.isin(places, self.core_sample_indices_)
        label = self.labels_[places] if len(self.labels_) == rows.total else None
        stored, own = self.components_, rows.X[np.flatnonzero(core)]
        same = label is not None and stored.shape == own.shape
        same = same and (
            abs(stored - own).sum() == 0 if sparse.issparse(own) else np.array_equal(stored, own)
        )
        if not same or abs(rows.weights.sum() - self.total_weight_) > 1e-9 * self.total_weight_:
            return Certificate("exact", "rows or weights other than those of the fit", float("inf"), 0.0)
        assert label is not None
        return self._recounted(rows, core, label, 5 * SAMPLE, full=len(rows) <= WHOLE)

    def _recounted(
        self, rows: Rows, core: NDArray[np.bool_], label: NDArray[np.int64], count: int, *, full: bool
    ) -> Certificate:
        """How many of some rows, or all, are core rows or have a label against the definition."""
        n = len(rows)
        chosen = np.arange(n) if full else np.unique(np.linspace(0, n - 1, min(count, n)).astype(int))
        wrong = 0
        step = max(1, 2**22 // max(n, 1))
        pairs = []
        for start in range(0, len(chosen), step):
            some = chosen[start : start + step]
            apart = self._apart(rows, some)
            near = apart <= float(self.eps) * (1 + 1e-12)
            surely = apart <= float(self.eps) * (1 - 1e-12)
            most, least = near @ rows.weights, surely @ rows.weights
            # Distances within a rounding of eps may count or not.
            M, counted = float(self.min_samples), core[some]
            wrong += int((counted & (most < M * (1 - 1e-12))).sum())
            wrong += int((~counted & (least >= M * (1 + 1e-12))).sum())
            wrong += self._against(near & core, surely & core, some, core, label, apart)
            if full:
                pairs.append((near & core)[core[some]])
        if full and pairs:
            inside = np.concatenate(pairs)[:, core]
            from scipy.sparse.csgraph import connected_components

            pieces = connected_components(sparse.csr_matrix(inside), directed=False)[0] if core.any() else 0
            wrong += abs(int(pieces) - len(np.unique(label[core])))
        measure = f"rows, of {len(chosen)}, that are core rows or labelled against the definition"
        return Certificate("exact", measure, float(wrong), 0.0)

    def _against(
        self,
        near: NDArray[np.bool_],
        surely: NDArray[np.bool_],
        some: NDArray[np.intp],
        core: NDArray[np.bool_],
        label: NDArray[np.int64],
        apart: Any,
    ) -> int:
        """How many rows have a label that no core row near them has, or none though one is near."""
        wrong = 0
        for at, row in enumerate(some.tolist()):
            theirs = label[near[at]]
            if core[row]:
                wrong += bool((label[surely[at]] != label[row]).any() or label[row] < 0)
            elif label[row] < 0:
                wrong += bool(surely[at].any())
            elif self.border == "nearest":
                least = apart[at][near[at]].min(initial=np.inf)
                wrong += label[row] not in label[near[at] & (apart[at] <= least * (1 + 1e-12))]
            else:
                wrong += label[row] not in theirs or label[row] > label[surely[at]].min(initial=label[row])
        return int(wrong)

    def _apart(self, rows: Rows, some: NDArray[np.intp]) -> Any:
        """Distances of some rows to all, with no tree or grid."""
        if not self._pairwise():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)
                found = distances(rows.X[some], rows.X, self.metric, self._metric_parameters())
            if sparse.issparse(rows.X):
                found[np.arange(len(some)), some] = 0.0
            return found
        if not sparse.issparse(rows.X):
            return np.asarray(rows.X[some], dtype=np.float64)
        apart = np.full((len(some), len(rows)), np.inf)
        part = sparse.coo_matrix(rows.X[some])
        apart[part.row, part.col] = part.data
        apart[np.arange(len(some)), some] = 0.0
        return apart

    def check_loaded(self) -> None:
        """Refuse core rows that are none."""
        places = self.core_sample_indices_
        if (
            places.ndim != 1
            or len(places) != self.components_.shape[0]
            or (places < 0).any()
            or (places >= len(self.labels_)).any()
            or self.labels_.ndim != 1
        ):
            raise FormatError("each core row must be one of the labelled rows.")

    def _predict(self, X: Any) -> NDArray[np.int64]:
        if self._pairwise():
            X = X[:, self.core_sample_indices_]
        return self._labels_near(X, self.components_, self.labels_[self.core_sample_indices_])

    def _labels_near(self, Q: Any, components: Any, labels: NDArray[np.int64]) -> NDArray[np.int64]:
        """The labels of the nearest core rows within eps."""
        answer = np.full(Q.shape[0], -1, dtype=np.int64)
        if components.shape[0] == 0 or Q.shape[0] == 0:
            return answer
        far, at = self._nearest_core(Q, components)
        close = far <= float(self.eps)
        answer[close] = labels[at[close]]
        return answer

    def _nearest_core(self, Q: Any, components: Any) -> tuple[Vector, NDArray[np.int64]]:
        p, dense = self._power(), not sparse.issparse(Q) and not sparse.issparse(components)
        if self._pairwise():
            apart = Q.toarray() if sparse.issparse(Q) else np.asarray(Q)
            if sparse.issparse(Q):
                apart = np.where(apart == 0, np.inf, apart)
            return apart.min(axis=1), apart.argmin(axis=1)
        if dense and p is not None and p >= 1 and Q.shape[1] <= TREE_COLUMNS:
            found, at = cKDTree(components).query(Q, p=p)
            return found, at
        far, nearest = [], []
        step = max(1, 2**24 // components.shape[0])
        for start in range(0, Q.shape[0], step):
            apart = distances(Q[start : start + step], components, self.metric, self._metric_parameters())
            far.append(apart.min(axis=1))
            nearest.append(apart.argmin(axis=1))
        return np.concatenate(far), np.concatenate(nearest)


def power_of(metric: Any, p: Any) -> float | None:
    """The p of a Minkowski metric; None for any other."""
    if metric in EUCLIDEAN:
        return 2.0
    if metric in ("manhattan", "l1", "cityblock"):
        return 1.0
    if metric == "chebyshev":
        return float("inf")
    if metric == "minkowski":
        return 2.0 if p is None else float(p)
    return None


def near_pairs(X: Any, eps: float, metric: Any, parameters: dict[str, Any]) -> Pairs:
    """Pairs (row, other, distance), both ways, each row with itself, sorted by row."""
    if metric == "precomputed":
        return _of_matrix(X, eps)
    p = power_of(metric, parameters.get("p"))
    dense = not sparse.issparse(X)
    if dense and p is not None and p >= 1 and X.shape[1] <= TREE_COLUMNS:
        return _of_tree(np.asarray(X, dtype=np.float64), eps, p)
    rows, others, far = [], [], []
    step = max(1, _BLOCK // X.shape[0])
    for start in range(0, X.shape[0], step):
        block = distances(X[start : start + step], X, metric, parameters)
        if sparse.issparse(X):  # a product of rows with themselves leaves a rounding
            block[np.arange(len(block)), start + np.arange(len(block))] = 0.0
        row, other = np.nonzero(block <= eps)
        rows.append(row + start)
        others.append(other)
        far.append(block[row, other])
    return np.concatenate(rows), np.concatenate(others), np.concatenate(far)


def _of_tree(X: Any, eps: float, p: float) -> Pairs:
    tree = cKDTree(X)
    found = tree.query_ball_point(X, eps, p=p, return_sorted=True)
    count = np.array([len(each) for each in found])
    rows = np.repeat(np.arange(len(X)), count)
    others = np.concatenate([np.asarray(each, dtype=np.intp) for each in found])
    far = np.linalg.norm(X[rows] - X[others], ord=p, axis=1)
    return rows, others, far


def _of_matrix(X: Any, eps: float) -> Pairs:
    if not sparse.issparse(X):
        row, other = np.nonzero(np.asarray(X) <= eps)
        return row, other, np.asarray(X, dtype=np.float64)[row, other]
    entries = sparse.coo_matrix(X)  # what is not stored is far, but for a row itself
    off = (entries.row != entries.col) & (entries.data <= eps)
    diagonal = np.arange(X.shape[0])
    rows = np.concatenate([entries.row[off], diagonal])
    others = np.concatenate([entries.col[off], diagonal])
    far = np.concatenate([np.asarray(entries.data[off], dtype=np.float64), np.zeros(len(diagonal))])
    order = np.lexsort((others, rows))
    return rows[order].astype(np.intp), others[order].astype(np.intp), far[order]


@public
def dbscan(
    X: Any,
    eps: float = 0.5,
    *,
    min_samples: int = 5,
    metric: Any = "minkowski",
    metric_params: dict[str, Any] | None = None,
    algorithm: Any = "auto",
    leaf_size: int = 30,
    p: float | None = 2,
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Core rows and labels in one call; see :class:`DBSCAN`.

    >>> from surefit import dbscan
    >>> dbscan([[0.0], [1.0], [2.0], [9.0]], eps=1.0, min_samples=3)
    (array([1]), array([ 0,  0,  0, -1]))
    """
    model = DBSCAN(
        eps,
        min_samples=min_samples,
        metric=metric,
        metric_params=metric_params,
        algorithm=algorithm,
        leaf_size=leaf_size,
        p=p,
        n_jobs=n_jobs,
    ).fit(X, sample_weight=sample_weight)
    return model.core_sample_indices_, model.labels_
