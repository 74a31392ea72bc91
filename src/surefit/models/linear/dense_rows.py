"""Few rows as they stand in a dual problem: centred, weighted by the roots of their weights, and dense."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.data.batch import Batch
from surefit.models.linear.rows import CentredRows

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class DenseRows:
    """A = S^(1/2) (X - 1 mean_x') and B = S^(1/2) (Y - 1 mean_y'); without an intercept the means are 0."""

    A: Matrix
    B: Matrix
    mean_x: Vector
    mean_y: Vector
    weight: Vector
    target: Matrix

    @classmethod
    def of(cls, batch: Batch, fit_intercept: bool) -> DenseRows:
        """Centre and weight the rows of a batch."""
        X: Any = batch.X
        Y = np.asarray(batch.y, dtype=np.float64).reshape(len(batch), -1)
        weight = np.ones(len(batch)) if batch.weight is None else batch.weight
        if fit_intercept:
            share = weight / weight.sum()
            mean_x, mean_y = np.asarray(share @ X, dtype=np.float64).ravel(), share @ Y
        else:
            mean_x, mean_y = np.zeros(X.shape[1]), np.zeros(Y.shape[1])
        rows = CentredRows(X, batch.weight, mean_x)
        return cls(rows.dense(), rows.weighted(Y - mean_y), mean_x, mean_y, weight, Y)
