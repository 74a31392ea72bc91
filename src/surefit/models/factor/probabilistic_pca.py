"""Principal components as a normal distribution, which rows with missing cells can be fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, FormatError, ParameterError
from surefit.core.native.sums.mixture_sums import NormalMixture
from surefit.core.parameters import Count, Tolerance
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.checks.cells import check_weights
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.prepare.recompute import plain_moments
from surefit.models.transformer import RowMap
from surefit.solvers.likelihood.expectation_maximization import climb, gain_of
from surefit.solvers.linalg.principal_axes import completed, from_scatter
from surefit.stats.component_moments import LOG_2_PI, ComponentMoments, component_scores
from surefit.stats.overflow import SQUARED_TWICE, refuse_overflow

ROUNDING = 1e-13
SAME = 1e-6  # what recomputing the last steps may change, in units of the columns' deviations
FLOOR = 1e-9  # of the mean variance: noise is never less


@dataclass(frozen=True, slots=True)
class ProbabilisticPCAParameters:
    """Orthonormal axes, the variance along each, mean and noise; the mean log-likelihood of every step."""

    components: Matrix
    explained_variance: Vector
    mean: Vector
    noise_variance: float
    lower_bounds: Vector
    n_iter: int


class ProbabilisticPCA(ClassNamePrefixFeaturesOutMixin, RowMap):
    r"""Rows from :math:`N(m, V'(\Lambda - \sigma^2 I)V + \sigma^2 I)`, with cells missing as they may.

    Without missing cells the likeliest axes V are the principal ones, :math:`\Lambda` the variances along
    them (divisor n) and :math:`\sigma^2` the mean of the other variances. With missing cells the likelihood
    of those that are there is climbed by EM, one pass a step. n_components: how many axes (None: one less
    than columns). tol: the gain of mean log-likelihood at which to stop.

    ``transform`` gives the expected scores of rows with gaps, ``impute`` fills the gaps with what the others
    let expect.

    >>> import numpy as np
    >>> from surefit import ProbabilisticPCA
    >>> t = np.linspace(-1, 1, 50)[:, None]
    >>> X = t @ [[1.0, 2.0, 3.0]] + 0.01 * np.random.default_rng(0).normal(size=(50, 3))
    >>> X[10, 2] = np.nan
    >>> ProbabilisticPCA(1).fit(X).impute(X)[10].round(1)
    array([-0.6, -1.2, -1.8])
    """

    accepts = Accepts(sparse=False, missing=True)
    learns = ProbabilisticPCAParameters

    components_: Matrix
    explained_variance_: Vector
    mean_: Vector
    noise_variance_: float
    lower_bounds_: Vector
    n_iter_: int

    def __init__(
        self, n_components: Count | None = None, *, tol: Tolerance = 1e-6, max_iter: Count = 1000
    ) -> None:
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter

    def _iteration_limit(self) -> int | None:
        return None

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        width = source.schema.width
        count = max(1, width - 1) if self.n_components is None else self.n_components
        if count > width:
            raise ParameterError(f"n_components={count} must not exceed the {width} columns.")
        cells = plain_moments(source, engine)
        if cells.rows <= 1:
            raise DataError("n_samples = 1 is too few for a variance: give more than one sample.")
        if not (cells.weight > 0).all():
            raise DataError("a column has no cell: drop it.")
        refuse_overflow(cells.variance * cells.weight, width, cells.weight, SQUARED_TWICE)
        start = {
            "mean": cells.mean,
            "covariance": np.diag(np.maximum(cells.variance, _floor(cells.variance))),
        }

        def step(theta: dict[str, Any]) -> tuple[float, dict[str, Any]]:
            sums = engine.accumulate(partial(ComponentMoments.of, mixture=_mixture(theta)), source)
            return sums.likelihood / cells.rows, _next(sums, count)

        found = climb(step, start, self.tol, self.max_iter, trace)
        last = found.parameters
        parameters = ProbabilisticPCAParameters(
            last["axes"],
            last["along"],
            last["mean"],
            float(last["noise"]),
            np.array(found.likelihoods),
            len(trace),
        )
        witness = {name: found.before[name] for name in ("mean", "covariance")}
        return Learned(parameters, self._certificate(found.gain, 0.0, parameters, witness))

    def _certificate(self, gain: float, changed: float, about: Any, witness: Any) -> Certificate:
        allowed = max(self.tol, ROUNDING * (1 + abs(float(about.lower_bounds[-1]))))
        parts = {
            "gain of log-likelihood per row by the last step": gain,
            "change by recomputing the last steps": changed,
        }
        value = max(abs(gain) / allowed, changed / SAME)
        measure = "gain of log-likelihood by the last step, as a share of tol"
        return Certificate("stationary", measure, value, 1.0, parts, witness)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Take the last steps again, rows in another order, and the axes held to their equations."""
        theta: dict[str, Any] = dict(self.certificate_.witness)
        cells = plain_moments(source, engine)
        told = np.asarray(self.lower_bounds_)
        likelihoods: list[float] = []
        for _ in range(min(2, len(told))):
            found = list(engine.map(partial(_backwards, _mixture(theta)), source))
            sums = found[0]
            for more in found[1:]:
                sums = sums + more
            likelihoods.append(sums.likelihood / cells.rows)
            theta = _next(sums, len(self.components_))
        expected = sums.scatter[0] / sums.weight[0]
        deviation = np.sqrt(np.diagonal(expected))
        deviation = np.where(deviation > 0, deviation, 1.0)
        size = max(float(np.linalg.norm(expected)), np.finfo(float).tiny)
        axes, along = self.components_, self.explained_variance_
        width, rest = len(expected), len(expected) - len(axes)
        left = float(np.trace(expected)) - float(along.sum())
        noise = max(left / rest, _floor(np.diagonal(expected))) if rest else _floor(np.diagonal(expected))
        mine = _covariance(axes, along, self.noise_variance_)
        steps = [
            float(np.abs(expected @ axes.T - axes.T * along).max(initial=0.0)) / size,
            float(np.abs(axes @ axes.T - np.eye(len(axes))).max(initial=0.0)),
            abs(float(self.noise_variance_) - noise) / max(noise, 1e-9 * size / width),
            float((np.abs(self.mean_ - sums.mean[0]) / deviation).max()),
            float((np.abs(mine - theta["covariance"]) / np.outer(deviation, deviation)).max()),
            float(np.abs(told[-len(likelihoods) :] - likelihoods).max()),
        ]
        changed = max(steps) if np.isfinite(steps).all() else np.inf
        return self._certificate(gain_of(likelihoods), changed, _Bounds(told), self.certificate_.witness)

    def _fitted_mixture(self) -> NormalMixture:
        covariance = _covariance(self.components_, self.explained_variance_, self.noise_variance_)
        return _mixture({"mean": self.mean_, "covariance": covariance})

    def get_covariance(self) -> Matrix:
        """Return the covariance of the model."""
        return _covariance(self.components_, self.explained_variance_, self.noise_variance_)

    def score_samples(self, X: Any) -> Vector:
        """Return the log density of the cells that are there, row by row."""
        found: Vector = self._answer(lambda rows: component_scores(rows, self._fitted_mixture())[:, 0], X)
        return found

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean log density of the rows."""
        found = self.score_samples(X)
        return float(np.average(found, weights=check_weights(sample_weight, len(found))))

    def _transform(self, X: Any) -> Any:
        return ((self._completed(X) - self.mean_) @ self.components_.T).astype(X.dtype, copy=False)

    def impute(self, X: Any) -> Matrix:
        """Return the rows with every gap filled by what the other cells let expect."""
        found: Matrix = self._answer(self._completed, X)
        return found

    def _completed(self, X: Any) -> Matrix:
        found = np.array(X, dtype=np.float64)
        gaps = np.isnan(found)
        covariance = self.get_covariance()
        for kind in np.unique(gaps[gaps.any(axis=1)], axis=0):
            rows = (gaps == kind).all(axis=1)
            there = ~kind
            fill = np.broadcast_to(self.mean_[kind], (int(rows.sum()), int(kind.sum())))
            if there.any():
                slope = linalg.solve(
                    covariance[np.ix_(there, there)], covariance[np.ix_(there, kind)], assume_a="pos"
                )
                fill = fill + (found[rows][:, there] - self.mean_[there]) @ slope
            found[np.ix_(rows, kind)] = fill
        return found

    def check_loaded(self) -> None:
        """Refuse arrays that do not belong together."""
        super().check_loaded()
        count = len(self.explained_variance_)
        if self.components_.shape != (count, self.n_features_in_) or self.mean_.shape != (
            self.n_features_in_,
        ):
            raise FormatError("the file's axes do not fit its columns: it is damaged.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@dataclass(frozen=True, slots=True)
class _Bounds:
    lower_bounds: Vector


def _floor(variances: NDArray[np.float64]) -> float:
    return float(max(FLOOR * np.mean(variances), np.finfo(np.float64).tiny))


def _covariance(axes: Matrix, along: Vector, noise: float) -> Matrix:
    found: Matrix = (axes.T * (np.maximum(along, noise) - noise)) @ axes
    found[np.diag_indices_from(found)] += noise
    return found


def _mixture(theta: dict[str, Any]) -> NormalMixture:
    """One component, as the kernel takes it."""
    covariance, mean = np.asarray(theta["covariance"]), np.asarray(theta["mean"])
    root = linalg.cholesky(covariance, lower=True)
    factor = linalg.solve_triangular(root, np.eye(len(root)), lower=True).T
    offset = -float(np.log(np.diagonal(root)).sum()) - 0.5 * len(mean) * LOG_2_PI
    return NormalMixture(mean[None], np.ascontiguousarray(factor)[None], np.array([offset]))


def _next(sums: ComponentMoments, count: int) -> dict[str, Any]:
    """The likeliest axes and noise for expected squares."""
    S = sums.scatter[0] / sums.weight[0]
    found = completed(from_scatter(0.5 * (S + S.T), len(S)), len(S))
    values = found.scatter
    floor = _floor(np.diagonal(S))
    noise = max(float(values[count:].mean()), floor) if count < len(S) else floor
    axes, along = np.ascontiguousarray(found.axes[:count]), values[:count].copy()
    return {
        "mean": sums.mean[0],
        "covariance": _covariance(axes, along, noise),
        "axes": axes,
        "along": along,
        "noise": noise,
    }


def _backwards(mixture: NormalMixture, batch: Batch) -> ComponentMoments:
    weight = None if batch.weight is None else batch.weight[::-1].copy()
    X: Any = batch.X
    return ComponentMoments.of(Batch(np.ascontiguousarray(X[::-1]), None, weight), mixture=mixture)
