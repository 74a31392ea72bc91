"""Files of text, packed or not, which are not unpacked without end.

A packed file may stand for a thousand times its size and more. One that does is not read to its end, so that
what it costs to look at a file, in memory and in time, is bounded by its size.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, closing
from typing import Any

from surefit.core.errors import DataError

BLOCK = 4 * 2**20  # bytes of text that are parsed at once
PACKED = (".gz", ".bz2", ".zst")  # endings of packed files
# Tables of text shrink to a third or a tenth, those of nearly nothing but zeros to a fiftieth; gzip cannot go
# below a 1032nd, the others can go to a millionth. What takes seconds to read is always allowed.
MOST_TIMES = 200
MOST_BYTES = 256 * 2**20


class Allowance:
    """How many bytes a file may give: any number unless it is packed."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._size = os.stat(path).st_size if path.lower().endswith(PACKED) else None
        self._taken = 0

    def take(self, count: int, packed: int | None = None) -> None:
        """Count bytes, which came out of so many packed ones, or of the whole file; too many are an error."""
        self._taken += count
        packed = self._size if packed is None else packed
        if self._size is None or packed is None or self._taken <= max(MOST_BYTES, MOST_TIMES * packed):
            return
        raise DataError(
            f"{self._path} has {self._size:,} bytes and unpacks to more than {self._taken // 10**6:,} MB, "
            "as a trap would: if you trust it, unpack it to a file, and read that."
        )


class _Unpacked:
    """As much of a file of Python's as pyarrow asks for."""

    def __init__(self, path: str) -> None:
        import pyarrow as pa

        self._allowance = Allowance(path)
        self._packed = pa.OSFile(path)
        self._file = pa.CompressedInputStream(self._packed, pa.Codec.detect(path).name)

    def read(self, size: int = -1) -> bytes:
        """Read on."""
        block: bytes = self._file.read(BLOCK if size < 0 else size)
        self._allowance.take(len(block), self._packed.tell())
        return block

    def readable(self) -> bool:
        """It is."""
        return True

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return bool(self._file.closed)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()
        self._packed.close()


def unpacked(path: str) -> AbstractContextManager[Any]:
    """Open a file for reading; what is packed, by its ending, is unpacked, up to a bound.

    What comes out has ``read`` and can be handed to pyarrow; a file that is not packed is pyarrow's own.
    """
    import pyarrow as pa

    if path.lower().endswith(PACKED):
        return closing(_Unpacked(path))
    plain: AbstractContextManager[Any] = pa.input_stream(path, compression=None)
    return plain
