"""What linear classifiers share: a score for each class, and targets of plus and minus one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.data.batches.batch import Batch
from surefit.data.source import MappedSource, Source
from surefit.models.linear.common.base import LinearPrediction


class LinearClassification(LinearPrediction):
    """Predict the class with the largest score; two classes share one, positive for the second."""

    classes_: NDArray[Any]

    def decision_function(self, X: Any, *, to: str | Path | None = None) -> NDArray[np.float64]:
        """Return the scores, (n,) for two classes and (n, k) for more, or write them ``to`` a file."""
        names = [str(label) for label in getattr(self, "classes_", ())]
        return self._answer(self._linear, X, to, names[1:] if len(names) == 2 else names)  # type: ignore[attr-defined]

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[Any]:
        """Return the class of each row, or write it ``to`` a file."""
        names = [str(label) for label in self.classes_] if self._has_label_columns() else ["prediction"]
        return self._answer(self._label, X, to, names)  # type: ignore[attr-defined]

    def _has_label_columns(self) -> bool:
        """Whether rows have several labels, each there or not."""
        schema = self.__dict__.get("_schema")
        return schema is not None and schema.classes is None

    def _label(self, X: Any) -> NDArray[Any]:
        scores = self._linear(X)
        if self._has_label_columns():
            return (scores > 0).astype(np.int64)
        return self.classes_[scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)]


@dataclass(frozen=True, slots=True)
class SignedTargets:
    """Turn class codes into +1 for the class and -1 for the others, one column a class; one for two classes.

    factors: what the weight of a row is multiplied by, one number a class.
    """

    classes: int
    factors: NDArray[np.float64] | None = None

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with such a target."""
        codes = np.asarray(batch.y)
        if self.classes <= 2:
            Y = np.where(codes == 1, 1.0, -1.0)[:, None]
        else:
            Y = np.where(codes[:, None] == np.arange(self.classes), 1.0, -1.0)
        weight = batch.weight
        if self.factors is not None:
            weight = self.factors[codes] if weight is None else weight * self.factors[codes]
        return replace(batch, y=Y, weight=weight)

    def source(self, source: Source) -> Source:
        """The same for a source."""
        outputs = 1 if self.classes <= 2 else self.classes
        schema = replace(source.schema, classes=None, targets=outputs, target_is_flat=False)
        return MappedSource(source, schema, self)


def signed_labels(batch: Batch) -> Batch:
    """Turn labels that are there (1) or not (0) into plus and minus one."""
    return replace(batch, y=2.0 * np.asarray(batch.y, dtype=np.float64) - 1.0)
