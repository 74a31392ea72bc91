"""A density as the average of kernels around the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import FormatError, ParameterError, RefusalError
from surefit.core.native.scores.density_sums import DensityTree, log_kernel
from surefit.core.parameters import Count, Interval, NonNegative
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.density.smoothing import (
    KernelName,
    distances,
    grown,
    left_out,
    log_kernel_volume,
    log_sums,
    tree_sums,
)
from surefit.models.updating import OneStatistic
from surefit.stats.row_set import RowSet

_BOXED = ("euclidean", "l2", "minkowski", "p", "manhattan", "cityblock", "l1", "chebyshev", "infinity")
_SAMPLE = 20  # rows at which the certificate compares with brute force
_TRIED = 4000  # rows whose left-out likelihood chooses a bandwidth


@dataclass(frozen=True, slots=True)
class KernelDensityParameters:
    """The rows, how often each counts, and the bandwidth."""

    rows: Matrix
    row_weight: Vector
    bandwidth: float


class KernelDensity(OneStatistic):
    r"""Kernel density estimate: :math:`p(x) = \frac{1}{W} \sum_i w_i \kappa_h(|x - x_i|)`.

    bandwidth: h; "scott" is :math:`n^{-1/(d+4)}`, "silverman" :math:`(n (d+2)/4)^{-1/(d+4)}`, as
    scikit-learn has them, for columns of deviation 1; "likelihood" maximises the mean log-density of each row
    under all others. kernel: its shape; every one integrates to 1 in d dimensions. metric: of the distance;
    metric_params: its options. rtol, atol: the error of a density that is tolerated, relative and absolute;
    0 is exact to rounding. Euclidean distances go through a tree of boxes (algorithm "kd_tree", "ball_tree"
    or "auto"; leaf_size is the least number of rows of a leaf) that skips what the tolerance allows; other
    metrics are summed row by row. breadth_first changes nothing here. ``error_bounds`` states what was spent.

    >>> from surefit import KernelDensity
    >>> model = KernelDensity(bandwidth=0.5).fit([[0.0], [1.0], [2.0]])
    >>> np.exp(model.score_samples([[1.0], [0.0]])).round(8)
    array([0.33794948, 0.30204472])
    """

    accepts = Accepts(sparse=False)
    learns = KernelDensityParameters

    rows_: Matrix
    row_weight_: Vector
    bandwidth_: float

    def __init__(
        self,
        *,
        bandwidth: Annotated[float, Interval(0, None, open_low=True)]
        | Literal["scott", "silverman", "likelihood"] = 1.0,
        algorithm: Literal["auto", "kd_tree", "ball_tree"] = "auto",
        kernel: KernelName = "gaussian",
        metric: str = "euclidean",
        atol: NonNegative = 0,
        rtol: NonNegative = 0,
        breadth_first: bool = True,
        leaf_size: Count = 40,
        metric_params: dict[str, Any] | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.algorithm = algorithm
        self.kernel = kernel
        self.metric = metric
        self.atol = atol
        self.rtol = rtol
        self.breadth_first = breadth_first
        self.leaf_size = leaf_size
        self.metric_params = metric_params

    def check_loaded(self) -> None:
        """Refuse rows that do not fit each other."""
        fits = self.rows_.ndim == 2 and self.rows_.shape[1] == self.n_features_in_ and len(self.rows_) > 0
        if not fits or self.row_weight_.shape != (len(self.rows_),) or not self.bandwidth_ > 0:
            raise FormatError("the file's rows, weights and bandwidth do not make a density.")

    def _of(self, schema: Schema) -> Callable[[Batch], RowSet]:
        return RowSet.of

    def _finish(self, statistic: RowSet, schema: Schema) -> Learned:
        self._check_metric()
        if len(statistic) == 0:
            raise RefusalError("no row would be left: keep at least one.")
        rows, weight = np.array(statistic.X), np.array(statistic.weight)
        self.__dict__.pop("_tree", None)
        parameters = KernelDensityParameters(rows, weight, self._chosen(rows, weight))
        return Learned(parameters, self._compared(parameters), {"rows": len(rows)})

    def _check_metric(self) -> None:
        if self.algorithm == "kd_tree" and self.metric not in _BOXED:
            raise ParameterError(
                f"invalid metric for {self.algorithm}: '{self.metric}'; choose algorithm='auto', or one of "
                f"{', '.join(_BOXED)}."
            )

    def _chosen(self, rows: Matrix, weight: Vector) -> float:
        n, d = float(weight.sum()), rows.shape[1]
        if self.bandwidth == "scott":
            return float(n ** (-1 / (d + 4)))
        if self.bandwidth == "silverman":
            return float((n * (d + 2) / 4) ** (-1 / (d + 4)))
        if self.bandwidth == "likelihood":
            return self._likeliest(rows, weight)
        return float(self.bandwidth)

    def _likeliest(self, rows: Matrix, weight: Vector) -> float:
        """Maximise the likelihood of rows left out: over a grid of bandwidths, then between its points."""
        if weight.sum() <= 1:
            raise RefusalError(
                "bandwidth='likelihood' leaves each row out, and needs two at least: give more."
            )
        centre = weight @ rows / weight.sum()
        spread = float(np.sqrt(weight @ ((rows - centre) ** 2).mean(axis=1) / weight.sum()))
        if spread == 0:
            raise RefusalError(
                "bandwidth='likelihood' has no answer for rows that are all equal: give a number."
            )
        rule = self._left_out_likelihood(rows, weight)
        scale = spread * weight.sum() ** (-1 / (rows.shape[1] + 4))
        grid = scale * np.geomspace(0.02, 20.0, 25)
        scores = [rule(h) for h in grid]
        best = int(np.argmax(scores))
        low, high = np.log(grid[max(best - 1, 0)]), np.log(grid[min(best + 1, len(grid) - 1)])
        golden = (np.sqrt(5) - 1) / 2
        one, two = high - golden * (high - low), low + golden * (high - low)
        f, g = rule(np.exp(one)), rule(np.exp(two))
        while high - low > 1e-4:
            if f >= g:
                high, two, g = two, one, f
                one = high - golden * (high - low)
                f = rule(np.exp(one))
            else:
                low, one, f = one, two, g
                two = low + golden * (high - low)
                g = rule(np.exp(two))
        return float(np.exp(0.5 * (low + high)))

    def _left_out_likelihood(self, rows: Matrix, weight: Vector) -> Callable[[float], float]:
        """The mean log-density of rows under all others, as a function of the bandwidth."""
        step = max(1, len(rows) // _TRIED)
        which = np.arange(0, len(rows), step)
        share = weight[which] / weight[which].sum()
        if self.metric in ("euclidean", "l2"):
            tree = grown(rows, weight)
            logs: Callable[[float], Vector] = partial(left_out, tree, rows, which, self.kernel)
        else:
            apart = distances(rows[which], rows, self.metric, self.metric_params or {})
            others = np.tile(weight, (len(which), 1))
            others[np.arange(len(which)), which] -= np.minimum(weight[which], 1.0)

            def logs(h: float) -> Vector:
                with np.errstate(divide="ignore"):
                    sums = np.exp(log_kernel(self.kernel, apart / h)) * others
                    return np.log(sums.sum(axis=1) / others.sum(axis=1))

        return lambda h: (
            float(share @ np.maximum(logs(h), -1e300)) - log_kernel_volume(self.kernel, rows.shape[1], h)
        )

    def _boxes(self) -> DensityTree:
        if "_tree" not in self.__dict__:
            self._tree = grown(self.rows_, self.row_weight_, max(self.leaf_size, 256))
        return self._tree

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_tree"}

    def score_samples(self, X: Any, *, to: str | Path | None = None) -> Vector:
        """Return the log-density of each row, or write it ``to`` a file."""
        return self._answer(lambda rows: self._log_density(rows)[0], X, to, ["log_density"], infinite=True)

    def error_bounds(self, X: Any) -> Vector:
        """Return a bound on the relative error of the density of each row; 0 where it is exact."""
        return self._answer(lambda rows: self._log_density(rows)[1], X)

    def _log_density(self, X: Any) -> tuple[Vector, Vector]:
        queries = np.ascontiguousarray(X, dtype=np.float64)
        total = float(self.row_weight_.sum())
        volume = log_kernel_volume(self.kernel, queries.shape[1], self.bandwidth_)
        if self.metric in ("euclidean", "l2"):
            with np.errstate(over="ignore"):
                absolute = min(float(self.atol * total * np.exp(volume)), 1e300)
            found, error = tree_sums(
                self._boxes(), queries, self.kernel, self.bandwidth_, self.rtol, absolute
            )
        else:
            options = self.metric_params or {}
            given = self.rows_, self.row_weight_, queries, self.kernel, self.bandwidth_
            found, error = log_sums(*given, self.metric, options), np.zeros(len(queries))
        return found - np.log(total) - volume, error

    def score(self, X: Any, y: Any = None) -> float:
        """Return the total log-likelihood of the rows."""
        return float(self.score_samples(X).sum())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Matrix:
        """Draw rows from the density: a kept row by weight, and a step of the kernel from it."""
        check_is_fitted(self)
        rng = check_random_state(random_state)
        d, cumulative = self.rows_.shape[1], np.cumsum(self.row_weight_)
        start = np.searchsorted(cumulative, rng.uniform(0, 1, size=n_samples) * cumulative[-1])
        step = rng.normal(size=(n_samples, d))
        if self.kernel != "gaussian":
            square = (step**2).sum(axis=1)
            step *= (self._radii(rng, n_samples, d) / np.sqrt(square))[:, None]
        return self.rows_[start] + self.bandwidth_ * step

    def _radii(self, rng: Any, n: int, d: int) -> Vector:
        """Draw distances from the centre of a kernel of bandwidth 1, by inverting their distribution."""
        u = rng.uniform(0, 1, size=n)
        if self.kernel == "tophat":
            return np.asarray(u ** (1 / d))
        if self.kernel == "exponential":
            return np.asarray(gammaincinv(d, u))
        grid = np.linspace(0, 1, 4097)
        middle = 0.5 * (grid[1:] + grid[:-1])
        mass = np.concatenate([[0.0], np.cumsum(middle ** (d - 1) * np.exp(log_kernel(self.kernel, middle)))])
        return np.asarray(np.interp(u, mass / mass[-1], grid))

    def _compared(self, found: KernelDensityParameters) -> Certificate:
        """Compare the tree with brute force at some rows."""
        self.__dict__.update(rows_=found.rows, row_weight_=found.row_weight, bandwidth_=found.bandwidth)
        queries = found.rows[_spread_over(len(found.rows))]
        options = self.metric_params or {}
        right = log_sums(*self._given(), queries, self.kernel, found.bandwidth, self.metric, options)
        return self._certificate(self._off(queries, right, float(found.row_weight.sum())), 0.0, 0.0)

    def _given(self) -> tuple[Matrix, Vector]:
        return self.rows_, self.row_weight_

    def _off(self, queries: Matrix, log_sum: Vector, total: float) -> float:
        """The largest relative error of a density, beyond the absolute one that is tolerated."""
        volume = log_kernel_volume(self.kernel, queries.shape[1], self.bandwidth_)
        right = log_sum - np.log(total) - volume
        mine = self._log_density(queries)[0]
        there = np.isfinite(right)
        if not np.array_equal(there, np.isfinite(mine)):
            return float("inf")
        with np.errstate(over="ignore"):
            spared = self.atol * np.exp(-right[there])
        return float(np.max(np.abs(np.expm1(mine[there] - right[there])) - spared, initial=0.0))

    def _certificate(self, off: float, rows: float, bandwidth: float) -> Certificate:
        parts = {
            "relative error of a density": off,
            "moments of the rows, relative": rows,
            "bandwidth, relative": bandwidth,
        }
        value = float(np.max([off, rows, bandwidth]))
        measure = f"largest relative error of the densities of {_SAMPLE} rows, or of what was kept"
        return Certificate("exact", measure, value, float(self.rtol) + 1e-8, parts)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Sum the kernel over all rows at some of them, and compare weight and moments of the rows."""
        queries = self.rows_[_spread_over(len(self.rows_))]
        options = self.metric_params or {}
        work = partial(_summed, queries, self.kernel, self.bandwidth_, self.metric, options)
        sums, weight, first, second = np.full(len(queries), -np.inf), 0.0, 0.0, 0.0
        for more, w, m, s in engine.map(work, source):
            sums = np.logaddexp(sums, more)
            weight, first, second = weight + w, first + m, second + s
        mine = _moments(*self._given())
        scale = np.sqrt(np.maximum(second * weight, 1e-300))
        gaps = [abs(mine[0] - weight) / weight, np.max(np.abs(mine[1] - first) / scale, initial=0.0)]
        gaps.append(np.max(np.abs(mine[2] - second) / np.maximum(second, 1e-300), initial=0.0))
        return self._certificate(self._off(queries, sums, weight), float(max(gaps)), self._bandwidth_off())

    def _bandwidth_off(self) -> float:
        if self.bandwidth != "likelihood":
            wanted = self._chosen(*self._given())
            return abs(self.bandwidth_ - wanted) / wanted
        rule = self._left_out_likelihood(*self._given())
        here = rule(self.bandwidth_)
        return 0.0 if all(here >= rule(self.bandwidth_ * factor) for factor in (0.995, 1.005)) else 0.005


def _spread_over(rows: int) -> NDArray[np.int64]:
    return np.unique(np.linspace(0, rows - 1, _SAMPLE).astype(np.int64))


def _moments(X: Matrix, weight: Vector) -> tuple[float, Vector, Vector]:
    return float(weight.sum()), weight @ X, weight @ X**2


def _summed(
    queries: Matrix, kernel: str, h: float, metric: str, options: dict[str, Any], batch: Batch
) -> tuple[Vector, float, Vector, Vector]:
    kept = RowSet.of(batch)
    return (
        log_sums(kept.X, kept.weight, queries, kernel, h, metric, options),
        *_moments(kept.X, kept.weight),
    )
