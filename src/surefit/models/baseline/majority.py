"""Predict the heaviest class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.certificate import Certificate
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.candidate import Candidate
from surefit.models.updating import OneStatisticClassifier
from surefit.stats.base import Joint
from surefit.stats.class_weights import ClassWeights
from surefit.stats.spread import Spread


@dataclass(frozen=True, slots=True)
class MajorityParameters:
    """The labels and the share of the weight that each has."""

    classes: NDArray[Any]
    class_prior: NDArray[np.float64]


class MajorityClassifier(OneStatisticClassifier):
    r"""Predict the class with the most weight, and for each class its share :math:`\sum_{y_i = k} s_i /
    \sum_i s_i`.

    Of two classes with the same weight, the one that sorts first wins. The certificate is exact: counting
    again gives the same shares.

    >>> from surefit import MajorityClassifier
    >>> model = MajorityClassifier().fit([[0], [1], [2]], ["rain", "sun", "sun"])
    >>> model.predict([[5]]).tolist()
    ['sun']
    >>> model.predict_proba([[5]]).round(3)
    array([[0.333, 0.667]])
    """

    accepts = Accepts(target="class")
    learns = MajorityParameters
    candidate = Candidate("Shares of the classes", 0, streams=True)

    class_prior_: NDArray[np.float64]

    def __init__(self) -> None:
        pass

    def _of(self, schema: Schema) -> Callable[[Batch], Joint]:
        assert schema.classes is not None
        return partial(
            Joint.of, classes=partial(ClassWeights.of, classes=len(schema.classes)), columns=Spread.of
        )

    def _finish(self, statistic: Joint, schema: Schema) -> Learned:
        assert schema.classes is not None
        weights = statistic["classes"].weights
        parameters = MajorityParameters(schema.classes, weights / weights.sum())
        evidence = {
            "class_weights": (schema.classes, weights),
            "column_moments": statistic["columns"].moments,
            "rows": statistic["classes"].rows,
        }
        # Sums of weights carry at most one rounding a row, and none when the weights are whole numbers.
        roundings = 1 if np.array_equal(weights, np.round(weights)) else statistic["classes"].rows
        return Learned(parameters, self._certificate(roundings * np.finfo(float).eps), evidence)

    @staticmethod
    def _certificate(change: float) -> Certificate:
        return Certificate("exact", "largest change of a class's share", change, 1e-8)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Count again with exactly rounded sums."""
        sums = engine.map(partial(_exact_weights, classes=len(self.classes_)), source)
        exact = np.array([fsum(column) for column in zip(*sums, strict=True)])
        return self._certificate(float(np.max(np.abs(exact / fsum(exact) - self.class_prior_))))

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[Any]:
        """Return the heaviest class for each row, or write it ``to`` a file."""
        return self._answer(self._predict, X, to, ["prediction"])

    def _predict(self, X: Any) -> NDArray[Any]:
        return self.classes_[np.full(X.shape[0], np.argmax(self.class_prior_))]

    def predict_proba(self, X: Any, *, to: str | Path | None = None) -> NDArray[np.float64]:
        """Return the share of each of ``classes_`` for each row, or write them ``to`` a file."""
        return self._answer(
            self._predict_proba, X, to, [str(label) for label in getattr(self, "classes_", ())]
        )

    def _predict_proba(self, X: Any) -> NDArray[np.float64]:
        return np.tile(self.class_prior_, (X.shape[0], 1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


def _exact_weights(batch: Batch, classes: int) -> list[float]:
    weights = np.ones(len(batch)) if batch.weight is None else batch.weight
    return [fsum(weights[batch.y == code]) for code in range(classes)]
