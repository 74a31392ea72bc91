"""Least squares under constraints, judged by rows left out: a fold is fitted for each strength in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.trace import Trace
from surefit.data.batch import Batch
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.linear.constrained_squares import ConstrainedSquares
from surefit.models.linear.folds import Cut
from surefit.models.linear.ridge_folds import Tested, tested
from surefit.penalties.base import Penalty

Matrix = NDArray[np.float64]
MakesPenalty = Callable[[int, float], Penalty]


def fits_of(
    problem: ConstrainedSquares, penalties: Sequence[MakesPenalty], source: Source, engine: Engine
) -> tuple[Matrix, Matrix]:
    """Return coefficients (p, k, penalties) and intercepts (k, penalties)."""
    coefs, intercepts = [], []
    for target in range(source.schema.targets):
        objective = replace(problem, penalty=penalties[0]).objective(source, engine, target)
        start, points = None, []
        for penalty in penalties:
            own = penalty(target, objective.targets.weight)
            objective.penalty = problem.within(own, objective.columns)
            start = problem.solve(objective, start, Trace())[1].x
            points.append(objective.split(start))
        coefs.append(np.column_stack([coef for coef, _ in points]))
        intercepts.append([0.0 if intercept is None else float(intercept) for _, intercept in points])
    return np.stack(coefs, axis=1), np.array(intercepts)


def tested_folds(
    problem: ConstrainedSquares, penalties: Sequence[MakesPenalty], cut: Cut, source: Source, engine: Engine
) -> Iterator[Tested]:
    """Yield the predictions for the rows of each fold, by fits to the others."""
    for fold in cut.folds(source):
        found = fits_of(problem, penalties, fold.train, engine)
        pieces = list(engine.map(partial(_all_rows, found), fold.test))
        yield Tested(*(np.concatenate([getattr(piece, name) for piece in pieces]) for name in NAMES))


def errors_of_folds(
    problem: ConstrainedSquares, penalties: Sequence[MakesPenalty], cut: Cut, source: Source, engine: Engine
) -> Matrix:
    """Return the mean squared error of each penalty and fold; NaN for a fold without weight."""
    errors = []
    for fold in cut.folds(source):
        found = fits_of(problem, penalties, fold.train, engine)
        total, weight = np.zeros(len(penalties)), 0.0
        for squares, of in engine.map(partial(_squares, found), fold.test):
            total, weight = total + squares, weight + of
        errors.append(total / weight if weight > 0 else np.full(len(penalties), np.nan))
    return np.array(errors).T


NAMES = ("prediction", "target", "weight")


def _all_rows(found: tuple[Matrix, Matrix], batch: Batch) -> Tested:
    return tested(found, batch, np.arange(len(batch)))


def _squares(found: tuple[Matrix, Matrix], batch: Batch) -> tuple[Any, float]:
    rows = _all_rows(found, batch)
    off = ((rows.prediction - rows.target[:, :, None]) ** 2).mean(axis=1)
    return rows.weight @ off, float(rows.weight.sum())
