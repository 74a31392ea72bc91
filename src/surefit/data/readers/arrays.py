"""numpy arrays, lists, and scipy's sparse matrices: rows in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.data.files import is_path
from surefit.data.matrix import distinct_labels
from surefit.data.read import Reader
from surefit.data.readers.arrow_table import ArrowTable
from surefit.data.stream import Block, MatrixStream, Role


@dataclass(frozen=True)
class ArrayStream(MatrixStream):
    """A matrix in memory: one block, without a copy."""

    X: Any
    y: NDArray[Any] | None = None
    weight: NDArray[Any] | None = None
    engine = "serial"  # kernels split it among threads themselves

    @property
    def width(self) -> int:
        """How many columns."""
        return int(self.X.shape[1])

    @property
    def rows(self) -> int:
        """How many rows."""
        return int(self.X.shape[0])

    @property
    def outputs(self) -> tuple[int, ...] | None:
        """The shape of one row's target."""
        return None if self.y is None else self.y.shape[1:]

    def blocks(self) -> Iterator[Block]:
        """All at once."""
        yield Block(self.X, self.y, self.weight)

    def distinct_targets(self) -> Iterable[NDArray[Any]]:
        """The distinct targets."""
        assert self.y is not None
        return [distinct_labels(self.y)]

    def beside(self, role: Role, values: Any) -> ArrayStream:
        """Join a target or weights, one entry a row."""
        column = np.asarray(values)
        if column.ndim not in (1, 2) or len(column) != self.rows:
            raise DataError(f"the {role} has shape {column.shape}, but X has {self.rows} rows.")
        return replace(self, **{"y" if role == "target" else "weight": column})


class ArrayReader(Reader):
    """numpy arrays and nested lists; an array of text or of records is a table."""

    name = "array"
    opens = "numpy arrays and nested lists"
    in_memory = True

    @classmethod
    def takes(cls, what: Any) -> bool:
        """Arrays, lists and tuples; but not lists of paths."""
        return isinstance(what, np.ndarray | list | tuple) and not is_path(what)

    @classmethod
    def open(cls, what: Any) -> ArrayStream | ArrowTable:
        """Numbers are a matrix; text gets columns x0, x1, ... of its own kinds."""
        if not isinstance(what, np.ndarray) and len(what) == 0:
            raise DataError("the list is empty: give rows, or paths of files.")
        array = np.asarray(what)
        if array.dtype.names is not None:
            return _table({name: array[name] for name in array.dtype.names})
        if array.ndim != 2:
            raise DataError(
                f"the array has {array.ndim} dimensions: a table has two; X.reshape(-1, 1) is one column."
            )
        if array.dtype.kind in "fiub":
            return ArrayStream(array)
        if array.dtype.kind in "OUMT":
            return _table({f"x{j}": array[:, j] for j in range(array.shape[1])})
        raise DataError(
            f"the array holds {array.dtype}, which is not a supported type: convert it to numbers or text."
        )


def _table(columns: dict[str, Any]) -> ArrowTable:
    import pyarrow as pa

    arrays = {}
    for name, values in columns.items():
        try:
            arrays[name] = pa.array(values.tolist() if values.dtype == object else values, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
            raise DataError(f"column {name!r} mixes types: {error}; turn it into numbers or text.") from error
    return ArrowTable(pa.table(arrays))


class SparseReader(Reader):
    """scipy's sparse matrices and arrays, of any format."""

    name = "sparse"
    opens = "scipy sparse matrices"
    in_memory = True

    @classmethod
    def takes(cls, what: Any) -> bool:
        """Look at where the type comes from, so that scipy need not be imported."""
        return type(what).__module__.startswith("scipy.sparse") and hasattr(what, "tocsr")

    @classmethod
    def open(cls, what: Any) -> ArrayStream:
        """By rows."""
        return ArrayStream(to_csr(what))


def to_csr(what: Any) -> Any:
    """Rows of a sparse matrix, as float32 or float64."""
    if what.ndim != 2 or what.dtype.kind not in "fiub":
        raise DataError(
            f"the sparse matrix holds {what.dtype} in {what.ndim} dimensions: it must be numbers in two."
        )
    rows = what.tocsr()
    return rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)
