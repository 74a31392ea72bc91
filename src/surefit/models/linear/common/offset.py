"""Offsets and exposures: what is added to the score of each row, given as values or as columns by name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.errors import DataError
from surefit.data.batches.batch import Batch
from surefit.data.schema import Schema
from surefit.data.source import ArraySource, MappedSource, Source, in_memory
from surefit.engine.base import Engine
from surefit.losses.links import Link
from surefit.stats.spread import Spread

FARTHEST = 100.0  # of a score from those of other rows: fourth powers of means of exp(100) are still numbers


def column_called(schema: Schema, name: str, role: str) -> int:
    """Return the place of a column; refuse one that the table does not have."""
    names = schema.names
    if names is None or name not in names:
        known = "its columns have no names" if names is None else f"its columns are {', '.join(names[:20])}"
        raise DataError(f"the table has no column {name!r} for the {role}: {known}.")
    return names.index(name)


def added(rows: int | None, offset: Any, exposure: Any) -> Vector | None:
    """Return what values of an offset and of an exposure add to the scores: one number a row, or None."""
    total = None
    for role, values in (("offset", offset), ("exposure", exposure)):
        if values is None or isinstance(values, str):
            continue
        each = np.asarray(values, dtype=np.float64)
        if each.ndim != 1 or (rows is not None and len(each) != rows):
            raise DataError(f"the {role} has shape {each.shape} for {rows} rows: give one number per row.")
        each = logarithm(each) if role == "exposure" else _finite(each)
        total = each if total is None else total + each
    return total


def logarithm(exposure: Vector) -> Vector:
    """Return log(exposure); refuse what is not above 0."""
    wrong = ~(np.isfinite(exposure) & (exposure > 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(f"the exposure of row {row} is {exposure[row]}: an exposure is a number above 0.")
    return np.log(exposure)


def _finite(offset: Vector) -> Vector:
    wrong = ~np.isfinite(offset)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(f"the offset of row {row} is {offset[row]}: give a finite number.")
    return offset


def with_offset(source: Source, offset: Vector | None) -> Source:
    """Return a source whose rows carry an offset, found by their place."""
    if offset is None:
        return source
    if isinstance(source, ArraySource):
        return replace(source, batch=_OffsetByRow(offset)(source.batch))
    return MappedSource(source, source.schema, _OffsetByRow(offset))


@dataclass(frozen=True, slots=True)
class _OffsetByRow:
    offset: Vector

    def __call__(self, batch: Batch) -> Batch:
        some = self.offset[batch.start : batch.start + len(batch)]
        if len(some) < len(batch):
            raise DataError(f"the offset has {len(self.offset)} numbers, but there are more rows.")
        return replace(batch, offset=some if batch.offset is None else batch.offset + some)


def refuse_far_offsets(source: Source, engine: Engine, link: Link, fit_intercept: bool) -> None:
    """Refuse offsets whose means no number can hold, under a link that takes the exponential of a score.

    An intercept follows them wherever they are together; what it cannot follow is how far they are apart.
    """
    first = in_memory(source) or next(iter(source), None)
    if link.name not in ("log", "cloglog") or first is None or first.offset is None:
        return
    of_offset = partial(Spread.of, part="y")
    found: Spread = engine.accumulate(of_offset, MappedSource(source, source.schema, _OffsetAsTarget()))
    low, high, centre = float(found.minimum[0]), float(found.maximum[0]), float(found.mean[0])
    far = max(high - centre, centre - low) if fit_intercept else max(high, -low)
    if far > FARTHEST:
        apart = f"exp({high - low:.4g}) times each other" if fit_intercept else f"exp({max(high, -low):.4g})"
        raise DataError(
            f"the offsets run from {low:.6g} to {high:.6g}, and with the {link.name} link a mean is the "
            f"exponential of its score: means of {apart} overflow; give offsets on the scale of the link, "
            "such as log(exposure)" + ("." if fit_intercept else ", or fit an intercept.")
        )


@dataclass(frozen=True, slots=True)
class _OffsetAsTarget:
    def __call__(self, batch: Batch) -> Batch:
        offset = np.zeros(len(batch)) if batch.offset is None else batch.offset
        return replace(batch, y=offset, offset=None)


@dataclass(frozen=True, slots=True)
class OffsetColumns:
    """Take the columns of offset and exposure out of X, and add them to the scores; None for no column."""

    offset: int | None
    exposure: int | None

    @property
    def columns(self) -> list[int]:
        """The columns that are taken out."""
        return [j for j in (self.offset, self.exposure) if j is not None]

    def kept(self, width: int) -> NDArray[np.intp]:
        """The columns that stay."""
        return np.setdiff1d(np.arange(width), self.columns)

    def of(self, X: Any) -> Vector:
        """Return what the columns add to the scores."""
        total = np.zeros(X.shape[0])
        if self.offset is not None:
            total += _column(X, self.offset)
        if self.exposure is not None:
            total += logarithm(_column(X, self.exposure))
        return total

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch without the columns."""
        X: Any = batch.X
        more = self.of(X)
        kept = X[:, self.kept(X.shape[1])]
        kept = np.ascontiguousarray(kept) if isinstance(kept, np.ndarray) else kept
        return replace(batch, X=kept, offset=more if batch.offset is None else batch.offset + more)

    def source(self, source: Source) -> Source:
        """The same for a source."""
        if not self.columns:
            return source
        schema = source.schema
        kept = self.kept(schema.width)
        columns = None if schema.columns is None else tuple(schema.columns[j] for j in kept)
        schema = replace(schema, width=len(kept), columns=columns)
        if isinstance(source, ArraySource):
            return ArraySource(schema, self(source.batch))
        return MappedSource(source, schema, self)


def _column(X: Any, j: int) -> Vector:
    column = X[:, [j]]
    column = column.toarray() if hasattr(column, "toarray") else column
    return np.asarray(column, dtype=np.float64).ravel()


@dataclass(frozen=True, slots=True)
class SubtractedOffset:
    """Take the offset of each row from its target instead: the same, for squares of residuals."""

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with such a target."""
        if batch.offset is None or batch.y is None:
            return batch
        return replace(batch, y=batch.y - batch.offset, offset=None)

    def source(self, source: Source) -> Source:
        """The same for a source."""
        if isinstance(source, ArraySource):
            return replace(source, batch=self(source.batch))
        return MappedSource(source, source.schema, self)
