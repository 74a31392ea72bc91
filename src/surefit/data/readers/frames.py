"""Data frames in memory: pandas, polars, and what else narwhals knows."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from surefit.core.errors import DataError
from surefit.data.checks.schemas import name_given_twice
from surefit.data.read import Reader
from surefit.data.readers.arrow_table import ArrowTable

if TYPE_CHECKING:
    import pyarrow as pa


class FrameReader(Reader):
    """Data frames in memory; the index of a pandas frame is no column."""

    name = "frame"
    opens = "pandas and polars data frames"
    in_memory = True

    @classmethod
    def takes(cls, what: Any) -> bool:
        """Frames have columns; pyarrow's own tables have a reader of their own."""
        if not hasattr(type(what), "columns") or type(what).__module__.startswith(("pyarrow", "dask")):
            return False
        from narwhals.dependencies import is_into_dataframe

        return is_into_dataframe(what)

    @classmethod
    def open(cls, what: Any) -> ArrowTable:
        """Turn the frame into Arrow, mostly without a copy."""
        return ArrowTable(frame_to_arrow(what))


def frame_to_arrow(frame: Any) -> pa.Table:
    """A frame as an Arrow table; a column of mixed types, or a name twice, is an error that names it."""
    import pyarrow as pa

    names = [str(name) for name in frame.columns]
    twice = name_given_twice(names)
    if twice is not None:
        raise DataError(f"the frame has two columns named {twice!r}: rename one of them.")
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(frame, pandas.DataFrame):
        import narwhals as nw

        return nw.from_native(frame, eager_only=True).to_arrow()
    columns = []
    for name, (_, series) in zip(names, frame.items(), strict=True):
        try:
            columns.append(pa.Array.from_pandas(series))
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
            raise DataError(
                f"column {name!r} mixes types, or holds unsupported objects: {error.args[0]}; turn it into "
                "numbers or text."
            ) from error
    return pa.table(columns, names=names) if columns else pa.table({})
