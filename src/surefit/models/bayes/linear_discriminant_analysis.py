"""Classify by normal distributions of one covariance, which makes all boundaries planes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import ParameterError
from surefit.core.parameters import Count, Interval, NonNegative
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.bayes.class_covariances import (
    Discriminant,
    SingularCovarianceError,
    Spreads,
    UnsupportedError,
)
from surefit.models.bayes.generative import log_of
from surefit.models.candidate import Candidate


@dataclass(frozen=True, slots=True)
class LinearDiscriminantParameters:
    """Labels; the linear scores; shares and means of the classes; what the solver found besides."""

    classes: NDArray[Any]
    coef: Matrix
    intercept: Vector
    priors: Vector
    means: Matrix
    xbar: Vector | None = None
    scalings: Matrix | None = None
    explained_variance_ratio: Vector | None = None
    covariance: Matrix | None = None


class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Discriminant):
    r"""Linear discriminant analysis: classes :math:`N(\mu_c, \Sigma)` of one covariance.

    :math:`\log P(c|x)` is :math:`x'\Sigma^{-1}\mu_c - \frac12 \mu_c'\Sigma^{-1}\mu_c + \log\pi_c` and a
    constant. solver: "svd" inverts the directions in which rows vary (``tol``), "lsqr" solves for
    coefficients, "eigen" finds the directions of most variance between relative to within. shrinkage: a share
    of the way to a multiple of the identity, "auto" by Ledoit and Wolf, for "lsqr" and "eigen";
    covariance_estimator: an estimator of covariances instead. n_components: how many directions ``transform``
    keeps. priors: the :math:`\pi_c`; None takes the shares. All solvers work on the moments of the classes.

    >>> from surefit import LinearDiscriminantAnalysis
    >>> X = [[0.0, 0.0], [1.0, 2.0], [2.0, 1.0], [4.0, 4.0], [5.0, 6.0], [6.0, 5.0]]
    >>> model = LinearDiscriminantAnalysis().fit(X, [0, 0, 0, 1, 1, 1])
    >>> model.predict([[2.9, 2.9], [3.2, 3.2]]).tolist()
    [0, 1]
    """

    learns = LinearDiscriminantParameters
    candidate = Candidate("Linear discriminant analysis", 9, streams=True)

    coef_: Matrix
    intercept_: Vector
    priors_: Vector
    means_: Matrix
    xbar_: Vector
    scalings_: Matrix
    explained_variance_ratio_: Vector
    covariance_: Matrix

    def __init__(
        self,
        solver: Literal["svd", "lsqr", "eigen"] = "svd",
        shrinkage: Literal["auto"] | Annotated[float, Interval(0, 1)] | None = None,
        priors: NDArray[Any] | list[Any] | tuple[Any, ...] | None = None,
        n_components: Count | None = None,
        store_covariance: bool = False,
        tol: NonNegative = 1e-4,
        covariance_estimator: Any = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    @property
    def _max_components(self) -> int:
        most = min(len(self.classes_) - 1, self.n_features_in_)
        return most if self.n_components is None else min(self.n_components, most)

    @property
    def _n_features_out(self) -> int:
        return min(self._max_components, self.scalings_.shape[1])

    def _solved(self, spreads: Spreads, schema: Schema, strict: bool) -> tuple[Any, Certificate]:
        assert schema.classes is not None
        most = min(len(spreads.weight) - 1, spreads.means.shape[1])
        if self.n_components is not None and self.n_components > most:
            raise ParameterError(
                "n_components cannot be larger than min(n_features, n_classes - 1), which is "
                f"{most}, but it is {self.n_components}."
            )
        most = most if self.n_components is None else self.n_components
        prior = self._prior(spreads.weight)
        covariance = np.einsum("c,cij->ij", prior, spreads.covariances)
        solve = {"svd": self._by_directions, "lsqr": self._by_equations, "eigen": self._by_ratios}[
            self.solver
        ]
        coef, intercept, xbar, scalings, ratio = solve(spreads, prior, covariance, most)
        if len(prior) == 2:
            with np.errstate(invalid="ignore"):  # a class that has no row yet
                coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        kept = covariance if self.store_covariance or self.solver != "svd" else None
        parameters = LinearDiscriminantParameters(
            schema.classes, coef, intercept, prior, spreads.means, xbar, scalings, ratio, kept
        )
        return parameters, self._compared(spreads, prior, coef, intercept, spreads.means)

    def _by_directions(self, spreads: Spreads, prior: Vector, covariance: Matrix, most: int) -> Any:
        n, K, d = spreads.rows, len(prior), spreads.means.shape[1]
        xbar = prior @ spreads.means
        std = np.sqrt(np.diagonal(spreads.within) / n)
        std = np.where(std > 0, std, 1.0)
        between = spreads.means - xbar
        if n <= K:
            nothing = np.zeros((d, 0))
            return np.zeros((K, d)), log_of(prior), xbar, nothing, np.zeros(0)
        values, vectors = np.linalg.eigh(spreads.within / np.multiply.outer(std, std) / n)
        sizes = np.sqrt(np.maximum(values[::-1], 0.0))
        keep = sizes > self.tol
        scalings = (vectors[:, ::-1][:, keep] / std[:, None]) / sizes[keep]
        rows = (np.sqrt(n * prior / (K - 1))[:, None] * between) @ scalings
        _, strength, turned = np.linalg.svd(rows, full_matrices=False)
        ratio = (strength**2 / max(float((strength**2).sum()), 1e-300))[:most]
        rank = int((strength > self.tol * strength[:1].max(initial=0.0)).sum())
        scalings = scalings @ turned.T[:, :rank]
        scores = between @ scalings
        coef = scores @ scalings.T
        intercept = -0.5 * (scores**2).sum(axis=1) + log_of(prior) - coef @ xbar
        return coef, intercept, xbar, scalings, ratio

    def _by_equations(self, spreads: Spreads, prior: Vector, covariance: Matrix, most: int) -> Any:
        coef = linalg.lstsq(covariance, spreads.means.T)[0].T
        intercept = -0.5 * (spreads.means * coef).sum(axis=1) + log_of(prior)
        return coef, intercept, None, None, None

    def _by_ratios(self, spreads: Spreads, prior: Vector, covariance: Matrix, most: int) -> Any:
        try:
            values, vectors = linalg.eigh(spreads.total - covariance, covariance)
        except np.linalg.LinAlgError as error:
            raise SingularCovarianceError(
                "The covariance within the classes is not full rank, so solver='eigen' cannot divide by it: "
                "give shrinkage, or take solver='svd'."
            ) from error
        order = np.argsort(values)[::-1]
        ratio = np.sort(values / values.sum())[::-1][:most]
        vectors = vectors[:, order]
        coef = (spreads.means @ vectors) @ vectors.T
        intercept = -0.5 * (spreads.means * coef).sum(axis=1) + log_of(prior)
        return coef, intercept, None, vectors, ratio

    def _compared(
        self, spreads: Spreads, prior: Vector, coef: Matrix, intercept: Vector, means: Matrix
    ) -> Certificate:
        """Solve again through a pseudo-inverse, of columns of deviation 1."""
        if spreads.rows <= len(prior):
            return _certificate(0.0, 0.0, 0.0)
        if self.solver == "svd":
            within, centre = spreads.within / spreads.rows, prior @ spreads.means
        else:
            within, centre = np.einsum("c,cij->ij", prior, spreads.covariances), np.zeros(means.shape[1])
        std = np.sqrt(np.maximum(np.diagonal(within), 0.0))
        std = np.where(std > 0, std, 1.0)
        scaled = within / np.multiply.outer(std, std)
        cut = self.tol**2 if self.solver == "svd" else 1e-13 * len(std)
        values, vectors = np.linalg.eigh(scaled)
        keep = values > cut * (1.0 if self.solver == "svd" else max(float(values[-1]), 1e-300))
        inverse = (vectors[:, keep] / values[keep]) @ vectors[:, keep].T
        wanted = ((spreads.means - centre) / std) @ inverse / std
        offset = -0.5 * ((spreads.means + centre) * wanted).sum(axis=1) + log_of(prior)
        if len(prior) == 2:
            with np.errstate(invalid="ignore"):
                wanted, offset = wanted[1:] - wanted[:1], offset[1:] - offset[:1]
        there = np.isfinite(offset)
        gaps = [
            _largest(coef - wanted) / max(_largest(wanted), 1e-300),
            _largest((coef - wanted) * std) / max(_largest(wanted * std), 1e-300),
            _largest(intercept[there] - offset[there]) / max(_largest(offset[there]), 1.0),
        ]
        condition = float(values[keep].max(initial=1.0) / values[keep].min(initial=1.0))
        rounding = min(condition * 1e-15, 0.1)  # by which two ways to solve may differ
        same = float(np.max(np.abs(means - spreads.means) / std, initial=0.0))
        return _certificate(max(max(gaps) - rounding, 0.0), same, 0.0)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Count moments again, one class after the other, and solve again through a pseudo-inverse."""
        spreads = self._recounted(source, engine)
        prior = self._prior(spreads.weight)
        found = self._compared(spreads, prior, self.coef_, self.intercept_, self.means_)
        shares = _largest(prior - self.priors_)
        return _certificate(
            found.parts["coefficients, relative"], found.parts["means, in deviations"], shares
        )

    def decision_function(self, X: Any, *, to: str | Path | None = None) -> NDArray[np.float64]:
        """Return the scores of the classes, of the second class alone where there are two."""
        names = ["score"] if len(self._class_names()) == 2 else self._class_names()
        return self._answer(self._scores, X, to, names, infinite=True)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        scores = X @ self.coef_.T + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[Any]:
        """Return the most probable class of each row, or write it ``to`` a file."""
        return self._answer(self._predict, X, to, ["prediction"])

    def _predict(self, X: Any) -> NDArray[Any]:
        scores = self._scores(X)
        codes = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[codes]

    def predict_proba(self, X: Any, *, to: str | Path | None = None) -> Matrix:
        """Return P(c | x) for each row and class, or write them ``to`` a file."""
        return self._answer(lambda rows: np.exp(self._log_proba(rows)), X, to, self._class_names())

    def predict_log_proba(self, X: Any, *, to: str | Path | None = None) -> Matrix:
        """Return log P(c | x) for each row and class, or write them ``to`` a file."""
        return self._answer(self._log_proba, X, to, self._class_names(), infinite=True)

    def _log_proba(self, X: Any) -> Matrix:
        scores = self._scores(X)
        if scores.ndim == 1:
            return -np.logaddexp(0.0, np.column_stack([scores, -scores]))
        best = scores.max(axis=1, keepdims=True)
        found: Matrix = scores - best
        return found - np.log(np.exp(found).sum(axis=1, keepdims=True))

    def transform(self, X: Any, *, to: str | Path | None = None) -> Matrix:
        """Return the rows along the directions that tell classes apart best."""
        if self.solver == "lsqr":
            raise UnsupportedError("transform not implemented for 'lsqr' solver (use 'svd' or 'eigen').")
        return self._answer(self._transformed, X, to)

    def _transformed(self, X: Any) -> Matrix:
        rows = X - self.xbar_ if self.solver == "svd" else X
        return np.asarray(rows @ self.scalings_[:, : self._max_components])


def _largest(change: Any) -> float:
    return float(np.max(np.abs(change), initial=0.0))


def _certificate(coefficients: float, means: float, shares: float) -> Certificate:
    parts = {
        "coefficients, relative": coefficients,
        "means, in deviations": means,
        "share of a class": shares,
    }
    value = float(np.max([coefficients, means, shares]))
    return Certificate("exact", "largest change of a coefficient, mean or share", value, 1e-7, parts)
