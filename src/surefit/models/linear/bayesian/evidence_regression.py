"""What regressions share whose precisions are those that make the targets most likely."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import RefusalError
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.linear.bayesian.constrained_mode import Quadratic
from surefit.models.linear.bayesian.evidence import (
    EvidenceMaximum,
    HyperPriors,
    State,
    Sums,
    moments_evidence,
    stationarity,
)
from surefit.models.linear.bayesian.gaussian_posterior import inverse_root
from surefit.models.linear.bayesian.prediction import BayesianPrediction
from surefit.models.linear.bayesian.truncated_normal import TruncatedNormal
from surefit.models.linear.bayesian.truncated_posterior import TruncatedPosterior, TruncatedPosteriorMixin
from surefit.models.linear.squares.ridge_fit import LARGEST_GRAM
from surefit.models.updating import OneStatistic
from surefit.solvers.squares.level_limits import LevelLimits
from surefit.stats.moments import Moments

LEAST_TOLERANCE = 1e-9  # of a certificate: beyond it, decompositions of moments are rounded


@dataclass(frozen=True, slots=True)
class EvidenceParameters:
    """Mean and covariance of the coefficients, precisions of noise and coefficients, and the way there.

    Under constraints coef is the mode, free_mean the mean before truncation, which sigma belongs to, and
    cut_mean and cut_root (RR' the covariance over the noise) the same for all columns that may not be zero.
    """

    coef: Vector
    intercept: float
    alpha: float
    precision: Any
    sigma: Matrix
    scores: Vector
    n_iter: int
    X_offset: Vector
    X_scale: Vector
    free_mean: Any = None
    cut_mean: Any = None
    cut_root: Any = None


class EvidenceRegression(
    TruncatedPosteriorMixin, BayesianPrediction, RegressorMixin, OneStatistic, abstract=True
):
    """Everything but maximising the evidence: sums, parameters, proof and prediction.

    A class writes ``_maximise_evidence``, ``_covariance``, and ``_used``: which coefficients are not zero.
    Constraints truncate the posterior that belongs to the precisions; these are those of the model without.
    """

    accepts = Accepts(target="number")
    learns = EvidenceParameters

    max_iter: int
    tol: float
    alpha_1: float
    alpha_2: float
    lambda_1: float
    lambda_2: float
    compute_score: bool
    fit_intercept: bool
    coef_: Vector
    intercept_: float
    alpha_: float
    precision_: Any
    sigma_: Matrix
    scores_: Vector
    n_iter_: int
    X_offset_: Vector
    X_scale_: Vector

    @abstractmethod
    def _maximise_evidence(self, sums: Sums, learned: Callable[[State], Any]) -> EvidenceMaximum:
        """Raise the evidence to where it is greatest."""

    @abstractmethod
    def _covariance(self, sums: Sums, state: Any) -> Matrix:
        """Return the covariance of the coefficients that are not held at zero."""

    def _used(self, precision: Any) -> NDArray[np.bool_]:
        """Return which coefficients are not held at zero."""
        return np.ones(self.n_features_in_, dtype=bool)

    @property
    def lambda_(self) -> Any:
        """The precision of the coefficients, for all of them or one each."""
        if "precision_" not in self.__dict__:
            raise AttributeError(f"this {type(self).__name__} is not fitted yet.")
        return self.precision_

    def _of(self, schema: Schema) -> Callable[[Batch], Moments]:
        if schema.width > LARGEST_GRAM:
            raise RefusalError(
                f"{type(self).__name__} holds the covariance of {schema.width} coefficients, which works up "
                f"to {LARGEST_GRAM} columns: drop some, or choose the penalty by RidgeCV."
            )
        return Moments.of

    def _hyper_priors(self) -> HyperPriors:
        return HyperPriors(self.alpha_1, self.alpha_2, self.lambda_1, self.lambda_2)

    def _iteration_limit(self) -> int:
        return self.max_iter

    def _finish(self, moments: Moments, schema: Schema) -> Learned:
        sums = Sums.of(moments, self.fit_intercept)

        def learned(state: State, scores: Vector, steps: int) -> Learned:
            parameters = self._parameters(sums, moments, state, scores, steps)
            if self.constraints is not None:
                parameters = self._within(sums, moments, parameters)
            return Learned(parameters, self._proof(sums, parameters))

        found = self._maximise_evidence(sums, lambda state: learned(state, np.zeros(0), 1))
        scores = found.scores if self.compute_score else np.zeros(0)
        end = learned(found.state, scores, found.steps)
        return Learned(end.parameters, end.certificate, moments_evidence(moments, self.fit_intercept))

    def _parameters(
        self, sums: Sums, moments: Moments, state: State, scores: Vector, steps: int
    ) -> EvidenceParameters:
        offset = moments.mean_x if self.fit_intercept else np.zeros_like(moments.mean_x)
        intercept = float(moments.mean_y[0] - offset @ state.coef) if self.fit_intercept else 0.0
        return EvidenceParameters(
            state.coef,
            intercept,
            float(state.alpha),
            state.lam,
            self._covariance(sums, state),
            scores,
            steps,
            offset,
            np.ones_like(offset),
        )

    def _within(self, sums: Sums, moments: Moments, free: EvidenceParameters) -> EvidenceParameters:
        """Truncate the posterior to the constraints."""
        left = self._left(free.precision)
        quadratic = _quadratic(sums.of_columns(left), free.alpha, _of_columns(free.precision, left))
        coef = np.zeros_like(free.coef)
        coef[left] = quadratic.minimise_within(self._limits(len(left)).without(~left))
        height = float(moments.mean_y[0]) if self.fit_intercept else 0.0
        return replace(
            free,
            coef=coef,
            intercept=height - float(free.X_offset @ coef),
            free_mean=free.coef,
            cut_mean=quadratic.mean,
            cut_root=quadratic.root,
        )

    def _left(self, precision: Any) -> NDArray[np.bool_]:
        """Return which coefficients are not zero for good: constraints may forbid what a precision asks."""
        limits = self._limits(self.n_features_in_)
        return self._used(precision) | (limits.lower > 0) | (limits.upper < 0)

    def _proof(self, sums: Sums, found: Any) -> Certificate:
        used = self._used(found.precision)
        truncated = found.free_mean is not None
        proof = stationarity(
            sums.of_columns(used),
            self._hyper_priors(),
            (found.free_mean if truncated else found.coef)[used],
            found.sigma,
            found.alpha,
            _of_columns(found.precision, used),
            max(self.tol**2, LEAST_TOLERANCE),
        )
        return self._proof_within(sums, found, proof) if truncated else proof

    def _proof_within(self, sums: Sums, found: Any, free: Certificate) -> Certificate:
        """Add the proof of the mode to that of the precisions."""
        left = self._left(found.precision)
        rows, lam = sums.of_columns(left), _of_columns(found.precision, left)
        quadratic = _quadratic_at(rows, found.alpha, lam, found.cut_mean, found.cut_root)
        limits = self._limits(len(left)).without(~left)
        proof = quadratic.proof(limits, found.coef[left], 1.0 / rows.weight if rows.weight > 0 else 1.0)
        witness = dict(proof.witness)
        for side in ("lower", "upper"):
            witness[side] = np.zeros(len(left))
            witness[side][left] = proof.witness[side]
        value = max(free.value, proof.gap, proof.stationarity, quadratic.misfit(rows.cross))
        measure = f"{free.measure}, or duality gap and slope of the mode"
        return Certificate(free.claim, measure, value, free.tolerance, {**free.parts, **proof.parts}, witness)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Put what was found into the equations of the answer, set up anew from the rows."""
        moments = engine.accumulate(self._of(source.schema), source)
        sums = Sums.of(moments, self.fit_intercept)
        names = EvidenceParameters.__dataclass_fields__
        found = EvidenceParameters(**{name: getattr(self, f"{name}_") for name in names})
        proof = self._proof(sums, found)
        expected = float(moments.mean_y[0] - moments.mean_x @ self.coef_) if self.fit_intercept else 0.0
        unit = np.sqrt(sums.variance) + 1e-6 * abs(float(moments.mean_y[0])) or 1.0
        drift = abs(self.intercept_ - expected) / unit
        left = self._used(self.precision_) if self.free_mean_ is None else self._left(self.precision_)
        dropped = np.abs(self.coef_[~left]).max(initial=0.0)
        return replace(proof, value=max(proof.value, drift, np.inf if dropped else 0.0))

    def _truncate(self, limits: LevelLimits) -> TruncatedPosterior:
        left = self._left(self.precision_)
        normal = TruncatedNormal(self.cut_mean_, self.cut_root_, limits.without(~left), None, self._noise())
        height = self.intercept_ + float(self.X_offset_ @ self.coef_) if self.fit_intercept else None
        return TruncatedPosterior(normal, self.X_offset_, left, height, self.random_state)

    def sample_posterior(self, n_samples: int = 1, random_state: Any = None) -> Matrix:
        """Draw coefficients, (n_samples, p + 1), the intercept that belongs to them last."""
        check_is_fitted(self)
        truncated = self._truncated()
        if truncated is not None:
            return truncated.sample(n_samples, random_state)
        used, rng = self._used(self.precision_), np.random.default_rng(random_state)
        size = np.sqrt(np.diagonal(self.sigma_))
        values, vectors = np.linalg.eigh(self.sigma_ / size[:, None] / size)
        root = vectors * np.sqrt(np.maximum(values, 0.0)) * size[:, None]
        coef = np.zeros((n_samples, len(used)))
        coef[:, used] = self.coef_[used] + rng.normal(size=(n_samples, len(size))) @ root.T
        if not self.fit_intercept:
            return coef
        height = self.intercept_ + float(self.X_offset_ @ self.coef_)
        return np.column_stack([coef, height - coef @ self.X_offset_])

    def _spreads(self, X: Any) -> Vector:
        used = self._used(self.precision_)
        moved = (X.toarray() if hasattr(X, "toarray") else X)[:, used] - self.X_offset_[used]
        return np.maximum(np.einsum("ij,ij->i", moved @ self.sigma_, moved), 0.0)

    def _noise(self) -> float:
        return 1.0 / self.alpha_


def _of_columns(precision: Any, some: NDArray[np.bool_]) -> Any:
    """Return the precisions of some columns; one for all stays as it is."""
    return precision[some] if np.ndim(precision) else precision


def _quadratic(sums: Sums, alpha: float, lam: Any) -> Quadratic:
    """Return the squares that the mode makes least, halved and in units of the noise."""
    precision, prior = _squares(sums, alpha, lam)
    root, _ = inverse_root(precision, prior)
    mean = root @ (root.T @ sums.cross)
    mean = mean + root @ (root.T @ (sums.cross - precision @ mean))
    return _quadratic_at(sums, alpha, lam, mean, root)


def _quadratic_at(sums: Sums, alpha: float, lam: Any, mean: Vector, root: Matrix) -> Quadratic:
    return Quadratic(mean, _squares(sums, alpha, lam)[0], root, 0.5 * sums.squares)


def _squares(sums: Sums, alpha: float, lam: Any) -> tuple[Matrix, Matrix]:
    prior = np.diag(np.broadcast_to(np.asarray(lam) / alpha, len(sums.cross)))
    return sums.gram + prior, prior
