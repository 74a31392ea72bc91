"""Factor analysis: a few common factors, and noise of its own in every column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, FormatError, ParameterError, RefusalError
from surefit.core.parameters import Count, RandomState, Tolerance, WholeNumber
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.checks.cells import check_weights
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.factor.incremental_pca import LARGEST_GRAM
from surefit.models.factor.optimality import PlainRows
from surefit.models.transformer import Transformer
from surefit.stats.moments import Moments

FLOOR = 1e-12  # of a noise variance, as scikit-learn's
SAME = 1e-6  # what recomputing may change, in units of each column's deviation


@dataclass(frozen=True, slots=True)
class FactorAnalysisParameters:
    """Loadings (k, p), the noise of each column, means, and the log-likelihood of every step."""

    components: Matrix
    noise_variance: Vector
    mean: Vector
    loglike: list[float]
    n_iter: int


class FactorAnalysis(ClassNamePrefixFeaturesOutMixin, Transformer):
    r"""Rows from :math:`x = m + W'z + e`, z standard normal, e normal with variances :math:`\psi_j`.

    The likelihood is climbed by the same steps as scikit-learn's, but on the covariance of the columns, which
    is gathered in one pass: so rows may come in pieces, and a step costs nothing for more rows.
    n_components: how many factors (None: as many as columns). noise_variance_init: where to begin (None: 1).
    rotation: "varimax" or "quartimax" turn the factors towards few large loadings. tol: the gain of
    log-likelihood at which to stop. copy, svd_method, iterated_power and random_state change nothing: the
    decomposition is exact.

    >>> import numpy as np
    >>> from surefit import FactorAnalysis
    >>> z = np.random.default_rng(0).normal(size=(500, 1))
    >>> X = z @ [[1.0, 2.0, -1.0]] + np.random.default_rng(1).normal(size=(500, 3))
    >>> FactorAnalysis(1).fit(X).components_.round(1)
    array([[ 1. ,  2. , -1. ]])
    """

    accepts = Accepts(sparse=False)
    learns = FactorAnalysisParameters

    components_: Matrix
    noise_variance_: Vector
    mean_: Vector
    loglike_: list[float]
    n_iter_: int

    def __init__(
        self,
        n_components: WholeNumber | None = None,
        *,
        tol: Tolerance = 1e-2,
        copy: bool = True,
        max_iter: Count = 1000,
        noise_variance_init: NDArray[Any] | list[Any] | None = None,
        svd_method: Literal["lapack", "randomized"] = "randomized",
        iterated_power: WholeNumber = 3,
        rotation: Literal["varimax", "quartimax"] | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.tol = tol
        self.copy = copy
        self.max_iter = max_iter
        self.noise_variance_init = noise_variance_init
        self.svd_method = svd_method
        self.iterated_power = iterated_power
        self.rotation = rotation
        self.random_state = random_state

    def _iteration_limit(self) -> int | None:
        return None

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _of(self, schema: Schema) -> Callable[[Batch], Moments]:
        if schema.width > LARGEST_GRAM:
            raise RefusalError(
                f"FactorAnalysis keeps the covariance of the columns, and supports up to {LARGEST_GRAM} of "
                f"them, not {schema.width}."
            )
        return partial(Moments.of, target=False)

    def _finish(self, statistic: Moments, schema: Schema) -> Learned:
        width = schema.width
        count = width if self.n_components is None else self.n_components
        if count > width:
            raise ParameterError(f"n_components={count} must not exceed the {width} columns.")
        if statistic.rows < 2 and schema.rows == 1:
            raise DataError("n_samples = 1 is too few for variances: give more than one sample.")
        psi = np.ones(width)
        if self.noise_variance_init is not None:
            psi = np.array(self.noise_variance_init, dtype=np.float64)
            if psi.shape != (width,):
                raise ParameterError(
                    f"noise_variance_init dimension does not with number of features : {len(psi)} != {width}"
                )
        S = statistic.gram / statistic.weight
        found = _climbed(S, statistic.weight, count, psi, self.tol, self.max_iter, self.trace_)
        W, psi, before, logs = found
        if self.rotation is not None and count > 0:
            W = rotated(W, self.rotation)
        parameters = FactorAnalysisParameters(W, psi, statistic.mean_x, logs, len(logs))
        certificate = self._proof(S, statistic.weight, W, psi, before, 0.0)
        return Learned(parameters, certificate)

    def _proof(
        self, S: Matrix, weight: float, W: Matrix, psi: Vector, before: tuple[Matrix, Vector], changed: float
    ) -> Certificate:
        """The equations of the likeliest loadings for given noise, and what the last step gained."""
        root = np.sqrt(psi) + FLOOR
        U, scaled = W / root, S / root[:, None] / root
        equations = scaled @ U.T - U.T @ (np.eye(len(U)) + U @ U.T)
        size = max(float(np.abs(scaled).max(initial=0.0)), 1.0) ** 1.5
        residual = float(np.abs(equations).max(initial=0.0)) / size
        now = log_likelihood(S, weight, W, psi)
        gain = now - log_likelihood(S, weight, *before)
        allowed = max(self.tol, 1e-11 * (1 + abs(now)))
        parts = {
            "equations of the loadings": residual,
            "gain of log-likelihood by the last step": gain,
            "change by recomputing the other numbers": changed,
        }
        value = max(residual / SAME, abs(gain) / allowed, changed / SAME)
        witness = {"components": before[0], "noise": before[1]}
        measure = "equations of the loadings and gain of the last step, as shares of what is allowed"
        return Certificate("stationary", measure, value, 1.0, parts, witness)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        rows = PlainRows(source, engine)
        S = rows.times(np.eye(len(rows.mean))) / rows.weight
        witness = self.certificate_.witness
        before = np.asarray(witness["components"]), np.asarray(witness["noise"])
        deviation = np.sqrt(rows.squares / rows.weight)
        unit = deviation + 1e-6 * np.abs(rows.mean)
        changed = float((np.abs(self.mean_ - rows.mean) / np.where(unit > 0, unit, 1.0)).max(initial=0.0))
        told = np.asarray(self.loglike_)
        now = log_likelihood(S, rows.weight, self.components_, self.noise_variance_)
        full = np.abs(told[-1] - now) / (1 + abs(now)) if len(told) else np.inf
        return self._proof(
            S, rows.weight, self.components_, self.noise_variance_, before, max(changed, 1e-2 * float(full))
        )

    def _unproved(self, certificate: Certificate) -> str:
        return (
            "FactorAnalysis did not converge. You might want to increase the number of iterations. "
            f"{certificate.statement}"
        )

    def _transform(self, X: Any) -> Any:
        if len(self.components_) == 0:
            return np.empty((len(X), 0))
        weighted = self.components_ / self.noise_variance_
        inner = np.eye(len(self.components_)) + weighted @ self.components_.T
        return linalg.solve(inner, weighted @ (X - self.mean_).T, assume_a="pos").T

    def get_covariance(self) -> Matrix:
        """Return the covariance of the model, W'W plus the noise."""
        return self.components_.T @ self.components_ + np.diag(self.noise_variance_)

    def get_precision(self) -> Matrix:
        """Return the inverse of ``get_covariance()``."""
        found: Matrix = linalg.inv(self.get_covariance())
        return found

    def score_samples(self, X: Any) -> Vector:
        """Return the log-likelihood of each row."""
        found: Vector = self._answer(self._log_likelihood, X)
        return found

    def _log_likelihood(self, X: Any) -> Vector:
        root = linalg.cholesky(self.get_covariance(), lower=True)
        y = linalg.solve_triangular(root, (X - self.mean_).T, lower=True)
        constant = len(root) * np.log(2 * np.pi) + 2 * np.log(np.diagonal(root)).sum()
        found: Vector = -0.5 * ((y * y).sum(axis=0) + constant)
        return found

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean log-likelihood of the rows."""
        found = self.score_samples(X)
        return float(np.average(found, weights=check_weights(sample_weight, len(found))))

    def check_loaded(self) -> None:
        """Refuse arrays that do not belong together."""
        super().check_loaded()
        width = self.n_features_in_
        if (
            self.components_.ndim != 2
            or self.components_.shape[1] != width
            or self.noise_variance_.shape != (width,)
            or self.mean_.shape != (width,)
        ):
            raise FormatError("the file's loadings do not fit its columns: it is damaged.")


def _climbed(
    S: Matrix, weight: float, count: int, psi: Vector, tol: float, limit: int, trace: Trace
) -> tuple[Matrix, Vector, tuple[Matrix, Vector], list[float]]:
    """Repeat: the likeliest loadings for the noise, then the noise that they leave."""
    variance = np.diagonal(S).copy()
    constant = len(S) * np.log(2 * np.pi)
    logs: list[float] = []
    W = before_W = np.zeros((count, len(S)))
    before_psi, finished = psi, False
    for _ in trace.iterations(limit):
        if logs:
            before_W, before_psi = W, psi
            psi = np.maximum(variance - (W**2).sum(axis=0), FLOOR)
        root = np.sqrt(psi) + FLOOR
        values, vectors = linalg.eigh(S / root[:, None] / root, check_finite=False)
        s, V = values[::-1][:count], vectors[:, ::-1][:, :count].T
        left = float(values.sum() - s.sum())
        W = np.sqrt(np.maximum(s - 1.0, 0.0))[:, None] * V * root
        W *= np.where(
            np.abs(W).max(axis=1, keepdims=True, initial=0.0) == W.max(axis=1, keepdims=True, initial=0.0),
            1.0,
            -1.0,
        )
        # A direction with less than its noise gets no loading, and counts with what it has.
        told = np.where(s > 1, np.log(np.maximum(s, 1.0)) + 1.0, s).sum()
        logs.append(-weight / 2 * float(constant + told + left + np.log(psi).sum()))
        gain = logs[-1] - logs[-2] if len(logs) > 1 else np.inf
        trace.record(objective=-logs[-1], gap=gain if np.isfinite(gain) else None)
        finished = gain < tol
        if finished:
            break
    return W, psi, (before_W, before_psi), logs


def log_likelihood(S: Matrix, weight: float, W: Matrix, psi: Vector) -> float:
    """Of rows with covariance S, by the determinant of the model's covariance."""
    covariance = W.T @ W + np.diag(psi)
    try:
        root = linalg.cho_factor(covariance, lower=True)
    except linalg.LinAlgError:
        return -np.inf
    determinant = 2 * float(np.log(np.diagonal(root[0])).sum())
    trace = float(np.trace(linalg.cho_solve(root, S)))
    return -weight / 2 * (len(S) * float(np.log(2 * np.pi)) + determinant + trace)


def rotated(W: Matrix, method: str, tolerance: float = 1e-6, limit: int = 500) -> Matrix:
    """Turn factors so that few loadings are large (Kaiser, 1958)."""
    L = W.T
    R, last = np.eye(L.shape[1]), 0.0
    for _ in range(limit):
        turned = L @ R
        if method == "varimax":
            target = turned**3 - turned * (turned**2).sum(axis=0) / len(L)
        else:
            target = turned**3
        u, s, v = np.linalg.svd(L.T @ target)
        R, now = u @ v, float(s.sum())
        if last != 0 and now < last * (1 + tolerance):
            break
        last = now
    return (L @ R).T
