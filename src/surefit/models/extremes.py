"""Columns of a scale that arithmetic cannot bear, looked for once a fit has failed."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.data.extremes import LARGEST, SMALLEST, out_of_range
from surefit.data.source import Source
from surefit.data.table import Table


def refuse_extreme_columns(source: Source) -> None:
    """Refuse the first column whose squares leave the range of floats; do nothing where there is none.

    >>> from surefit.data.batch import Batch
    >>> from surefit.data.schema import Schema
    >>> from surefit.data.source import ArraySource
    >>> refuse_extreme_columns(ArraySource(Schema(1), Batch(np.ones((2, 1)))))
    """
    largest: Any = 0.0
    for batch in source:
        X: Any = batch.X.numbers if isinstance(batch.X, Table) else batch.X
        if isinstance(X, np.ndarray) and X.dtype.kind == "f" and len(X):
            largest = np.fmax(largest, np.fmax.reduce(np.abs(X), axis=0))
        elif hasattr(X, "tocsc") and X.shape[0]:
            largest = np.fmax(largest, abs(X).max(axis=0).toarray().ravel())
    found = np.flatnonzero((largest > LARGEST) | ((largest > 0) & (largest < SMALLEST)))
    if len(found):
        first = int(found[0])
        raise out_of_range(f"column {first} of X", bool(np.ravel(largest)[first] < 1))
