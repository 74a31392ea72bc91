r"""A 64-bit number for each cell, equal for equal values: what distinct values and copies are counted by.

Text hashes to :math:`\sum_i b_i P^i` over its bytes, numbers to their bits, each stirred at the end. It is
the same in every process and on every machine, so that results can be repeated. Nothing here withstands
somebody who makes collisions on purpose: a count may then be too low.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa


Hashes = NDArray[np.uint64]
BYTES = 2**20  # of text that are hashed at once
_P = 0x9E3779B97F4A7C15  # odd, so that it has an inverse
_INVERSE = pow(_P, -1, 2**64)
_MISSING = np.uint64(0x6D697373696E6721)


def hash_cells(cells: pa.Array) -> Hashes:
    """Hash each cell; a missing one, NaN among them, always to the same number.

    >>> import pyarrow as pa
    >>> one, two = hash_cells(pa.array(["a", "b", "a"])), hash_cells(pa.array([1.0, 2.0, None]))
    >>> bool(one[0] == one[2] != one[1]), bool(two[0] == hash_cells(pa.array([1]))[0])
    (True, True)
    """
    import pyarrow as pa
    import pyarrow.types as t

    if isinstance(cells, pa.ChunkedArray):
        cells = cells.combine_chunks()
    if len(cells) == 0:
        return np.zeros(0, dtype=np.uint64)
    if t.is_null(cells.type):
        return np.full(len(cells), _MISSING)
    if t.is_dictionary(cells.type):
        own = np.append(hash_cells(cells.dictionary), _MISSING)
        return own[cells.indices.fill_null(len(own) - 1).to_numpy(zero_copy_only=False)]
    gone = cells.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
    if t.is_string(cells.type) or t.is_large_string(cells.type) or t.is_string_view(cells.type):
        found = _of_text(cells.cast(pa.large_string()))
    else:
        if t.is_date(cells.type) or t.is_timestamp(cells.type):
            cells = cells.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
        values = cells.cast(pa.float64(), safe=False).fill_null(0.0).to_numpy(zero_copy_only=False)
        found = (values + 0.0).view(np.uint64)  # which makes one of the two zeros
    return np.where(gone, _MISSING, stirred(found))


def stirred(bits: Hashes) -> Hashes:
    """Spread every bit over the whole number."""
    with np.errstate(over="ignore"):
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def combined(one: Hashes, two: Hashes) -> Hashes:
    """Hash pairs, in their order: rows of several columns."""
    with np.errstate(over="ignore"):
        return stirred(one * np.uint64(_P) + two)


def _of_text(cells: pa.Array) -> Hashes:
    _, places, content = cells.buffers()
    offsets = np.frombuffer(places, np.int64)[cells.offset : cells.offset + len(cells) + 1]
    data = np.zeros(0, np.uint8) if content is None else np.frombuffer(content, np.uint8)
    found = np.empty(len(cells), dtype=np.uint64)
    begin = 0
    while begin < len(cells):
        end = int(np.searchsorted(offsets, offsets[begin] + BYTES, side="right")) - 1
        end = min(max(end, begin + 1), len(cells))
        found[begin:end] = _of_block(data, offsets[begin : end + 1])
        begin = end
    return found


def _of_block(data: NDArray[Any], offsets: NDArray[np.int64]) -> Hashes:
    """Sums of bytes times powers between the offsets, from running sums."""
    size = int(offsets[-1] - offsets[0])
    with np.errstate(over="ignore"):
        bytes_ = data[offsets[0] : offsets[-1]].astype(np.uint64) + np.uint64(1)
        sums = np.concatenate([[np.uint64(0)], np.cumsum(bytes_ * _powers(_P, size), dtype=np.uint64)])
        starts, ends = offsets[:-1] - offsets[0], offsets[1:] - offsets[0]
        total = (sums[ends] - sums[starts]) * _powers(_INVERSE, size + 1)[starts]
        return np.asarray(total + (ends - starts).astype(np.uint64), dtype=np.uint64)


def _powers(base: int, count: int) -> Hashes:
    return _all_powers(base, max(BYTES, 1 << max(0, count - 1).bit_length()) + 1)[:count]


@cache
def _all_powers(base: int, count: int) -> Hashes:
    powers = np.full(count, np.uint64(base))
    powers[0] = 1
    return np.asarray(np.cumprod(powers, dtype=np.uint64))


class Digest:
    """SHA-256 of the names and cells of a table, taken as its batches pass.

    >>> import pyarrow as pa
    >>> def digest(table):
    ...     found = Digest(table.column_names)
    ...     for batch in table.to_batches():
    ...         found.see(batch)
    ...     return found.hexdigest()
    >>> digest(pa.table({"a": [1, 2]})) == digest(pa.table({"a": [1.0, 2.0]}))
    True
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._columns = {name: sha256() for name in names}

    def see(self, batch: pa.RecordBatch, start: int = 0) -> None:
        """Take in a batch."""
        for name, column in self._columns.items():
            column.update(hash_cells(batch.column(name)).tobytes())

    def hexdigest(self) -> str:
        """The digest of all batches seen."""
        whole = sha256()
        for name, column in self._columns.items():
            whole.update(f"{len(name.encode('utf-8', 'replace'))}:{name}".encode("utf-8", "replace"))
            whole.update(column.digest())
        return whole.hexdigest()
