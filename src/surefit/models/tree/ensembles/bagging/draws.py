"""What each member of a bag is given: rows and columns, drawn from a stream of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.errors import DataError
from surefit.models.tree.ensembles.frame_rows import ArrayRows, FrameRows
from surefit.resample.draws import draw_rows
from surefit.resample.streams import stream

Places = NDArray[np.intp]


class Drawn(NamedTuple):
    """The columns and rows of a member, and what is left of its stream."""

    features: Places
    rows: Places
    generator: np.random.Generator


@dataclass(frozen=True, slots=True)
class Draws:
    """How rows and columns are drawn; a member's are the same whoever asks, and whenever.

    size: how many rows a member draws; ``columns`` of ``width``: how many columns.
    """

    seed: int
    rows: int
    size: int
    width: int
    columns: int
    bootstrap: bool
    bootstrap_features: bool

    def generator(self, member: int) -> np.random.Generator:
        """The stream of a member."""
        return stream(self.seed, member)

    def features(self, generator: np.random.Generator) -> Places:
        """Draw columns: with replacement as they come, without in their order."""
        if self.bootstrap_features:
            return generator.integers(self.width, size=self.columns).astype(np.intp)
        if self.columns == self.width:
            return np.arange(self.width)
        return np.sort(generator.permutation(self.width)[: self.columns])

    def drawn(self, generator: np.random.Generator, weight: Vector | None) -> Places:
        """Draw rows: by weight with replacement, evenly without."""
        if self.bootstrap:
            return draw_rows(self.rows, self.size, generator, weight)
        if self.size == self.rows:
            return np.arange(self.rows)
        return np.sort(generator.permutation(self.rows)[: self.size])

    def of(self, member: int, weight: Vector | None) -> Drawn:
        """What a member is given."""
        generator = self.generator(member)
        features = self.features(generator)
        return Drawn(features, self.drawn(generator, weight), generator)


def rows_to_draw(asked: Any, rows: int, weight: Vector | None, bootstrap: bool) -> int:
    """How many rows a member draws; a share is of the weight where rows are drawn by it."""
    if asked is None:
        return rows
    if isinstance(asked, int | np.integer):
        size = int(asked)
    else:
        total = rows if weight is None or not bootstrap else float(weight.sum())
        size = max(int(asked * total), 1)
    if not bootstrap and size > rows:
        raise DataError(
            f"Effective max_samples={size} must be <= n_samples={rows} to be able to sample without "
            "replacement."
        )
    return size


def columns_to_draw(asked: Any, width: int) -> int:
    """How many columns a member draws."""
    count = int(asked) if isinstance(asked, int | np.integer) else max(1, int(asked * width))
    if count > width:
        raise DataError(f"max_features must be <= n_features, but it is {count} of {width} columns.")
    return count


def columns_of(X: Any, features: Places) -> Any:
    """Some columns of a matrix, or of rows as they came; all of them, in their order, without a copy."""
    if isinstance(X, FrameRows | ArrayRows):
        return X.columns(features)
    if len(features) == X.shape[1] and np.array_equal(features, np.arange(X.shape[1])):
        return X
    return X[:, features]
