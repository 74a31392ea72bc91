"""The bootstrap: samples with replacement, and the rows that they leave out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.core.parameters import Count, RandomState, validate
from surefit.resample.base import Indices, Split
from surefit.resample.draws import draw_rows
from surefit.resample.streams import seed_of, stream


class Bootstrap(Split):
    """Draw ``size`` rows with replacement, as many as there are by default; test on those never drawn.

    The rows left out, about 37 % of them, are "out of bag"; of very few rows there may be none. With
    ``sample_weight`` a row is drawn in proportion to its weight, and from the same seed, at the same
    ``size``, a row of weight 2 is drawn where one of two equal rows would be. What cannot hold: such a row is
    out of bag as a whole, and the default size counts rows, not weights. Rows of weight 0 are in neither
    part.

    >>> from surefit.resample import Bootstrap
    >>> for drawn, out_of_bag in Bootstrap(2, random_state=0).split("abcdef"):
    ...     print(drawn.tolist(), out_of_bag.tolist())
    [4, 0, 2, 4, 1, 1] [3, 5]
    [4, 2, 1, 2, 4, 5] [0, 3]
    """

    def __init__(
        self, n_splits: Count = 10, *, size: Count | None = None, random_state: RandomState = None
    ) -> None:
        self.n_splits = n_splits
        self.size = size
        self.random_state = random_state

    def split(
        self, X: Any, y: Any = None, groups: Any = None, sample_weight: Any = None
    ) -> Iterator[tuple[Indices, Indices]]:
        """Yield pairs of row numbers: drawn, out of bag."""
        validate(self)
        rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if rows == 0:
            raise DataError("Bootstrap: there are no rows to draw from; give at least one.")
        weight = None if sample_weight is None else _checked(sample_weight, rows)
        counted = np.ones(rows, dtype=bool) if weight is None else weight > 0
        seed = seed_of(self.random_state)
        return (self._replicate(stream(seed, task), rows, weight, counted) for task in range(self.n_splits))

    def _replicate(
        self, generator: np.random.Generator, rows: int, weight: NDArray[np.float64] | None, counted: Any
    ) -> tuple[Indices, Indices]:
        drawn = draw_rows(rows, self.size or rows, generator, weight)
        left = counted.copy()
        left[drawn] = False
        return drawn, np.flatnonzero(left)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many samples ``split`` draws."""
        validate(self)
        return self.n_splits


def _checked(sample_weight: Any, rows: int) -> NDArray[np.float64]:
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (rows,):
        raise DataError(
            f"Bootstrap: sample_weight has shape {weight.shape}; it must be ({rows},), one weight a row."
        )
    if not np.isfinite(weight).all() or (weight < 0).any() or not weight.any():
        raise DataError(
            "Bootstrap: sample_weight must be finite and not negative, with at least one positive weight."
        )
    return weight
