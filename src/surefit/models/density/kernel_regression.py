"""Local averages and local lines of a target, weighted by a kernel around the query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import FormatError, RefusalError
from surefit.core.native.scores.density_sums import log_kernel
from surefit.core.parameters import Interval
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.candidate import Candidate
from surefit.models.density.smoothing import KernelName, distances
from surefit.models.updating import OneStatistic
from surefit.stats.row_set import RowSet

_SAMPLE = 20  # rows at which the certificate compares
_TRIED = 1000  # rows whose left-out error chooses a bandwidth
_CELLS = 2**20


@dataclass(frozen=True, slots=True)
class KernelRegressionParameters:
    """The rows, their targets and weights, and the bandwidth."""

    rows: Matrix
    targets: Vector
    row_weight: Vector
    bandwidth: float


class KernelRegression(RegressorMixin, OneStatistic, abstract=True):
    """A polynomial of some degree, fitted around each query with the weights of a kernel."""

    accepts = Accepts(target="number", sparse=False)
    learns = KernelRegressionParameters
    degree: ClassVar[int] = 0

    rows_: Matrix
    targets_: Vector
    row_weight_: Vector
    bandwidth_: float

    def __init__(
        self,
        *,
        bandwidth: Annotated[float, Interval(0, None, open_low=True)] | Literal["left out"] = 1.0,
        kernel: KernelName = "gaussian",
    ) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel

    def check_loaded(self) -> None:
        """Refuse rows that do not fit each other."""
        n = len(self.rows_)
        fits = self.rows_.shape == (n, self.n_features_in_) and n > 0 and self.bandwidth_ > 0
        if not fits or self.targets_.shape != (n,) or self.row_weight_.shape != (n,):
            raise FormatError("the file's rows, targets and weights do not fit each other.")

    def _of(self, schema: Schema) -> Callable[[Batch], RowSet]:
        return RowSet.of

    def _finish(self, statistic: RowSet, schema: Schema) -> Learned:
        if len(statistic) == 0:
            raise RefusalError("no row would be left: keep at least one.")
        kept = np.array(statistic.X), np.array(statistic.y), np.array(statistic.weight)
        h = self._least_error(*kept) if self.bandwidth == "left out" else float(self.bandwidth)
        return Learned(
            KernelRegressionParameters(*kept, h), _certificate(0.0, 0.0, 0.0), {"rows": len(kept[0])}
        )

    def predict(self, X: Any, *, to: str | Path | None = None) -> Vector:
        """Return the local fit at each row, or write it ``to`` a file."""
        return self._answer(self._predict, X, to, ["prediction"])

    def _predict(self, X: Any) -> Vector:
        kept = self.rows_, self.targets_, self.row_weight_
        return self._at(np.asarray(X, dtype=np.float64), *kept, self.bandwidth_)

    def _at(
        self, queries: Matrix, X: Matrix, y: Vector, weight: Vector, h: float, skip: Any = None
    ) -> Vector:
        found = np.empty(len(queries))
        step = max(1, _CELLS // max(1, len(X)))
        mean = float(weight @ y / weight.sum())
        for start in range(0, len(queries), step):
            part = slice(start, start + step)
            logs = log_kernel(self.kernel, distances(queries[part], X, "euclidean", {}) / h)
            near = np.tile(weight, (len(logs), 1))
            if skip is not None:
                own = np.arange(len(logs)), skip[part]
                near[own] -= np.minimum(weight[skip[part]], 1.0)
                logs = np.where(near > 0, logs, -np.inf)
            best = logs.max(axis=1, keepdims=True)
            shares = near * np.exp(logs - np.where(best == -np.inf, 0.0, best))
            sums = local_sums(queries[part], X, y, shares, self.degree)
            found[part] = local_fit(*sums, mean)
        return found

    def _least_error(self, X: Matrix, y: Vector, weight: Vector) -> float:
        """Minimise the squared error of rows left out: over a grid, then between its points."""
        spread = float(np.sqrt(X.var(axis=0).mean()))
        if weight.sum() <= 2 or spread == 0:
            raise RefusalError(
                "bandwidth='left out' needs three rows that are not all equal: give more, or a number."
            )
        error = self._left_out_error(X, y, weight)
        grid = spread * weight.sum() ** (-1 / (X.shape[1] + 4)) * np.geomspace(0.05, 20.0, 20)
        scores = [error(h) for h in grid]
        best = int(np.argmin(scores))
        fine = np.geomspace(grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)], 25)
        return float(fine[int(np.argmin([error(h) for h in fine]))])

    def _left_out_error(self, X: Matrix, y: Vector, weight: Vector) -> Callable[[float], float]:
        which = np.arange(0, len(X), max(1, len(X) // _TRIED))
        share = weight[which] / weight[which].sum()
        return lambda h: float(share @ (self._at(X[which], X, y, weight, h, which) - y[which]) ** 2)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Sum the kernel over all rows again at some of them, and compare the moments of what is kept."""
        which = np.unique(np.linspace(0, len(self.rows_) - 1, _SAMPLE).astype(np.int64))
        queries = self.rows_[which]
        work = partial(_again, queries, self.kernel, self.bandwidth_, self.degree)
        sums: list[Any] = [0.0, 0.0, 0.0]
        for found in engine.map(work, source):
            sums = [one + two for one, two in zip(sums, found, strict=True)]
        mine = _moments(self.rows_, self.targets_, self.row_weight_)
        size = np.maximum(np.sqrt(np.diagonal(sums[2])), 1e-300)
        kept = float(np.max(np.abs(mine - sums[2]) / np.multiply.outer(size, size)))
        mean = float(self.row_weight_ @ self.targets_ / self.row_weight_.sum())
        right, found = local_fit(sums[0], sums[1], mean), self._predict(queries)
        scale = max(float(np.abs(self.targets_ - mean).max(initial=0.0)), abs(mean), 1e-300)
        off = float(np.max(np.abs(right - found), initial=0.0)) / scale
        if self.bandwidth != "left out":
            return _certificate(off, kept, abs(self.bandwidth_ - self.bandwidth) / self.bandwidth)
        error = self._left_out_error(self.rows_, self.targets_, self.row_weight_)
        here = error(self.bandwidth_)
        best = all(here <= error(self.bandwidth_ * step) for step in (0.95, 1.05))
        return _certificate(off, kept, 0.0 if best else 0.05)


