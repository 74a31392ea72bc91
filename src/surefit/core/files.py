"""Writing files so that a reader sees the old one or the new one, never a part."""

from __future__ import annotations

import errno
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from surefit.core.errors import DataError

try:
    import fcntl
except ImportError:  # Windows, which keeps a file that is open from being removed
    fcntl = None  # type: ignore[assignment]

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # how a system says that there is no room


@contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """Give an error of writing the name of the file, which a write to an open one does not know."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


@contextmanager
def atomic(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a temporary file beside ``path``; when the body ends well, flush it to disk and rename it over
    ``path``.

    If anything fails, the temporary file is removed and ``path`` is as it was. What a process that was killed
    has left there of ``path`` is removed, too; who is still at it holds a lock.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise DataError(f"cannot write {path}: the folder {path.parent} does not exist.")
    _remove_left_behind(path)
    temporary, file = _opened_beside(path)
    try:
        with naming(path), file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if fcntl is not None:  # else it can only be renamed once it is closed
                os.replace(temporary, path)
        if fcntl is None:
            os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _opened_beside(path: Path) -> tuple[Path, IO[bytes]]:
    """A new file beside ``path``, locked until it is closed."""
    while True:
        # Not by tempfile, whose files nobody else may read: who may is for the user's umask to say.
        temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.part")
        file = temporary.open("xb")
        if not _is_locked_now(file) or temporary.exists():
            return temporary, file
        file.close()  # somebody took it for left behind before it was locked


def _remove_left_behind(path: Path) -> None:
    """Remove the temporary files of ``path`` that nobody holds."""
    of_path = re.compile(re.escape(f".{path.name[:100]}.") + r"[0-9a-f]{16}\.part")
    for name in filter(of_path.fullmatch, os.listdir(path.parent)):
        with suppress(OSError), (path.parent / name).open("rb") as file:  # gone by now, or not ours to remove
            if _is_locked_now(file):
                (path.parent / name).unlink()


def _is_locked_now(file: IO[bytes]) -> bool:
    """Whether the file could be locked, which it stays until it is closed or its process ends."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # another's, or a file system without locks
        return False
    return True
