"""Columns of a scale that arithmetic cannot bear, looked for once a fit has failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.core.native.columns.finite import all_finite
from surefit.data.batches.batch import Batch
from surefit.data.batches.cells import Cells
from surefit.data.batches.table import Table
from surefit.data.checks.float_range import LARGEST, SMALLEST, out_of_range
from surefit.data.source import Source
from surefit.engine.base import choose_engine

FEW = 10_000  # numbers, which are looked at in no time


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


def refuse_endless_answers(who: str, X: Any, answer: Any, *, infinite: bool = False) -> None:
    """Refuse answers that left the range of floats though the rows are finite; some may be infinite.

    >>> refuse_endless_answers("Model", np.ones((2, 1)), np.array([1.0, 2.0]))
    """
    found: Any = getattr(answer, "data", answer) if hasattr(answer, "toarray") else answer
    if not isinstance(found, np.ndarray) or found.dtype.kind != "f" or _is_finite(found):
        return
    if (infinite and not np.isnan(found).any()) or not _has_finite_rows(X):
        return
    raise DataError(
        f"{who}: the answers for some rows leave the range of floats, though the rows hold finite numbers: "
        "multiply or divide columns by powers of ten, before the fit too, to bring their numbers nearer to 1."
    )


def _is_finite(values: NDArray[Any]) -> bool:
    if values.dtype.itemsize in (4, 8) and values.ndim == 2 and values.size > FEW and values.flags.forc:
        return all_finite(values)
    return bool(np.isfinite(values).all())


def _has_finite_rows(X: Any) -> bool:
    """Whether no cell is missing or infinite; looked at only once an answer is not finite."""
    if isinstance(X, Cells):
        return all(column.dtype.kind in "biu" or _are_numbers(column) for column in X.columns)
    if isinstance(X, Table):
        return not any(X.missing(j).any() for j in range(X.shape[1])) and _are_numbers(X.numbers)
    return _are_numbers(getattr(X, "data", X) if hasattr(X, "toarray") else X)


def _are_numbers(cells: Any) -> bool:
    cells = np.asarray(cells)
    return cells.dtype.kind in "biuf" and bool(np.isfinite(cells).all())


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
