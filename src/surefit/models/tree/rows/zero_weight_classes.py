"""Classes of weight 0: their rows take no part, as rows of weight 0 do not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.data.batches.batch import Batch
from surefit.data.source import ArraySource, MappedSource, Source
from surefit.models.class_weight import given_factors


@dataclass(frozen=True, slots=True)
class _ZeroWeighted:
    """A batch in which the rows of some classes have weight 0; one that holds none of them stays as it is."""

    counted: NDArray[np.bool_]

    def __call__(self, batch: Batch) -> Batch:
        counts = self.counted[np.asarray(batch.y).reshape(len(batch)).astype(np.intp)]
        if counts.all():
            return batch
        weight = counts.astype(np.float64) if batch.weight is None else batch.weight * counts
        return replace(batch, weight=weight)


def drop_zero_weight_classes(model: Any, source: Source) -> Source:
    """Return the source in which rows of classes of weight 0 have weight 0 from the first pass on.

    Weights that multiply rows later would leave them in bins, in counts of rows and among those held out.

    >>> from surefit import DecisionTreeClassifier
    >>> from surefit.data.schema import Schema
    >>> rows = Batch(np.ones((3, 1)), np.array([0, 1, 1]))
    >>> source = ArraySource(Schema(1, rows=3, classes=np.array(["a", "b"])), rows)
    >>> model = DecisionTreeClassifier(class_weight={"a": 0.0, "b": 2.0})
    >>> drop_zero_weight_classes(model, source).batch.weight.tolist()
    [0.0, 1.0, 1.0]
    """
    asked, labels = getattr(model, "class_weight", None), source.schema.classes
    if labels is None or not isinstance(asked, dict):
        return source  # "balanced" has no zeros but for classes without rows
    factors = given_factors(asked, labels)
    assert factors is not None
    if (factors > 0).all():
        return source
    if not (factors > 0).any():
        raise DataError(
            f"{type(model).__name__}: class_weight is 0 for every class: "
            "give at least one class a positive weight."
        )
    zero_weighted = _ZeroWeighted(factors > 0)
    if isinstance(source, ArraySource):
        return replace(source, batch=zero_weighted(source.batch))
    return MappedSource(source, source.schema, zero_weighted)
