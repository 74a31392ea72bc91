"""Folds and their moments: what is left without a fold is a subtraction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError, RefusalError
from surefit.data.batches.batch import Batch
from surefit.resample.row_rule import RowRule
from surefit.stats.base import Joint
from surefit.stats.moments import Moments

Indices = NDArray[np.intp]

_FEWEST_ROWS, _CELLS = 2**12, 2**20  # of a copy of some rows: few enough to take little room


def split_rows(splitter: Any, X: Any, y: Any) -> Iterator[tuple[Indices, Indices]]:
    """Yield what one of scikit-learn's splitters makes of the rows; more folds than rows are an error."""
    try:
        yield from splitter.split(X, y)
    except ValueError as error:
        if "number of" not in str(error):
            raise
        raise DataError(f"{str(error).rstrip('.')}: give more rows, or fewer folds by cv.") from error


def taken(batch: Batch, rows: Indices) -> Batch:
    """Some rows of a batch."""
    X: Any = batch.X
    weight = None if batch.weight is None else batch.weight[rows]
    return replace(batch, X=X[rows], y=np.asarray(batch.y)[rows], weight=weight)


def in_pieces(rows: Indices, width: int) -> Iterator[Indices]:
    """Cut rows into pieces small enough that a copy of one is no burden beside the table."""
    step = max(_FEWEST_ROWS, _CELLS // max(1, width))
    return (rows[start : start + step] for start in range(0, max(1, len(rows)), step))


def moments_of(batch: Batch, rows: Indices) -> Moments:
    """The moments of some rows of a batch."""
    pieces = in_pieces(rows, int(batch.X.shape[1]))
    found: Moments = reduce(add, (Moments.of(taken(batch, piece)) for piece in pieces))
    return found


def complementary(train: Indices, test: Indices, rows: int) -> bool:
    """Whether every row is in one of the two, once."""
    seen = np.bincount(np.concatenate([train, test]), minlength=rows)
    return bool((seen == 1).all())


def without(whole: Moments, held_out: Moments, batch: Batch, train: Indices) -> Moments:
    """The moments of the training rows; added up anew where too much would cancel."""
    try:
        return whole - held_out
    except RefusalError:
        return moments_of(batch, train)


def moments_of_folds(rules: list[RowRule], batch: Batch) -> Joint:
    """The moments of each fold's rows, under the fold's number."""
    return Joint({str(rule.fold): moments_of(batch, rows_of_fold(rule, batch)) for rule in rules})


def rows_of_fold(rule: RowRule, batch: Batch) -> Indices:
    """The rows of a batch that belong to a fold."""
    return np.flatnonzero(rule.keeps(batch.start, len(batch)))
