"""Least squares under constraints, judged by rows left out: a fold is fitted for each strength in turn.

Without a closed form, each fold is fitted anew, also where ridge looks for the penalty that predicts best.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix
from surefit.core.errors import DataError, RefusalError
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.source import ArraySource, Source
from surefit.engine.base import Engine
from surefit.models.linear.squares.constrained_squares import ConstrainedSquares, squared_penalty
from surefit.models.linear.squares.folds import FoldSplitter
from surefit.models.linear.squares.leave_one_out import LeftOut
from surefit.models.linear.squares.ridge_folds import FoldPredictions, predict_fold
from surefit.models.linear.squares.ridge_scores import Scores
from surefit.models.rows_in_memory import gathered
from surefit.penalties.base import Penalty

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


def predictions_of_folds(
    problem: ConstrainedSquares,
    penalties: Sequence[MakesPenalty],
    cut: FoldSplitter,
    source: Source,
    engine: Engine,
) -> Iterator[FoldPredictions]:
    """Yield the predictions for the rows of each fold, by fits to the others."""
    for fold in cut.folds(source):
        found = fits_of(problem, penalties, fold.train, engine)
        pieces = list(engine.map(partial(_all_rows, found), fold.test))
        yield FoldPredictions(*(np.concatenate([getattr(piece, name) for piece in pieces]) for name in NAMES))


def errors_of_folds(
    problem: ConstrainedSquares,
    penalties: Sequence[MakesPenalty],
    cut: FoldSplitter,
    source: Source,
    engine: Engine,
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


def _all_rows(found: tuple[Matrix, Matrix], batch: Batch) -> FoldPredictions:
    return predict_fold(found, batch, np.arange(len(batch)))


def _squares(found: tuple[Matrix, Matrix], batch: Batch) -> tuple[Any, float]:
    rows = _all_rows(found, batch)
    off = ((rows.prediction - rows.target[:, :, None]) ** 2).mean(axis=1)
    return rows.weight @ off, float(rows.weight.sum())


MOST_ROWS = 2000  # that are left out one at a time, at some milliseconds a fit


def scores(
    problem: ConstrainedSquares,
    source: Source,
    engine: Engine,
    alphas: NDArray[np.float64],
    judge: Scores,
    cv: Any,
    *,
    by_content: bool = False,
    store: bool = False,
) -> tuple[Matrix, Matrix | None]:
    """Return the score of each penalty, and of each row left out alone if that was asked for."""
    penalties = [_of_strength(float(alpha)) for alpha in alphas]
    if cv is None and not by_content:
        return judge.leaving_one_out(_left_out(problem, penalties, source, engine), store=store)
    labels = None if judge.classes is None else judge.labels
    cut = FoldSplitter(problem.who, cv, by_content, labels)
    tested = predictions_of_folds(problem, penalties, cut, source, engine)
    return np.mean([judge.of_fold(fold) for fold in tested], axis=0), None


def _left_out(
    problem: ConstrainedSquares, penalties: list[MakesPenalty], source: Source, engine: Engine
) -> Iterator[LeftOut]:
    """Yield the errors of each row, predicted without itself."""
    from sklearn.model_selection import LeaveOneOut

    rows = source.schema.rows
    if rows is None or rows > MOST_ROWS:
        raise RefusalError(
            f"{problem.who}: leave-one-out under constraints refits for each row, which is supported up to "
            f"{MOST_ROWS} rows: set cv=5, for example."
        )
    if rows < 2:
        raise DataError(
            f"{problem.who} leaves one row out at a time, which n_samples={rows} does not allow: "
            "give more rows, or use Ridge."
        )
    table = ArraySource(source.schema, gathered(source))
    for fold in predictions_of_folds(
        problem, penalties, FoldSplitter(problem.who, LeaveOneOut()), table, engine
    ):
        yield LeftOut(fold.target[:, :, None] - fold.prediction, fold.target, fold.weight)


def _of_strength(alpha: float) -> Callable[[int, float], Penalty]:
    return lambda target, weight: squared_penalty(alpha / weight)
