"""All rows of a source in memory, for solvers that cannot do with less."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.core.errors import RefusalError
from surefit.data.batch import Batch
from surefit.data.source import Source

MOST_BYTES = 2**32  # of cells that are gathered from a source


def gathered(source: Source) -> Batch:
    """Join the batches of a source; a single one is taken as it is, and what is too large is refused."""
    batches: list[Batch] = []
    size = rows = 0
    for batch in source:
        batches.append(batch)
        size, rows = size + _bytes(batch.X), rows + len(batch)
        # Where the rows are counted beforehand, the first batch tells how much all of them take.
        if len(batches) > 1 or len(batch) < (source.schema.rows or 0):
            _refuse_large(max(size, size * (source.schema.rows or 0) // max(rows, 1)))
    if len(batches) == 1:
        return batches[0]
    blocks: list[Any] = [batch.X for batch in batches]
    X = sparse.vstack(blocks, format="csr") if sparse.issparse(blocks[0]) else np.concatenate(blocks)
    weights = [np.ones(len(batch)) if batch.weight is None else batch.weight for batch in batches]
    plain = all(batch.weight is None for batch in batches)
    offsets = [batch.offset for batch in batches if batch.offset is not None]
    return Batch(
        X,
        np.concatenate([np.asarray(b.y) for b in batches]),
        None if plain else np.concatenate(weights),
        offset=np.concatenate(offsets) if offsets else None,
    )


def _bytes(X: Any) -> int:
    return int(X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes)


def _refuse_large(size: int) -> None:
    if size > MOST_BYTES:
        raise RefusalError(
            f"this model needs all rows in memory at once, which takes {size / 2**30:.3g} GiB here, more "
            f"than {MOST_BYTES / 2**30:.3g}: give fewer rows or columns, or use a model that reads in "
            "batches, such as LogisticRegression, HuberRegressor, LinearSVC with the squared hinge, or "
            "SGDClassifier."
        )


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
