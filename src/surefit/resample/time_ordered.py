"""Splits for rows in the order of time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from surefit.core.parameters import Count, WholeNumber, validate
from surefit.resample.base import Folds, Indices, Wrapped


class TimeSeriesSplit(Wrapped):
    """Test on a stretch of rows and learn only from rows before it, with ``gap`` rows in between.

    order_by: the column of time, by its name or number; without it rows are in order already.

    >>> from surefit.resample import TimeSeriesSplit
    >>> [(train.tolist(), test.tolist()) for train, test in TimeSeriesSplit(2, gap=1).split(range(6))]
    [([0], [2, 3]), ([0, 1, 2], [4, 5])]
    """

    ours = ("order_by",)

    def __init__(
        self,
        n_splits: Folds = 5,
        *,
        max_train_size: Count | None = None,
        test_size: Count | None = None,
        gap: WholeNumber = 0,
        order_by: str | WholeNumber | None = None,
    ) -> None:
        self.n_splits = n_splits
        self.max_train_size = max_train_size
        self.test_size = test_size
        self.gap = gap
        self.order_by = order_by

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Yield pairs of row numbers: train, test."""
        validate(self)
        if self.order_by is None:
            return super().split(X, y, groups)
        return self.in_order(_safe_indexing(X, self.order_by, axis=1))

    def in_order(self, times: Any) -> Iterator[tuple[Indices, Indices]]:
        """Yield pairs for rows of these times; rows of one time stay in their order."""
        order = np.argsort(np.asarray(times), kind="stable")
        return ((order[train], order[test]) for train, test in super().split(order))