class NadarayaWatson(KernelRegression):
    r"""Kernel regression: :math:`\hat y(x) = \sum_i y_i K(|x - x_i| / h) / \sum_i K(|x - x_i| / h)`.

    bandwidth: h; "left out" minimises the squared error of rows left out, among a grid of bandwidths.
    kernel: its shape. Where no row lies within the kernel, the answer is the mean of the targets.

    >>> from surefit import NadarayaWatson
    >>> model = NadarayaWatson(bandwidth=0.5).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    >>> model.predict([[0.0], [1.0]]).round(4)
    array([0.1203, 1.213 ])
    """

    candidate = Candidate(
        "Kernel regression", 31, "distance", given={"bandwidth": "left out"}, most_rows=2000
    )


class LocalLinearRegressor(KernelRegression):
    r"""Local linear regression: the height at x of the line that fits the rows with weights K(|x - x_i| / h).

    It has no bias where the target is linear, at the edges neither. The parameters are those of
    NadarayaWatson.

    >>> from surefit import LocalLinearRegressor
    >>> model = LocalLinearRegressor(bandwidth=0.5).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.predict([[0.0], [2.5]]).round(6)
    array([1., 6.])
    """

    degree = 1
    candidate = Candidate(
        "Local linear regression", 32, "distance", given={"bandwidth": "left out"}, most_rows=1000
    )


def local_sums(queries: Matrix, X: Matrix, y: Vector, shares: Matrix, degree: int) -> tuple[Any, Any]:
    """Return A'KA and A'Ky for each query, A being ones, and for degree 1 the way from the query."""
    if degree == 0:
        return shares.sum(axis=1)[:, None, None], (shares @ y)[:, None]
    d = X.shape[1]
    zero, one = shares.sum(axis=1), shares @ X - shares.sum(axis=1)[:, None] * queries
    left, right = np.empty((len(queries), d + 1, d + 1)), np.empty((len(queries), d + 1))
    left[:, 0, 0], left[:, 0, 1:], left[:, 1:, 0] = zero, one, one
    for q, query in enumerate(queries):
        way = X - query
        left[q, 1:, 1:] = (way.T * shares[q]) @ way
        left[q, 0, 1:] = left[q, 1:, 0] = shares[q] @ way
        right[q, 0], right[q, 1:] = shares[q] @ y, way.T @ (shares[q] * y)
    return left, right


def local_fit(left: Any, right: Any, mean: float) -> Vector:
    """Solve for the height at each query; directions without rows add nothing, no rows give the mean."""
    found = np.full(len(right), mean)
    there = left[:, 0, 0] > 0
    if left.shape[1] == 1:
        found[there] = right[there, 0] / left[there, 0, 0]
        return found
    size = np.sqrt(np.maximum(np.diagonal(left, axis1=1, axis2=2), 0.0))
    size = np.where(size > 0, size, 1.0)
    scaled = left / (size[:, :, None] * size[:, None, :])
    inverse = np.linalg.pinv(scaled[there], rcond=1e-10, hermitian=True)
    height = np.einsum("qij,qj->qi", inverse, right[there] / size[there])[:, 0]
    found[there] = height / size[there, 0]
    return found


def _moments(X: Matrix, y: Vector, weight: Vector) -> NDArray[np.float64]:
    rows = np.column_stack([np.ones(len(X)), X, y])
    return np.asarray((rows.T * weight) @ rows)


def _again(queries: Matrix, kernel: str, h: float, degree: int, batch: Batch) -> tuple[Any, Any, Any]:
    kept = RowSet.of(batch)
    shares = kept.weight * np.exp(log_kernel(kernel, distances(queries, kept.X, "euclidean", {}) / h))
    return (
        *local_sums(queries, kept.X, kept.y, shares, degree),
        _moments(kept.X, kept.y, kept.weight),
    )


def _certificate(off: float, rows: float, bandwidth: float) -> Certificate:
    parts = {
        "prediction, relative": off,
        "moments of the rows, relative": rows,
        "bandwidth, relative": bandwidth,
    }
    measure = f"largest change of the predictions at {_SAMPLE} rows, or of what was kept"
    return Certificate("exact", measure, float(np.max([off, rows, bandwidth])), 1e-8, parts)
