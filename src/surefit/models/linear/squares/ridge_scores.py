"""What a penalty scores on rows that were left out: squared errors, or any scorer of scikit-learn's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from surefit.core.arrays import Matrix
from surefit.models.linear.squares.leave_one_out import LeftOut
from surefit.models.linear.squares.ridge_folds import FoldPredictions


class FixedPredictions(RegressorMixin, BaseEstimator):
    """A regressor whose predictions are given in place of rows, as a scorer wants to call one."""

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> Any:
        """Return what is given."""
        return X


class FixedScores(ClassifierMixin, BaseEstimator):
    """A classifier whose scores are given in place of rows."""

    def __init__(self, classes: Any = None, columns: bool = False) -> None:
        self.classes = classes
        self.classes_ = classes
        self.columns = columns

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def decision_function(self, X: Any) -> Any:
        """Return what is given; two classes share one column."""
        return X[:, 0] if X.shape[1] == 1 else X

    def predict(self, X: Any) -> Any:
        """Return the class with the largest score, or a column for each label."""
        if self.columns:
            return (X > 0).astype(np.int64)
        codes = (X[:, 0] > 0).astype(np.intp) if X.shape[1] == 1 else np.argmax(X, axis=1)
        return self.classes_[codes]


@dataclass(frozen=True, slots=True)
class Scores:
    """How penalties are compared; the larger score is the better.

    scorer: called as ``scorer(model, rows, targets)``; None for squared errors, or R2 and accuracy with
    folds. flat: the target has one dimension. classes: the labels of a classifier. each: one score a target.
    columns: whether the target is labels that are there or not.
    """

    scorer: Callable[..., Any] | None
    flat: bool
    classes: NDArray[Any] | None
    each: bool
    columns: bool = False

    def labels(self, target: Matrix) -> Any:
        """The target as it came, before it was turned into plus and minus one."""
        if self.columns:
            return (target > 0).astype(np.int64)
        if self.classes is None:
            return target[:, 0] if self.flat and target.ndim == 2 else target
        codes = (target[:, 0] > 0).astype(np.intp) if target.shape[1] == 1 else np.argmax(target, axis=1)
        return self.classes[codes]

    def leaving_one_out(self, pieces: Iterator[LeftOut], *, store: bool) -> tuple[Matrix, Matrix | None]:
        """Score the penalties, (alphas,) or (alphas, targets), and keep what each row scored if asked to."""
        if self.scorer is None:
            return self._by_squares(pieces, store)
        rows = list(pieces)
        predictions = np.concatenate([piece.prediction for piece in rows])
        target = np.concatenate([piece.target for piece in rows])
        weight = np.concatenate([piece.weight for piece in rows])
        scores = [self._score(predictions[:, :, a], target, weight) for a in range(predictions.shape[2])]
        return np.array(scores), self._stored(predictions) if store else None

    def _by_squares(self, pieces: Iterator[LeftOut], store: bool) -> tuple[Matrix, Matrix | None]:
        kept, total, rows = [], None, 0
        for piece in pieces:
            squares = piece.squares
            added = squares.sum(axis=0)
            total, rows = added if total is None else total + added, rows + len(squares)
            if store:
                kept.append(squares)
        assert total is not None
        means = -total.T / rows  # (alphas, targets)
        return means if self.each else means.mean(axis=1), self._stored(
            np.concatenate(kept)
        ) if store else None

    def _stored(self, results: Matrix) -> Matrix:
        """As scikit-learn shapes them: without the axis of targets where the target is flat."""
        return results[:, 0] if self.flat else results

    def of_fold(self, fold: FoldPredictions) -> Matrix:
        """Score the penalties on one fold."""
        alphas = range(fold.prediction.shape[2])
        return np.array([self._score(fold.prediction[:, :, a], fold.target, fold.weight) for a in alphas])

    def _score(self, prediction: Matrix, target: Matrix, weight: Matrix) -> Any:
        truth = self.labels(target)
        if self.classes is not None or self.columns:
            classes = np.arange(target.shape[1]) if self.columns else self.classes
            model: Any = FixedScores(classes, self.columns)
        else:
            model = FixedPredictions()
            prediction = prediction[:, 0] if self.flat else prediction
        scorer = type(model).score if self.scorer is None else self.scorer
        options = {"sample_weight": weight} if (weight != 1.0).any() and _takes_weights(scorer) else {}
        if self.each:
            columns = range(target.shape[1])
            return [scorer(model, prediction[:, k], target[:, k], **options) for k in columns]
        return scorer(model, prediction, truth, **options)


def _takes_weights(scorer: Any) -> bool:
    """Whether a scorer has a use for weights; as scikit-learn, leave them out where it has not."""
    asked = getattr(scorer, "_accept_sample_weight", None)
    return bool(asked()) if asked is not None else "sample_weight" in signature(scorer).parameters


def scores_of(
    scoring: Any, flat: bool, classes: NDArray[Any] | None, each: bool, columns: bool = False
) -> Scores:
    """Turn the name of a scorer into the scorer."""
    if isinstance(scoring, str):
        from sklearn.metrics import get_scorer

        scoring = get_scorer(scoring)
    return Scores(scoring, flat, classes, each, columns)
