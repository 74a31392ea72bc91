"""Streaming answers into a file, batch by batch, atomically."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.core.files import atomic

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = (".parquet", ".csv", ".arrow")


def write_columns(path: str | Path, names: Sequence[str], blocks: Iterable[NDArray[Any]]) -> None:
    """Write blocks of rows, (n,) or (n, k), under ``names``, in the format of the path's ending."""
    path = Path(path)
    if path.suffix not in FORMATS:
        raise DataError(
            f"cannot tell what to write from {path.name!r}: its name must end in {', '.join(FORMATS)}."
        )
    blocks = iter(blocks)
    first = next(blocks, None)
    if first is None:
        raise DataError(f"there are no rows to write to {path}.")
    batches = (_batch(names, block) for block in chain([first], blocks))
    try:
        with atomic(path) as file:
            _write(file, path.suffix, batches)
    except OSError as error:
        raise DataError(
            f"{path} could not be written ({error.strerror or error}): nothing was left there; "
            "make room, or choose another place."
        ) from error


def _batch(names: Sequence[str], block: NDArray[Any]) -> pa.RecordBatch:
    import pyarrow as pa

    columns = block.reshape(len(block), -1).T
    return pa.RecordBatch.from_arrays([pa.array(np.ascontiguousarray(c)) for c in columns], names=list(names))


def _write(file: IO[bytes], ending: str, batches: Iterator[pa.RecordBatch]) -> None:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    head = next(batches)
    if ending == ".parquet":
        writer = pa.parquet.ParquetWriter(file, head.schema)
    else:
        writer = (pa.csv.CSVWriter if ending == ".csv" else pa.ipc.new_file)(file, head.schema)
    with writer:
        for batch in chain([head], batches):
            writer.write_batch(batch)
