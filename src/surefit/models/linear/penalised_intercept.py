"""An intercept that is penalised as any coefficient: that of a column of one number, as liblinear has it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefit.data.batch import Batch
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
            from scipy import sparse

            return replace(batch, X=sparse.hstack([X, sparse.csr_array(last)], format="csr"))
        return replace(batch, X=np.hstack([X, last]))


def with_constant_column(source: Source, number: float) -> Source:
    """Return the source with such a column; its coefficient times the number is the intercept."""
    schema = replace(source.schema, width=source.schema.width + 1)
    if isinstance(source, ArraySource):
        return ArraySource(schema, ConstantColumn(number)(source.batch))
    return MappedSource(source, schema, ConstantColumn(number))
