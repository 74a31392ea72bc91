"""All rows of a source in memory, with their weights, for models that go back and forth over them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.arrays import Vector
from surefit.core.errors import DataError, RefusalError
from surefit.data.source import Source

MOST_BYTES = 2**32


def rows_of_source(source: Source, who: str) -> tuple[Any, Vector]:
    """Join the batches; rows without weight are left out, and what is too large is refused."""
    blocks: list[Any] = []
    weights, size = [], 0
    for batch in source:
        X: Any = batch.X
        size += int(X.data.nbytes if sparse.issparse(X) else X.nbytes)
        if size > MOST_BYTES:
            raise RefusalError(
                f"{who} needs all rows in memory; these take more than {MOST_BYTES / 2**30:.3g} GiB: give "
                "fewer rows."
            )
        s = np.ones(X.shape[0]) if batch.weight is None else np.asarray(batch.weight, dtype=np.float64)
        counted = s > 0
        blocks.append(X if counted.all() else X[counted])
        weights.append(s[counted])
    if not blocks or sum(block.shape[0] for block in blocks) == 0:
        raise DataError("no row counts: every sample_weight is zero, or the table has no rows.")
    if len(blocks) == 1:
        return blocks[0], weights[0]
    X = sparse.vstack(blocks, format="csr") if sparse.issparse(blocks[0]) else np.concatenate(blocks)
    return X, np.concatenate(weights)
