"""Bootstrap validation: models of rows drawn with replacement, judged by the rows that were left out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError, SurefitWarning
from surefit.core.public import public
from surefit.evaluate.cross_validation.cross_validate import jobs_of, run_folds
from surefit.evaluate.cross_validation.source_folds import AskedWork
from surefit.evaluate.rows.dataset import ReadRows, rows_of
from surefit.evaluate.scoring.fold import FoldWork, chosen_metrics, classes_of
from surefit.evaluate.scoring.intervals import rows_tested
from surefit.metrics.base import Metric
from surefit.resample.bootstrap import Bootstrap
from surefit.resample.optimism import error_632, error_632_plus
from surefit.resample.streams import stream

MOST_PAIRS = 1_000_000  # of truths with predictions of other rows; beyond it, some shuffles stand for all
SHUFFLES = 20


@dataclass(frozen=True, slots=True)
class BootstrapEstimate:
    """The estimates of a score for new rows.

    train: of the model of all rows on those rows, too kind. left_out: of the rows left out by each sample,
    too harsh. plain_632 and plus_632 lie between. chance: if predictions had nothing to do with the truth.
    """

    metric: str
    train: float
    left_out: float
    plain_632: float
    plus_632: float
    chance: float
    samples: int

    def __str__(self) -> str:
        return (
            f"{self.metric}: .632+ {self.plus_632:.4g}, .632 {self.plain_632:.4g}, "
            f"left out {self.left_out:.4g}, train {self.train:.4g}, chance {self.chance:.4g} "
            f"({self.samples} samples)"
        )


@public
def bootstrap_validate(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    metric: Any = None,
    n_samples: int = 50,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    random_state: Any = 0,
) -> BootstrapEstimate:
    """Estimate a score by the bootstrap: .632, and .632+, which holds up for models that learn rows by heart.

    metric: one that is a score of predictions; by default the first of those of ``cross_validate``.

    >>> import surefit
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> found = surefit.bootstrap_validate(KNeighborsClassifier(1), X, y, metric="zero_one_loss")
    >>> found.train, round(found.plus_632, 3), round(found.chance, 3)
    (0.0, 0.031, 0.667)
    """
    table = rows_of(model, X, y, sample_weight)
    classes = classes_of(model, table.y)
    chosen = chosen_metrics(model, metric, classes)
    name, scorer = next(iter(chosen.items()))
    if not isinstance(scorer, Metric):
        raise DataError(
            f"{name} is a function: choose one of surefit's metrics, which can be computed for other rows."
        )
    truth, rows, weight = table.y, table.count, table.weight
    everything = np.arange(rows)
    asked: FoldWork | AskedWork
    if isinstance(table, ReadRows):
        asked = AskedWork(model, {name: scorer}, table, classes)
    else:
        asked = FoldWork(model, {name: scorer}, table.X, table.y, table.weight, classes)
    whole = asked((everything, everything))
    train = whole.scores[name]
    draws = list(Bootstrap(n_samples, random_state=random_state).split(table.X))
    usable = [pair for pair in draws if len(pair[1])]
    if not usable:
        raise DataError("no bootstrap sample leaves a row out: there are too few rows.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SurefitWarning)
        # A table that is read is read by all threads at once.
        folds = run_folds(asked, usable, 1 if isinstance(table, ReadRows) else jobs_of(n_jobs))
        # Each row left out counts alike, however often it was.
        tested = np.concatenate([test for _, test in usable])
        times = 1.0 / np.bincount(tested, minlength=rows)[tested]
        y_tested, answers, given = rows_tested(scorer, folds, usable, truth, weight)
        left_out = float(
            scorer.finish(scorer.of(y_tested, answers, times * (1.0 if given is None else given)))
        )
        all_rows = rows_tested(scorer, [whole], [(everything, everything)], truth, weight)
        chance = _by_chance(scorer, truth, all_rows[1], weight)
    plain, plus = error_632(train, left_out), error_632_plus(train, left_out, chance)
    return BootstrapEstimate(name, train, left_out, plain, plus, chance, len(usable))


def _by_chance(metric: Metric, truth: NDArray[Any], answers: Any, weight: Any) -> float:
    """The score over all pairs of a truth with the prediction for any row."""
    rows = len(truth)
    own = np.ones(rows) if weight is None else weight
    if rows * rows <= MOST_PAIRS:
        turns: Any = range(rows)
        orders = ((np.arange(rows) + turn) % rows for turn in turns)
    else:
        orders = (stream(0, task).permutation(rows) for task in range(SHUFFLES))
    total = None
    for order in orders:
        piece = metric.of(truth, answers[order], own * own[order])
        total = piece if total is None else total + piece
    return float(metric.finish(total))
