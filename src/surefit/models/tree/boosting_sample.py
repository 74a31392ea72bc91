"""The rows of a stream that a scorer looks at each round: few enough to stay in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.bin_columns import Codes
from surefit.data.batch import Batch
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.tree.boosting_rounds import Part
from surefit.models.tree.boosting_scoring import looked_at

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Where a batch begins, and how many of its rows are trained on and held out."""

    standing: Any

    def __call__(self, batch: Batch) -> Whole:
        return np.array([batch.start, *map(np.count_nonzero, self.standing.parts(batch))], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Those rows of a batch that stand at the numbers asked for within the part that they belong to.

    begins: where batches begin. before: how many rows of each part come before each batch.
    """

    standing: Any
    begins: Whole
    before: Whole
    numbers: tuple[Whole, ...]

    def __call__(self, batch: Batch) -> list[Part]:
        # An empty batch begins where the next one does, with as many rows before it.
        before = self.before[np.searchsorted(self.begins, batch.start)]
        parts = zip(self.standing.parts(batch), self.numbers, before, strict=True)
        return [self._part(batch, np.flatnonzero(rows), numbers - first) for rows, numbers, first in parts]

    def _part(self, batch: Batch, rows: Whole, places: Whole) -> Part:
        own = rows[places[(places >= 0) & (places < len(rows))]]
        standing, weight = self.standing, batch.weight
        if standing.begun and batch.offset is not None:
            score = np.array(batch.offset[:, own])
        else:
            score = np.repeat(standing.baseline[:, None], len(own), axis=1)
        # What a file holds is copied, so that no map of it stays open.
        codes: Codes = np.array(np.asarray(batch.X)[own])
        return Part(codes, np.asarray(batch.y)[own], None if weight is None else weight[own], score)


def scored_rows(standing: Any, source: Source, engine: Engine) -> tuple[Part, Part]:
    """Return the rows trained on and those held out at which a scorer looks, from two passes.

    They are the rows at which it looks in memory: evenly spaced ones of each part. standing: as rounds begin.
    """
    sizes = np.array(list(engine.map(_Sizes(standing), source)), dtype=np.int64).reshape(-1, 3)
    numbers = tuple(looked_at(int(count)) for count in sizes[:, 1:].sum(axis=0))
    before = np.cumsum(sizes[:, 1:], axis=0) - sizes[:, 1:]
    found = list(engine.map(_Chosen(standing, sizes[:, 0], before, numbers), source))
    train, held_out = zip(*found, strict=True)
    return _joined(train), _joined(held_out)


def _joined(parts: Sequence[Part]) -> Part:
    weight = None
    if any(part.weight is not None for part in parts):
        weight = np.concatenate([np.ones(len(p.y)) if p.weight is None else p.weight for p in parts])
    return Part(
        np.asfortranarray(np.concatenate([part.codes for part in parts])),
        np.concatenate([part.y for part in parts]),
        weight,
        np.ascontiguousarray(np.concatenate([part.score for part in parts], axis=1)),
    )
