"""One schema for many files: they must agree on their columns, and on what kind each is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from surefit.core.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa


def common_schema(schemas: Iterable[tuple[str, pa.Schema]]) -> pa.Schema:
    """Return the schema of all files, given as (name, schema); a disagreement is named by file and column.

    The order of columns may differ. So may number types, for all become float64; a column without any value
    fits to all.
    """
    import pyarrow as pa

    first = ""
    fields: dict[str, tuple[str, pa.Field]] = {}
    for name, schema in schemas:
        if not fields:
            first, fields = name, {field.name: (name, field) for field in schema}
            names = schema.names
            continue
        for column in fields:
            if column not in schema.names:
                raise DataError(f"{name} has no column {column!r}, but {first} has: the files must agree.")
        for field in schema:
            if field.name not in fields:
                raise DataError(
                    f"{name} has a column {field.name!r}, but {first} has none: the files must agree."
                )
            seen_in, seen = fields[field.name]
            if pa.types.is_null(seen.type):
                fields[field.name] = (name, field)
            elif not pa.types.is_null(field.type) and _sort(seen.type) != _sort(field.type):
                raise DataError(
                    f"the files disagree on column {field.name!r}: {field.type} in {name}, "
                    f"but {seen.type} in {seen_in}; write it with one type."
                )
    if len(fields) != len(names):
        return pa.schema([fields[name][1] for name in names])  # a name twice, which is refused by name later
    return pa.schema([field for _, field in fields.values()])


def _sort(kind: pa.DataType) -> str:
    """What a type turns into, fine enough that values of two files can be compared."""
    import pyarrow.types as t

    if t.is_dictionary(kind):
        return f"category of {_sort(kind.value_type).removeprefix('category of ')}"
    if t.is_floating(kind) or t.is_integer(kind) or t.is_decimal(kind):
        return "number"
    if t.is_date(kind) or t.is_timestamp(kind):
        return "date"
    if t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind):
        return "category of strings"
    return str(kind)


def name_given_twice(names: Sequence[str]) -> str | None:
    """The first name that comes twice, if one does."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def is_number(text: str) -> bool:
    """Whether a text can be read as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
