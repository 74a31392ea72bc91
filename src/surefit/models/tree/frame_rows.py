"""Frames whose members take them as they are: categories stay categories, and names stay names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


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
