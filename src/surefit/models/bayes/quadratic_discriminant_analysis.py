"""Classify by one normal distribution a class, of any covariance."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, FormatError
from surefit.core.parameters import Fraction, Interval, NonNegative
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.bayes.class_covariances import Discriminant, Spreads, refuse_singular
from surefit.models.bayes.generative import log_of
from surefit.models.candidate import Candidate
from surefit.resample.streams import seed_of, stream


@dataclass(frozen=True, slots=True)
class QuadraticDiscriminantParameters:
    """Labels, shares and means of the classes; the axes of each covariance and the variances along them."""

    classes: NDArray[Any]
    priors: Vector
    means: Matrix
    rotations: list[Matrix]
    scalings: list[Vector]
    covariance: list[Matrix] | None = None


class QuadraticDiscriminantAnalysis(Discriminant):
    r"""Quadratic discriminant analysis: classes :math:`N(\mu_c, \Sigma_c)`, each of its own covariance.

    :math:`\log P(c|x) = -\frac12 (x-\mu_c)'\Sigma_c^{-1}(x-\mu_c) - \frac12\log|\Sigma_c| + \log\pi_c` and a
    constant. solver: "svd", or "eigen", which takes shrinkage or a covariance_estimator. reg_param: the
    variances v along the axes become (1 - reg_param) v + reg_param, for "svd". A class whose covariance has a
    variance of no more than tol is refused; while rows are added with ``partial_fit``, it is left out
    until it has enough.

    >>> from surefit import QuadraticDiscriminantAnalysis
    >>> X = [[0.0, 0.0], [1.0, 2.0], [2.0, 1.0], [4.0, 4.0], [9.0, 6.0], [6.0, 9.0]]
    >>> QuadraticDiscriminantAnalysis().fit(X, [0, 0, 0, 1, 1, 1]).predict([[2.0, 2.0], [5.0, 5.0]]).tolist()
    [0, 1]
    """

    learns = QuadraticDiscriminantParameters
    candidate = Candidate("Quadratic discriminant analysis", 14, given={"reg_param": 1e-3}, streams=True)

    priors_: Vector
    means_: Matrix
    rotations_: list[Matrix]
    scalings_: list[Vector]
    covariance_: list[Matrix]

    def __init__(
        self,
        *,
        solver: Literal["svd", "eigen"] = "svd",
        shrinkage: Literal["auto"] | Annotated[float, Interval(0, 1)] | None = None,
        priors: NDArray[Any] | list[Any] | tuple[Any, ...] | None = None,
        reg_param: Fraction = 0.0,
        store_covariance: bool = False,
        tol: NonNegative = 1.0e-4,
        covariance_estimator: Any = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    def check_loaded(self) -> None:
        """Refuse axes that do not fit the classes and columns."""
        super().check_loaded()
        d = self.n_features_in_
        fits = self.means_.shape == (len(self.classes_), d) and len(self.rotations_) == len(self.classes_)
        fits = fits and all(np.shape(rotation) == (d, d) for rotation in self.rotations_)
        if not fits or [np.shape(scaling) for scaling in self.scalings_] != [(d,)] * len(self.classes_):
            raise FormatError("the file's axes do not fit its classes and columns.")

    def _solved(self, spreads: Spreads, schema: Schema, strict: bool) -> tuple[Any, Certificate]:
        assert schema.classes is not None
        prior, d = self._prior(spreads.weight), spreads.means.shape[1]
        rotations, scalings, covariances = [], [], []
        for c, (weight, cov) in enumerate(zip(spreads.weight, spreads.covariances, strict=True)):
            if strict and weight <= 1:
                raise DataError(
                    f"y has only 1 sample in class {schema.classes[c]}, covariance is ill defined: give more."
                )
            scaling, rotation = self._axes(cov)
            if (scaling <= self.tol).any():
                if strict:
                    refuse_singular(schema.classes[c], self.solver, weight <= d, weight, d)
                prior[c], scaling = 0.0, np.ones(d)
            rotations.append(np.ascontiguousarray(rotation))
            scalings.append(scaling)
            covariances.append(self._widened(cov))
        kept = covariances if self.store_covariance else None
        parameters = QuadraticDiscriminantParameters(
            schema.classes, prior, spreads.means, rotations, scalings, kept
        )
        rounding = max(
            (
                _apart(r, s, v)
                for r, s, v in zip(rotations, scalings, covariances, strict=True)
                if (s != 1).any()
            ),
            default=0.0,
        )
        return parameters, _certificate(rounding, 0.0, 0.0)

    def _widened(self, cov: Matrix) -> Matrix:
        if self.solver == "eigen":
            return cov
        return (1 - self.reg_param) * cov + self.reg_param * np.eye(len(cov))

    def _axes(self, cov: Matrix) -> tuple[Vector, Matrix]:
        values, vectors = np.linalg.eigh(cov)
        values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
        if self.solver == "svd":
            values = (1 - self.reg_param) * values + self.reg_param
        return values, vectors

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Count moments again, one class after the other, and multiply axes and variances out again."""
        spreads = self._recounted(source, engine)
        prior, axes, means = self._prior(spreads.weight), 0.0, 0.0
        for c, cov in enumerate(spreads.covariances):
            wanted = self._widened(cov)
            if self.priors_[c] == 0 and (self._axes(cov)[0] <= self.tol).any():
                prior[c] = 0.0
            else:
                axes = max(axes, _apart(self.rotations_[c], self.scalings_[c], wanted))
            std = np.sqrt(np.diagonal(wanted))
            gap = np.abs(self.means_[c] - spreads.means[c]) / np.where(std > 0, std, 1.0)
            means = max(means, float(np.max(gap, initial=0.0)))
        return _certificate(axes, means, float(np.max(np.abs(prior - self.priors_), initial=0.0)))

    def _log_joint(self, X: Any) -> Matrix:
        scores = np.empty((len(X), len(self.classes_)))
        prior = log_of(np.asarray(self.priors_, dtype=np.float64))
        for c, (rotation, scaling) in enumerate(zip(self.rotations_, self.scalings_, strict=True)):
            turned = (X - self.means_[c]) @ (rotation / np.sqrt(scaling))
            scores[:, c] = prior[c] - 0.5 * ((turned**2).sum(axis=1) + np.log(scaling).sum())
        return scores

    def decision_function(self, X: Any, *, to: str | Path | None = None) -> NDArray[np.float64]:
        """Return log P(c | x) up to a constant; where there are two classes, the difference of the second."""
        names = ["score"] if len(self._class_names()) == 2 else self._class_names()
        return self._answer(self._scores, X, to, names, infinite=True)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        scores = self._log_joint(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[Any]:
        """Return the most probable class of each row, or write it ``to`` a file."""
        return self._answer(
            lambda rows: self.classes_[self._log_joint(rows).argmax(axis=1)], X, to, ["prediction"]
        )

    def predict_proba(self, X: Any, *, to: str | Path | None = None) -> Matrix:
        """Return P(c | x) for each row and class, or write them ``to`` a file."""
        return self._answer(lambda rows: np.exp(self._log_proba(rows)), X, to, self._class_names())

    def predict_log_proba(self, X: Any, *, to: str | Path | None = None) -> Matrix:
        """Return log P(c | x) for each row and class, or write them ``to`` a file."""
        return self._answer(self._log_proba, X, to, self._class_names(), infinite=True)

    def _log_proba(self, X: Any) -> Matrix:
        scores = self._log_joint(X)
        best = scores.max(axis=1, keepdims=True)
        lost = best[:, 0] == -np.inf
        if lost.any():
            scores[lost] = log_of(self.priors_) if self.priors_.any() else 0.0
            best[lost] = scores[lost].max(axis=1, keepdims=True)
        scores -= best
        return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Matrix, NDArray[Any]]:
        """Draw rows and their classes from the fitted distributions."""
        rng = stream(seed_of(random_state), 0)
        cumulative = np.cumsum(self.priors_)
        codes = np.searchsorted(cumulative / cumulative[-1], rng.random(n_samples), side="right")
        X = rng.standard_normal((n_samples, self.n_features_in_))
        for c, (rotation, scaling) in enumerate(zip(self.rotations_, self.scalings_, strict=True)):
            X[codes == c] = (X[codes == c] * np.sqrt(scaling)) @ rotation.T + self.means_[c]
        return X, self.classes_[codes]


def _apart(rotation: Matrix, scaling: Vector, wanted: Matrix) -> float:
    """How far axes and variances are from a covariance, of columns of deviation 1, or axes from square."""
    std = np.sqrt(np.maximum(np.diagonal(wanted), 0.0))
    std = np.where(std > 0, std, 1.0)
    gap = np.abs((rotation * scaling) @ rotation.T - wanted) / np.multiply.outer(std, std)
    square = np.abs(rotation.T @ rotation - np.eye(len(wanted)))
    return float(max(np.max(gap, initial=0.0), np.max(square, initial=0.0)))


def _certificate(axes: float, means: float, shares: float) -> Certificate:
    parts = {"covariances, relative": axes, "means, in deviations": means, "share of a class": shares}
    value = float(np.max([axes, means, shares]))
    return Certificate("exact", "largest change of a covariance, mean or share", value, 1e-7, parts)
