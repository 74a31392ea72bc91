"""The levels and the distribution of the columns of a source, from a pass over it each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.data.batches.batch import Batch
from surefit.data.source import Source, in_memory
from surefit.engine.base import Engine
from surefit.models.tree.rows.matrix import Levels, find_levels, matrix_of
from surefit.stats.sketch import Sketch


@dataclass(frozen=True, slots=True)
class _LevelsOf:
    mask: NDArray[np.bool_]
    names: Any
    own_level: bool

    def __call__(self, batch: Batch) -> Levels:
        return find_levels(batch.X, self.mask, self.names, self.own_level)


def levels_of(
    source: Source, engine: Engine, mask: NDArray[np.bool_] | None, own_level: bool = False
) -> Levels:
    """Return the levels of each column of a mask; ``own_level`` makes one of what is missing."""
    if mask is None:
        return ()
    batch, find = in_memory(source), _LevelsOf(mask, source.schema.names, own_level)
    found = list(engine.map(find, source)) if batch is None else [find(batch)]
    return found[0] if len(found) == 1 else tuple(_joined(own) for own in zip(*found, strict=True))


def _joined(several: tuple[NDArray[Any], ...]) -> NDArray[Any]:
    """All levels, in order; what is missing comes last, where it is one."""
    known = [np.array([v for v in own.tolist() if v is not None and v == v]) for own in several]
    levels = np.unique(np.concatenate([own for own in known if len(own)] or known))
    if all(len(own) == len(left) for own, left in zip(several, known, strict=True)):
        return levels
    kind: Any = float if levels.dtype.kind in "iuf" else object
    return np.append(levels.astype(kind), np.array([np.nan], dtype=kind))


@dataclass(frozen=True, slots=True)
class SketchOf:
    """A sketch of each column of a batch; rows without weight do not count."""

    levels: Levels

    def __call__(self, batch: Batch) -> Sketch:
        """Summarise a batch."""
        X, weight = matrix_of(batch.X, self.levels), batch.weight
        if weight is not None and (weight == 0).any():
            X, weight = X[weight > 0], weight[weight > 0]
        return Sketch.of(Batch(X, None, weight))
