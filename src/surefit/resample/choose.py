"""From what a user gives as a split to pairs of row numbers that are known to be fair."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from surefit.core.errors import DataError, ParameterError
from surefit.resample.base import Indices

Pair = tuple[Indices, Indices]


def count_rows(X: Any) -> int:
    """How many rows a table in memory has."""
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X)


def pairs_of(
    split: Any,
    X: Any,
    y: Any = None,
    groups: Any = None,
    *,
    classes: bool = False,
    random_state: Any = 0,
) -> list[Pair]:
    """Return the pairs (train, test) of a split: a number of folds, a splitter, or the pairs themselves.

    A number asks for shuffled folds, by class where ``classes`` says that y holds some, and by group where
    groups are given: tables are often sorted, and folds of a sorted table are not alike. No row may be in
    both parts of a pair, and none of them may be empty.

    >>> [test.tolist() for train, test in pairs_of([([0, 1], [2]), ([1, 2], [0])], "abc")]
    [[2], [0]]
    """
    rows = count_rows(X)
    if isinstance(split, int | np.integer) and not isinstance(split, bool):
        split = _folds(int(split), rows, classes, groups is not None, random_state)
    if hasattr(split, "split") and not isinstance(split, str | bytes):
        found = split.split(X, y, groups)
    elif isinstance(split, Iterable) and not isinstance(split, str | bytes):
        found = split
    else:
        raise ParameterError(
            f"split={split!r} must be a number of folds, an object with a method split, or pairs of "
            "row numbers."
        )
    pairs = [_checked(number, pair, rows) for number, pair in enumerate(found, 1)]
    if not pairs:
        raise DataError("the split has no folds; give at least one pair of train and test rows.")
    return pairs


def _folds(count: int, rows: int, classes: bool, grouped: bool, random_state: Any) -> Any:
    from surefit import resample

    if count < 2:
        raise ParameterError(f"split={count} must be at least 2 folds.")
    if not grouped and count > rows:
        raise ParameterError(f"split={count} folds cannot be cut from {rows} rows; take at most {rows}.")
    name = f"{'Stratified' if classes else ''}{'Group' if grouped else ''}KFold"
    return getattr(resample, name)(count, shuffle=True, random_state=random_state)


def _checked(number: int, pair: Any, rows: int) -> Pair:
    train, test = (_numbers(number, part, rows) for part in pair)
    seen = np.zeros(rows, dtype=bool)
    seen[train] = True
    held = np.zeros(rows, dtype=bool)
    held[test] = True
    both = int(np.count_nonzero(seen & held))
    if both:
        raise DataError(
            f"fold {number} of the split has {both} rows in both parts, so that its score would be of rows "
            "that were learnt from; take them out of one."
        )
    return train, test


def _numbers(number: int, part: Any, rows: int) -> Indices:
    found = np.asarray(part)
    if found.dtype == bool and found.shape == (rows,):
        found = np.flatnonzero(found)
    if found.ndim != 1 or len(found) == 0 or found.dtype.kind not in "iu":
        raise DataError(f"fold {number} of the split has an empty part, or one that is not row numbers.")
    if found.min() < 0 or found.max() >= rows:
        raise DataError(
            f"fold {number} of the split names row {int(found.max())}, but the rows are 0 to {rows - 1}."
        )
    return found.astype(np.intp)
