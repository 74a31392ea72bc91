"""Products with the rows of a source, one pass each: for solvers that never form a square matrix."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.core.native.round_trip import round_trip
from surefit.data.batch import Batch
from surefit.data.source import Source, in_memory
from surefit.engine.base import Engine
from surefit.models.linear.rows import CentredRows
from surefit.stats.residuals import Residuals

Matrix = NDArray[np.float64]


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
