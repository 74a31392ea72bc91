"""Weight, mean, scatter, minimum and maximum of each column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.moments import ColumnMoments, column_moments
from surefit.data.batch import Batch
from surefit.stats.base import Statistic


@dataclass(frozen=True, slots=True)
class Spread(Statistic):
    r"""Column-wise moments, centred: W, :math:`m = \sum s_i x_i / W`, :math:`\sum s_i (x_i - m)^2`, and the
    range.

    rows counts the rows with positive weight. The range of no rows is (inf, -inf), so that joining is a
    minimum and a maximum.
    """

    name = "spread"

    rows: int
    weight: float
    mean: NDArray[np.float64]
    scatter: NDArray[np.float64]
    minimum: NDArray[np.float64]
    maximum: NDArray[np.float64]

    @classmethod
    def of(cls, batch: Batch, *, part: Literal["X", "y"] = "X", **context: Any) -> Spread:
        """Compute it over the columns of X, or over the targets."""
        block = batch.X if part == "X" else batch.y
        if block is None:
            raise ValueError("the batch has no target.")
        if block.ndim == 1:
            block = block[:, None]
        found = column_moments(block, batch.weight)
        rows = len(batch) if batch.weight is None else int(np.count_nonzero(batch.weight))
        return cls(rows, found.weight, found.mean, found.scatter, found.minimum, found.maximum)

    def __add__(self, other: Spread) -> Spread:
        weight = self.weight + other.weight
        share = other.weight / weight if weight > 0 else 0.0
        shift = other.mean - self.mean
        # Chan's update: the means move towards each other by their shares, and the distance joins the
        # scatter.
        return Spread(
            self.rows + other.rows,
            weight,
            self.mean + shift * share,
            self.scatter + other.scatter + shift * shift * (self.weight * share),
            np.minimum(self.minimum, other.minimum),
            np.maximum(self.maximum, other.maximum),
        )

    @property
    def moments(self) -> ColumnMoments:
        """The same numbers as the kernel returns them."""
        return ColumnMoments(self.weight, self.mean, self.scatter, self.minimum, self.maximum)
