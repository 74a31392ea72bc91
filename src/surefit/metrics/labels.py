"""Labels of any kind: checked, turned into codes, and united when statistics are joined."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError

Labels: TypeAlias = NDArray[Any]


def as_labels(values: Any, what: str) -> Labels:
    """Check a column of labels: whole numbers, booleans, text or dates, all of one kind."""
    column = np.asarray(values)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise DataError(f"{what} has {column.ndim} dimensions; it must be one label a row.")
    if column.dtype.kind not in "biufUSMm":
        column = _of_one_kind(column, what)
    if column.dtype.kind == "f":
        broken = ~np.isfinite(column) | (column != np.floor(column))
        if broken.any():
            row = int(np.flatnonzero(broken)[0])
            raise DataError(
                f"{what} of row {row} is {column[row]}, which is no label; "
                "pass classes, or use a metric for numbers or probabilities."
            )
    return column


def _of_one_kind(column: Labels, what: str) -> Labels:
    """Objects: all text, or all numbers."""
    types = set(map(type, column.tolist()))
    if all(issubclass(kind, str) for kind in types):
        return column.astype(str)
    if all(issubclass(kind, int | float) for kind in types):
        return np.array(column.tolist())
    names = " and ".join(sorted(kind.__name__ for kind in types))
    raise DataError(f"{what} holds labels of type {names}; use one of text, whole numbers and booleans.")


def encode(column: Labels) -> tuple[Labels, NDArray[np.int64]]:
    """Return the sorted distinct labels and each row's code.

    >>> encode(np.array(["b", "a", "b"]))
    (array(['a', 'b'], dtype='<U1'), array([1, 0, 1]))
    """
    if column.dtype.kind == "i" and len(column):
        low, high = int(column.min()), int(column.max())
        if high - low <= len(column):  # counting beats sorting while the counts fit beside the rows
            shifted = column.astype(np.int64) - low
            present = np.bincount(shifted) > 0
            return (np.flatnonzero(present) + low).astype(column.dtype), (np.cumsum(present) - 1)[shifted]
    distinct, codes = np.unique(column, return_inverse=True)
    return distinct, codes.astype(np.int64, copy=False)


def unite(one: Labels, two: Labels) -> tuple[Labels, NDArray[np.int64], NDArray[np.int64]]:
    """Return the sorted union of two sorted sets of labels, and where each of them stands in it."""
    if len(one) == 0 or len(two) == 0:
        union = two if len(one) == 0 else one
    elif np.array_equal(one, two):
        union = one
    else:
        union = np.union1d(one, two)
    return union, _places(one, union), _places(two, union)


def _places(some: Labels, union: Labels) -> NDArray[np.int64]:
    return np.searchsorted(union, some) if len(some) else np.zeros(0, dtype=np.int64)
