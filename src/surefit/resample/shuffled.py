"""Draw the test anew, again and again: of rows, of each class its share, or of whole groups."""

from __future__ import annotations

from surefit.core.parameters import Count, RandomState
from surefit.resample.base import Wrapped
from surefit.resample.hold_out import Share


class ShuffleSplit(Wrapped):
    """Draw the rows to test on ``n_splits`` times; tests of two draws may overlap.

    >>> from surefit.resample import ShuffleSplit
    >>> [(len(train), len(test)) for train, test in ShuffleSplit(2, test_size=0.3).split(range(10))]
    [(7, 3), (7, 3)]
    """

    def __init__(
        self,
        n_splits: Count = 10,
        *,
        test_size: Share = None,
        train_size: Share = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_splits = n_splits
        self.test_size = test_size
        self.train_size = train_size
        self.random_state = random_state


class StratifiedShuffleSplit(ShuffleSplit):
    """``ShuffleSplit`` in which each class of ``y`` keeps its share."""


class GroupShuffleSplit(Wrapped):
    """Draw the groups to test on, never a part of one; the sizes are shares or numbers of groups."""

    def __init__(
        self,
        n_splits: Count = 5,
        *,
        test_size: Share = None,
        train_size: Share = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_splits = n_splits
        self.test_size = test_size
        self.train_size = train_size
        self.random_state = random_state
