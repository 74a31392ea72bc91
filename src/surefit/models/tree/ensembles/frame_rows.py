"""Rows that members take as they came: frames with their categories and names, arrays with any cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.data.readers.arrow_table import ArrowTableReader
from surefit.models.tree.rows.matrix import typed_columns


def is_arrow_table(X: Any) -> bool:
    """Whether rows are a table or a record batch of pyarrow.

    >>> import pyarrow as pa
    >>> is_arrow_table(pa.table({"a": [1]})), is_arrow_table(np.ones((1, 1)))
    (True, False)
    """
    return ArrowTableReader.takes(X)


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
    def of(cls, X: Any, names: Sequence[str] | None = None) -> FrameRows:
        """Those of a frame or an Arrow table; ``names`` are the columns to take, and their order.

        >>> import pandas as pd
        >>> rows = FrameRows.of(pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}))
        >>> rows.shape, rows[np.array([False, True])].columns(np.array([0])).to_dict("list")
        ((2, 2), {'a': ['y']})
        """
        import narwhals as nw

        frame = nw.from_native(_table(X), eager_only=True)
        return cls(frame if names is None else frame.select(list(names)))

    @staticmethod
    def without_categories(X: Any) -> bool:
        """Whether no column of these rows is of categories, by its type."""
        return typed_columns(_table(X)) is None

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


def whole_rows(X: Any) -> Any:
    """All columns of rows, as a model takes them.

    >>> whole_rows(ArrayRows(np.array([["a"]]))).tolist(), whole_rows(np.ones((1, 1))).tolist()
    ([['a']], [[1.0]])
    """
    return X.columns(np.arange(X.shape[1])) if isinstance(X, FrameRows | ArrayRows) else X


def _table(X: Any) -> Any:
    """A record batch as a table; frames as they are."""
    if not is_arrow_table(X):
        return X
    return ArrowTableReader.open(X).table
