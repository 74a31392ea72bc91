"""Scores of rounds by any of scikit-learn's scorers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import check_scoring

from surefit.core.arrays import Matrix, Vector
from surefit.data.schema import Schema
from surefit.models.tree.boosting.losses import BoostLoss
from surefit.models.tree.boosting.rounds import Part

MOST_ROWS = 10_000  # of each part that are scored each round


def looked_at(count: int) -> NDArray[np.int64]:
    """Return the numbers of the rows of a part at which a scorer looks: all, or evenly spaced ones.

    >>> looked_at(3).tolist(), looked_at(20_000)[[0, 1, -1]].tolist()
    ([0, 1, 2], [0, 2, 19999])
    """
    if count <= MOST_ROWS:
        return np.arange(count)
    return np.linspace(0, count - 1, MOST_ROWS).astype(np.int64)


def scorer_of(model: Any, loss: BoostLoss, schema: Schema) -> Callable[[Part], float]:
    """Return what a scorer makes of a part of the rows; None as scoring is the model's own score."""
    classes = schema.classes
    make: Any = Numbers if classes is None else Classes
    scorer = check_scoring(make(loss, classes, None), scoring=model.scoring)

    def score(whole: Any) -> float:
        part: Part = getattr(whole, "scored", whole)  # of rows that are not here, those gathered for this
        rows: Any = slice(None) if len(part.y) <= MOST_ROWS else looked_at(len(part.y))
        standing = make(loss, classes, part.score[:, rows])
        y: Any = part.y[rows]
        y = y if classes is None else classes[y.astype(np.intp)]
        X = np.empty((len(y), 0))
        if part.weight is None:
            return float(scorer(standing, X, y))
        return float(scorer(standing, X, y, sample_weight=part.weight[rows]))

    return score


class Numbers(RegressorMixin, BaseEstimator):
    """A regressor that answers for the rows whose scores it was given."""

    def __init__(self, loss: BoostLoss, classes: Any, scores: Matrix | None) -> None:
        self.loss = loss
        self.classes = classes
        self.scores = scores

    def fit(self, X: Any, y: Any = None) -> Numbers:
        """Do nothing."""
        return self

    def predict(self, X: Any) -> Vector:
        """Return the predictions of the rows."""
        return self.loss.mean(np.asarray(self.scores))


class Classes(ClassifierMixin, BaseEstimator):
    """A classifier that answers for the rows whose scores it was given."""

    def __init__(self, loss: BoostLoss, classes: Any, scores: Matrix | None) -> None:
        self.loss = loss
        self.classes = classes
        self.scores = scores

    def fit(self, X: Any, y: Any = None) -> Classes:
        """Do nothing."""
        return self

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels."""
        return np.asarray(self.classes)

    def predict_proba(self, X: Any) -> Matrix:
        """Return the shares of the rows."""
        return self.loss.mean(np.asarray(self.scores))

    def decision_function(self, X: Any) -> Matrix:
        """Return the scores of the rows."""
        scores = np.asarray(self.scores)
        return scores[0] if len(scores) == 1 else scores.T

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likeliest class of the rows."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])
