"""Writing files so that a reader sees the old one or the new one, never a part."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from surefit.core.errors import DataError


@contextmanager
def atomic(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a temporary file beside ``path``; when the body ends well, flush it to disk and rename it over
    ``path``.

    If anything fails, the temporary file is removed and ``path`` is as it was.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise DataError(f"cannot write {path}: the folder {path.parent} does not exist.")
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
