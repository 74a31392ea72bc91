"""Targets of several labels a row: a column of 0 and 1 for each label."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts, admit, is_streamed
from surefit.data.read import read
from surefit.data.source import ArraySource, MappedSource, Source, is_source
from surefit.engine.base import Engine


def has_label_columns(X: Any, y: Any) -> bool:
    """Whether a row has several labels: the target of rows in memory, or of a source, has columns."""
    if y is None:
        return is_source(X) and not X.schema.target_is_flat
    if hasattr(y, "toarray"):
        return True
    shape = getattr(y, "shape", None)
    if shape is None:
        shape = np.shape(np.asarray(y, dtype=object)) if isinstance(y, list | tuple) else ()
    return len(shape) == 2 and shape[1] > 1


class TakesLabelColumns:
    """A classifier that takes several labels a row as columns of 0 and 1, and predicts them so."""

    def _source(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True, classes: Any = None, **also: Any
    ) -> Source:
        if is_streamed(X, y, sample_weight):
            X, y, sample_weight = read(X, target=y, weight=sample_weight), None, None
        if has_label_columns(X, y):
            accepts = self._accepted()  # type: ignore[attr-defined]
            return labels_admitted(self, accepts, X, y, sample_weight, reset=reset)
        found: Source = super()._source(X, y, sample_weight, reset=reset, classes=classes, **also)  # type: ignore[misc]
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        return tags


def labels_admitted(model: Any, accepts: Accepts, X: Any, y: Any, weight: Any, *, reset: bool) -> Source:
    """Check a table with several labels a row, and make a source of it."""
    accepts = replace(accepts, target="number", several_targets=True)
    y = y.toarray() if hasattr(y, "toarray") else y
    found, check = admit(model, accepts, X, y, weight, reset=reset), CheckedIndicators(type(model).__name__)
    if isinstance(found, ArraySource):
        return replace(found, batch=check(found.batch))
    return MappedSource(found, found.schema, check)


@dataclass(frozen=True, slots=True)
class CheckedIndicators:
    """Hold the target of a batch to zeros and ones."""

    who: str

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch, or refuse it."""
        Y = np.asarray(batch.y)
        other = Y[(Y != 0) & (Y != 1)]
        if other.size:
            raise DataError(
                f"Multioutput target data is not supported with label binarization: y has {Y.shape[1]} "
                f"columns, which {self.who} reads as multilabel indicators of 0 and 1, and one holds "
                f"{other[0]:g}: give one column of classes, or indicators of 0 and 1."
            )
        return batch


def label_weights(source: Source, engine: Engine) -> tuple[float, NDArray[np.float64]]:
    """Return the weight of all rows, and of those that have each label."""
    total, present = 0.0, np.zeros(source.schema.targets)
    for weight, ones in engine.map(_weights, source):
        total, present = total + weight, present + ones
    return total, present


def _weights(batch: Batch) -> tuple[float, NDArray[np.float64]]:
    weight = np.ones(len(batch)) if batch.weight is None else batch.weight
    return float(weight.sum()), np.asarray(weight @ np.asarray(batch.y))
