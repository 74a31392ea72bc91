"""What is known of a target and its weights before anything grows, from one pass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from surefit.core.arrays import Vector
from surefit.data.batches.batch import Batch
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.tree.rows.bin_codes import plain_engine
from surefit.models.tree.targets.classes import class_factors
from surefit.models.tree.targets.exact_sums import ExactSums, as_float


@dataclass(frozen=True, slots=True)
class TargetFacts:
    """How many rows there are and how many count, the ends of the target and of weights, and exact sums.

    sums: of the target, or of the weights of each class. whole: every weight is a whole number.
    """

    rows: int
    counted: int
    low: float
    high: float
    sums: ExactSums
    largest: float = 1.0
    whole: bool = True

    @classmethod
    def of(cls, batch: Batch, *, classes: int = 0) -> TargetFacts:
        """Look at the targets of a batch."""
        y, weight = np.asarray(batch.y, dtype=np.float64).reshape(len(batch)), batch.weight
        used = y if weight is None else y[weight > 0]
        sums = ExactSums.of_rows(y, weight, classes)
        low, high = float(used.min(initial=np.inf)), float(used.max(initial=-np.inf))
        if weight is None:
            return cls(len(batch), len(used), low, high, sums)
        whole = bool((weight == np.rint(weight)).all())
        return cls(len(batch), len(used), low, high, sums, float(weight.max(initial=0.0)), whole)

    def __add__(self, other: TargetFacts) -> TargetFacts:
        return TargetFacts(
            self.rows + other.rows,
            self.counted + other.counted,
            min(self.low, other.low),
            max(self.high, other.high),
            self.sums + other.sums,
            max(self.largest, other.largest),
            self.whole and other.whole,
        )


def target_facts(source: Source, engine: Engine) -> TargetFacts:
    """Find them in one pass."""
    classes = 0 if source.schema.classes is None else len(source.schema.classes)
    return plain_engine(engine).accumulate(partial(TargetFacts.of, classes=classes), source)


def row_count(source: Source, engine: Engine) -> int:
    """Return how many rows there are, from a pass where nothing else tells."""
    return target_facts(source, engine).rows if source.schema.rows is None else source.schema.rows


def class_factors_of(class_weight: Any, facts: TargetFacts, schema: Schema) -> Vector | None:
    """By how much each class multiplies the weights of its rows; None for not at all."""
    if class_weight is None:
        return None
    totals = np.array([as_float(own) for own in facts.sums.sums])
    labels: Any = schema.classes
    return class_factors(class_weight, labels, np.arange(len(totals)), totals)
