"""Forests that tell classes: the mean of the shares in leaves, or votes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.models.tree.forests.reading import ReadableForest
from surefit.models.tree.growing.forest_errors import ForestErrors
from surefit.models.tree.nodes.forest_arrays import ClassForestParameters
from surefit.models.tree.nodes.parameters import Target
from surefit.models.tree.targets.classes import ClassTargets
from surefit.models.tree.trees.classifier import DecisionTreeClassifier

SUBSAMPLE = "balanced_subsample"


class ClassForest(ClassTargets, ClassifierMixin, ReadableForest, abstract=True):
    """What both forests of classes share."""

    loss_name = "share of wrong classes"

    def _admitted(self, accepts: Accepts, X: Any, y: Any, weight: Any, reset: bool, classes: Any) -> Source:
        if issparse(y):
            raise DataError("sparse multilabel-indicator for y is not supported: give y.toarray().")
        return super()._admitted(accepts, X, y, weight, reset, classes)

    def _learn(self, source: Source, engine: Any, trace: Any) -> Any:
        if source.schema.classes is not None:
            self._several_classes = [source.schema.classes]
        try:
            return super()._learn(source, engine, trace)
        finally:
            self.__dict__.pop("_several_classes", None)

    @property
    def _balanced(self) -> bool:
        return bool(isinstance(self.class_weight, str) and self.class_weight == SUBSAMPLE and self.bootstrap)

    def _weights(self, batch: Batch) -> Vector | None:
        return batch.weight if self._balanced else super()._weights(batch)

    def _truth(self, target: Target) -> Matrix:
        shares = [np.eye(count)[target.Y[:, o]] for o, count in enumerate(target.classes)]
        return np.column_stack(shares)

    def _score_of(self, errors: ForestErrors, target: Target, batch: Batch) -> float:
        edges = np.cumsum(target.classes)[:-1]
        answers = np.nan_to_num(errors.averages())
        found = np.column_stack([part.argmax(axis=1) for part in np.split(answers, edges, axis=1)])
        truth = target.Y
        if callable(self.oob_score):
            flat = truth.shape[1] == 1
            return float(self.oob_score(truth[:, 0] if flat else truth, found[:, 0] if flat else found))
        return float((found == truth).all(axis=1).mean())

    def _forest_evidence(self, batch: Batch) -> dict[str, Any]:
        return self._evidence(batch, None)

    def _forest_parameters(self, common: dict[str, Any]) -> ClassForestParameters:
        labels = self._labels_of()
        return ClassForestParameters(**common, classes=labels[0] if len(labels) == 1 else labels)

    def _tree(self, seed: int) -> DecisionTreeClassifier:
        names = {entry for entry in DecisionTreeClassifier().get_params() if hasattr(self, entry)}
        given = {name: getattr(self, name) for name in names}
        return DecisionTreeClassifier(**{**given, "random_state": seed, "class_weight": None})

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[Any]:
        """Return the most probable class of each row, or write it ``to`` a file."""
        return self._answer(self._predict, X, to, self._output_names())

    def _predict(self, X: Any) -> NDArray[Any]:
        return self._labelled(self._mean(X))

    def _labelled(self, shares: Matrix) -> NDArray[Any]:
        if not isinstance(self.classes_, list):
            return np.asarray(self.classes_[shares.argmax(axis=1)])
        parts = self._by_output(shares)
        return np.column_stack(
            [labels[part.argmax(axis=1)] for labels, part in zip(self.classes_, parts, strict=True)]
        )

    def predict_proba(self, X: Any, *, to: str | Path | None = None) -> Any:
        """Return the mean class probabilities of each row; a list of them for several outputs."""
        labels = getattr(self, "classes_", ())
        if isinstance(labels, list):
            return self._by_output(self._answer(self._mean, X))
        return self._answer(self._mean, X, to, [str(label) for label in labels])

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of ``predict_proba``."""
        found = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(each) for each in found] if isinstance(found, list) else np.log(found)

    def votes(self, X: Any) -> Any:
        """Return the share of trees that vote for each class; a list of them for several outputs."""
        parts = np.split(self._grown().value, np.cumsum(self._class_counts)[:-1], axis=1)
        ballots = np.column_stack([np.eye(part.shape[1])[part.argmax(axis=1)] for part in parts])
        found = self._answer(lambda rows: self._mean(rows, ballots), X)
        return self._by_output(found) if isinstance(self.classes_, list) else found

    @property
    def oob_decision_function_(self) -> Any:
        """The mean shares for each row by the trees that have not seen it; 0 where all have."""
        self.oob_score_  # noqa: B018 (which says what to do where nothing was kept)
        found = np.nan_to_num(self.oob_answers_)
        if not isinstance(self.classes_, list):
            return found
        return np.stack(self._by_output(found), axis=2)
