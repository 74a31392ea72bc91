"""Weights of classes: what the weight of a row is multiplied by, by its class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.data.batches.batch import Batch
from surefit.data.source import ArraySource, MappedSource, Source
from surefit.engine.base import Engine
from surefit.stats.class_weights import ClassWeights

ClassWeight = Literal["balanced"] | dict[Any, Any] | None


def given_factors(class_weight: ClassWeight, classes: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return one factor a class from a dictionary; None for no weights."""
    if class_weight is None:
        return None
    from sklearn.utils.class_weight import compute_class_weight

    return np.asarray(compute_class_weight(class_weight, classes=classes, y=classes), dtype=np.float64)


def class_factors(class_weight: ClassWeight, source: Source, engine: Engine) -> NDArray[np.float64] | None:
    """Return one factor a class; "balanced" gives all classes of a source the same weight in total."""
    classes = source.schema.classes
    assert classes is not None
    if class_weight != "balanced":
        return given_factors(class_weight, classes)
    weights = engine.accumulate(partial(ClassWeights.of, classes=len(classes)), source).weights
    present = weights > 0
    share = weights.sum() / np.count_nonzero(present)
    return np.divide(share, weights, out=np.zeros_like(weights), where=present)


@dataclass(frozen=True, slots=True)
class WeightedClasses:
    """Multiply the weight of each row of a batch by the factor of its class."""

    factors: NDArray[np.float64]

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with such weights."""
        factors = self.factors[np.asarray(batch.y)]
        return replace(batch, weight=factors if batch.weight is None else batch.weight * factors)


def with_class_weight(source: Source, engine: Engine, class_weight: ClassWeight) -> Source:
    """Return the source with the weights of its classes in those of its rows."""
    factors = class_factors(class_weight, source, engine)
    if factors is None:
        return source
    if isinstance(source, ArraySource):
        return replace(source, batch=WeightedClasses(factors)(source.batch))
    return MappedSource(source, source.schema, WeightedClasses(factors))
