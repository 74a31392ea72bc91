"""Scores of rounds by any of scikit-learn's scorers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import check_scoring

from surefit.data.schema import Schema
from surefit.models.tree.boosting_losses import BoostLoss
from surefit.models.tree.boosting_rounds import Part

Floats = NDArray[np.float64]
MOST_ROWS = 10_000  # of training rows that are scored each round


def scorer_of(model: Any, loss: BoostLoss, schema: Schema) -> Callable[[Part], float]:
    """Return what a scorer makes of a part of the rows; None as scoring is the model's own score."""
    classes = schema.classes
    make: Any = Numbers if classes is None else Classes
    scorer = check_scoring(make(loss, classes, None), scoring=model.scoring)

    def score(part: Part) -> float:
        rows = (
            slice(None)
            if len(part.y) <= MOST_ROWS
            else np.linspace(0, len(part.y) - 1, MOST_ROWS).astype(int)
        )
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

    def __init__(self, loss: BoostLoss, classes: Any, scores: Floats | None) -> None:
        self.loss = loss
        self.classes = classes
        self.scores = scores

    def fit(self, X: Any, y: Any = None) -> Numbers:
        """Do nothing."""
        return self

    def predict(self, X: Any) -> Floats:
        """Return the predictions of the rows."""
        return self.loss.mean(np.asarray(self.scores))


class Classes(ClassifierMixin, BaseEstimator):
    """A classifier that answers for the rows whose scores it was given."""

    def __init__(self, loss: BoostLoss, classes: Any, scores: Floats | None) -> None:
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

    def predict_proba(self, X: Any) -> Floats:
        """Return the shares of the rows."""
        return self.loss.mean(np.asarray(self.scores))

    def decision_function(self, X: Any) -> Floats:
        """Return the scores of the rows."""
        scores = np.asarray(self.scores)
        return scores[0] if len(scores) == 1 else scores.T

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likeliest class of the rows."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])
