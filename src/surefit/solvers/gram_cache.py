"""The Gram matrix of the columns that a fit has looked at, kept while it grows and reused along a path."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.column_gram import column_gram

Indices = NDArray[np.int64]
Vector = NDArray[np.float64]
_LEAST_BYTES = 2**22
_SHARE = 0.08  # of the size of X that the matrix may take


class GramCache:
    """Rows and columns of A'SA/W in the order in which columns came, up to ``room`` of them."""

    def __init__(self, X: Any, centre: Vector | None, weight: Vector | None, total: float) -> None:
        self._X, self._centre, self._weight, self._factor = X, centre, weight, 1.0 / total
        size = X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes
        self.room = min(X.shape[1], int(np.sqrt(max(_LEAST_BYTES, _SHARE * size) / 8)))
        self.columns: Indices = np.empty(0, dtype=np.int64)
        self._held = np.zeros(X.shape[1], dtype=bool)
        self._matrix: NDArray[np.float64] | None = None

    @property
    def matrix(self) -> NDArray[np.float64]:
        """The matrix, with room at its end; memory that no column has reached yet is never touched."""
        if self._matrix is None:
            self._matrix = np.empty((self.room, self.room))
        return self._matrix

    def fits(self, columns: Indices) -> bool:
        """Whether these can be held, perhaps in place of others."""
        return bool(len(columns) <= self.room)

    def hold(self, columns: Indices) -> None:
        """Make sure that these are in it; when there is no room left for them, all others go."""
        fresh = columns[~self._held[columns]]
        if len(self.columns) + len(fresh) > self.room:
            self._keep(np.flatnonzero(np.isin(self.columns, columns)))
        if len(fresh) == 0:
            return
        old = len(self.columns)
        self.columns = np.concatenate([self.columns, fresh])
        self._held[fresh] = True
        column_gram(self._X, self.columns, self.matrix, old, self._centre, self._weight, self._factor)

    def _keep(self, places: NDArray[np.intp]) -> None:
        count = len(places)
        self.matrix[:count, :count] = self.matrix[np.ix_(places, places)]
        self.columns = self.columns[places]
        self._held[:] = False
        self._held[self.columns] = True
