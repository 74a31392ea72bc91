"""What regressions share whose precisions are those that make the targets most likely."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from surefit.core.certificate import Certificate
from surefit.core.errors import RefusalError
from surefit.data.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.linear.bayesian_prediction import BayesianPrediction
from surefit.models.linear.evidence import Climb, HyperPriors, State, Sums, moments_evidence, stationarity
from surefit.models.linear.ridge_fit import LARGEST_GRAM
from surefit.models.updating import OneStatistic
from surefit.stats.moments import Moments

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
LEAST_TOLERANCE = 1e-9  # of a certificate: beyond it, decompositions of moments are rounded


@dataclass(frozen=True, slots=True)
class EvidenceParameters:
    """Mean and covariance of the coefficients, precisions of noise and coefficients, and the way there."""

    coef: Vector
    intercept: float
    alpha: float
    precision: Any
    sigma: Matrix
    scores: Vector
    n_iter: int
    X_offset: Vector
    X_scale: Vector


class EvidenceRegression(BayesianPrediction, RegressorMixin, OneStatistic, abstract=True):
    """Everything but the climb: sums, parameters, proof and prediction.

    A class writes ``_climb``, ``_kept`` (which coefficients are not held at zero) and ``_sigma``.
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
    def _climb(self, sums: Sums, learned: Callable[[State], Any]) -> Climb:
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
            return Learned(parameters, self._proof(sums, parameters))

        found = self._climb(sums, lambda state: learned(state, np.zeros(0), 1))
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

    def _proof(self, sums: Sums, found: Any) -> Certificate:
        used = self._used(found.precision)
        lam = found.precision[used] if np.ndim(found.precision) else found.precision
        return stationarity(
            sums.of_columns(used),
            self._hyper_priors(),
            found.coef[used],
            found.sigma,
            found.alpha,
            lam,
            max(self.tol**2, LEAST_TOLERANCE),
        )

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
        dropped = np.abs(self.coef_[~self._used(self.precision_)]).max(initial=0.0)
        value = max(proof.value, drift, np.inf if dropped else 0.0)
        return Certificate(proof.claim, proof.measure, value, proof.tolerance, proof.parts)

    def _spreads(self, X: Any) -> Vector:
        used = self._used(self.precision_)
        moved = (X.toarray() if hasattr(X, "toarray") else X)[:, used] - self.X_offset_[used]
        return np.maximum(np.einsum("ij,ij->i", moved @ self.sigma_, moved), 0.0)

    def _noise(self) -> float:
        return 1.0 / self.alpha_
