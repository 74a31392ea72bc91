"""How much of each column is missing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.data.batches.batch import Batch
from surefit.data.batches.table import Table
from surefit.stats.base import Statistic, seal
from surefit.stats.cases import Trial


@dataclass(frozen=True, slots=True)
class Missing(Statistic):
    """The weight of all rows, and of those where each column has no value.

    >>> Missing.of(Batch(np.array([[1.0, np.nan], [np.nan, np.nan]]))).missing
    array([1., 2.])
    """

    name = "missing"

    weight: float
    missing: NDArray[np.float64]

    def __post_init__(self) -> None:
        seal(self)

    @classmethod
    def of(cls, batch: Batch, **context: Any) -> Missing:
        """Count NaN, missing codes and missing text."""
        weight = float(len(batch)) if batch.weight is None else float(batch.weight.sum())
        X: Any = batch.X
        if isinstance(X, Table):
            gone = np.stack([X.missing(j) for j in range(X.shape[1])], axis=1)
        elif isinstance(X, np.ndarray):
            gone = np.isnan(X)
        else:
            gone = X.copy()
            gone.data = np.isnan(X.data).astype(np.float64)
        if batch.weight is None:
            return cls(weight, np.asarray(gone.sum(axis=0), dtype=np.float64).ravel())
        return cls(weight, np.asarray(gone.T @ batch.weight, dtype=np.float64))

    def __add__(self, other: Missing) -> Missing:
        return Missing(self.weight + other.weight, self.missing + other.missing)

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """Matrices with gaps and without, and a table."""
        return Trial("gaps"), Trial("sparse"), Trial("table")
