"""Splits for rows in the order of time."""

from __future__ import annotations

from surefit.core.parameters import Count, WholeNumber
from surefit.resample.base import Folds, Wrapped


class TimeSeriesSplit(Wrapped):
    """Test on a stretch of rows and learn only from rows before it, with ``gap`` rows in between.

    >>> from surefit.resample import TimeSeriesSplit
    >>> [(train.tolist(), test.tolist()) for train, test in TimeSeriesSplit(2, gap=1).split(range(6))]
    [([0], [2, 3]), ([0, 1, 2], [4, 5])]
    """

    def __init__(
        self,
        n_splits: Folds = 5,
        *,
        max_train_size: Count | None = None,
        test_size: Count | None = None,
        gap: WholeNumber = 0,
    ) -> None:
        self.n_splits = n_splits
        self.max_train_size = max_train_size
        self.test_size = test_size
        self.gap = gap
