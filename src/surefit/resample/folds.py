"""Folds: every row is tested once, at random, by class, by group, or repeatedly."""

from __future__ import annotations

from surefit.core.parameters import Count, RandomState
from surefit.resample.base import Folds, Wrapped


class KFold(Wrapped):
    """Cut the rows into ``n_splits`` parts whose sizes differ by one at the most; each is the test once.

    >>> from surefit.resample import KFold
    >>> [test.tolist() for train, test in KFold(2).split(["a", "b", "c"])]
    [[0, 1], [2]]
    """

    def __init__(
        self, n_splits: Folds = 5, *, shuffle: bool = False, random_state: RandomState = None
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state


class StratifiedKFold(Wrapped):
    """Folds in which each class of ``y`` has its share: its count differs by one at the most between folds.

    >>> from surefit.resample import StratifiedKFold
    >>> y = ["a", "a", "a", "a", "b", "b"]
    >>> [sorted(y[i] for i in test) for train, test in StratifiedKFold(2).split(y, y)]
    [['a', 'a', 'b'], ['a', 'a', 'b']]
    """

    def __init__(
        self, n_splits: Folds = 5, *, shuffle: bool = False, random_state: RandomState = None
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state


class GroupKFold(Wrapped):
    """Folds that never cut a group: all rows of a patient, a household, a device are in one fold.

    >>> from surefit.resample import GroupKFold
    >>> owner = ["ann", "bob", "ann", "cid"]
    >>> [sorted({owner[i] for i in test}) for train, test in GroupKFold(2).split(owner, groups=owner)]
    [['ann'], ['bob', 'cid']]
    """

    def __init__(
        self, n_splits: Folds = 5, *, shuffle: bool = False, random_state: RandomState = None
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state


class StratifiedGroupKFold(Wrapped):
    """Folds that never cut a group, and have each class's share as nearly as the groups allow."""

    def __init__(self, n_splits: Folds = 5, shuffle: bool = False, random_state: RandomState = None) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state


class RepeatedKFold(Wrapped):
    """``KFold``, shuffled anew ``n_repeats`` times.

    >>> from surefit.resample import RepeatedKFold
    >>> RepeatedKFold(n_splits=5, n_repeats=3).get_n_splits()
    15
    """

    def __init__(
        self, *, n_splits: Folds = 5, n_repeats: Count = 10, random_state: RandomState = None
    ) -> None:
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.random_state = random_state


class RepeatedStratifiedKFold(Wrapped):
    """``StratifiedKFold``, shuffled anew ``n_repeats`` times."""

    def __init__(
        self, *, n_splits: Folds = 5, n_repeats: Count = 10, random_state: RandomState = None
    ) -> None:
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.random_state = random_state


class LeaveOneOut(Wrapped):
    """As many folds as rows: each row is the test once. A weight is not a repetition here: a row of weight 2
    is left out as one row.

    >>> from surefit.resample import LeaveOneOut
    >>> [(train.tolist(), test.tolist()) for train, test in LeaveOneOut().split("ab")]
    [([1], [0]), ([0], [1])]
    """
