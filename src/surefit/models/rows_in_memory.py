"""All rows of a source in memory, for solvers that cannot do with less."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.errors import RefusalError
from surefit.data.batches.batch import Batch
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
        None if batches[0].y is None else np.concatenate([np.asarray(b.y) for b in batches]),
        None if plain else np.concatenate(weights),
        offset=np.concatenate(offsets) if offsets else None,
    )


def _bytes(X: Any) -> int:
    if sparse.issparse(X):
        return int(X.data.nbytes + X.indices.nbytes)
    return int(getattr(X, "nbytes", 8 * X.shape[0]))


def _refuse_large(size: int) -> None:
    if size > MOST_BYTES:
        raise RefusalError(
            f"this model needs all rows in memory at once, which takes {size / 2**30:.3g} GiB here, more "
            f"than {MOST_BYTES / 2**30:.3g}: give fewer rows or columns, or use a model that reads in "
            "batches, such as LogisticRegression, HuberRegressor, LinearSVC with the squared hinge, "
            "SGDClassifier, or for clusters KMeans."
        )
