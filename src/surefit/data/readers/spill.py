"""Spilling: what can be read only once is written to Arrow files first, and read from there.

The files lie in a folder of their own below the system's folder for temporary files (``TMPDIR``). It goes
when the last stream that reads from it is garbage collected, and at the latest when the process ends.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from surefit.core.errors import DataError
from surefit.core.files import FULL
from surefit.data.checks.schemas import common_schema
from surefit.data.files import DataFile
from surefit.data.readers.arrow_file import ArrowFile
from surefit.data.stream import watched

if TYPE_CHECKING:
    import pyarrow as pa

FILE_BYTES = 256 * 2**20  # a part of a spilled table


class SpillFolder:
    """A folder that is removed with the object; a copy in another process only knows its name."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="surefit-")
        weakref.finalize(self, _remove, self.path, os.getpid())

    def __reduce__(self) -> tuple[type[_Elsewhere], tuple[str]]:
        return _Elsewhere, (self.path,)

    def file(self, index: int) -> str:
        """The name of a file in it."""
        return os.path.join(self.path, f"{index:06d}.arrows")


@dataclass(frozen=True, slots=True)
class _Elsewhere:
    path: str


def _remove(path: str, process: int) -> None:
    if os.getpid() == process:  # a forked child must not remove its parent's files
        shutil.rmtree(path, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Spilled:
    """Spilled files as one table, which keep their folder alive."""

    members: tuple[ArrowFile, ...]
    arrow_schema: pa.Schema
    folder: SpillFolder | _Elsewhere

    @property
    def rows(self) -> int:
        """Counted when they were written."""
        return sum(member.rows or 0 for member in self.members)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Read file after file."""
        for member in self.members:
            yield from member.batches(columns)

    def parts(self) -> Sequence[Spilled]:
        """The files."""
        return [Spilled((member,), self.arrow_schema, self.folder) for member in self.members]


@contextmanager
def room_in(folder: SpillFolder) -> Iterator[None]:
    """Say so when the disk is full, and what to do."""
    try:
        yield
    except OSError as error:
        # polars tells the number in its message alone
        told = re.search(r"os error (\d+)", str(error))
        if (int(told[1]) if told and error.errno is None else error.errno) not in FULL:
            raise
        raise DataError(
            f"the disk is full: {folder.path} has no room for the rows that are kept there; "
            "set TMPDIR to a folder on a larger disk."
        ) from error


def spill(batches: Iterable[pa.RecordBatch], schema: pa.Schema | None = None) -> Spilled:
    """Write batches to files, and return them as a stream.

    Batches that differ in type go to different files, so that they are compared as files are. ``schema`` is
    for a table without a single batch.
    """
    folder = SpillFolder()
    members: list[ArrowFile] = []
    with room_in(folder):
        for rows, name in _write(folder, watched(batches, "spilling to disk"), schema):
            members.append(ArrowFile.at(DataFile.at(name), rows))
    if not members:
        raise DataError("the table has no rows: the iterator or query gave nothing.")
    named = ((f"batch file {index} of the iterator", m.arrow_schema) for index, m in enumerate(members))
    return Spilled(tuple(members), common_schema(named), folder)


def _write(
    folder: SpillFolder, batches: Iterator[pa.RecordBatch], schema: pa.Schema | None
) -> Iterator[tuple[int, str]]:
    """Write files of at most about FILE_BYTES and of one schema each; yield rows and name of each."""
    import pyarrow as pa

    index, batch = 0, next(batches, None)
    if batch is None and schema is not None:
        batch = pa.RecordBatch.from_pylist([], schema=schema)
    while batch is not None:
        name, kind, rows, size = folder.file(index), batch.schema, 0, 0
        with pa.OSFile(name, "wb") as file, pa.ipc.new_stream(file, kind) as writer:
            while batch is not None and batch.schema.equals(kind) and size < FILE_BYTES:
                writer.write_batch(batch)
                rows, size = rows + batch.num_rows, size + batch.nbytes
                batch = next(batches, None)
        yield rows, name
        index += 1
