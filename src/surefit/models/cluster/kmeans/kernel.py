"""k-means in the feature space of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import FormatError
from surefit.core.parameters import Count, NonNegative, RandomState
from surefit.core.trace import Trace
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.kernels import Kernel, as_kernel
from surefit.models.base import Estimator, Learned
from surefit.models.cluster.kmeans.base import check_count, rows_and_weights, warn_of_duplicates, weights_by
from surefit.resample.streams import seed_of, stream
from surefit.stats.cluster_sums import dense_blocks


@dataclass(frozen=True, slots=True)
class KernelKMeansParameters:
    """The different rows of the fit, the weight and the cluster of each, the squared length of each centre,
    the cluster of each row, the cost, iterations, and the weight of each cluster.
    """

    support: Matrix
    support_weights: Vector
    support_labels: NDArray[np.int32]
    norms: Vector
    labels: NDArray[np.int32]
    inertia: float
    n_iter: int
    cluster_weights: Vector


class KernelKMeans(ClusterMixin, Estimator):
    r"""k-means on images of the rows under a kernel, whose centres are never formed:

    .. math:: \|\phi(x) - c_k\|^2 = k(x, x) - \frac{2}{W_k} \sum_{i \in k} s_i k(x, x_i)
              + \frac{1}{W_k^2} \sum_{i, j \in k} s_i s_j k(x_i, x_j)

    Clusters need not be convex. kernel: a name, a kernel of ``surefit.kernels`` or a function of two rows;
    gamma, degree, coef0: of a named kernel. n_init: restarts, each from k-means++ in the feature space. All
    rows are kept, and their Gram matrix is in memory during a fit. With ``kernel="linear"`` it is KMeans. The
    certificate is a fixed point: no row is nearer to another centre.

    >>> from surefit import KernelKMeans
    >>> KernelKMeans(2, kernel="rbf", gamma=0.1, random_state=0).fit_predict([[0.0], [1.0], [9.0], [10.0]])
    array([1, 1, 0, 0], dtype=int32)
    """

    accepts = Accepts()
    learns = KernelKMeansParameters

    support_: Matrix
    support_weights_: Vector
    support_labels_: NDArray[np.int32]
    norms_: Vector
    labels_: NDArray[np.int32]
    inertia_: float
    cluster_weights_: Vector

    def __init__(
        self,
        n_clusters: Count = 8,
        *,
        kernel: Any = "rbf",
        gamma: NonNegative | None = None,
        degree: NonNegative = 3,
        coef0: float = 1,
        n_init: Count = 1,
        max_iter: Count = 300,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def _iteration_limit(self) -> int:
        return self.n_init * self.max_iter

    def _kernel(self, columns: int) -> Kernel:
        if not isinstance(self.kernel, str):
            return as_kernel(self.kernel)
        return as_kernel(self.kernel, columns=columns, gamma=self.gamma, degree=self.degree, coef0=self.coef0)

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        X, weight = rows_and_weights(source)
        check_count(type(self).__name__, int((weight > 0).sum()), self.n_clusters)
        counted = weight > 0
        support, place = np.unique(X[counted], axis=0, return_inverse=True)
        s = weights_by(place, weight[counted], len(support))
        kernel = self._kernel(X.shape[1])
        K = kernel(support)
        diagonal = np.ascontiguousarray(np.diag(K))
        seed = 0 if self.random_state is None else seed_of(self.random_state)
        best: Any = None
        for restart in range(self.n_init):
            labels = self._start(K, diagonal, s, stream(seed, restart))
            found = self._iterate(K, diagonal, s, labels, trace)
            if best is None or found[1] < best[1]:
                best = found
            if trace.asked_to_stop:
                break
        labels, cost, count, held = best
        norms, total, _ = _centres(K, s, labels, self.n_clusters)
        warn_of_duplicates(type(self).__name__, total)
        # Rows without weight are put to the centres that the others have.
        every = np.zeros(len(X), dtype=np.int32)
        every[counted] = labels[place.ravel()]
        if not counted.all():
            every[~counted] = _nearest(kernel, X[~counted], support, s, labels, norms, total)
        parameters = KernelKMeansParameters(support, s, labels, norms, every, cost, count, total)
        return Learned(parameters, self._stated(0.0 if held else 1.0, 0.0, 0.0, 0.0))

    def _start(self, K: Matrix, diagonal: Vector, s: Vector, rng: np.random.Generator) -> NDArray[np.int32]:
        """Labels by nearest of k rows, drawn by k-means++ in the feature space."""
        tickets = rng.random(self.n_clusters)
        share, closest = s.copy(), np.full(len(s), np.inf)
        squares = np.full((len(s), self.n_clusters), np.inf)
        for c, ticket in enumerate(tickets):
            cumulative = np.cumsum(share)
            row = min(int(np.searchsorted(cumulative, ticket * cumulative[-1], side="right")), len(s) - 1)
            squares[:, c] = np.maximum(diagonal - 2 * K[:, row] + diagonal[row], 0.0)
            closest = np.minimum(closest, squares[:, c])
            share = s * closest
            if not share.any():
                break
        return squares.argmin(axis=1).astype(np.int32)

    def _iterate(
        self, K: Matrix, diagonal: Vector, s: Vector, labels: NDArray[np.int32], trace: Trace
    ) -> tuple[NDArray[np.int32], float, int, bool]:
        state = _Clusters(K, s, labels, self.n_clusters)
        held, count, rows = False, 0, np.arange(len(s))
        own = np.maximum(diagonal, 0.0)
        for _ in trace.iterations(self.max_iter):
            squares = diagonal[:, None] - 2 * state.cross + state.norms
            after = squares.argmin(axis=1).astype(np.int32)
            # A tie, or less than rounding, moves no row.
            gain = squares[rows, state.labels] - squares[rows, after]
            after = np.where(gain > 1e-12 * np.abs(diagonal).max(), after, state.labels)
            held = bool((after == state.labels).all())
            if held and not state.fresh:
                held = False
                state = _Clusters(K, s, after, self.n_clusters)
            else:
                state.move(after)
            count += 1
            own = np.maximum((diagonal[:, None] - 2 * state.cross + state.norms)[rows, state.labels], 0.0)
            for empty in np.flatnonzero(state.total == 0):
                far = int((own * (s > 0)).argmax())
                if own[far] <= 0:
                    break
                refilled = state.labels.copy()
                refilled[far], own[far], held = empty, 0.0, False
                state.move(refilled)
            trace.record(objective=float(s @ own))
            if held:
                break
        return state.labels, float(s @ own), count, held

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[np.int32]:
        """Return the cluster whose centre is nearest in the feature space, or write it ``to`` a file."""
        found: NDArray[np.int32] = self._answer(self._predict, X, to, ["cluster"])
        return found

    def _predict(self, X: Any) -> NDArray[np.int32]:
        parts = [np.zeros(0, np.int32)]
        kernel = self._kernel(self.support_.shape[1])
        for _, block in dense_blocks(X):
            step = max(1, 2**24 // len(self.support_))
            parts += [
                _nearest(kernel, block[i : i + step].astype(np.float64), self.support_, self.support_weights_,
                         self.support_labels_, self.norms_, self.cluster_weights_)
                for i in range(0, len(block), step)
            ]  # fmt: skip
        return np.concatenate(parts)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Distances to all centres of the stored clusters, from kernel values between the rows themselves."""
        X, weight = rows_and_weights(source)
        if len(X) != len(self.labels_):
            return self._stated(np.inf, np.inf, np.inf, np.inf)
        kernel, labels = self._kernel(X.shape[1]), self.labels_
        K = kernel(X)
        norms, total, cross = _centres(K, weight, labels, self.n_clusters)
        squares = np.diag(K)[:, None] - 2 * cross + norms
        own = squares[np.arange(len(X)), labels]
        size = max(float(weight @ np.abs(np.diag(K))), 1e-300)
        nearer = float(weight @ (own - squares.min(axis=1))) / size
        cost = abs(float(weight @ np.maximum(own, 0.0)) - self.inertia_) / size
        change = float(np.abs(total - self.cluster_weights_).max() / max(total.sum(), 1e-300))
        finite = np.isfinite(self.norms_)
        scale = max(float(np.abs(norms[np.isfinite(norms)]).max(initial=0.0)), 1e-300)
        stored = float(np.abs(self.norms_ - norms)[finite & np.isfinite(norms)].max(initial=0.0)) / scale
        counted = np.unique(X[weight > 0], axis=0)
        rows = (
            counted.shape == self.support_.shape and np.abs(counted - self.support_).max(initial=0.0) == 0.0
        )
        return self._stated(nearer, cost, change, stored if rows else 1.0)

    @staticmethod
    def _stated(nearer: float, cost: float, weight: float, stored: float) -> Certificate:
        parts = {
            "cost of rows nearer to another centre": nearer,
            "change of the cost": cost,
            "change of a weight": weight,
            "change of a centre or row": stored,
        }
        measure = "largest relative change of a label, centre, cost or weight"
        return Certificate("fixed point", measure, float(np.max(list(parts.values()))), 1e-9, parts)

    def check_loaded(self) -> None:
        """Labels are numbers of clusters, and there is a row for each."""
        clusters = len(self.cluster_weights_)
        for labels in (self.labels_, self.support_labels_):
            if (
                labels.dtype != np.int32
                or labels.ndim != 1
                or not ((labels >= 0) & (labels < clusters)).all()
            ):
                raise FormatError("a label of the file is no number of a cluster.")
        if not len(self.support_) == len(self.support_weights_) == len(self.support_labels_):
            raise FormatError("the file's rows, weights and labels are not equally many.")
        if self.support_.ndim != 2 or len(self.norms_) != clusters:
            raise FormatError("the file has not one centre for each cluster.")


