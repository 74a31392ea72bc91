"""Writing files so that a reader sees the old one or the new one, never a part."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from surefit.core.errors import DataError

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

    If anything fails, the temporary file is removed and ``path`` is as it was.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise DataError(f"cannot write {path}: the folder {path.parent} does not exist.")
    # Not by tempfile, whose files nobody else may read: who may is for the user's umask to say.
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.part")
    try:
        with naming(path), temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
