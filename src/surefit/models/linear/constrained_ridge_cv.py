"""Which ridge penalty predicts best under constraints: without a closed form, each fold is fitted anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError, RefusalError
from surefit.data.source import ArraySource, Source
from surefit.engine.base import Engine
from surefit.models.linear.constrained_folds import MakesPenalty, tested_folds
from surefit.models.linear.constrained_squares import ConstrainedSquares, squares
from surefit.models.linear.folds import Cut
from surefit.models.linear.leave_one_out import LeftOut
from surefit.models.linear.ridge_scores import Scores
from surefit.models.linear.rows import gathered
from surefit.penalties.base import Penalty

Matrix = NDArray[np.float64]
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
    cut = Cut(problem.who, cv, by_content, labels)
    tested = tested_folds(problem, penalties, cut, source, engine)
    return np.mean([judge.of_fold(fold) for fold in tested], axis=0), None


def _left_out(
    problem: ConstrainedSquares, penalties: list[MakesPenalty], source: Source, engine: Engine
) -> Iterator[LeftOut]:
    """Yield the errors of each row, predicted without itself."""
    from sklearn.model_selection import LeaveOneOut

    rows = source.schema.rows
    if rows is None or rows > MOST_ROWS:
        raise RefusalError(
            f"{problem.who}: under constraints each row left out takes a fit of its own, which is done for "
            f"up to {MOST_ROWS} rows: give cv=5, say."
        )
    if rows < 2:
        raise DataError(
            f"{problem.who} leaves one row out at a time, which n_samples={rows} does not allow: "
            "give more rows, or use Ridge."
        )
    table = ArraySource(source.schema, gathered(source))
    for fold in tested_folds(problem, penalties, Cut(problem.who, LeaveOneOut()), table, engine):
        yield LeftOut(fold.target[:, :, None] - fold.prediction, fold.target, fold.weight)


def _of_strength(alpha: float) -> Callable[[int, float], Penalty]:
    return lambda target, weight: squares(alpha / weight)
