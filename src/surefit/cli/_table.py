"""The table that a verb reads: a path, a folder, a pattern or standard input, and what is said about it."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import click

from surefit.cli._frame import together
from surefit.core.errors import DataError
from surefit.core.files import naming

KINDS = ("number", "category", "boolean", "date", "text", "identifier", "constant")
HEAD = 64 * 1024  # bytes of standard input that its format is told from
_MAGIC = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\xff\xff\xff\xff": ".arrows"}


@dataclass(frozen=True, slots=True)
class Chosen:
    """A table and what the options say about it.

    path: where it lies; for standard input, where it was put. name: for people.
    """

    path: str
    name: str
    target: str | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    task: str | None = None
    weight: str | None = None
    drop: tuple[str, ...] = ()
    sample: int | None = None
    kept: Any = None  # holds a temporary folder open

    def table(self) -> Any:
        """What ``surefit.read`` and ``surefit.learn`` take: the path, or the sample that was asked for."""
        if self.sample is None:
            return self.path
        from surefit.study.table.stream import sample, stream_of

        return sample(stream_of(self.path)[0], self.sample)


class _KindType(click.ParamType):
    name = "NAME=KIND"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Read NAME=KIND; a name may hold an equals sign itself."""
        if isinstance(value, tuple):
            return value
        name, sign, kind = value.rpartition("=")
        if not sign or not name or kind not in KINDS:
            self.fail(f"{value!r} must be NAME=KIND, with a kind of {', '.join(KINDS)}.", param, ctx)
        return name, kind


def table_options(*, target: bool = True, weight: bool = True, learning: bool = True) -> Callable[[Any], Any]:
    """The argument TABLE and its options; a command takes them as keywords and hands them to ``chosen``.

    target, weight: whether the verb takes them; learning: whether it decides kinds and a task.
    """
    options: list[Callable[[Any], Any]] = [click.argument("table")]
    if target:
        options.append(click.option("--target", metavar="NAME", help="The column to predict."))
    if weight:
        options.append(
            click.option("--weight", metavar="NAME", help="The column that says how often a row counts.")
        )
    if learning:
        options += [
            click.option(
                "--kind",
                "kinds",
                type=_KindType(),
                multiple=True,
                help=f"What a column is: {', '.join(KINDS)}; may be repeated.",
            ),
            click.option(
                "--task", type=click.Choice(["regression", "classification"]), help="What is to be learnt."
            ),
        ]
    options += [
        click.option("--drop", metavar="NAME", multiple=True, help="Leave a column out; may be repeated."),
        click.option(
            "--sample", metavar="ROWS", type=click.IntRange(min=1), help="Use so many rows, drawn at random."
        ),
    ]
    return together(*options)


def chosen(
    table: str,
    *,
    target: str | None = None,
    weight: str | None = None,
    kinds: tuple[tuple[str, str], ...] = (),
    task: str | None = None,
    drop: tuple[str, ...] = (),
    sample: int | None = None,
) -> Chosen:
    """Put together what the options of ``table_options`` say; standard input is written to a file first."""
    path, name, kept = table, table, None
    if table == "-":
        path, kept = _spooled(sys.stdin.buffer)
        name = "standard input"
    for where, column in (("--weight", weight), *(("--drop", entry) for entry in drop)):
        if target is not None and column == target:
            raise DataError(f"{where} names the target {target!r}: name another column.")
    return Chosen(path, name, target, dict(kinds), task, weight, drop, sample, kept)


def _spooled(stream: IO[bytes]) -> tuple[str, Any]:
    """Write standard input to a file of a name that tells its format; it goes with what is returned."""
    head = stream.read(HEAD)
    if not head.strip():
        raise DataError("standard input is empty: pipe a table into it, or name a file.")
    folder = tempfile.mkdtemp(prefix="surefit-")
    path = Path(folder) / f"standard-input{sniffed(head)}"
    holder = _Folder()
    weakref.finalize(holder, shutil.rmtree, folder, ignore_errors=True)
    with naming(path), path.open("wb") as file:
        file.write(head)
        shutil.copyfileobj(stream, file)
    return str(path), holder


class _Folder:
    """Something that can be waited for to go."""


def sniffed(head: bytes) -> str:
    """The ending that fits the first bytes of a table.

    >>> sniffed(b"a,b\\n1,2\\n"), sniffed(b'{"a": 1}\\n'), sniffed(b"a\\tb\\n"), sniffed(b"PAR1...")
    ('.csv', '.jsonl', '.tsv', '.parquet')
    """
    magic = next((ending for start, ending in _MAGIC.items() if head.startswith(start)), None)
    if magic is not None:
        return magic
    packed = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\x28\xb5\x2f\xfd": ".zst"}
    if (ending := next((e for start, e in packed.items() if head.startswith(start)), None)) is not None:
        return f".csv{ending}"
    text = head.lstrip(b"\xef\xbb\xbf \r\n")
    if re.match(rb"\{\s*(\"|\})", text):
        return ".jsonl"
    line = text.split(b"\n", 1)[0]
    return ".tsv" if b"\t" in line and line.count(b"\t") > line.count(b",") else ".csv"
