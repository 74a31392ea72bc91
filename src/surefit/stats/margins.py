"""How far rows lie on their own side of a plane."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.data.batches.batch import Batch
from surefit.stats.base import Statistic
from surefit.stats.cases import Trial


@dataclass(frozen=True, slots=True)
class Margins(Statistic):
    """Weight of all rows and of those on the wrong side, the least margin y (x'w + b), the longest row.

    A row on the plane itself is on the wrong side. radius: of the rows with a 1 beside them.

    >>> batch = Batch(np.array([[3.0], [-2.0]]), np.array([1.0, 1.0]))
    >>> Margins.of(batch, w=np.ones(1), intercept=0.0)
    Margins(weight=2.0, wrong=1.0, least=-2.0, radius=3.1622776601683795)
    """

    name = "margins"

    weight: float
    wrong: float
    least: float
    radius: float

    @classmethod
    def of(
        cls, batch: Batch, *, w: NDArray[np.float64] | None = None, intercept: float = 0.0, **context: Any
    ) -> Margins:
        """Measure the margins of rows whose target is above 0 on one side, and at most 0 on the other."""
        X: Any = batch.X
        y = np.where(np.asarray(batch.y) > 0, 1.0, -1.0)
        s = np.ones(len(batch)) if batch.weight is None else np.asarray(batch.weight, dtype=np.float64)
        w = np.ones(X.shape[1]) if w is None else w
        counted = s > 0
        margins = (y * (np.asarray(X @ w).ravel() + intercept))[counted]
        squares = X.multiply(X).sum(axis=1) if hasattr(X, "multiply") else np.einsum("ij,ij->i", X, X)
        lengths = np.sqrt(np.asarray(squares, dtype=np.float64).ravel()[counted] + 1.0)
        wrong = float(s[counted][margins <= 0].sum())
        return cls(float(s.sum()), wrong, float(margins.min(initial=np.inf)), float(lengths.max(initial=0.0)))

    def __add__(self, other: Margins) -> Margins:
        return Margins(
            self.weight + other.weight,
            self.wrong + other.wrong,
            min(self.least, other.least),
            max(self.radius, other.radius),
        )

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """Targets of two classes."""
        return (Trial("classes", {}),)
