"""The triangular factor of [1|X|Y]: least squares at the condition number of the data, not its square."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.inputs import side_matrix
from surefit.core.native.sums.triangular import merge_triangular, triangular_factor
from surefit.data.batches.batch import Batch
from surefit.stats.base import Statistic, seal
from surefit.stats.cases import Trial


@dataclass(frozen=True, slots=True)
class TriangularFactor(Statistic):
    r"""The upper-triangular R, diagonal >= 0, with :math:`R'R = A'SA` for A = [1|X|Y], or [X|Y].

    Behind the column of ones, the rows from the second on are the factor of the centred columns. rows counts
    the rows with positive weight.

    >>> factor = TriangularFactor.of(Batch(np.array([[1.0], [3.0]])))
    >>> factor.R.round(12)
    array([[1.41421356, 2.82842712],
           [0.        , 1.41421356]])
    """

    name = "triangular-factor"

    rows: int
    targets: int
    ones: bool
    R: NDArray[np.float64]

    def __post_init__(self) -> None:
        seal(self)

    @classmethod
    def of(
        cls, batch: Batch, *, ones: bool = True, target: bool = True, shift: Any = None, **context: Any
    ) -> TriangularFactor:
        """Factor the columns of X, after a column of ones and before the targets, unless told not to.

        ``shift`` is taken from the columns of [X|Y] first, for all rows the same, so that an offset is free.
        """
        Y = side_matrix(batch.y) if target else None
        rows = len(batch) if batch.weight is None else int(np.count_nonzero(batch.weight))
        R = triangular_factor(batch.X, Y, batch.weight, ones=ones, shift=shift)
        return cls(rows, 0 if Y is None else Y.shape[1], ones, R)

    def __add__(self, other: TriangularFactor) -> TriangularFactor:
        if self.rows == 0 or other.rows == 0:
            return other if self.rows == 0 else self
        return TriangularFactor(
            self.rows + other.rows, self.targets, self.ones, merge_triangular(self.R, other.R)
        )

    @property
    def centred(self) -> NDArray[np.float64]:
        """The factor of the centred [X|Y]; of [X|Y] itself without the column of ones."""
        return np.array(self.R[1:, 1:] if self.ones else self.R)

    def distance(self, other: TriangularFactor) -> float:
        """The greatest difference of R'R, on the scale of the columns' lengths."""
        one, two = (factor.R.T @ factor.R for factor in (self, other))
        length = np.sqrt(np.diagonal(one))
        scale = np.multiply.outer(length, length)
        return float(np.max(np.abs(one - two) / np.where(scale > 0, scale, 1.0), initial=0.0))

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """Dense and sparse rows, with and without ones and targets."""
        plain = {"ones": False, "target": False}
        return Trial("numbers"), Trial("sparse"), Trial("targets"), Trial("numbers", plain)
