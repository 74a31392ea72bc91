"""How often each code of each column comes with each class, for codes whose number is not known before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError, RefusalError
from surefit.data.batches.batch import Batch
from surefit.stats.base import Statistic, seal
from surefit.stats.cases import Trial, relative_gap

_MOST = 2**24  # codes of a column, so that a wrong column is refused before it fills the memory


@dataclass(frozen=True, slots=True)
class CodeCounts(Statistic):
    r"""For each column the weights :math:`N_{ck} = \sum_{y_i = c,\, x_i = k} s_i` of the codes 0, 1, ...

    A column has as many codes as its largest one says; cells are cut to whole numbers.

    >>> batch = Batch(np.array([[0.0], [2.0], [2.0]]), np.array([0, 0, 1]))
    >>> CodeCounts.of(batch, classes=2).tables[0].tolist()
    [[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
    """

    name = "code-counts"
    subtractable = True

    rows: int
    weight: Vector
    tables: tuple[Matrix, ...]

    def __post_init__(self) -> None:
        seal(self)

    @classmethod
    def of(cls, batch: Batch, *, classes: int = 0, **context: Any) -> CodeCounts:
        """Count the codes of each column of a dense matrix by class code."""
        if batch.y is None:
            raise ValueError("the batch has no target.")
        X: Any = batch.X
        s = batch.weight
        kept = slice(None) if s is None or s.all() else s > 0
        y, s = batch.y[kept], None if s is None else s[kept]
        tables = []
        for j in range(X.shape[1]):
            codes = code_column(X[kept, j], j)
            size = int(codes.max(initial=-1)) + 1
            sums = np.bincount(y * size + codes, s, classes * size) if size else np.zeros(0)
            tables.append(sums.astype(np.float64).reshape(classes, size))
        weight = np.bincount(y, s, minlength=classes).astype(np.float64)
        return cls(len(y), weight, tuple(tables))

    def __add__(self, other: CodeCounts) -> CodeCounts:
        if self.rows == 0 or other.rows == 0:
            return other if self.rows == 0 else self
        tables = []
        for one, two in zip(self.tables, other.tables, strict=True):
            sums = np.zeros((len(one), max(one.shape[1], two.shape[1])))
            sums[:, : one.shape[1]] += one
            sums[:, : two.shape[1]] += two
            tables.append(sums)
        return CodeCounts(self.rows + other.rows, self.weight + other.weight, tuple(tables))

    def __sub__(self, other: CodeCounts) -> CodeCounts:
        if other.rows == 0:
            return self
        fits = all(two.shape[1] <= one.shape[1] for one, two in zip(self.tables, other.tables, strict=True))
        weight, tables = self.weight - other.weight, []
        if fits:
            weight = _cleared(weight, self.weight)
            for one, two in zip(self.tables, other.tables, strict=True):
                left = one.copy()
                left[:, : two.shape[1]] -= two
                left = _cleared(left, one)
                used = np.flatnonzero(left.any(axis=0))
                tables.append(left[:, : int(used.max(initial=-1)) + 1])
        if not fits or (weight < 0).any() or any((table < 0).any() for table in tables):
            raise RefusalError(
                "some of these rows are not among the ones counted: subtract only rows that were added "
                "before, with the same weights."
            )
        return CodeCounts(self.rows - other.rows, weight, tuple(tables))

    def distance(self, other: CodeCounts) -> float:
        """The greatest difference of weights, relative to the largest."""
        return max(relative_gap(self.weight, other.weight), relative_gap(self.tables, other.tables))

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """Three classes, and a fourth that never comes."""
        yield from (Trial("codes", {"classes": 3}), Trial("codes", {"classes": 4}))


def code_column(column: Any, index: int) -> Any:
    """Cut the cells of a column to whole numbers, and refuse what cannot be a code."""
    codes = np.asarray(column).astype(np.int64)
    if len(codes) and int(codes.min()) < 0:
        raise DataError(
            f"Negative values in data: column {index} holds {int(codes.min())}, but codes of categories are "
            "0, 1, 2, ...: encode the column, with OrdinalEncoder for example."
        )
    if len(codes) and int(codes.max()) >= _MOST:
        raise DataError(
            f"column {index} holds the code {int(codes.max())}, as if it had more than {_MOST} categories: "
            "encode the column, with OrdinalEncoder for example."
        )
    return codes


def _cleared(left: Any, before: Any) -> Any:
    """What is left, without what is only rounding."""
    return np.where(np.abs(left) <= 1e-12 * np.abs(before), 0.0, left)
