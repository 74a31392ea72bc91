"""Kernels of histograms, by the chi-squared distance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError
from surefit.core.parameters import Positive
from surefit.kernels.base import CASE_COLUMNS, WIDE, Bounds, Kernel
from surefit.kernels.rows import dense, result_type

CELLS = 2**20  # of differences that are held at once


class AdditiveChiSquared(Kernel):
    r"""Minus the chi-squared distance of two histograms; not positive, but its exponential is.

    .. math:: k(x, y) = -\sum_j (x_j - y_j)^2 / (x_j + y_j)

    A bin that is empty in both adds nothing.

    >>> AdditiveChiSquared()([[1.0, 3.0]], [[3.0, 1.0]])
    array([[-2.]])
    """

    name = "additive_chi_squared"
    mercer = False

    def __init__(self) -> None:
        self._check()

    def _gram(self, X: Any, Y: Any) -> Matrix:
        return (-chi_squared_distances(X, Y)).astype(result_type(X, Y), copy=False)

    def _diagonal(self, X: Any) -> Vector:
        _counts(X)
        return np.zeros(X.shape[0], dtype=X.dtype)

    def examples(self, rng: np.random.Generator, n: int) -> Any:
        """Make n histograms."""
        return rng.uniform(size=(n, CASE_COLUMNS))


class ChiSquared(Kernel):
    r"""The exponential of the chi-squared distance of two histograms.

    .. math:: k(x, y) = \exp\left( -\gamma \sum_j (x_j - y_j)^2 / (x_j + y_j) \right)

    >>> ChiSquared()([[1.0, 3.0]], [[3.0, 1.0]]).round(8)
    array([[0.13533528]])
    """

    name = "chi_squared"
    free = ("gamma",)

    def __init__(self, gamma: Positive = 1.0, *, gamma_bounds: Bounds = WIDE) -> None:
        self.gamma = gamma
        self.gamma_bounds = gamma_bounds
        self._check()

    @classmethod
    def named(cls, parameters: Mapping[str, Any], columns: int | None) -> Self:
        """Make it out of scikit-learn's gamma."""
        return cls(**parameters)

    def _gram(self, X: Any, Y: Any) -> Matrix:
        K = np.exp(-self.gamma * chi_squared_distances(X, Y))
        return K.astype(result_type(X, Y), copy=False)

    def _diagonal(self, X: Any) -> Vector:
        _counts(X)
        return np.ones(X.shape[0], dtype=X.dtype)

    def _slope(self, name: str, X: Any, K: Matrix) -> Matrix:
        return -self.gamma * chi_squared_distances(X, None) * K

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls()
        yield cls(0.4)

    def examples(self, rng: np.random.Generator, n: int) -> Any:
        """Make n histograms."""
        return rng.uniform(size=(n, CASE_COLUMNS))


def chi_squared_distances(X: Any, Y: Any) -> Matrix:
    """Return the sums of (x - y)^2 / (x + y) over columns, block by block."""
    left = _counts(X)
    right = left if Y is None else _counts(Y)
    found = np.zeros((len(left), len(right)))
    step = max(1, CELLS // max(1, right.size))
    for start in range(0, len(left), step):
        block = left[start : start + step, None, :]
        squares, sums = (block - right) ** 2, block + right
        np.divide(squares, sums, out=squares, where=sums > 0)
        found[start : start + step] = squares.sum(axis=2)
    return found


def _counts(X: Any) -> Matrix:
    found = dense(X)
    if found.size and found.min() < 0:
        raise DataError(
            "chi-squared kernels compare histograms, whose entries are at least 0, and X contains negative "
            f"values, the least of them {found.min():g}: count, or choose another kernel."
        )
    return found
