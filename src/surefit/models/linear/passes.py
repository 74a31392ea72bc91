"""Products with the rows of a source, one pass each: for solvers that never form a square matrix."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.core.config import threads
from surefit.data.batch import Batch
from surefit.data.source import ArraySource, MappedSource, Source
from surefit.engine.base import Engine
from surefit.engine.threads import Crew
from surefit.models.linear.rows import CentredRows
from surefit.stats.residuals import Residuals

Matrix = NDArray[np.float64]

BLOCK_BYTES = 2**21  # of X, which then serves both products from the cache
CHUNKS = 16  # whose sums are added in order, so that the bits do not depend on the number of threads
FAR = 100.0  # a mean so many deviations from zero would cancel in a product that is centred afterwards


class Passes:
    """The rows X of a source after taking out ``mean``, weighted by S, as products with few columns."""

    def __init__(self, source: Source, engine: Engine, mean: Matrix, deviation: Matrix) -> None:
        self._source = source
        self._engine = engine
        self._mean = mean
        self._far = bool((np.abs(mean) > FAR * deviation).any())
        self._batch = in_memory(source)

    def product(self, V: Matrix) -> Matrix:
        """X'SX V."""
        batch = self._batch
        if batch is None:
            return -self._engine.accumulate(partial(_product_of, V=V, centre=self._mean), self._source).cross
        if sparse.issparse(batch.X):
            rows = CentredRows(batch.X, batch.weight, self._mean)
            return rows.backward(rows.forward(V))
        return self._in_blocks(lambda rows, part, shift: part @ V - shift @ V, V.shape[1])[0]

    def residuals(self, coef: Matrix, mean_y: Matrix) -> tuple[Matrix, Matrix]:
        """X'Sr and the weighted residuals added up, for r = y - mean_y - Xw."""
        batch = self._batch
        if batch is None or sparse.issparse(batch.X):
            found = self._engine.accumulate(
                partial(Residuals.of, coef=coef, intercept=mean_y - self._mean @ coef, centre=self._mean),
                self._source,
            )
            return found.cross, found.sums
        Y = np.asarray(batch.y, dtype=np.float64).reshape(len(batch), -1)

        def residual(rows: slice, part: Any, shift: Matrix) -> Matrix:
            return (Y[rows] - mean_y) - (part @ coef - shift @ coef)

        return self._in_blocks(residual, coef.shape[1])

    def _in_blocks(
        self, values: Callable[[slice, Any, Matrix], Matrix], outputs: int
    ) -> tuple[Matrix, Matrix]:
        """Add up X'SU and the rows of SU over blocks that stay in the cache, where U = values(block)."""
        batch = self._batch
        assert batch is not None
        X: Any = batch.X
        step = max(1, BLOCK_BYTES // (8 * max(1, X.shape[1])))

        def chunk(rows: range) -> tuple[Matrix, Matrix]:
            cross, sums = np.zeros((X.shape[1], outputs)), np.zeros(outputs)
            for start in range(rows.start, rows.stop, step):
                some = slice(start, min(start + step, rows.stop))
                part, shift = X[some], self._mean
                if self._far:
                    part, shift = part - shift, np.zeros_like(shift)
                weighted = values(some, part, shift)
                if batch.weight is not None:
                    weighted = batch.weight[some, None] * weighted
                total = weighted.sum(axis=0)
                cross += part.T @ weighted - np.multiply.outer(shift, total)
                sums += total
            return cross, sums

        size = max(step, -(-len(batch) // CHUNKS))
        chunks = [range(start, min(start + size, len(batch))) for start in range(0, len(batch), size)]
        cross, sums = np.zeros((X.shape[1], outputs)), np.zeros(outputs)
        answers = map(chunk, chunks) if threads() == 1 else Crew(chunk, iter(chunks), threads())
        for some_cross, some_sums in answers:
            cross += some_cross
            sums += some_sums
        return cross, sums


def in_memory(source: Source) -> Batch | None:
    """The one batch of a source that lies in memory as it is; None for any other."""
    if isinstance(source, ArraySource):
        return source.batch
    if isinstance(source, MappedSource) and isinstance(source.origin, ArraySource):
        return next(iter(source))
    return None


def _product_of(batch: Batch, V: Matrix, centre: Matrix) -> Residuals:
    nothing = Batch(batch.X, np.zeros((len(batch), V.shape[1])), batch.weight, batch.start)
    return Residuals.of(nothing, coef=V, intercept=-centre @ V, centre=centre)
