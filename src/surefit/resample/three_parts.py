"""Cut rows into three parts: to learn from, to choose by, and to report on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np

from surefit.core.errors import DataError
from surefit.core.parameters import Interval, RandomState, validate
from surefit.resample.base import Indices, Split
from surefit.resample.choose import count_rows
from surefit.resample.hold_out import HoldOut
from surefit.resample.streams import seed_of

Part = Annotated[float, Interval(0, 1, open_low=True, open_high=True)]


class Parts(NamedTuple):
    """The row numbers of three parts that share none."""

    train: Indices
    validation: Indices
    test: Indices


class TrainValidationTest(Split):
    """Fit on the first part, choose by the second, and report the score on the third, which is used once.

    validation, test: shares of all rows; what is left is for training. stratify: each part keeps the shares
    of the classes. groups: a group is in one part only, and the shares are of groups. As a split for a search
    it yields the one pair (train, validation): the test rows stay out of it.

    >>> from surefit.resample import TrainValidationTest
    >>> parts = TrainValidationTest(validation=0.2, test=0.2, random_state=0).parts(range(10))
    >>> len(parts.train), len(parts.validation), len(parts.test)
    (6, 2, 2)
    """

    def __init__(
        self,
        validation: Part = 0.2,
        test: Part = 0.2,
        *,
        stratify: bool = False,
        random_state: RandomState = None,
    ) -> None:
        self.validation = validation
        self.test = test
        self.stratify = stratify
        self.random_state = random_state

    def parts(self, X: Any, y: Any = None, groups: Any = None) -> Parts:
        """Cut the rows; the numbers of each part in increasing order."""
        validate(self)
        if self.validation + self.test >= 1:
            raise DataError(
                f"TrainValidationTest: validation={self.validation:g} and test={self.test:g} leave no rows "
                "to learn from; their sum must be below 1."
            )
        if groups is not None:
            if self.stratify:
                raise DataError(
                    "TrainValidationTest: groups and stratify=True cannot both be kept; drop one."
                )
            return self._of_groups(np.asarray(groups), count_rows(X))
        rows, seeds = count_rows(X), np.random.SeedSequence(seed_of(self.random_state)).generate_state(2)
        rest, test = self._held_out(np.arange(rows), y, round(self.test * rows), seeds[0])
        train, validation = self._held_out(rest, y, round(self.validation * rows), seeds[1])
        return Parts(train, validation, test)

    def _held_out(self, rows: Indices, y: Any, count: int, seed: Any) -> tuple[Indices, Indices]:
        hold = HoldOut(max(1, count), stratify=self.stratify, random_state=np.random.RandomState(seed))
        labels = np.asarray(y)[rows] if self.stratify else None
        [(left, out)] = hold.split(rows, labels)
        return np.sort(rows[left]), np.sort(rows[out])

    def _of_groups(self, groups: Any, rows: int) -> Parts:
        if len(groups) != rows:
            raise DataError(
                f"TrainValidationTest: {len(groups)} groups for {rows} rows; give one for each row."
            )
        names, member = np.unique(groups, return_inverse=True)
        if len(names) < 3:
            raise DataError(
                f"TrainValidationTest: {len(names)} groups cannot fill three parts; give at least 3."
            )
        alone = TrainValidationTest(self.validation, self.test, random_state=self.random_state)
        found = alone.parts(names)
        return Parts(*(np.flatnonzero(np.isin(member, part)) for part in found))

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Yield the one pair to tune with: train, validation."""
        found = self.parts(X, y, groups)
        return iter([(found.train, found.validation)])

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """One."""
        validate(self)
        return 1
