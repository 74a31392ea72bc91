"""Tell classes by boosted trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from surefit.core.arrays import Matrix, Vector
from surefit.core.parameters import Count, Positive, RandomState, Strength, Tolerance, WholeNumber
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.targets import class_codes
from surefit.models.candidate import Candidate
from surefit.models.tree.boosting.base import HistGradientBoosting
from surefit.models.tree.boosting.losses import BoostLoss, class_loss
from surefit.models.tree.boosting.parameters import (
    BinCount,
    BoostParameters,
    ColumnShare,
    HeldOut,
    Interactions,
    with_own,
)
from surefit.models.tree.nodes.parameters import Categories, Depth, Leaves, Monotone
from surefit.models.tree.targets.classes import class_factors

ClassWeights = Literal["balanced"] | dict[Any, Any] | None


@dataclass(frozen=True, slots=True)
class ClassBoostParameters(BoostParameters):
    """The same, and the labels."""

    classes: NDArray[Any]


class HistGradientBoostingClassifier(ClassifierMixin, HistGradientBoosting):
    r"""Add up small trees, each fitted to the gradients of the log loss after the trees before it.

    Two classes share one tree a round, whose sum z gives the probability :math:`1 / (1 + e^{-z})`; more
    classes have a tree each and the softmax of their sums. Columns are cut into at most ``max_bins`` bins;
    categories are split by sets of levels, and missing values go to the side with the greater gain.
    Parameters are scikit-learn's. Weights count as repetitions, but for ``min_samples_leaf``, which counts
    rows.

    The certificate says that the trees, sent the data again, have the training and the held-out loss that the
    fit stated.

    >>> from surefit import HistGradientBoostingClassifier
    >>> X = np.arange(100.0)[:, None]
    >>> model = HistGradientBoostingClassifier(max_iter=50).fit(X, np.where(X[:, 0] > 60, "high", "low"))
    >>> model.predict([[10.0], [90.0]]).tolist(), model.n_iter_
    (['low', 'high'], 50)
    """

    accepts = Accepts(target="class", missing=True, infinite=True, tables=True)
    learns = ClassBoostParameters
    candidate = Candidate("Gradient boosting", complexity=60, purpose="tree")
    _stratified = True

    class_weight: Any
    classes_: NDArray[Any]

    def __init__(
        self,
        loss: Literal["log_loss"] = "log_loss",
        *,
        learning_rate: Positive = 0.1,
        max_iter: Count = 100,
        max_leaf_nodes: Leaves = 31,
        max_depth: Depth = None,
        min_samples_leaf: Count = 20,
        l2_regularization: Strength = 0.0,
        max_features: ColumnShare = 1.0,
        max_bins: BinCount = 255,
        categorical_features: Categories = "from_dtype",
        monotonic_cst: Monotone = None,
        interaction_cst: Interactions = None,
        warm_start: bool = False,
        early_stopping: Literal["auto"] | bool = "auto",
        scoring: str | Callable[..., float] | None = "loss",
        validation_fraction: HeldOut = 0.1,
        n_iter_no_change: Count = 10,
        tol: Tolerance = 1e-7,
        verbose: WholeNumber = 0,
        random_state: RandomState = None,
        class_weight: ClassWeights = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.class_weight = class_weight

    def _boost_loss(self, schema: Schema | None = None) -> BoostLoss:
        labels: Any = self.classes_ if schema is None else schema.classes
        return class_loss(len(labels))

    def _weighted(self, y: Vector, weight: Vector | None, schema: Schema) -> Vector | None:
        if self.class_weight is None:
            return weight
        codes = y.astype(np.intp)
        base = np.ones(len(y)) if weight is None else weight
        labels: Any = schema.classes
        return np.asarray(base * class_factors(self.class_weight, labels, codes, base)[codes])

    def _coded(self, y: Any, schema: Schema) -> Vector:
        return class_codes(y, schema.classes)[0].astype(np.float64)

    def _parameters(self, common: BoostParameters, schema: Schema) -> ClassBoostParameters:
        found: ClassBoostParameters = with_own(ClassBoostParameters, common, classes=schema.classes)
        return found

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[Any]:
        """Return the likeliest class of each row, or write it ``to`` a file."""
        return np.asarray(self._answer(self._predict, X, to, ["prediction"]))

    def _shares(self, score: Matrix) -> Matrix:
        found = self._boost_loss().mean(score)
        return found if len(self.classes_) > 1 else np.ones((len(found), 1))

    def _row_shares(self, X: Any) -> Matrix:
        return self._shares(self._scores(X))

    def _row_decision(self, X: Any) -> Vector:
        return self._decision(self._scores(X))

    def _predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.classes_[self._row_shares(X).argmax(axis=1)])

    def predict_proba(self, X: Any, *, to: str | Path | None = None) -> Matrix:
        """Return the class probabilities, (n, classes), or write them ``to`` a file."""
        names = [str(label) for label in getattr(self, "classes_", ())]
        return np.asarray(self._answer(self._row_shares, X, to, names))

    def decision_function(self, X: Any) -> Matrix:
        """Return the sums of the trees: (n,) for two classes, else (n, classes)."""
        return np.asarray(self._answer(self._row_decision, X))

    @staticmethod
    def _decision(score: Matrix) -> Vector:
        return score[0] if len(score) == 1 else score.T

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predictions after each round."""
        for shares in self.staged_predict_proba(X):
            yield self.classes_[shares.argmax(axis=1)]

    def staged_predict_proba(self, X: Any) -> Iterator[Matrix]:
        """Yield the class probabilities after each round."""
        for score in self._staged_scores(X):
            yield self._shares(score)

    def staged_decision_function(self, X: Any) -> Iterator[Matrix]:
        """Yield the sums of the trees after each round."""
        for score in self._staged_scores(X):
            yield self._decision(score)
