"""What a column of text is, by the looks of all of its cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null")  # how a missing cell is spelt
HEAD = 64  # cells
TRUE, FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")


class InferredType:
    """What a column of text may still be, given all cells so far: a number, true or false, an ISO date."""

    def __init__(self, only_dates: bool = False) -> None:
        import pyarrow as pa

        dates = [pa.timestamp("us"), pa.timestamp("us", "UTC")]
        self._open = dates if only_dates else [pa.float64(), pa.bool_(), *dates]
        self._empty = True

    def see(self, cells: pa.Array) -> None:
        """Strike out what does not fit."""
        import pyarrow.compute as pc

        cells = cells.drop_null()
        if len(cells) == 0:
            return
        self._empty = False
        if self._open:
            cells = pc.utf8_trim_whitespace(cells)
            self._open = [kind for kind in self._open if _fits(cells, kind)]

    @property
    def type(self) -> pa.DataType:
        """The first that fits; text if none does, null without a cell."""
        import pyarrow as pa

        return pa.null() if self._empty else next(iter(self._open), pa.string())


def _fits(cells: pa.Array, kind: pa.DataType) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_boolean(kind):
        return bool(pc.all(pc.is_in(cells, pa.array(TRUE + FALSE))).as_py())
    try:
        # A cast goes on to the end when it has failed, and slowly: most fail within the first cells.
        pc.cast(cells.slice(0, HEAD), kind)
        pc.cast(cells, kind)
    except pa.ArrowInvalid:
        return False
    return True
