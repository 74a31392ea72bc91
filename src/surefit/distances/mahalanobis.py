"""The Euclidean distance after columns are made uncorrelated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix
from surefit.core.errors import ParameterError
from surefit.core.native.neighbours.norms import Norm
from surefit.distances.base import Distance, Native


class Mahalanobis(Distance):
    r"""The distance in units of the covariance: :math:`d(x, y)^2 = (x - y)' V^{-1} (x - y)`.

    V: the covariance, or VI: its inverse, or any positive semi-definite matrix, such as a learnt metric.
    Without either, the covariance of the rows that are searched; directions without spread are left out.

    >>> Mahalanobis(V=[[1.0, 0.0], [0.0, 4.0]])([[0.0, 0.0]], [[3.0, 8.0]])
    array([[5.]])
    """

    name = "mahalanobis"

    def __init__(
        self, V: NDArray[Any] | list[Any] | None = None, VI: NDArray[Any] | list[Any] | None = None
    ) -> None:
        self.V = V
        self.VI = VI
        self._check()
        if V is not None and VI is not None:
            raise ParameterError("Mahalanobis: give V or VI, not both.")

    def fitted(self, X: Any) -> Self:
        """Take the covariance of the rows, where no matrix was given."""
        if self.V is not None or self.VI is not None:
            return self
        rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        width = rows.shape[1]
        return type(self)(np.cov(rows.T).reshape(width, width) if len(rows) > 1 else np.eye(width))

    def root(self) -> Matrix:
        """Return L with L L' = V^-1: the distance is the Euclidean one of X L."""
        matrix = np.atleast_2d(np.asarray(self.V if self.VI is None else self.VI, dtype=np.float64))
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
            raise ParameterError("Mahalanobis: the matrix must be square and finite.")
        values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
        # What is below this is the rounding of a 0.
        least = len(values) * np.finfo(float).eps * max(float(np.abs(values).max()), 0.0)
        if (values < -1e3 * least).any():
            raise ParameterError(
                "Mahalanobis: the matrix must be positive semi-definite; it has an eigenvalue below 0."
            )
        there = values > least
        if self.VI is None and not there.any():
            return np.eye(len(values))
        kept = values[there] if self.VI is not None else 1 / values[there]
        found: Matrix = vectors[:, there] * np.sqrt(kept)
        return found

    def native(self) -> Native:
        """Return the Euclidean norm of the rows times the root."""
        root = self.root()

        def rows(X: Matrix) -> Matrix:
            # One row at a time would round otherwise than many at once.
            return np.ascontiguousarray(np.einsum("ij,jk->ik", X, root, optimize=False))

        return Native(Norm(), rows)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls()
        root = rng.normal(size=(3, 3))
        yield cls(VI=root @ root.T)
