"""Files of tables: which ones a path means, what to say when one is damaged, and the contract of a format."""

from __future__ import annotations

import codecs
import errno
import glob
import os
import stat
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
from surefit.data.unpacked import BLOCK, unpacked


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file as it was when it was first looked at; every pass must find the same."""

    path: str
    size: int
    modified: int

    @classmethod
    def at(cls, path: str | Path) -> DataFile:
        """Look at a file; an empty one is an error, and so is what is no file."""
        with reading(str(path)):
            found = os.stat(path)
        check_regular(str(path))
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
    """Say which file it was when reading fails, and of what: only what is left over counts as damaged."""
    try:
        yield
    except FileNotFoundError:
        raise DataError(f"{path} is gone: it was removed while it was being read.") from None
    except MemoryError as error:  # pyarrow's too
        raise DataError(
            f"{path} cannot be read, for there is not enough memory for a part of it: read fewer columns, "
            "write it in smaller row groups or batches, or take a machine with more."
        ) from error
    except (OSError, ValueError, TypeError, KeyError, NotImplementedError) as error:
        # pyarrow's errors are of these kinds too
        if isinstance(error, DataError):
            raise
        refused = _refusal(path, error)
        if refused is not None:
            raise DataError(refused) from error
        reason = str(error).strip().split("\n")[0].rstrip(".") or type(error).__name__
        if "straddling object" in reason:
            raise DataError(
                f"{path} has a row of more than {BLOCK // 10**6} MB: look for a quote that is never closed, "
                "or for line ends that are missing."
            ) from error
        line = _line_in_another_encoding(path) if "utf" in reason.lower() else None
        if line is not None:
            raise DataError(
                f"{path} is not in UTF-8: line {line} holds bytes of another encoding; save it as UTF-8, for "
                f"example by `iconv -f latin1 -t utf-8`."
            ) from error
        raise DataError(
            f"{path} cannot be read; it is damaged, truncated or in another format: {reason}."
        ) from error


def _refusal(path: str, error: Exception) -> str | None:
    """What the system says against a file, as a sentence; None where it had nothing against it."""
    if not isinstance(error, OSError):
        return None
    said = {
        errno.EACCES: f"{path} may not be read by this user: allow it, as by `chmod +r`, or copy it.",
        errno.EIO: f"the disk fails to give {path}: copy the file from elsewhere.",
        errno.ELOOP: f"{path} is a link that leads back to itself: make it anew, or name the file.",
        errno.ENAMETOOLONG: f"the path {path[:40]}... is longer than the system allows: shorten it.",
        errno.EMFILE: f"{path} cannot be opened, for too many files are open: raise `ulimit -n`.",
    }
    said[errno.EPERM] = said[errno.EACCES]
    return None if error.errno is None else said.get(error.errno)


# What a path can be that is neither a file nor a folder.
_KINDS = {
    stat.S_IFIFO: "a pipe, which can be read only once",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def check_regular(path: str) -> None:
    """Refuse what is there but is no file: broken links, pipes, devices."""
    if os.path.islink(path) and not os.path.exists(path):
        with reading(path):
            try:
                os.stat(path)
            except FileNotFoundError:
                raise DataError(
                    f"{path} is a link to {os.readlink(path)}, which does not exist: make the link anew, "
                    "or remove it."
                ) from None
    with reading(path):
        kind = _KINDS.get(stat.S_IFMT(os.stat(path).st_mode))
    if kind is not None:
        raise DataError(f"{path} is {kind}, not a file: write the table to a file, and read that.")


def _line_in_another_encoding(path: str) -> int | None:
    """Return the first line that is not UTF-8, counted from 1."""
    decoder, line = codecs.getincrementaldecoder("utf-8")(), 1
    with unpacked(path) as file:
        while block := file.read(BLOCK):
            try:
                decoder.decode(block)
            except UnicodeDecodeError as error:  # which counts from what the block before had left over
                return line + error.object[: error.start].count(b"\n")
            line += block.count(b"\n")
    return line if decoder.getstate()[0] else None  # half a character at the end


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
    if not path or "\0" in path:
        raise DataError(f"{path!r} is no path: name a file or a folder.")
    if os.path.isfile(path):
        if format_of(path) is None:
            raise DataError(f"cannot tell the format of {path}: its name must end in {', '.join(formats())}.")
        return [path]
    if os.path.isdir(path):
        names, place = _below(path), f"the folder {path}"
    elif glob.has_magic(path) and not os.path.lexists(path):
        names, place = _matching(path), f"the pattern {path}"
    else:
        _check_there(path)
        raise DataError(f"there is no file or folder {path}{_nearest(path)}")
    names = [name for name in names if format_of(name) is not None]
    if not names:
        raise DataError(
            f"{place} holds no data file: surefit reads names that end in {', '.join(formats())}."
        )
    for name in names:
        check_regular(name)  # a part of the table that is passed over would be missed by nobody
    return names


def _check_there(path: str) -> None:
    """Refuse what is there but is no file, and what no one can say of whether it is there."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return
    except NotADirectoryError:
        return
    except OSError as error:
        folder = os.path.dirname(path) or "."
        if error.errno == errno.EACCES:
            raise DataError(_closed(folder)) from error
        raise DataError(_refusal(path, error) or f"{path} cannot be looked at: {error.strerror}.") from error
    check_regular(path)


def _closed(folder: str) -> str:
    return f"the folder {folder} may not be looked into by this user: allow it, as by `chmod +rx`."


def _below(folder: str) -> list[str]:
    """All but hidden names of a folder and those below it, sorted; a closed one is an error."""

    def closed(error: OSError) -> None:
        raise DataError(_closed(error.filename)) from error

    found = []
    for place, folders, names in os.walk(folder, onerror=closed):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        found += [os.path.join(place, name) for name in names if not name.startswith((".", "_"))]
    return sorted(str(Path(name)) for name in found)


def _matching(pattern: str) -> list[str]:
    """Names that fit a pattern, but for folders, sorted; glob itself passes over closed folders."""
    folder = pattern
    while glob.has_magic(folder):
        folder = os.path.dirname(folder)
    if os.path.isdir(folder or "."):
        try:
            os.scandir(folder or ".").close()
        except PermissionError as error:
            raise DataError(_closed(folder)) from error
    return sorted(name for name in glob.glob(pattern, recursive=True) if not os.path.isdir(name))


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


def _nearest(path: str) -> str:
    folder = os.path.dirname(path) or "."
    names = os.listdir(folder) if os.path.isdir(folder) and os.access(folder, os.R_OK) else []
    near = get_close_matches(os.path.basename(path), names, n=1)
    return f": did you mean {near[0]!r}?" if near else "."