class _Clusters:
    """Labels, and the products of all rows with the centres: where few rows move, only theirs are taken
    anew.
    """

    def __init__(self, K: Matrix, s: Vector, labels: NDArray[np.int32], k: int) -> None:
        self._K, self._s, self._k = K, s, k
        self.labels = labels
        self._refresh()

    def _refresh(self) -> None:
        self._pull = self._K @ self._members(np.arange(len(self._s)), self.labels)
        self.fresh = True
        self._derive()

    def _members(self, rows: NDArray[Any], labels: NDArray[np.int32]) -> Matrix:
        found = np.zeros((len(rows), self._k))
        found[np.arange(len(rows)), labels] = self._s[rows]
        return found

    def _derive(self) -> None:
        self.total = weights_by(self.labels, self._s, self._k)
        size = np.where(self.total > 0, self.total, 1.0)
        self.cross = self._pull / size
        own = self._s * self.cross[np.arange(len(self._s)), self.labels]
        self.norms = np.where(self.total > 0, weights_by(self.labels, own, self._k) / size, np.inf)

    def move(self, labels: NDArray[np.int32]) -> None:
        """Put rows to other clusters."""
        changed = np.flatnonzero(labels != self.labels)
        before, self.labels = self.labels, labels
        if not len(changed):
            return
        if len(changed) > len(labels) // 4:
            self._refresh()
            return
        difference = self._members(changed, labels[changed]) - self._members(changed, before[changed])
        self._pull = self._pull + self._K[changed].T @ difference
        self.fresh = False
        self._derive()


def _centres(K: Matrix, s: Vector, labels: NDArray[np.int32], k: int) -> tuple[Vector, Vector, Matrix]:
    """The squared length of each centre, its weight, and the product of each row with it."""
    member = np.zeros((len(s), k))
    member[np.arange(len(s)), labels] = s
    total = member.sum(axis=0)
    cross = (K @ member) / np.where(total > 0, total, 1.0)
    norms = (member * cross).sum(axis=0) / np.where(total > 0, total, 1.0)
    return np.where(total > 0, norms, np.inf), total, cross


def _nearest(
    kernel: Kernel,
    X: Matrix,
    support: Matrix,
    s: Vector,
    labels: NDArray[np.int32],
    norms: Vector,
    total: Vector,
) -> NDArray[np.int32]:
    member = np.zeros((len(s), len(norms)))
    member[np.arange(len(s)), labels] = s / np.where(total > 0, total, 1.0)[labels]
    found: NDArray[np.int32] = (norms - 2 * kernel(X, support) @ member).argmin(axis=1).astype(np.int32)
    return found
