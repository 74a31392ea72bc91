"""Files of tables: which ones a path means, what to say when one is damaged, and the contract of a format."""

from __future__ import annotations

import glob
import os
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, TypeGuard

from surefit.core.errors import DataError
from surefit.core.registry import Registered, members
from surefit.data.stream import ArrowStream


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file as it was when it was first looked at; every pass must find the same."""

    path: str
    size: int
    modified: int

    @classmethod
    def at(cls, path: str | Path) -> DataFile:
        """Look at a file; an empty one is an error."""
        with reading(str(path)):
            found = os.stat(path)
        if found.st_size == 0:
            raise DataError(f"{path} is empty: remove it, or write it again.")
        return cls(str(path), found.st_size, found.st_mtime_ns)

    @contextmanager
    def opened(self) -> Iterator[str]:
        """Check that nobody changed the file since, and turn what goes wrong into a sentence."""
        with reading(self.path):
            found = os.stat(self.path)
            if (found.st_size, found.st_mtime_ns) != (self.size, self.modified):
                raise DataError(f"{self.path} was changed while it was being read: start again.")
            yield self.path


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Say which file it was when reading fails."""
    try:
        yield
    except FileNotFoundError:
        raise DataError(f"{path} is gone: it was removed while it was being read.") from None
    except (OSError, ValueError, TypeError, KeyError, NotImplementedError) as error:
        # pyarrow's errors are of these kinds too
        if isinstance(error, DataError):
            raise
        reason = str(error).strip().split("\n")[0].rstrip(".") or type(error).__name__
        line = _line_in_another_encoding(path) if "utf" in reason.lower() else None
        if line is not None:
            raise DataError(
                f"{path} is not in UTF-8: line {line} holds bytes of another encoding; save it as UTF-8, for "
                f"example by `iconv -f latin1 -t utf-8`."
            ) from error
        raise DataError(
            f"{path} cannot be read; it is damaged, truncated or in another format: {reason}."
        ) from error


def _line_in_another_encoding(path: str) -> int | None:
    """Return the first line that is not UTF-8, counted from 1."""
    with open(path, "rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return None


@contextmanager
def files_in_place() -> Iterator[None]:
    """Say in a sentence that a file which was there is not any more."""
    try:
        yield
    except FileNotFoundError as error:
        name = error.filename or str(error)
        raise DataError(
            f"a file of the table is gone, it was there when the table was opened: {name}; "
            "put it back, or read the table anew."
        ) from error


class FileFormat(Registered, kind="file-format", folder="surefit.data.readers"):
    """One format of files; it is known by how their names end."""

    endings: ClassVar[tuple[str, ...]]

    @classmethod
    @abstractmethod
    def open(cls, files: Sequence[DataFile]) -> ArrowStream:
        """Open files, which are one table, in this order."""


@cache
def formats() -> dict[str, type[FileFormat]]:
    """Every ending, with the format that it stands for."""
    found = {}
    for member in members("file-format").values():
        assert issubclass(member, FileFormat)
        found.update(dict.fromkeys(member.endings, member))
    return found


def format_of(path: str) -> type[FileFormat] | None:
    """The format that the file's name ends in."""
    known = formats()
    endings = [ending for ending in known if path.lower().endswith(ending)]
    return known[max(endings, key=len)] if endings else None


def is_path(what: Any) -> TypeGuard[str | Path | Sequence[str | Path]]:
    """Whether it is a path, or a list of nothing but paths."""
    if isinstance(what, list | tuple):
        return len(what) > 0 and all(isinstance(entry, str | Path) for entry in what)
    return isinstance(what, str | Path)


def list_files(what: str | Path) -> list[str]:
    """The files that a path, folder or glob stands for, sorted.

    Of a folder and those below it, names that start with a dot or underscore and endings that no format has
    are passed over.
    """
    path = os.fspath(what)
    if os.path.isfile(path):
        if format_of(path) is None:
            raise DataError(f"cannot tell the format of {path}: its name must end in {', '.join(formats())}.")
        return [path]
    if os.path.isdir(path):
        names = sorted(
            str(file) for file in Path(path).rglob("*") if file.is_file() and not _hidden(file, path)
        )
        place = f"the folder {path}"
    elif glob.has_magic(path):
        names = sorted(name for name in glob.glob(path, recursive=True) if os.path.isfile(name))
        place = f"the pattern {path}"
    else:
        raise DataError(f"there is no file or folder {path}{_nearest(path)}")
    names = [name for name in names if format_of(name) is not None]
    if not names:
        raise DataError(
            f"{place} holds no data file: surefit reads names that end in {', '.join(formats())}."
        )
    return names


def one_format(names: Sequence[str], place: str) -> type[FileFormat]:
    """The format of files, which must be one."""
    kinds = {format_of(name): name for name in reversed(names)}
    form = format_of(names[0])
    assert form is not None
    other = next((name for kind, name in kinds.items() if kind is not form), None)
    if other is not None:
        raise DataError(
            f"{place} mixes formats, {os.path.basename(names[0])} and {os.path.basename(other)}: "
            "read one of them, with a pattern such as *.parquet."
        )
    return form


def _hidden(file: Path, folder: str) -> bool:
    return any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)


def _nearest(path: str) -> str:
    folder = os.path.dirname(path) or "."
    names = os.listdir(folder) if os.path.isdir(folder) else []
    near = get_close_matches(os.path.basename(path), names, n=1)
    return f": did you mean {near[0]!r}?" if near else "."
