"""One table in every form that surefit reads; a function each, because some forms can be read only once."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet
import scipy.sparse as sp

CUTS = (0, 17, 17, 40, None)  # where tables are cut into files and batches; one piece is empty
Form = Callable[[pa.Table, Path], Any]


def pieces(table: pa.Table) -> list[pa.Table]:
    """Cut a table."""
    stops = [table.num_rows if stop is None else stop for stop in CUTS]
    return [table.slice(a, b - a) for a, b in pairwise(stops)]


def pandas_of(table: pa.Table) -> pd.DataFrame:
    return table.to_pandas()


def csv_file(table: pa.Table, folder: Path) -> Path:
    pa.csv.write_csv(table, folder / "table.csv")
    return folder / "table.csv"


def csv_folder(table: pa.Table, folder: Path) -> Path:
    for number, piece in enumerate(pieces(table)):
        pa.csv.write_csv(piece, folder / f"{number}.csv")
    return folder


def compressed_csv(table: pa.Table, folder: Path) -> Path:
    with pa.output_stream(folder / "table.csv.gz", compression="gzip") as file:
        pa.csv.write_csv(table, file)
    return folder / "table.csv.gz"


def tsv_file(table: pa.Table, folder: Path) -> Path:
    pa.csv.write_csv(table, folder / "table.tsv", pa.csv.WriteOptions(delimiter="\t"))
    return folder / "table.tsv"


def json_lines(table: pa.Table, folder: Path) -> Path:
    lines = [json.dumps(row, default=str) for row in table.to_pylist()]
    (folder / "table.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "table.jsonl"


def parquet_file(table: pa.Table, folder: Path) -> Path:
    pa.parquet.write_table(table, folder / "table.parquet", row_group_size=9)
    return folder / "table.parquet"


def parquet_glob(table: pa.Table, folder: Path) -> str:
    for number, piece in enumerate(pieces(table)):
        pa.parquet.write_table(piece, folder / f"part-{number}.parquet")
    return f"{folder}/part-*.parquet"


def feather_file(table: pa.Table, folder: Path) -> Path:
    pa.feather.write_feather(table, folder / "table.feather", chunksize=13)
    return folder / "table.feather"


def arrow_stream(table: pa.Table, folder: Path) -> Path:
    with pa.ipc.new_stream(folder / "table.arrows", table.schema) as writer:
        writer.write_table(table, max_chunksize=13)
    return folder / "table.arrows"


def dataset(table: pa.Table, folder: Path) -> pa.dataset.Dataset:
    parquet_glob(table, folder)
    return pa.dataset.dataset(folder)


def reader(table: pa.Table, folder: Path) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=13))


NAMED: dict[str, Form] = {
    "pandas": lambda table, folder: pandas_of(table),
    "polars": lambda table, folder: pl.from_arrow(table),
    "polars lazy": lambda table, folder: pl.from_arrow(table).lazy(),
    "arrow table": lambda table, folder: table,
    "arrow record batch": lambda table, folder: table.combine_chunks().to_batches()[0],
    "arrow reader": reader,
    "arrow dataset": dataset,
    "arrow scanner": lambda table, folder: dataset(table, folder).scanner(),
    "iterator of frames": lambda table, folder: (pandas_of(piece) for piece in pieces(table)),
    "iterator of tables": lambda table, folder: iter(pieces(table)),
    "dask frame": lambda table, folder: dd.from_pandas(pandas_of(table), npartitions=3),
    "Parquet": parquet_file,
    "Parquet files": parquet_glob,
    "CSV": csv_file,
    "CSV folder": csv_folder,
    "CSV.gz": compressed_csv,
    "TSV": tsv_file,
    "JSON lines": json_lines,
    "Feather": feather_file,
    "Arrow stream file": arrow_stream,
}


def _cut(*arrays: Any) -> Any:
    stops = [len(arrays[-1]) if stop is None else stop for stop in CUTS]
    return [tuple(array[a:b] for array in arrays) for a, b in pairwise(stops) if a < b]


def _beside(y: Any) -> dict[str, Any]:
    return {} if y is None else {"target": y}


# Plain matrices: what to read, and what surefit.read is told beside it.
PLAIN: dict[str, Callable[[Any, Any], tuple[Any, dict[str, Any]]]] = {
    "C order": lambda X, y: (np.ascontiguousarray(X), _beside(y)),
    "Fortran order": lambda X, y: (np.asfortranarray(X), _beside(y)),
    "strided": lambda X, y: (np.repeat(X, 2, axis=1)[:, ::2], _beside(y)),
    "nested lists": lambda X, y: (X.tolist(), _beside(y)),
    "CSR matrix": lambda X, y: (sp.csr_matrix(X), _beside(y)),
    "CSC array": lambda X, y: (sp.csc_array(X), _beside(y)),
    "COO array": lambda X, y: (sp.coo_array(X), _beside(y)),
    "iterator of arrays": lambda X, y: (
        iter(_cut(X, y)) if y is not None else (pair[0] for pair in _cut(X)),
        {},
    ),
    "iterator of sparse": lambda X, y: (
        ((sp.csr_array(a[0]), *a[1:]) for a in (_cut(X, y) if y is not None else _cut(X))),
        {},
    ),
    "dask array": lambda X, y: (
        da.from_array(X, chunks=(25, 3)),
        {} if y is None else {"target": da.from_array(y, chunks=20)},
    ),
    "dask array, array y": lambda X, y: (da.from_array(X, chunks=(25, -1)), _beside(y)),
}
