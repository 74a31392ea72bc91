"""Folds and their moments: what is left without a fold is a subtraction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import RefusalError
from surefit.data.batch import Batch
from surefit.resample.row_rule import RowRule
from surefit.stats.base import Joint
from surefit.stats.moments import Moments

Indices = NDArray[np.intp]


def taken(batch: Batch, rows: Indices) -> Batch:
    """Some rows of a batch."""
    X: Any = batch.X
    weight = None if batch.weight is None else batch.weight[rows]
    return replace(batch, X=X[rows], y=np.asarray(batch.y)[rows], weight=weight)


def complementary(train: Indices, test: Indices, rows: int) -> bool:
    """Whether every row is in one of the two, once."""
    seen = np.bincount(np.concatenate([train, test]), minlength=rows)
    return bool((seen == 1).all())


def without(whole: Moments, held_out: Moments, batch: Batch, train: Indices) -> Moments:
    """The moments of the training rows; added up anew where too much would cancel."""
    try:
        return whole - held_out
    except RefusalError:
        return Moments.of(taken(batch, train))


def moments_of_folds(rules: list[RowRule], batch: Batch) -> Joint:
    """The moments of each fold's rows, under the fold's number."""
    return Joint({str(rule.fold): Moments.of(taken(batch, rows_of_fold(rule, batch))) for rule in rules})


def rows_of_fold(rule: RowRule, batch: Batch) -> Indices:
    """The rows of a batch that belong to a fold."""
    return np.flatnonzero(rule.keeps(batch.start, len(batch)))
