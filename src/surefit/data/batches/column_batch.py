"""A batch of columns that lie apart, and become a matrix when somebody asks for one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.data.batches.batch import Batch
from surefit.data.batches.columns import Columns


class ColumnBatch(Batch):
    """A batch that makes its matrix when ``X`` is asked for, and checks its cells then.

    A statistic that takes ``columns`` instead must see for itself that they are finite, and look at ``X``
    where they are not.
    """

    __slots__ = ("_check", "_held")
    _held: Any
    _check: Callable[[NDArray[np.float64]], None] | None

    def __init__(
        self, *given: Any, check: Callable[[NDArray[np.float64]], None] | None = None, **named: Any
    ) -> None:
        object.__setattr__(self, "_check", check)
        super().__init__(*given, **named)

    @classmethod
    def of(
        cls, batch: Batch, columns: Columns, check: Callable[[NDArray[np.float64]], None] | None
    ) -> ColumnBatch:
        """Return a batch with these columns for its rows."""
        return cls(check=check, **{f.name: getattr(batch, f.name) for f in fields(batch)} | {"X": columns})

    @property
    def X(self) -> Any:
        """The matrix."""
        if isinstance(self._held, Columns):
            matrix = self._held.toarray()
            if self._check is not None:
                self._check(matrix)
            object.__setattr__(self, "_held", matrix)
        return self._held

    @X.setter
    def X(self, held: Any) -> None:
        object.__setattr__(self, "_held", held)

    @property
    def columns(self) -> Columns | None:
        """The columns, unless a matrix has taken their place."""
        return self._held if isinstance(self._held, Columns) else None

    def __len__(self) -> int:
        return int(self._held.shape[0])

    def __reduce__(self) -> tuple[type[Batch], tuple[Any, ...]]:
        return Batch, tuple(getattr(self, field.name) for field in fields(self))  # checked once, here


def changed(batch: Batch, **fields_of: Any) -> Batch:
    """Return a batch with other rows beside X; columns that lie apart stay so.

    >>> batch = ColumnBatch(Columns([np.ones(2)], 2), np.zeros(2))
    >>> changed(batch, y=np.ones(2)).columns is batch.columns
    True
    """
    if not isinstance(batch, ColumnBatch) or batch.columns is None:
        return replace(batch, **fields_of)
    kept = {f.name: getattr(batch, f.name) for f in fields(batch) if f.name != "X"}
    return ColumnBatch(batch.columns, check=batch._check, **kept | fields_of)
