"""Labels of any kind: checked, turned into codes, and united when statistics are joined."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.core.native.scores.distinct_items import distinct_items
from surefit.core.native.scores.pair_counts import pair_counts

Labels: TypeAlias = NDArray[Any]
DIRECT = 256  # labels whose pairs are counted in one table without being numbered first


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
    found = distinct_items(column) if column.dtype.kind in "USb" else None
    if found is None:
        distinct, codes = np.unique(column, return_inverse=True)
        return distinct, codes.astype(np.int64, copy=False)
    distinct, numbers = found  # few labels: hashing beats sorting
    order = np.argsort(distinct)
    return distinct[order], np.argsort(order)[numbers]


def two_labels(column: Labels) -> tuple[Labels, NDArray[np.bool_]] | None:
    """Return the one or two distinct labels, and which rows have the greater; None if there are more.

    >>> two_labels(np.array([-1, 1, -1]))
    (array([-1,  1]), array([False,  True, False]))
    """
    if column.dtype.kind not in "biuf" or len(column) == 0:
        labels, codes = encode(column)
        return (labels, codes == len(labels) - 1) if len(labels) <= 2 else None
    low, high = column.min(), column.max()
    upper = column == high
    if low == high:
        return np.array([high], dtype=column.dtype), upper
    if np.count_nonzero(upper) + np.count_nonzero(column == low) < len(column):
        return None
    return np.array([low, high], dtype=column.dtype), upper


def pair_table(
    one: Labels, two: Labels, weight: NDArray[np.float64] | None
) -> tuple[Labels, NDArray[np.float64]]:
    """Return the labels of both columns, sorted, and the weight of each pair, the first column by row."""
    if one.dtype.kind in "biu" and two.dtype.kind in "biu" and len(one):
        low = min(int(one.min()), int(two.min()))
        size = max(int(one.max()), int(two.max())) - low + 1
        if size <= DIRECT and low >= -(2**63) and low + size <= 2**63:
            a, b = (column.view(np.uint8) if column.dtype.kind == "b" else column for column in (one, two))
            table = pair_counts(a, b, weight, low, size)
            counts = table if weight is None or weight.all() else pair_counts(a, b, None, low, size)
            present = np.flatnonzero(counts.any(axis=0) | counts.any(axis=1))
            labels = (present + low).astype(np.result_type(one, two))
            return labels, table[np.ix_(present, present)]
    (first, rows), (second, columns) = encode(one), encode(two)
    labels, mine, others = unite(first, second)
    size = len(labels)
    a, b = mine[rows] if len(one) else rows, others[columns] if len(two) else columns
    if size <= DIRECT:
        return labels, pair_counts(a, b, weight, 0, size)
    return labels, np.bincount(a * size + b, weight, size * size).astype(np.float64).reshape(size, size)


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
