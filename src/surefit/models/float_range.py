"""Columns of a scale that arithmetic cannot bear, looked for once a fit has failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.data.batches.batch import Batch
from surefit.data.batches.table import Table
from surefit.data.checks.float_range import LARGEST, SMALLEST, out_of_range
from surefit.data.source import Source
from surefit.engine.base import choose_engine


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """The largest absolute value of each column."""

    values: NDArray[np.float64]

    @classmethod
    def of(cls, batch: Batch) -> Sizes:
        """Those of some rows; 0 for columns that hold no numbers."""
        X: Any = batch.X
        found = np.zeros(X.shape[1])
        if isinstance(X, Table):
            for j in range(X.shape[1]):
                if X.place(j)[0] == "numbers" and len(batch):
                    found[j] = np.fmax(0.0, np.fmax.reduce(np.abs(X.column(j))))
        elif isinstance(X, np.ndarray) and X.dtype.kind == "f" and len(X):
            found = np.fmax(found, np.fmax.reduce(np.abs(X), axis=0))
        elif hasattr(X, "tocsc") and X.shape[0]:
            found = np.fmax(found, abs(X).max(axis=0).toarray().ravel())
        return cls(found)

    def __add__(self, other: Sizes) -> Sizes:
        return Sizes(np.fmax(self.values, other.values))


def refuse_extreme_columns(source: Source, limits: tuple[float, float] = (SMALLEST, LARGEST)) -> None:
    """Refuse the first column with numbers beyond the limits; do nothing where there is none.

    >>> from surefit.data.schema import Schema
    >>> from surefit.data.source import ArraySource
    >>> refuse_extreme_columns(ArraySource(Schema(1), Batch(np.ones((2, 1)))))
    """
    sizes = choose_engine(source).accumulate(Sizes.of, source).values
    found = np.flatnonzero((sizes > limits[1]) | ((sizes > 0) & (sizes < limits[0])))
    if len(found):
        first, names = int(found[0]), source.schema.names
        which = f"column {first} of X" if names is None else f"column {names[first]!r}"
        raise out_of_range(which, bool(sizes[first] < 1), limits)
