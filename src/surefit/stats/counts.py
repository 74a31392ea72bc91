"""How often each category comes with each class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import RefusalError
from surefit.data.batches.batch import Batch
from surefit.data.batches.table import Table
from surefit.stats.base import Statistic, seal
from surefit.stats.cases import Trial

_APART = 2  # in front of the levels of a column: unknown (code -2), then missing (code -1)


@dataclass(frozen=True, slots=True)
class Counts(Statistic):
    r"""For each categorical column the weight :math:`N_{kl} = \sum_{y_i = k,\, x_i = l} s_i`.

    levels: how many levels each column has. cells: (classes, all levels), two places more a column for what
    is unknown or missing. Without a target there is one class.

    >>> codes, classes = np.array([[0.0], [1.0], [1.0], [-1.0]]), np.array([0, 0, 1, 1])
    >>> counts = Counts.of(Batch(codes, classes), classes=2, levels=(2,))
    >>> counts.table(0)
    array([[1., 1.],
           [0., 1.]])
    """

    name = "counts"
    subtractable = True

    levels: tuple[int, ...]
    class_weight: NDArray[np.float64]
    cells: NDArray[np.float64]

    def __post_init__(self) -> None:
        seal(self)

    @classmethod
    def of(
        cls, batch: Batch, *, classes: int = 0, levels: Sequence[int] | None = None, **context: Any
    ) -> Counts:
        """Count the codes of a table, or of a matrix of codes whose numbers of ``levels`` are given.

        ``classes`` is how many class codes the target has; 0 leaves the target out.
        """
        codes, sizes = _codes(batch.X, levels)
        labels = np.zeros(len(batch), dtype=np.int64) if classes == 0 or batch.y is None else batch.y
        known = max(classes, 1)
        blocks = [
            np.bincount(
                labels * (size + _APART) + codes[:, j] + _APART, batch.weight, known * (size + _APART)
            ).reshape(known, -1)
            for j, size in enumerate(sizes)
        ]
        cells = np.hstack([np.zeros((known, 0)), *blocks]).astype(np.float64)
        return cls(sizes, np.bincount(labels, batch.weight, known).astype(np.float64), cells)

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.levels, self.class_weight + other.class_weight, self.cells + other.cells)

    def __sub__(self, other: Counts) -> Counts:
        cells, classes = self.cells - other.cells, self.class_weight - other.class_weight
        # A weight of which only rounding is left was taken away whole.
        cells[np.abs(cells) < 1e-12 * np.abs(self.cells)] = 0.0
        classes[np.abs(classes) < 1e-12 * np.abs(self.class_weight)] = 0.0
        if (cells < 0).any() or (classes < 0).any():
            raise RefusalError(
                "some of these rows are not among the ones counted: subtract only rows that were added "
                "before, with the same weights."
            )
        return Counts(self.levels, classes, cells)

    def table(self, column: int) -> NDArray[np.float64]:
        """The weights of one column, (classes, levels)."""
        return np.array(self._block(column)[:, _APART:])

    @property
    def missing(self) -> NDArray[np.float64]:
        """The weight that is missing, (classes, columns)."""
        return self._apart(1)

    @property
    def unknown(self) -> NDArray[np.float64]:
        """The weight of levels that the schema does not know, (classes, columns)."""
        return self._apart(0)

    def _block(self, column: int) -> NDArray[np.float64]:
        start = sum(self.levels[:column]) + _APART * column
        return self.cells[:, start : start + self.levels[column] + _APART]

    def _apart(self, place: int) -> NDArray[np.float64]:
        columns = [self._block(column)[:, place] for column in range(len(self.levels))]
        return np.array(columns, dtype=np.float64).reshape(len(columns), len(self.class_weight)).T

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """A typed table, with and without classes."""
        return Trial("table", {"classes": 3}), Trial("table")


def _codes(X: Any, levels: Sequence[int] | None) -> tuple[NDArray[np.int64], tuple[int, ...]]:
    if isinstance(X, Table):
        known = [len(column.levels) for column in X.columns if column.levels is not None]
        return X.codes.astype(np.int64), tuple(known if levels is None else levels)
    codes = np.asarray(X).astype(np.int64)
    return codes, tuple(codes.max(axis=0, initial=-1) + 1 if levels is None else levels)
