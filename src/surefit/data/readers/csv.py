"""CSV and TSV files, plain or compressed, with a header."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from surefit.core.errors import DataError
from surefit.data.agree import common_schema
from surefit.data.files import DataFile, FileFormat
from surefit.data.readers.text import Found, TextFiles, check_names
from surefit.data.readers.text_types import FALSE, MISSING, TRUE, Looks
from surefit.data.stream import ArrowStream, watched

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK = 4 * 2**20  # bytes of text that are parsed at once


class CsvFiles(TextFiles):
    """Files of one header; a cell is a number, true or false, an ISO date, or text."""

    def _names(self) -> list[str]:
        return list(self._strings().names)

    def _strings(self) -> pa.Schema:
        """All columns as text, from the headers alone."""
        import pyarrow as pa

        headers = []
        for file in self.files:
            with file.opened() as path, _open(path, None, None) as reader:
                check_names(file, reader.schema.names)
                headers.append((path, pa.schema([(name, pa.string()) for name in reader.schema.names])))
        return common_schema(headers)

    def _find(self) -> Found:
        import pyarrow as pa

        strings = self._strings()
        looks = {name: Looks() for name in strings.names}
        counts = []
        for file in self.files:
            rows = 0
            for batch in watched(self._read(file, strings, strings.names), f"finding types in {file.path}"):
                rows += batch.num_rows
                for name, look in looks.items():
                    look.see(batch.column(name))
            counts.append(rows)
        return Found(pa.schema([(name, look.type) for name, look in looks.items()]), tuple(counts))

    def _read(self, file: DataFile, schema: pa.Schema, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with file.opened() as path:
            try:
                with _open(path, schema, columns) as reader:
                    yield from reader
            except ValueError as error:
                sentence = _wrong_cell(path, str(error))
                if sentence is None:
                    raise
                raise DataError(sentence) from error


def _open(path: str, schema: pa.Schema | None, columns: Sequence[str] | None) -> Any:
    import pyarrow as pa
    import pyarrow.csv

    tabs = re.search(r"\.tsv(\.\w+)?$", path.lower()) is not None
    convert = pa.csv.ConvertOptions(
        null_values=list(MISSING),
        true_values=[*TRUE, "1"],
        false_values=[*FALSE, "0"],
        strings_can_be_null=True,
        column_types=schema,
        include_columns=columns,
    )
    parse = pa.csv.ParseOptions(
        delimiter="\t" if tabs else ",",
        newlines_in_values=True,
        # Of a single column, an empty line is a missing cell; elsewhere it is nothing.
        ignore_empty_lines=schema is None or len(schema) > 1,
    )
    return pa.csv.open_csv(
        pa.input_stream(path, compression="detect"),
        read_options=pa.csv.ReadOptions(block_size=BLOCK),
        parse_options=parse,
        convert_options=convert,
    )


def _wrong_cell(path: str, message: str) -> str | None:
    """Name the column of a cell that is not of its type, which pyarrow counts from 0."""
    found = re.search(r"column #(\d+).*CSV conversion error to (\w+).*: (invalid value .*)", message)
    if found is None:
        return None
    with _open(path, None, None) as reader:
        name = reader.schema.names[int(found[1])]
    wanted = {"double": "a number", "bool": "true or false", "timestamp": "a date"}.get(found[2], found[2])
    return f"{path}: column {name!r} should hold {wanted}, but has an {found[3]}: mend or empty that cell."


class Csv(FileFormat):
    """Text with commas or tabs: slow, and without types, but everywhere."""

    name = "csv"
    endings = tuple(f"{kind}{packed}" for kind in (".csv", ".tsv") for packed in ("", ".gz", ".bz2", ".zst"))

    @classmethod
    def open(cls, files: Sequence[DataFile]) -> ArrowStream:
        """Types are found when they are asked for."""
        return CsvFiles(files)
