"""Pairs of sources, rows to fit and rows left out, for models that fit each fold anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefit.core.errors import DataError, ParameterError
from surefit.data.batches.batch import Batch
from surefit.data.source import ArraySource, MappedSource, Source, in_memory
from surefit.models.linear.common.fold_moments import split_rows, taken
from surefit.models.linear.squares.content_folds import fold_numbers
from surefit.resample.sources import source_folds
from surefit.solvers.squares.sums import NO_WEIGHT_LEFT


@dataclass(frozen=True, slots=True)
class Fold:
    """The rows to fit, class weights in, and the rows left out; ``rows`` are those, where in memory."""

    train: Source
    test: Source
    rows: Batch | None


@dataclass(frozen=True, slots=True)
class FoldSplitter:
    """How rows go to folds: ``cv`` as in scikit-learn, by the number of a row, or by its content.

    labels: what makes folds with their share of every class out of a target; None for numbers.
    """

    who: str
    cv: Any
    by_content: bool = False
    labels: Any = None

    def folds(self, source: Source, weighted: Source | None = None) -> Iterator[Fold]:
        """Yield the folds: by scikit-learn's splitters in memory, else as the source is read.

        weighted: the source as it is fitted, where that differs from what judges.
        """
        weighted, batch = source if weighted is None else weighted, in_memory(source)
        if batch is not None and not self.by_content:
            yield from self._by_number(source, batch, weighted)
            return
        count = 5 if self.cv is None else self.cv
        if not isinstance(count, int | np.integer):
            raise ParameterError(
                f"{self.who}: folds='content', and a table that is read piece by piece, assign folds row by "
                "row: give cv as a number of folds."
            )
        if self.by_content:
            yield from _by_content(source, weighted, int(count))
            return
        pairs = zip(source_folds(weighted, int(count)), source_folds(source, int(count)), strict=True)
        for (train, _), (_, test) in pairs:
            yield Fold(train, test, None)

    def _by_number(self, source: Source, batch: Batch, weighted: Source) -> Iterator[Fold]:
        from sklearn.model_selection import check_cv

        training = in_memory(weighted)
        assert training is not None
        target = batch.y if self.labels is None else self.labels(np.asarray(batch.y))
        splitter = check_cv(self.cv, target, classifier=self.labels is not None)
        for train, test in split_rows(splitter, batch.X, target):
            if training.weight is not None and not training.weight[train].any():
                raise DataError(NO_WEIGHT_LEFT)
            left = taken(batch, test)
            yield Fold(_array_source(weighted, taken(training, train)), _array_source(source, left), left)


@dataclass(frozen=True, slots=True)
class RowsByContent:
    """Keep the rows of a batch that belong to a fold by what is in their first columns, or all others."""

    width: int
    folds: int
    fold: int
    others: bool

    def __call__(self, batch: Batch) -> Batch:
        """Return those rows."""
        X: Any = batch.X
        kept = (fold_numbers(X[:, : self.width], self.folds) == self.fold) != self.others
        return replace(taken(batch, np.flatnonzero(kept)), start=0)


def _by_content(source: Source, weighted: Source, count: int) -> Iterator[Fold]:
    for fold in range(count):
        train = _selected(weighted, RowsByContent(source.schema.width, count, fold, others=True))
        test = _selected(source, RowsByContent(source.schema.width, count, fold, others=False))
        rows = in_memory(test)
        if rows is None or len(rows):
            yield Fold(train, test, rows)


def _selected(source: Source, rule: RowsByContent) -> Source:
    schema = replace(source.schema, rows=None)
    batch = in_memory(source)
    if batch is None:
        return MappedSource(source, schema, rule)
    return _array_source(source, rule(batch))


def _array_source(like: Source, batch: Batch) -> Source:
    return ArraySource(replace(like.schema, rows=len(batch)), replace(batch, start=0))
