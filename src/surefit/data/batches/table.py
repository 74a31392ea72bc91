"""A typed block of rows: numbers, category codes and text side by side, with what is missing marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.data.batches.columns import Columns
from surefit.data.schema import Column

_BLOCK = {"number": "numbers", "boolean": "numbers", "date": "numbers", "category": "codes", "text": "texts"}


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a typed table, grouped by how a column is stored; ``columns`` keeps the order of the source.

    numbers: (n, a) float64 in Fortran order, NaN where missing: numbers, booleans as 0 and 1, dates as days
    since 1970; put together of the columns ``apart`` when it is asked for. codes: (n, b) int32 in Fortran
    order, the place among the column's levels; -1 where missing, -2 where unknown. texts:
    one object array of str a text column, None where missing.
    """

    columns: tuple[Column, ...]
    apart: Columns
    codes: NDArray[np.int32]
    texts: tuple[NDArray[Any], ...] = ()
    _places: tuple[tuple[str, int], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        stored = dict.fromkeys(_BLOCK.values(), 0)  # counted once: tables may have ten thousand columns
        places = []
        for column in self.columns:
            block = _BLOCK[column.kind]
            places.append((block, stored[block]))
            stored[block] += 1
        object.__setattr__(self, "_places", tuple(places))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.apart.shape[0], len(self.columns)

    @property
    def numbers(self) -> NDArray[np.float64]:
        """The columns of numbers, booleans and dates as one matrix."""
        return self.apart.toarray()

    def column(self, index: int) -> NDArray[Any]:
        """The stored values of one column: float64, int32 codes, or text."""
        block, place = self.place(index)
        if block == "texts":
            return self.texts[place]
        return self.apart.stored[place] if block == "numbers" else self.codes[:, place]

    def place(self, index: int) -> tuple[str, int]:
        """In which block a column is stored, and where in it."""
        return self._places[index]

    def missing(self, index: int) -> NDArray[np.bool_]:
        """Where one column has no value."""
        values = self.column(index)
        if values.dtype == object:
            return np.array([value is None for value in values], dtype=bool)
        gone: NDArray[np.bool_] = np.isnan(values) if values.dtype.kind == "f" else values == -1
        return gone

    def take(self, rows: NDArray[Any] | slice) -> Table:
        """Some of the rows."""
        texts = tuple(text[rows] for text in self.texts)
        numbers = [column[rows] for column in self.apart.stored]
        codes = np.asfortranarray(self.codes[rows])
        return Table(self.columns, Columns(numbers, len(codes)), codes, texts)

    def select(self, indices: Sequence[int]) -> Table:
        """Some of the columns, in the order given."""
        return Table.build(
            [self.columns[i] for i in indices], [self.column(i) for i in indices], self.shape[0]
        )

    @staticmethod
    def build(columns: Sequence[Column], values: Sequence[NDArray[Any]], rows: int) -> Table:
        """Put stored columns together: codes are copied once, numbers stay where they are."""
        by_block: dict[str, list[NDArray[Any]]] = {"numbers": [], "codes": [], "texts": []}
        for column, stored in zip(columns, values, strict=True):
            by_block[_BLOCK[column.kind]].append(stored)
        codes = np.empty((rows, len(by_block["codes"])), dtype=np.int32, order="F")
        for j, stored in enumerate(by_block["codes"]):
            codes[:, j] = stored
        return Table(tuple(columns), Columns(by_block["numbers"], rows), codes, tuple(by_block["texts"]))
