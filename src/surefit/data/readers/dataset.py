"""pyarrow's datasets, and folders partitioned into ``key=value``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from surefit.core.errors import DataError
from surefit.data.files import DataFile, FileFormat, reading
from surefit.data.read import Reader
from surefit.data.stream import ArrowStream, Chain, batch_rows
from surefit.data.unpacked import Allowance

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as ds


@dataclass(frozen=True, slots=True)
class DatasetPiece:
    """One file of a dataset; or the whole, where a filter keeps it from being taken apart."""

    piece: ds.Fragment | ds.Dataset
    arrow_schema: pa.Schema

    @property
    def rows(self) -> int | None:
        """What a Parquet file says in its footer; elsewhere counting would mean reading."""
        import pyarrow.dataset as ds

        with reading(getattr(self.piece, "path", "the dataset")):
            return self.piece.count_rows() if isinstance(self.piece, ds.ParquetFileFragment) else None

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Scan with as little ahead as pyarrow can."""
        import pyarrow.dataset as ds

        names = self.arrow_schema.names if columns is None else list(columns)
        schema = {"schema": self.arrow_schema} if isinstance(self.piece, ds.Fragment) else {}
        path = getattr(self.piece, "path", "the dataset")
        with reading(path):
            allowance = Allowance(path)
            for batch in self.piece.to_batches(
                columns=names,
                batch_size=batch_rows(8 * len(names)),
                batch_readahead=1,
                fragment_readahead=1,
                **schema,
            ):
                allowance.take(batch.nbytes)
                yield batch

    def parts(self) -> Sequence[ArrowStream]:
        """A piece is one."""
        return (self,)


def dataset_stream(dataset: ds.Dataset) -> ArrowStream:
    """Put the files in the order of their names; each is read by the schema of the whole."""
    try:
        fragments = list(dataset.get_fragments())
    except ValueError:  # a filtered dataset does not show its fragments
        return DatasetPiece(dataset, dataset.schema)
    if not fragments:
        raise DataError("the dataset has no files, so there is nothing to read.")
    fragments.sort(key=lambda fragment: getattr(fragment, "path", ""))
    return Chain(tuple(DatasetPiece(fragment, dataset.schema) for fragment in fragments), dataset.schema)


def hive_dataset(folder: str, form: type[FileFormat], names: Sequence[str]) -> ArrowStream:
    """Open a partitioned folder, after its files were found to agree."""
    import pyarrow.dataset as ds

    form.open([DataFile.at(name) for name in names])
    if form.name not in ("parquet", "csv", "arrow"):
        raise DataError(
            f"the folder {folder} is partitioned, which surefit reads for Parquet, CSV and Arrow only."
        )
    with reading(folder):
        partitioning = ds.partitioning(flavor="hive")
        return dataset_stream(
            ds.dataset(list(names), format=form.name, partitioning=partitioning, partition_base_dir=folder)
        )


class DatasetReader(Reader):
    """pyarrow.dataset.Dataset, with its own schema, filter and partitioning."""

    name = "arrow-dataset"
    opens = "pyarrow datasets"

    @classmethod
    def takes(cls, what: Any) -> bool:
        """Look at the type's own name, so that pyarrow need not be imported."""
        return type(what).__module__ == "pyarrow._dataset" and type(what).__name__.endswith("Dataset")

    @classmethod
    def open(cls, what: Any) -> ArrowStream:
        """List its files."""
        return dataset_stream(what)
