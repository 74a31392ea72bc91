"""Rows of least squares, centred and weighted by the roots of their weights.

As an operator that never fills a sparse matrix, as few dense rows as they stand in a dual problem, and as
products with the rows of a source, one pass each, for solvers that never form a square matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.linear.round_trip import round_trip
from surefit.data.batches.batch import Batch
from surefit.data.source import Source, in_memory
from surefit.engine.base import Engine
from surefit.stats.residuals import Residuals


class CentredRows:
    """The rows of a matrix, weighted and centred, as an operator that never fills a sparse one.

    Of :math:`A = S^{1/2} (X - 1m')`: ``forward`` multiplies by A, ``backward`` by A'.
    """

    def __init__(self, X: Any, weight: NDArray[np.float64] | None, mean: NDArray[np.float64]) -> None:
        self._X = X
        self._root = None if weight is None else np.sqrt(weight)[:, None]
        self._mean = mean

    def forward(self, V: NDArray[np.float64]) -> NDArray[np.float64]:
        """A V."""
        product = np.asarray(self._X @ V) - self._mean @ V
        return product if self._root is None else self._root * product

    def backward(self, U: NDArray[np.float64]) -> NDArray[np.float64]:
        """A' U."""
        weighted = U if self._root is None else self._root * U
        return np.asarray(self._X.T @ weighted) - np.outer(self._mean, weighted.sum(axis=0))

    def weighted(self, Y: NDArray[np.float64]) -> NDArray[np.float64]:
        """S^(1/2) Y."""
        return Y if self._root is None else self._root * Y

    def dense(self) -> NDArray[np.float64]:
        """A itself, for a matrix that is small enough."""
        X = self._X.toarray() if sparse.issparse(self._X) else np.asarray(self._X, dtype=np.float64)
        return self.weighted(X - self._mean)

    def column_squares(self) -> NDArray[np.float64]:
        """The squared length of each column of A."""
        weight = np.ones(self._X.shape[0]) if self._root is None else self._root[:, 0] ** 2
        squares = self._X.multiply(self._X) if sparse.issparse(self._X) else (self._X - self._mean) ** 2
        found = np.asarray(weight @ squares).ravel()
        return found - weight.sum() * self._mean**2 if sparse.issparse(self._X) else found


@dataclass(frozen=True, slots=True)
class DenseRows:
    """A = S^(1/2) (X - 1 mean_x') and B = S^(1/2) (Y - 1 mean_y'); without an intercept the means are 0."""

    A: Matrix
    B: Matrix
    mean_x: Vector
    mean_y: Vector
    weight: Vector
    target: Matrix

    @classmethod
    def of(cls, batch: Batch, fit_intercept: bool) -> DenseRows:
        """Centre and weight the rows of a batch."""
        X: Any = batch.X
        Y = np.asarray(batch.y, dtype=np.float64).reshape(len(batch), -1)
        weight = np.ones(len(batch)) if batch.weight is None else batch.weight
        if fit_intercept:
            share = weight / weight.sum()
            mean_x, mean_y = np.asarray(share @ X, dtype=np.float64).ravel(), share @ Y
        else:
            mean_x, mean_y = np.zeros(X.shape[1]), np.zeros(Y.shape[1])
        rows = CentredRows(X, batch.weight, mean_x)
        return cls(rows.dense(), rows.weighted(Y - mean_y), mean_x, mean_y, weight, Y)


class Passes:
    """The rows X of a source after taking out ``mean``, weighted by S, as products with few columns."""

    def __init__(self, source: Source, engine: Engine, mean: Matrix) -> None:
        self._source = source
        self._engine = engine
        self._mean = mean
        self._batch = in_memory(source)

    def product(self, V: Matrix) -> Matrix:
        """X'SX V."""
        batch = self._batch
        if batch is None:
            return -self._engine.accumulate(partial(_product_of, V=V, centre=self._mean), self._source).cross
        if sparse.issparse(batch.X):
            rows = CentredRows(batch.X, batch.weight, self._mean)
            return rows.backward(rows.forward(V))
        return -round_trip(batch.X, V, None, batch.weight, self._mean).cross

    def residuals(self, coef: Matrix, mean_y: Matrix) -> tuple[Matrix, Matrix]:
        """X'Sr and the weighted residuals added up, for r = y - mean_y - Xw."""
        batch = self._batch
        if batch is None or sparse.issparse(batch.X):
            intercept = mean_y - self._mean @ coef
            of = partial(Residuals.of, coef=coef, intercept=intercept, centre=self._mean)
            found = self._engine.accumulate(of, self._source)
            return found.cross, found.sums
        Y = np.asarray(batch.y, dtype=np.float64).reshape(len(batch), -1) - mean_y
        trip = round_trip(batch.X, coef, Y, batch.weight, self._mean)
        return trip.cross, trip.sums


def _product_of(batch: Batch, V: Matrix, centre: Matrix) -> Residuals:
    nothing = Batch(batch.X, np.zeros((len(batch), V.shape[1])), batch.weight, batch.start)
    return Residuals.of(nothing, coef=V, intercept=-centre @ V, centre=centre)
