"""Hold some rows out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from surefit.core.parameters import Count, Interval, RandomState, validate
from surefit.resample.base import Indices, Split, with_legacy_state

Share = Annotated[float, Interval(0, 1, open_low=True, open_high=True)] | Count | None


class HoldOut(Split):
    """Draw the rows to test on at random, and learn from the rest.

    test_size, train_size: a share of the rows or a number of rows; a quarter is tested by default, and
    train_size takes what is left. stratify: keep the shares of the classes of ``y``. n_splits: how often to
    draw anew. For a third part to tune on there is ``TrainValidationTest``.

    >>> from surefit.resample import HoldOut
    >>> [(train, test)] = HoldOut(test_size=0.2, random_state=0).split(range(10))
    >>> len(train), len(test)
    (8, 2)
    """

    def __init__(
        self,
        test_size: Share = None,
        *,
        train_size: Share = None,
        stratify: bool = False,
        n_splits: Count = 1,
        random_state: RandomState = None,
    ) -> None:
        self.test_size = test_size
        self.train_size = train_size
        self.stratify = stratify
        self.n_splits = n_splits
        self.random_state = random_state

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Yield pairs of row numbers: train, test."""
        from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

        validate(self)
        options = with_legacy_state(
            {name: value for name, value in self.options.items() if name != "stratify"}
        )
        if self.test_size is None and self.train_size is None:
            options["test_size"] = 0.25
        theirs = StratifiedShuffleSplit(**options) if self.stratify else ShuffleSplit(**options)
        return iter(theirs.split(X, y))

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many pairs ``split`` yields."""
        validate(self)
        return self.n_splits
