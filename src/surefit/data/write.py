"""Streaming answers into a file, batch by batch, atomically."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.core.files import atomic

FORMATS = (".parquet", ".csv", ".arrow")


def write_columns(path: str | Path, names: Sequence[str], blocks: Iterable[NDArray[Any]]) -> None:
    """Write blocks of rows, (n,) or (n, k), under ``names``, in the format of the path's ending."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    path = Path(path)
    if path.suffix not in FORMATS:
        raise DataError(
            f"cannot tell what to write from {path.name!r}: its name must end in {', '.join(FORMATS)}."
        )
    blocks = iter(blocks)
    first = next(blocks, None)
    if first is None:
        raise DataError(f"there are no rows to write to {path}.")

    def batch(block: NDArray[Any]) -> pa.RecordBatch:
        columns = block.reshape(len(block), -1).T
        return pa.RecordBatch.from_arrays(
            [pa.array(np.ascontiguousarray(c)) for c in columns], names=list(names)
        )

    head = batch(first)
    with atomic(path) as file:
        if path.suffix == ".parquet":
            writer = pa.parquet.ParquetWriter(file, head.schema)
        elif path.suffix == ".csv":
            writer = pa.csv.CSVWriter(file, head.schema)
        else:
            writer = pa.ipc.new_file(file, head.schema)
        with writer:
            writer.write_batch(head) if path.suffix == ".parquet" else writer.write(head)
            for block in blocks:
                writer.write_batch(batch(block)) if path.suffix == ".parquet" else writer.write(batch(block))
