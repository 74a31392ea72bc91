"""CSV and TSV files, plain or compressed, with a header or without."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from surefit.core.diagnosis import listed
from surefit.core.errors import DataError
from surefit.data.checks.schemas import common_schema, is_number
from surefit.data.files import DataFile, FileFormat
from surefit.data.readers.text import InferredSchema, TextFiles, check_names
from surefit.data.readers.text_types import FALSE, MISSING, TRUE, InferredType
from surefit.data.stream import ArrowStream, watched
from surefit.data.unpacked import BLOCK, PACKED, unpacked

if TYPE_CHECKING:
    import pyarrow as pa


class CsvFiles(TextFiles):
    """Files of one header; a cell is a number, true or false, an ISO date, or text.

    header: whether the first row holds names; None for yes, unless all of them are numbers.
    """

    def __init__(self, files: Sequence[DataFile], header: bool | None = None) -> None:
        super().__init__(files)
        self.header = header

    def headed(self, header: bool) -> CsvFiles:
        """The same files, with a header or without."""
        return CsvFiles(self.files, header)

    def _names(self) -> list[str]:
        return list(self._strings().names)

    def _strings(self) -> pa.Schema:
        """All columns as text, from the headers alone."""
        import pyarrow as pa

        headers = []
        for file in self.files:
            names = self._names_in(file)
            headers.append((file.path, pa.schema([(name, pa.string()) for name in names])))
        return common_schema(headers)

    def _names_in(self, file: DataFile) -> list[str]:
        with file.opened() as path, _open(path, header=self.header is not False) as reader:
            names: list[str] = reader.schema.names
        if self.header is False:
            return [f"column_{place}" for place in range(len(names))]
        if self.header is None and all(map(is_number, names)):
            raise DataError(
                f"{file.path} starts with a row of numbers, {listed(names)}: if it has no header, "
                "read it with surefit.read(..., header=False); if these are its names, with header=True."
            )
        check_names(file, names)
        return names

    def _find(self) -> InferredSchema:
        import pyarrow as pa

        strings = self._strings()
        looks = {name: InferredType() for name in strings.names}
        counts = []
        for file in self.files:
            rows = 0
            for batch in watched(self._read(file, strings, strings.names), f"finding types in {file.path}"):
                rows += batch.num_rows
                for name, look in looks.items():
                    look.see(batch.column(name))
            counts.append(rows)
        return InferredSchema(pa.schema([(name, look.type) for name, look in looks.items()]), tuple(counts))

    def _read(self, file: DataFile, schema: pa.Schema, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with file.opened() as path:
            try:
                with _open(path, schema, columns, header=self.header is not False) as reader:
                    yield from reader
            except ValueError as error:
                sentence = self._wrong_cell(file, str(error))
                if sentence is None:
                    raise
                raise DataError(sentence) from error

    def _wrong_cell(self, file: DataFile, message: str) -> str | None:
        """Name the column of a cell that is not of its type, which pyarrow counts from 0."""
        found = re.search(r"column #(\d+).*CSV conversion error to (\w+).*: (invalid value .*)", message)
        if found is None:
            return None
        name = self._names_in(file)[int(found[1])]
        wanted = {"double": "a number", "bool": "true or false", "timestamp": "a date"}.get(
            found[2], found[2]
        )
        wrong = f"column {name!r} should hold {wanted}, but has an {found[3]}"
        return f"{file.path}: {wrong}: fix or empty that cell."


@contextmanager
def _open(
    path: str,
    schema: pa.Schema | None = None,
    columns: Sequence[str] | None = None,
    *,
    header: bool = True,
) -> Iterator[Any]:
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
    reading = pa.csv.ReadOptions(
        block_size=BLOCK,
        column_names=None if header or schema is None else schema.names,
        autogenerate_column_names=not header and schema is None,
    )
    with unpacked(path) as file, pa.csv.open_csv(file, reading, parse, convert) as reader:
        yield reader


class Csv(FileFormat):
    """Text with commas or tabs: slow, and without types, but everywhere."""

    name = "csv"
    endings = tuple(f"{kind}{packed}" for kind in (".csv", ".tsv") for packed in ("", *PACKED))

    @classmethod
    def open(cls, files: Sequence[DataFile]) -> ArrowStream:
        """Types are found when they are asked for."""
        return CsvFiles(files)
