"""Features whose inner products are the kernel's, but for what a few centres do not reach."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.arrays import Matrix
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, ParameterError
from surefit.core.parameters import Count, RandomState, Strength
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts, admit_rows, is_streamed
from surefit.data.source import Source, in_memory
from surefit.engine.base import Engine
from surefit.kernels import Kernel
from surefit.models.base import Learned
from surefit.models.kernel.base import (
    KernelModel,
    KernelName,
    KernelParameters,
    by_bands,
    check_rows,
    finite_gram,
    kept_rows,
    objects_again,
    seed_in_use,
)
from surefit.models.kernel.centres import Centres, chosen_centres, drawn_rows
from surefit.models.transformer import MapRows, mapped

TOLERANCE = 1e-8


@dataclass(frozen=True, slots=True)
class NystroemParameters:
    """Centres, what their kernel values are multiplied with, their places, the mean error of k(x, x), the
    range of the centres' kernel, and the weight of all rows.
    """

    components: Any
    normalization: Matrix
    component_indices: NDArray[np.int64]
    error: float
    range: Matrix
    weight: float


@dataclass(frozen=True, slots=True)
class DiagonalError:
    """The weight of rows, and the sums of |k(x, x)| and of what features leave of it."""

    rows: int
    weight: float
    total: float
    left: float

    @property
    def mean(self) -> float:
        """The mean error, with the weights of rows."""
        return self.left / self.weight

    @property
    def scale(self) -> float:
        """The mean of |k(x, x)|."""
        return max(self.total / self.weight, float(np.finfo(np.float64).tiny))


def diagonal_error(
    source: Source, engine: Engine, kernel: Kernel, features: Callable[[Any], Matrix]
) -> DiagonalError:
    """Compare each row with itself, by the kernel and by features, in one pass."""
    found = list(engine.map(partial(_diagonal_sums, kernel, features), source))
    rows, weight, total, left = (sum(each[j] for each in found) for j in range(4))
    if not weight > 0:
        raise DataError(
            "every sample_weight is zero, so no row counts: give at least one row a positive weight."
        )
    return DiagonalError(int(rows), weight, total, left)


def _diagonal_sums(kernel: Kernel, features: Callable[[Any], Matrix], batch: Batch) -> tuple[float, ...]:
    weight = np.ones(len(batch)) if batch.weight is None else batch.weight
    own = np.asarray(kernel.diagonal(batch.X), dtype=np.float64)
    made: Matrix = by_bands(lambda rows: (features(rows) ** 2).sum(axis=1), batch.X, 1000)
    left = np.abs(own - made)
    return len(batch), float(weight.sum()), float(weight @ np.abs(own)), float(weight @ left)


class FeatureRows(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelModel, abstract=True):
    """A transformer that makes features of rows, in memory or as they stream by."""

    _features: Any

    def transform(self, X: Any) -> Any:
        """Return the features of rows; of a source, another source."""
        check_is_fitted(self)
        if not self._accepted().objects and is_streamed(X):
            names = [str(name) for name in self.get_feature_names_out()]
            return mapped(admit_rows(self, self._accepted(), X), names, MapRows(self._features))
        return self._answer(self._features, X)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, then map the same rows."""
        return self.fit(X, y, **fit_params).transform(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class Nystroem(FeatureRows):
    r"""Features :math:`\phi(x) = K_{CC}^{-1/2} k(C, x)` of centres C, nearly k(x, y) in inner products.

    n_components: how many centres. centres: "uniform" draws rows, "leverage" those that others do not stand
    for are likelier, "kmeans" takes the means of clusters, "pivoted" takes one after the other where the
    error is largest, and draws nothing. A row is never represented as longer than it is; ``error_`` is the
    mean of :math:`k(x, x) - |\phi(x)|^2`. Rows past memory take two passes, and centres of 20000 of them.
    n_jobs: without effect.

    >>> from surefit import Nystroem
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> model = Nystroem(gamma=0.5, n_components=4, centres="pivoted").fit(X)
    >>> Z = model.transform(X)
    >>> (Z @ Z.T).round(4)[0]
    array([1.    , 0.6065, 0.1353, 0.0111])
    """

    accepts = Accepts(target="none")
    learns = NystroemParameters

    components_: Any
    normalization_: Matrix
    component_indices_: NDArray[np.int64]
    error_: float
    range_: Matrix
    weight_: float

    def __init__(
        self,
        kernel: KernelName = "rbf",
        *,
        gamma: Strength | None = None,
        coef0: float | None = None,
        degree: Strength | None = None,
        kernel_params: KernelParameters = None,
        n_components: Count = 100,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        centres: Centres = "uniform",
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.centres = centres

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        named = isinstance(self.kernel, str) and self.kernel != "precomputed"
        if not named and any(value is not None for value in (self.gamma, self.coef0, self.degree)):
            raise ParameterError(
                "Don't pass gamma, coef0 or degree to Nystroem if using a callable or precomputed kernel."
            )
        seed, kernel = seed_in_use(self.random_state), self._fitted_kernel()
        X, weight, places = drawn_rows(source, engine, seed)
        if kernel.takes == "gram":
            rows = np.arange(len(weight))
            chosen, found = chosen_centres("uniform", kernel, rows, weight, self.n_components, seed)
            K, centres = np.asarray(kernel(X), dtype=np.float64)[np.ix_(chosen, chosen)], chosen
        else:
            chosen, found = chosen_centres(self.centres, kernel, X, weight, self.n_components, seed)
            K, centres = np.asarray(kernel(chosen), dtype=np.float64), kept_rows(chosen)
        normal, basis = inverse_root(K)
        indices = np.where(found >= 0, places[np.maximum(found, 0)], -1)
        error = self._error(source, engine, kernel, centres, normal)
        parameters = NystroemParameters(
            centres, normal, indices.astype(np.int64), error.mean, basis, error.weight
        )
        self._schema = source.schema
        return Learned(parameters, self._proof(K, normal, basis, error, error), {"rows": error.rows})

    def _error(
        self, source: Source, engine: Engine, kernel: Kernel, centres: Any, normal: Matrix
    ) -> DiagonalError:
        if kernel.takes == "gram":
            batch = in_memory(source)
            assert batch is not None
            whole = np.asarray(batch.X, dtype=np.float64)
            weight = np.ones(len(whole)) if batch.weight is None else batch.weight
            own, rows = np.diagonal(whole), whole[:, centres] @ normal.T
            left = np.abs(own - (rows**2).sum(axis=1))
            return DiagonalError(
                len(whole), float(weight.sum()), float(weight @ np.abs(own)), float(weight @ left)
            )
        features = partial(features_of, kernel, centres, normal)
        return diagonal_error(source, engine, kernel, features)

    def _proof(
        self, K: Matrix, normal: Matrix, basis: Matrix, stated: Any, error: DiagonalError
    ) -> Certificate:
        """N K N is the projection on the range of K, and the error is what the fit said."""
        left = float(np.abs(normal @ K @ normal - basis @ basis.T).max(initial=0.0))
        size = max(1.0, float(np.abs(normal).max(initial=0.0)) ** 2 * float(np.abs(K).max(initial=0.0)))
        parts = {
            "normalisation": left / size,
            "mean error of k(x, x)": abs(stated.mean - error.mean) / error.scale,
            "weight of the rows": abs(stated.weight / error.weight - 1),
            "orthonormality": float(np.abs(basis.T @ basis - np.eye(basis.shape[1])).max(initial=0.0)),
        }
        measure = "defect of the inverse root of the centres' kernel, and change of the mean error"
        return Certificate("measured", measure, max(parts.values()), TOLERANCE, parts)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        kernel = self._fitted_kernel()
        check_rows(self, self.normalization_, self.components_)
        if kernel.takes == "gram":
            batch = in_memory(source)
            assert batch is not None
            K = np.asarray(batch.X, dtype=np.float64)[np.ix_(self.components_, self.components_)]
        else:
            K = np.asarray(kernel(objects_again(self.components_)), dtype=np.float64)
        error = self._error(source, engine, kernel, self.components_, self.normalization_)
        stated = DiagonalError(error.rows, self.weight_, 0.0, self.error_ * self.weight_)
        return self._proof(K, self.normalization_, self.range_, stated, error)

    @property
    def _n_features_out(self) -> int:
        return len(self.normalization_)

    def _features(self, X: Any) -> Matrix:
        kernel = self._fitted_kernel()
        if kernel.takes == "gram":
            if X.shape[1] <= self.components_.max(initial=-1):
                raise DataError("X has fewer columns than the fit had rows: give k(new rows, training rows).")
            return np.asarray(np.asarray(X)[:, self.components_] @ self.normalization_.T)
        found: Matrix = by_bands(
            partial(features_of, kernel, self.components_, self.normalization_), X, len(self.normalization_)
        )
        narrow = not sparse.issparse(X) and getattr(X, "dtype", None) == np.float32
        return found.astype(np.float32) if narrow else found


def features_of(kernel: Kernel, centres: Any, normal: Matrix, X: Any) -> Matrix:
    """Return the features of rows by centres and the inverse root of their kernel."""
    return np.asarray(np.asarray(kernel(X, objects_again(centres)), dtype=np.float64) @ normal.T)


def inverse_root(K: Matrix) -> tuple[Matrix, Matrix]:
    """Return K^(-1/2), and a basis of the range of K, that is of what is more than rounding."""
    values, vectors = linalg.eigh(finite_gram((K + K.T) / 2))
    largest = float(values.max(initial=0.0))
    kept = values > max(1e-12 * largest, len(K) * np.finfo(np.float64).eps * largest)
    V = vectors[:, kept]
    normal = (V / np.sqrt(values[kept])) @ V.T
    return (normal + normal.T) / 2, np.ascontiguousarray(V)
