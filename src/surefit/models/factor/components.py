"""What every model with principal axes shares: rows to codes and back, and the normal law behind them."""

from __future__ import annotations

from collections.abc import Iterator
from math import log, pi
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from surefit.core.arrays import Matrix, Vector
from surefit.core.blas_threads import one_blas_thread
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError
from surefit.data.checks.cells import check_weights
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.factor.optimality import recomputed
from surefit.models.transformer import Invertible

_BLOCK = 2**18  # cells; a block stays in the cache between being centred and being projected


class PrincipalComponents(ClassNamePrefixFeaturesOutMixin, Invertible, abstract=True):
    r"""Scores :math:`z = V(x - m)` and reconstructions :math:`\hat x = m + V'z` for orthonormal axes V."""

    accepts = Accepts()

    whiten: bool
    components_: Matrix
    explained_variance_: Vector
    explained_variance_ratio_: Vector
    singular_values_: Vector
    mean_: Vector
    n_components_: int
    noise_variance_: float
    reconstruction_error_: float

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _samples(self) -> Any:
        """How many rows, or how much weight, the model was fitted to."""
        return self.n_samples_

    def _transform(self, X: Any) -> Any:
        axes = self.components_.T
        if sparse.issparse(X):
            codes = np.asarray(X @ axes) - self.mean_ @ axes
        elif X.size <= _BLOCK:
            codes = (X - self.mean_) @ axes
        else:
            codes = np.empty((len(X), axes.shape[1]))
            for rows in _blocks(X.shape):
                np.matmul(X[rows] - self.mean_, axes, out=codes[rows])
        if self.whiten:
            # A code that never varied says nothing, and becomes 0 instead of magnified rounding.
            codes *= _inverse(np.sqrt(self.explained_variance_))
        return codes.astype(X.dtype, copy=False)

    def _inverse_transform(self, X: Any) -> Any:
        codes = X * np.sqrt(self.explained_variance_) if self.whiten else X
        return (np.asarray(codes @ self.components_) + self.mean_).astype(X.dtype, copy=False)

    def _check_transformed(self, X: Any) -> Any:
        codes = check_array(X, dtype=(np.float64, np.float32))
        if codes.shape[1] != len(self.components_):
            raise DataError(
                f"inverse_transform takes rows of {len(self.components_)} components, as transform returns "
                f"them, not {codes.shape[1]}."
            )
        return codes

    def reconstruction_error(self, X: Any, sample_weight: Any = None) -> float:
        r"""Return the mean squared distance of rows to their reconstruction, :math:`\|x - \hat x\|^2`."""
        squares = self._answer(self._squared_distances, X)
        return float(np.average(squares, weights=check_weights(sample_weight, len(squares))))

    def _squared_distances(self, X: Any) -> Vector:
        found = np.empty(X.shape[0])
        for rows in _blocks(X.shape):
            centred = (X[rows].toarray() if sparse.issparse(X) else X[rows]) - self.mean_
            centred -= (centred @ self.components_.T) @ self.components_
            found[rows] = (centred * centred).sum(axis=1)
        return found

    def _law(self) -> tuple[Vector, float]:
        """The variances of the probabilistic model: along each axis, never below the noise, and elsewhere."""
        check_is_fitted(self)
        noise = self.noise_variance_ if len(self.components_) < self.components_.shape[1] else 0.0
        return np.maximum(self.explained_variance_, noise), noise

    def get_covariance(self) -> Matrix:
        r"""Return the model's covariance, :math:`V'(\Lambda - \sigma^2 I)V + \sigma^2 I`."""
        return self._spread_out(*self._law())

    def get_precision(self) -> Matrix:
        """Return the inverse of ``get_covariance()``, over the directions in which rows vary."""
        along, noise = self._law()
        return self._spread_out(_inverse(along), 1 / noise if noise > 0 else 0.0)

    def _spread_out(self, along: Vector, elsewhere: float) -> Matrix:
        matrix: Matrix = (self.components_.T * (along - elsewhere)) @ self.components_
        matrix[np.diag_indices_from(matrix)] += elsewhere
        return matrix

    def score_samples(self, X: Any) -> Vector:
        """Return the log-likelihood of each row under the probabilistic model.

        Where rows did not vary in some direction, it is the density over the others, and 0 for rows outside.
        """
        found: Vector = self._answer(self._log_likelihood, X, infinite=True)
        return found

    def _log_likelihood(self, X: Any) -> Vector:
        along, noise = self._law()
        axes, along = self.components_[along > 0], along[along > 0]
        p = self.components_.shape[1]
        rest = p - len(along) if noise > 0 else 0
        constant = np.log(2 * pi * along).sum() + (rest * log(2 * pi * noise) if rest else 0.0)
        found = np.empty(X.shape[0])
        for rows in _blocks(X.shape):
            part: Any = X[rows].toarray() if sparse.issparse(X) else X[rows]
            centred = part - self.mean_
            codes = centred @ axes.T
            centred -= codes @ axes
            off = (centred * centred).sum(axis=1)
            found[rows] = (codes * codes / along).sum(axis=1)
            if rest:
                found[rows] += off / noise
            elif len(along) < p:
                near = np.finfo(part.dtype).eps * ((part * part).sum(axis=1) + self.mean_ @ self.mean_)
                found[rows][off > near] = np.inf
        return -0.5 * (found + constant)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-likelihood of the rows."""
        return float(self.score_samples(X).mean())

    def _why_nothing_kept(self) -> str:
        return (
            "it was fitted from its rows, as it is for fewer rows than columns, for more than 5000 columns, "
            "and for svd_solver='full', 'arpack' and 'randomized'"
        )

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        with one_blas_thread():  # many small products, between which the threads of BLAS would only spin
            return recomputed(self, self._samples(), source, engine)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _inverse(values: Vector) -> Vector:
    """One over each value; 0 for 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def _blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    rows = max(1, _BLOCK // max(1, shape[1]))
    return (slice(start, start + rows) for start in range(0, shape[0], rows))
