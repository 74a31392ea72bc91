"""Columns far from zero, beside their spread, are moved there before a square of them is formed.

A Hessian holds squares of the columns, and the intercept takes out their offset again: of a column with mean
1e6 and spread 1 that would cancel 12 of 16 digits. Moving the rows first costs none, and changes only what
the intercept is measured from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from surefit.core.arrays import Vector
from surefit.data.batches.batch import Batch
from surefit.data.source import ArraySource, MappedSource, Source
from surefit.solvers.objective.mean_loss import At, MeanLoss
from surefit.stats.curvature import Curvature, PointwiseLoss

FAR = 1e3  # mean over standard deviation: squares then lose six digits, and leave ten


@dataclass(frozen=True, slots=True)
class ShiftedColumns:
    """Take a number from each column of a batch."""

    by: Vector

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with moved columns."""
        return replace(batch, X=np.asarray(batch.X, dtype=np.float64) - self.by)


class SecondDerivatives:
    """Value, gradient and Hessian of an objective's loss, with the offset of its columns taken out.

    ``inner`` and ``outer`` take a packed point to the moved columns and back: they differ by the intercept.
    """

    def __init__(self, objective: MeanLoss) -> None:
        self.objective = objective
        self.by = _offset(objective)
        self._source = _moved(objective, self.by) if self.by.any() else objective.source

    def inner(self, w: Vector) -> Vector:
        """Return the point as it is with moved columns."""
        return self._with_intercept(w, 1.0)

    def outer(self, w: Vector) -> Vector:
        """Return the point as it is with the columns of the objective."""
        return self._with_intercept(w, -1.0)

    def _with_intercept(self, w: Vector, sign: float) -> Vector:
        if not self.by.any():
            return w
        moved = w.copy()
        moved[-1] += sign * (self.by @ w[:-1])
        return moved

    def at(self, w: Vector, order: Literal[1, 2] = 2, loss: PointwiseLoss | None = None) -> At:
        """Evaluate the mean loss in one pass, or another loss of the same rows."""
        coef, intercept = self.objective.split(w)
        loss = self.objective.loss if loss is None else loss
        of = partial(Curvature.of, loss=loss, w=coef, intercept=intercept, order=order)
        with np.errstate(over="ignore", invalid="ignore"):  # a trial point may be too far out
            found: Curvature = self.accumulate(of)
        weight = found.weight
        return At(found.value / weight, found.gradient / weight, found.hessian / weight)

    def accumulate(self, of: Any) -> Any:
        """Read the moved rows once and add up a statistic."""
        self.objective.passes += 1
        return self.objective.engine.accumulate(of, self._source)


def _offset(objective: MeanLoss) -> Vector:
    """Return what to take from each column: its mean if that is far from zero, else nothing."""
    nothing = np.zeros(objective.columns)
    if not objective.fit_intercept:
        return nothing
    spread = objective.spread
    far = np.abs(spread.mean) > FAR * np.sqrt(spread.variance)
    if not far.any() or _is_sparse(objective):
        return nothing
    return np.where(far, spread.mean, 0.0)


def _is_sparse(objective: MeanLoss) -> bool:
    first: Any = objective.rows if objective.rows is not None else next(iter(objective.source))
    return hasattr(first.X, "tocsr")


def _moved(objective: MeanLoss, by: Vector) -> Source:
    if objective.rows is not None:
        return ArraySource(objective.source.schema, ShiftedColumns(by)(objective.rows))
    return MappedSource(objective.source, objective.source.schema, ShiftedColumns(by))
