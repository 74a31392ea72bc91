"""Rows that members take as they came: frames with their categories and names, arrays with any cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class ArrayRows:
    """The rows of an array of any cells, and of any dimensions beyond the second."""

    array: NDArray[Any]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.array.shape[0], self.array.shape[1]

    @property
    def nbytes(self) -> int:
        """What its cells take."""
        return int(self.array.nbytes)

    def __getitem__(self, rows: Any) -> ArrayRows:
        return ArrayRows(self.array[rows])

    def columns(self, features: Any) -> NDArray[Any]:
        """Some columns; all of them, in their order, without a copy.

        >>> ArrayRows(np.array([[1, None], [2, "a"]]))[np.array([1])].columns(np.array([1])).tolist()
        [['a']]
        """
        if np.array_equal(features, np.arange(self.shape[1])):
            return self.array
        return self.array[:, features]


@dataclass(frozen=True, slots=True, eq=False)
class FrameRows:
    """The rows of a frame in memory, of any library; a choice of them is one, too."""

    frame: Any

    @classmethod
    def of(cls, X: Any) -> FrameRows:
        """Those of a frame.

        >>> import pandas as pd
        >>> rows = FrameRows.of(pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}))
        >>> rows.shape, rows[np.array([False, True])].columns(np.array([0])).to_dict("list")
        ((2, 2), {'a': ['y']})
        """
        import narwhals as nw

        return cls(nw.from_native(X, eager_only=True))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return tuple(self.frame.shape)

    @property
    def nbytes(self) -> int:
        """What its cells would take as numbers."""
        return 8 * self.shape[0] * self.shape[1]

    def __getitem__(self, rows: Any) -> FrameRows:
        rows = np.asarray(rows)
        return FrameRows(self.frame[np.flatnonzero(rows) if rows.dtype == bool else rows])

    def columns(self, features: Any) -> Any:
        """Some columns as a frame of the library that it came from."""
        return self.frame[:, np.asarray(features).tolist()].to_native()
