"""Ridge without one fold after the other, for all penalties: the moments of the rest are a subtraction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.data.batches.batch import Batch
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.linear.common.fold_moments import (
    complementary,
    in_pieces,
    moments_of,
    moments_of_folds,
    rows_of_fold,
    taken,
    without,
)
from surefit.models.linear.common.normal_equations import normal_equations
from surefit.models.linear.squares.centred_rows import DenseRows
from surefit.models.linear.squares.ridge_fit import LARGEST_GRAM
from surefit.resample.row_rule import RowRule
from surefit.solvers.linalg.least_squares import unlike_units
from surefit.solvers.linalg.ridge import Spectrum, from_rows
from surefit.stats.moments import Moments

Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class FoldPredictions:
    """Predictions for the rows of one fold, (rows, targets, alphas), by fits to the others; its targets and
    weights.
    """

    prediction: Matrix
    target: Matrix
    weight: Vector


def in_memory_folds(
    batch: Batch, splits: list[tuple[Indices, Indices]], alphas: Vector, fit_intercept: bool
) -> Iterator[FoldPredictions]:
    """Yield the predictions for each split of a table in memory."""
    whole: Moments | None = None
    width = int(batch.X.shape[1])
    for train, test in splits:
        if width > LARGEST_GRAM or len(train) < width:
            found = fits_of_rows(taken(batch, train), alphas, fit_intercept)
        elif complementary(train, test, len(batch)):
            whole = whole or Moments.of(batch)
            left = without(whole, moments_of(batch, test), batch, train)
            found = fits_of_moments(left, alphas, fit_intercept)
        else:
            found = fits_of_moments(moments_of(batch, train), alphas, fit_intercept)
        yield predict_fold(found, batch, test)


def source_folds(
    source: Source, engine: Engine, folds: int, alphas: Vector, fit_intercept: bool
) -> Iterator[FoldPredictions]:
    """Yield the predictions for each fold of a source, in two passes; rows go to the folds in turn."""
    rules = [RowRule(folds, fold, others=False) for fold in range(folds)]
    parts = engine.accumulate(partial(moments_of_folds, rules), source)
    whole = parts["0"]
    for fold in range(1, folds):
        whole = whole + parts[str(fold)]
    fits = [fits_of_moments(whole - parts[str(fold)], alphas, fit_intercept) for fold in range(folds)]
    each: list[list[FoldPredictions]] = [[] for _ in rules]
    for answers in engine.map(partial(_predictions_of_folds, rules, fits), source):
        for fold, answer in enumerate(answers):
            each[fold].append(answer)
    for pieces in each:
        yield FoldPredictions(
            np.concatenate([piece.prediction for piece in pieces]),
            np.concatenate([piece.target for piece in pieces]),
            np.concatenate([piece.weight for piece in pieces]),
        )


def _predictions_of_folds(
    rules: list[RowRule], fits: list[tuple[Matrix, Matrix]], batch: Batch
) -> list[FoldPredictions]:
    return [
        predict_fold(found, batch, rows_of_fold(rule, batch)) for rule, found in zip(rules, fits, strict=True)
    ]


def fits_of_moments(moments: Moments, alphas: Vector, fit_intercept: bool) -> tuple[Matrix, Matrix]:
    """Coefficients (p, k, alphas) and intercepts (k, alphas), from one decomposition."""
    gram, cross = normal_equations(moments, fit_intercept)
    spectrum = Spectrum.of(gram)
    inner = (spectrum.vectors.T @ cross)[:, :, None] * spectrum.shrunk(alphas)[:, None, :]
    coef = (spectrum.vectors @ inner.reshape(len(inner), -1)).reshape(inner.shape)
    return _with_intercept(coef, moments.mean_x, moments.mean_y, fit_intercept)


def fits_of_rows(batch: Batch, alphas: Vector, fit_intercept: bool) -> tuple[Matrix, Matrix]:
    """The same by the dual, for fewer rows than columns."""
    rows = DenseRows.of(batch, fit_intercept)
    if unlike_units(rows.A):
        across, targets = np.sqrt(rows.weight) if fit_intercept else None, rows.B.shape[1]
        found = [from_rows(rows.A, rows.B, np.full(targets, alpha), across).coef for alpha in alphas]
        return _with_intercept(np.stack(found, axis=2), rows.mean_x, rows.mean_y, fit_intercept)
    spectrum = Spectrum.of(rows.A @ rows.A.T)
    inner = (spectrum.vectors.T @ rows.B)[:, :, None] * spectrum.shrunk(alphas)[:, None, :]
    dual = spectrum.vectors @ inner.reshape(len(inner), -1)
    coef = (rows.A.T @ dual).reshape(-1, *inner.shape[1:])
    return _with_intercept(coef, rows.mean_x, rows.mean_y, fit_intercept)


def _with_intercept(
    coef: Matrix, mean_x: Vector, mean_y: Vector, fit_intercept: bool
) -> tuple[Matrix, Matrix]:
    if not fit_intercept:
        return coef, np.zeros(coef.shape[1:])
    return coef, mean_y[:, None] - np.tensordot(mean_x, coef, axes=1)


def predict_fold(found: tuple[Matrix, Matrix], batch: Batch, rows: Indices) -> FoldPredictions:
    """Predict some rows of a batch."""
    coef, intercept = found
    flat = coef.reshape(len(coef), -1)
    X: Any = batch.X
    scores = [np.asarray(X[piece] @ flat) for piece in in_pieces(rows, len(coef))]
    prediction = np.concatenate(scores).reshape(len(rows), *coef.shape[1:])
    weight = np.ones(len(rows)) if batch.weight is None else batch.weight[rows]
    target = np.asarray(np.asarray(batch.y)[rows], dtype=np.float64).reshape(len(rows), -1)
    return FoldPredictions(prediction + intercept, target, weight)
