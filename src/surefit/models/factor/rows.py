"""Rows in memory, for ways that read them many times or all at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.core.errors import RefusalError
from surefit.data.batch import Batch
from surefit.data.schema import Schema
from surefit.data.source import ArraySource, Source

PARTS = 16  # for threads; a fixed number, so that sums are the same for any number of them
MOST_CELLS = 2**28  # of a sparse matrix that is filled


@dataclass(frozen=True, slots=True)
class RowBlocks:
    """A table in memory, in parts for threads."""

    schema: Schema
    batch: Batch

    def __iter__(self) -> Iterator[Batch]:
        for part in self.parts():
            yield from part

    def parts(self) -> Sequence[Source]:
        """Blocks of consecutive rows, without a copy."""
        count = min(PARTS, max(1, len(self.batch)))
        cuts = pairwise(len(self.batch) * part // count for part in range(count + 1))
        return [ArraySource(self.schema, self._some(slice(*cut))) for cut in cuts]

    def _some(self, rows: slice) -> Batch:
        X: Any = self.batch.X
        weight = self.batch.weight
        return Batch(X[rows], weight=None if weight is None else weight[rows], start=rows.start)


def centred_rows(source: Source, mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """All rows that count, dense, less the mean and times the root of their weight."""
    blocks = []
    for batch in source:
        X: Any = batch.X
        if sparse.issparse(X) and X.shape[0] * X.shape[1] > MOST_CELLS:
            raise RefusalError(
                f"all axes of a sparse {X.shape[0]} x {X.shape[1]} table would take as much memory as its "
                "dense form: pass n_components as a small number."
            )
        centred = (X.toarray() if sparse.issparse(X) else X) - mean
        if batch.weight is not None:
            counted = batch.weight > 0
            centred = centred[counted] * np.sqrt(batch.weight[counted])[:, None]
        blocks.append(centred)
    return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
