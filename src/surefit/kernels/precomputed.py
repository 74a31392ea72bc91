"""Kernel values that somebody else has computed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError
from surefit.kernels.base import Kernel
from surefit.kernels.rows import as_rows


class Precomputed(Kernel):
    """Values as they are: X is k(X, X) for a fit, and k(new rows, training rows) for a prediction.

    mercer: whether you vouch that they are those of a positive semi-definite kernel.

    >>> Precomputed()([[2.0, 1.0], [1.0, 2.0]])
    array([[2., 1.],
           [1., 2.]])
    """

    name = "precomputed"
    takes = "gram"

    def __init__(self, *, mercer: bool = False) -> None:
        self.mercer = mercer
        self._check()

    def _inputs(self, X: Any) -> Any:
        return as_rows(X, "Precomputed")

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        """Return X itself; without Y it must be square."""
        K = self._inputs(X)
        K = np.asarray(K.toarray() if hasattr(K, "toarray") else K)
        if Y is None and K.shape[0] != K.shape[1]:
            raise DataError(
                f"Precomputed takes the kernel of all pairs of rows, a square matrix, and X is {K.shape[0]} "
                f"by {K.shape[1]}."
            )
        return (K, np.empty((*K.shape, 0))) if eval_gradient else K

    def _gram(self, X: Any, Y: Any) -> Matrix:
        found: Matrix = self(X, Y)
        return found

    def _diagonal(self, X: Any) -> Vector:
        return np.array(np.diagonal(self(X)))

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls()
        yield cls(mercer=True)

    def examples(self, rng: np.random.Generator, n: int) -> Any:
        """Make the Gram matrix of n rows."""
        rows = rng.normal(size=(n, 2))
        return rows @ rows.T
