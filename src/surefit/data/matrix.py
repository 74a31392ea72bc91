"""Plain numbers as a source: matrices without names, whose target may stand beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.data.batches.batch import Batch
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.data.stream import MatrixStream


@dataclass(frozen=True, slots=True)
class MatrixSource:
    """A stream of matrices; the target stays as it came until a model says what it wants of it."""

    stream: MatrixStream
    schema: Schema
    start: int = 0

    @classmethod
    def of(cls, stream: MatrixStream) -> MatrixSource:
        """Make the source of a stream."""
        shape = stream.outputs
        targets = 0 if shape is None else int(np.prod(shape, dtype=int))
        schema = Schema(stream.width, None, stream.rows, targets=targets, target_is_flat=shape in (None, ()))
        return cls(stream, schema)

    def __iter__(self) -> Iterator[Batch]:
        start = self.start
        for block in self.stream.blocks():
            weight = None if block.weight is None else floats(block.weight, "weight")
            yield Batch(matrix(block.X), self._target(block.y), weight, start)
            start += block.X.shape[0]

    def _target(self, y: NDArray[Any] | None) -> NDArray[Any] | None:
        if y is None:
            return None
        classes = self.schema.classes
        if classes is None:
            return floats(y, "target")
        if y.dtype == object:
            code = {label: place for place, label in enumerate(classes.tolist())}
            return np.array([code.get(label, -1) for label in y.tolist()], dtype=np.int64)
        places = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
        return np.where(classes[places] == y, places, -1).astype(np.int64)

    @property
    def engine(self) -> str | None:
        """The engine that suits the stream."""
        return getattr(self.stream, "engine", None)

    def parts(self) -> Sequence[Source]:
        """One piece for each independent part of the stream."""
        pieces, start = [], self.start
        for part in self.stream.parts():
            pieces.append(MatrixSource(part, self.schema, start))
            start += part.rows or 0
        return pieces


def matrix(X: Any) -> Any:
    """A float matrix: an array that is contiguous, or CSR; float32 stays what it is."""
    if not isinstance(X, np.ndarray):
        return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    if X.dtype not in (np.float32, np.float64):
        X = floats(X, "matrix")
    return X if X.flags.forc else np.ascontiguousarray(X)


def floats(values: Any, role: str) -> NDArray[np.float64]:
    """Numbers as float64; text that is none is an error."""
    try:
        return np.ascontiguousarray(values, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise DataError(f"the {role} holds something else than numbers: {error}.") from error


def distinct_labels(y: NDArray[Any]) -> NDArray[Any]:
    """The sorted distinct values of a target, without what is missing."""
    if y.dtype != object:
        found = np.unique(y)
        known: NDArray[Any] = found[found == found]  # NaN is not equal to itself
        return known
    values = {value for value in y.ravel().tolist() if value is not None and value == value}
    try:
        return np.array(sorted(values))
    except TypeError:
        kinds = ", ".join(sorted({type(value).__name__ for value in values}))
        raise DataError(f"y mixes types that cannot be compared: {kinds}; use one of them.") from None
