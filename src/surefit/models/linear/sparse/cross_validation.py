"""Choosing the strength of a lasso or an elastic net: one warm path a fold, judged by the rows left out.

Where there are more rows than columns, a fold's path starts from moments: those of all rows, minus those of
the fold, whose own moments tell the squared error of every step. Then each row is read once in all. Wide
tables are cut into rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from typing import Any, Literal, Protocol

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError, ParameterError
from surefit.data.batches.batch import Batch
from surefit.data.source import ArraySource, Source, in_memory
from surefit.engine.base import Engine
from surefit.models.linear.common.fold_moments import (
    complementary,
    moments_of_folds,
    split_rows,
    taken,
    without,
)
from surefit.models.linear.sparse.regularisation_path import Path
from surefit.models.linear.squares.content_folds import fold_numbers, moments_by_content
from surefit.models.linear.squares.ridge_fit import LARGEST_GRAM
from surefit.resample.row_rule import RowRule
from surefit.solvers.linalg.column_order import is_tall
from surefit.solvers.squares.problems import contiguous_rows
from surefit.stats.base import Joint
from surefit.stats.moments import Moments

Choice = Literal["best", "one_standard_error"]


class Family(Protocol):
    """What distinguishes one sparse model from another, to those who choose its strength."""

    def of_rows(self, batch: Batch) -> Any:
        """Return the problem of rows in memory."""

    def of_moments(self, moments: Moments) -> Any:
        """Return the problem of moments."""

    def path_of(self, problem: Any, alphas: Vector, l1_ratio: float) -> Path:
        """Solve it for strengths from large to small."""


@dataclass(frozen=True, slots=True)
class Splits:
    """How rows go to folds: ``cv`` as in scikit-learn, by the number of a row, or by its content.

    By content, equal rows go together, so that weight 2 is the row twice, whatever the order of the rows.
    """

    who: str
    cv: Any
    by_content: bool = False

    def count(self, reason: str) -> int:
        """Return the number of folds, where only a number does."""
        if self.cv is None:
            return 5
        if isinstance(self.cv, int | np.integer):
            return int(self.cv)
        raise ParameterError(f"{self.who}: {reason}: give cv as a number of folds.")

    def of_rows(self, batch: Batch) -> Iterator[tuple[Any, Any]]:
        """Yield the numbers of the training rows and of the rows left out."""
        if not self.by_content:
            from sklearn.model_selection import check_cv

            yield from split_rows(check_cv(self.cv), batch.X, batch.y)
            return
        folds = self.count("folds='content' assigns rows to folds by their values")
        fold = fold_numbers(batch.X, folds)
        for number in np.unique(fold):
            yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)

    def of_source(self) -> tuple[int, Callable[[Batch], Joint]]:
        """Return the number of folds, and what gathers the moments of each from a batch."""
        folds = self.count("a source that is not in memory is split into folds while it is read")
        if self.by_content:
            return folds, partial(moments_by_content, folds=folds)
        rules = [RowRule(folds, fold, others=False) for fold in range(folds)]
        return folds, partial(moments_of_folds, rules)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The ratio and strength chosen, and how all did: mean squared errors (ratios, strengths, folds)."""

    l1_ratio: float
    alpha: float
    alphas: Matrix
    errors: Matrix
    spread: Matrix


def choose(ratios: Vector, alphas: Matrix, errors: Matrix, rule: Choice) -> Chosen:
    """Choose the least mean error, or the strongest penalty within one standard error of it.

    Folds count alike; the standard error is that of their mean, at the best strength of the best ratio.
    """
    counted = errors[:, :, np.isfinite(errors).all(axis=(0, 1))]
    folds = counted.shape[2]
    if folds == 0:
        raise DataError("no fold has a test row of positive weight: use fewer folds.")
    mean = counted.mean(axis=2)
    spread = counted.std(axis=2, ddof=1) / np.sqrt(folds) if folds > 1 else np.zeros_like(mean)
    ratio, best = (int(k) for k in np.unravel_index(np.argmin(mean), mean.shape))
    if rule == "one_standard_error":
        near = mean[ratio] <= mean[ratio, best] + spread[ratio, best]
        best = int(np.flatnonzero(near)[0])  # strengths go from large to small
    return Chosen(float(ratios[ratio]), float(alphas[ratio, best]), alphas, errors, spread)


