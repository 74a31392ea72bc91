"""Rows set aside by chance, whose score tells epochs by single rows when to stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError, RefusalError
from surefit.data.source import Source, in_memory
from surefit.models.linear.sgd_fit import Problem


def hold_out(model: Any, source: Source, problems: Sequence[Problem]) -> Callable[[Problem], float]:
    """Set rows aside, scikit-learn's for the same ``random_state``, and return what scores a problem on them.

    The model says how well scores meet a target, by ``_score_of``.
    """
    batch = in_memory(source)
    if batch is None:
        raise RefusalError(
            "early_stopping sets rows aside by chance, which takes all of them in memory: load the table "
            "as one array, or stop by the training rows."
        )
    chosen = _validation_rows(model, np.asarray(batch.y))
    weight = batch.weight
    if weight is not None and not np.any(weight[chosen] > 0):
        raise DataError(
            "The sample weights for validation set are all zero, consider using a different random state."
        )
    aside = np.zeros(len(batch), dtype=bool)
    aside[chosen] = True
    X: Any = batch.X
    kept = X[chosen]
    for problem in problems:
        problem.held_out = aside

    def score(problem: Problem) -> float:
        rows = problem.target(batch)
        y = np.asarray(rows.y, dtype=np.float64)[chosen]
        z = np.asarray(kept @ problem.state.w).ravel() + problem.state.scalars[0]
        return float(model._score_of(y, z, None if weight is None else weight[chosen]))

    return score


def _validation_rows(model: Any, y: NDArray[Any]) -> NDArray[np.intp]:
    from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

    splitter = ShuffleSplit if model.regression else StratifiedShuffleSplit
    seed = 0 if model.random_state is None else model.random_state
    split: Any = splitter(test_size=model.validation_fraction, random_state=seed)
    chosen: NDArray[np.intp] = next(split.split(np.zeros((len(y), 1)), y))[1]
    return chosen
