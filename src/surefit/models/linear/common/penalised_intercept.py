"""An intercept that is penalised as any coefficient: that of a column of one number, as liblinear has it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefit.data.batches.batch import Batch
from surefit.data.source import ArraySource, MappedSource, Source


@dataclass(frozen=True, slots=True)
class ConstantColumn:
    """Add a last column of one number to a batch."""

    number: float

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with it."""
        X: Any = batch.X
        last = np.full((len(batch), 1), self.number, dtype=X.dtype)
        if hasattr(X, "tocsr"):
            return replace(batch, X=_beside(X, self.number))
        return replace(batch, X=np.hstack([X, last]))


def with_constant_column(source: Source, number: float) -> Source:
    """Return the source with such a column; its coefficient times the number is the intercept."""
    schema = replace(source.schema, width=source.schema.width + 1)
    if isinstance(source, ArraySource):
        return ArraySource(schema, ConstantColumn(number)(source.batch))
    return MappedSource(source, schema, ConstantColumn(number))


def _beside(X: Any, number: float) -> Any:
    """Return a CSR matrix with a last column of one number: each row is moved by the rows before it."""
    rows, columns = X.shape
    ends = X.indptr[1:] + np.arange(rows, dtype=X.indptr.dtype)
    data, indices = np.empty(X.nnz + rows, X.dtype), np.empty(X.nnz + rows, X.indices.dtype)
    kept = np.ones(X.nnz + rows, dtype=bool)
    kept[ends] = False
    data[kept], data[ends] = X.data[: X.nnz], number
    indices[kept], indices[ends] = X.indices[: X.nnz], columns
    indptr = np.concatenate([X.indptr[:1], ends + 1])
    return type(X)((data, indices, indptr), shape=(rows, columns + 1))