def errors_of_folds(
    family: Family,
    source: Source,
    engine: Engine,
    splits: Splits,
    ratios: Vector,
    alphas: Matrix,
) -> Matrix:
    """Return the mean squared error of each ratio, strength and fold; NaN for a fold without weight."""
    errors = []
    for problem, held_out in folds_of(family, source, engine, splits):
        paths = [
            family.path_of(problem, row, float(ratio)) for ratio, row in zip(ratios, alphas, strict=True)
        ]
        errors.append([held_out.errors(path) for path in paths])
    return np.moveaxis(np.array(errors), 0, -1)


def folds_of(
    family: Family, source: Source, engine: Engine, splits: Splits
) -> Iterator[tuple[Any, _Rows | _Sums]]:
    """Yield the problem of each fold's training rows, and what judges its answers."""
    batch = in_memory(source)
    if batch is None:
        yield from _folds_of_source(family, source, engine, splits)
        return
    batch = contiguous_rows(batch)
    whole: Moments | None = None
    rows, columns = batch.X.shape
    if splits.by_content and is_tall(batch.X):
        yield from _folds_of_source(family, ArraySource(source.schema, batch), engine, splits)
        return
    for train, test in splits.of_rows(batch):
        if columns > LARGEST_GRAM or len(train) < 2 * columns:
            yield family.of_rows(taken(batch, train)), _Rows(taken(batch, test))
            continue
        held_out = Moments.of(taken(batch, test))
        if complementary(train, test, rows):
            whole = whole or Moments.of(batch)
            left = without(whole, held_out, batch, train)
        else:
            left = Moments.of(taken(batch, train))
        yield family.of_moments(left), _Sums(held_out)


def _folds_of_source(
    family: Family, source: Source, engine: Engine, splits: Splits
) -> Iterator[tuple[Any, _Sums]]:
    folds, of = splits.of_source()
    parts: Any = engine.accumulate(of, source)
    each = [parts[str(fold)] for fold in range(folds)]
    for fold, held_out in enumerate(each):
        if held_out.rows > 0:
            yield family.of_moments(reduce(add, each[:fold] + each[fold + 1 :])), _Sums(held_out)


class _Rows:
    """Rows left out, which judge a path by their residuals."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._weight = np.ones(len(batch)) if batch.weight is None else batch.weight

    def errors(self, path: Path) -> Vector:
        Y = np.asarray(self._batch.y, dtype=np.float64)
        Y = Y.reshape(len(Y), -1)
        X: Any = self._batch.X
        found = []
        for coef, intercept in zip(path.coefs, path.intercepts, strict=True):
            left = Y - np.asarray(X @ coef.reshape(len(coef), -1)) - intercept
            found.append(self._weight @ (left**2).mean(axis=1))
        with np.errstate(invalid="ignore"):
            return np.array(found) / self._weight.sum()


class _Sums:
    """Moments of rows left out, which tell the same."""

    def __init__(self, moments: Moments) -> None:
        self._moments = moments

    def errors(self, path: Path) -> Vector:
        of = self._moments
        steps, columns = path.coefs.shape[:2]
        coefs = path.coefs.reshape(steps, columns, -1)
        total = np.trace(of.target_scatter) - 2 * np.einsum("apk,pk->a", coefs, of.cross)
        flat = coefs.transpose(1, 0, 2).reshape(columns, -1)
        total = total + (flat * (of.gram @ flat)).sum(axis=0).reshape(steps, -1).sum(axis=1)
        offset = of.mean_y - np.einsum("apk,p->ak", coefs, of.mean_x) - path.intercepts.reshape(steps, -1)
        with np.errstate(invalid="ignore"):
            return np.asarray((np.maximum(total, 0.0) / of.weight + (offset**2).sum(axis=1)) / coefs.shape[2])
