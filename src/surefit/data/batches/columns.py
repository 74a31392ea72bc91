"""A matrix whose columns lie apart, as a reader left them: kernels that can take them so spare a copy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Columns:
    """Float64 columns of one length, side by side; ``toarray`` puts them together, once.

    >>> Columns([np.array([1.0, 2.0]), np.array([3.0, 4.0])], 2).toarray().tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    """

    __slots__ = ("_matrix", "shape", "stored")
    format = "columns"

    def __init__(self, stored: list[NDArray[Any]], rows: int) -> None:
        self.stored = [np.ascontiguousarray(column, dtype=np.float64) for column in stored]
        self.shape = (rows, len(stored))
        self._matrix: NDArray[np.float64] | None = None

    def toarray(self) -> NDArray[np.float64]:
        """Return one float64 matrix in Fortran order."""
        if self._matrix is None:
            self._matrix = np.empty(self.shape, dtype=np.float64, order="F")
            for j, column in enumerate(self.stored):
                self._matrix[:, j] = column
        return self._matrix

    def __getitem__(self, rows: slice) -> Columns:
        return Columns([column[rows] for column in self.stored], len(range(*rows.indices(self.shape[0]))))

    def __reduce__(self) -> tuple[type[Columns], tuple[list[NDArray[Any]], int]]:
        return Columns, (self.stored, self.shape[0])  # without the matrix, which can be made again
