"""Kernels of a full matrix between the columns: a Gaussian of the precision, and a bilinear form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError, ParameterError
from surefit.kernels.base import Kernel, NativeKernel
from surefit.kernels.rows import Columns, dense, dots, result_type, squared_distances, squared_norms


class AnisotropicRBF(Kernel):
    r"""The Gaussian of a distance that a full precision matrix P measures.

    .. math:: k(x, y) = \exp\left( -\tfrac12 (x - y)' P (x - y) \right)

    :meth:`from_covariance` takes its inverse. A diagonal one is :class:`RBF` with a length scale a column.

    >>> AnisotropicRBF([[1.0, 0.0], [0.0, 1.0]])([[1.0, 2.0]], [[3.0, 4.0]]).round(10)
    array([[0.01831564]])
    """

    name = "anisotropic_rbf"

    def __init__(self, precision: Columns) -> None:
        self.precision = precision
        self._check()

    def _check(self) -> None:
        super()._check()
        root_of("AnisotropicRBF", "precision", self.precision)

    @classmethod
    def from_covariance(cls, covariance: Any) -> Self:
        """Return the kernel whose precision is the inverse of a covariance matrix."""
        root_of("AnisotropicRBF", "covariance", covariance)
        values, axes = np.linalg.eigh(np.asarray(covariance, dtype=np.float64))
        if values[0] <= values[-1] * len(values) * np.finfo(np.float64).eps:
            raise ParameterError("AnisotropicRBF: the covariance is singular and has no inverse.")
        inverse = axes / values @ axes.T
        return cls((inverse + inverse.T) / 2)

    def _images(self, X: Any) -> Matrix:
        return image("AnisotropicRBF", X, root_of("AnisotropicRBF", "precision", self.precision))

    def _gram(self, X: Any, Y: Any) -> Matrix:
        K = squared_distances(self._images(X), None if Y is None else self._images(Y))
        return np.exp(-0.5 * K).astype(result_type(X, Y), copy=False)

    def _diagonal(self, X: Any) -> Vector:
        return np.ones(X.shape[0], dtype=X.dtype)

    def is_stationary(self) -> bool:
        """Whether it depends on x - y alone: it does."""
        return True

    def native(self) -> NativeKernel:
        """Return what compiled code needs."""
        root = root_of("AnisotropicRBF", "precision", self.precision)
        return NativeKernel("rbf", gamma=0.5, scale=root)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls([[2.0, 0.5, 0.0], [0.5, 1.0, -0.3], [0.0, -0.3, 0.5]])


class Bilinear(Kernel):
    r"""An inner product that a symmetric positive semi-definite matrix measures.

    .. math:: k(x, y) = x' A y

    >>> Bilinear([[2.0, 0.0], [0.0, 1.0]])([[1.0, 2.0]], [[3.0, 4.0]]).round(10)
    array([[14.]])
    """

    name = "bilinear"

    def __init__(self, matrix: Columns) -> None:
        self.matrix = matrix
        self._check()

    def _check(self) -> None:
        super()._check()
        root_of("Bilinear", "matrix", self.matrix)

    def _images(self, X: Any) -> Matrix:
        return image("Bilinear", X, root_of("Bilinear", "matrix", self.matrix))

    def _gram(self, X: Any, Y: Any) -> Matrix:
        K = dots(self._images(X), None if Y is None else self._images(Y))
        return K.astype(result_type(X, Y), copy=False)

    def _diagonal(self, X: Any) -> Vector:
        return squared_norms(self._images(X)).astype(X.dtype, copy=False)

    def native(self) -> NativeKernel:
        """Return what compiled code needs."""
        return NativeKernel("linear", scale=root_of("Bilinear", "matrix", self.matrix))

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls([[2.0, 0.5, 0.0], [0.5, 1.0, -0.3], [0.0, -0.3, 0.5]])


def root_of(owner: str, name: str, given: Any) -> Matrix:
    """Return R with R R' the matrix, which must be symmetric and positive semi-definite."""
    try:
        matrix = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{owner}: {name} must be a matrix of numbers.") from None
    square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] and matrix.size > 0
    if not square or not np.isfinite(matrix).all():
        raise ParameterError(f"{owner}: {name} must be a square matrix of finite numbers.")
    largest = np.abs(matrix).max()
    if np.abs(matrix - matrix.T).max() > 1e-10 * largest:
        raise ParameterError(f"{owner}: {name} must be symmetric.")
    values, axes = np.linalg.eigh(matrix)
    if values[0] < -1e-10 * largest:
        raise ParameterError(
            f"{owner}: {name} must be positive semi-definite, and it has the eigenvalue {values[0]:g}."
        )
    return np.asarray(axes * np.sqrt(np.maximum(values, 0.0)))


def image(owner: str, X: Any, root: Matrix) -> Matrix:
    """Return the rows times the root."""
    if X.shape[1] != len(root):
        raise DataError(f"{owner}: X has {X.shape[1]} columns, and the matrix {len(root)}.")
    return dense(X) @ root
