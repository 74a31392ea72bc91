"""From Arrow types to kinds of columns, and from record batches to tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.data.batches.table import Table
from surefit.data.schema import Column, Kind

if TYPE_CHECKING:
    import pyarrow as pa

DAY = 86_400_000_000  # microseconds
UNKNOWN = -2  # the code of a value that is not among the levels of its column


def kind_of(field: pa.Field) -> Kind:
    """The kind of an Arrow column; strings and dictionaries are categories until somebody asks for text."""
    import pyarrow.types as t

    kind = field.type
    if t.is_floating(kind) or t.is_integer(kind) or t.is_decimal(kind) or t.is_null(kind):
        return "number"
    if t.is_boolean(kind):
        return "boolean"
    if t.is_date(kind) or t.is_timestamp(kind):
        return "date"
    if _is_string(kind) or t.is_dictionary(kind):
        return "category"
    raise DataError(
        f"column {field.name!r} holds {kind}, which surefit does not support: drop it, or convert it to "
        "numbers, categories, dates or text."
    )


def _is_string(kind: pa.DataType) -> bool:
    import pyarrow.types as t

    return bool(t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind))


def to_table(batch: pa.RecordBatch, columns: Sequence[Column]) -> Table:
    """Turn a record batch into a table, with the codes of the columns' levels."""
    stored = [to_numpy(batch.column(column.name), column) for column in columns]
    return Table.build(columns, stored, batch.num_rows)


def to_numpy(values: pa.Array | pa.ChunkedArray, column: Column) -> NDArray[Any]:
    """One column as a table stores it: float64 with NaN, int32 codes with -1, or objects with None."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if pa.types.is_null(values.type):
        return _nothing(len(values), column.kind)
    if column.kind == "category":
        return codes_of(values, column)
    if column.kind == "text":
        return np.asarray(plain(values).to_pylist(), dtype=object)
    if column.kind == "date":
        stamps = pc.cast(pc.cast(values, pa.timestamp("us"), safe=False), pa.int64())
        return _floats(stamps) / DAY
    return _floats(values)


def _nothing(rows: int, kind: Kind) -> NDArray[Any]:
    """A column without a single value."""
    if kind == "text":
        return np.full(rows, None, dtype=object)
    return np.full(rows, -1, dtype=np.int32) if kind == "category" else np.full(rows, np.nan)


def _floats(values: pa.Array) -> NDArray[np.float64]:
    import pyarrow as pa

    if values.type == pa.float64() and values.null_count == 0:
        view: NDArray[np.float64] = values.to_numpy(zero_copy_only=True)
        return view
    if not pa.types.is_floating(values.type):
        values = values.cast(pa.float64(), safe=False)
    floats = values.to_numpy(zero_copy_only=False)
    return np.asarray(floats, dtype=np.float64)


def plain(values: pa.Array) -> pa.Array:
    """Strings without a dictionary."""
    import pyarrow as pa

    if not pa.types.is_dictionary(values.type):
        return values
    if pa.types.is_string_view(values.type.value_type):  # which pyarrow cannot look up
        values = pa.DictionaryArray.from_arrays(values.indices, values.dictionary.cast(pa.large_string()))
    return values.dictionary_decode()


def countable(values: pa.Array) -> pa.Array:
    """The same values in a type whose distinct ones pyarrow finds: views of strings it counts wrongly."""
    import pyarrow as pa

    return values.cast(pa.large_string()) if pa.types.is_string_view(values.type) else values


def codes_of(values: pa.Array, column: Column) -> NDArray[np.int32]:
    """The place of each value among the column's levels: -1 for missing, -2 for one that is not there."""
    import pyarrow as pa

    assert column.levels is not None
    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    found = values.dictionary.to_pylist()
    index = {level: code for code, level in enumerate(column.levels.tolist())}
    places = np.array(
        [-1 if level is None else index.get(level, UNKNOWN) for level in found] + [-1], dtype=np.int32
    )
    codes: NDArray[np.int32] = places[values.indices.fill_null(len(found)).to_numpy(zero_copy_only=False)]
    return codes
