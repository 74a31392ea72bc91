r"""Columns far from zero whose squares are all penalised alike: turned until one of them carries every mean.

No intercept is free to follow such columns: their coefficients do, by differences of a millionth where means
are a million, and a square of the columns has no digits for them. A penalty on :math:`|w|^2` does not mind a
turn, :math:`|Qw| = |w|`, and with the reflection Q that takes the means m to one axis

.. math:: X Q = (X - 1m') Q + 1 (Qm)'

all but that axis are made of rows less their means. In units of :math:`|m|` the axis is an intercept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.data.source import ArraySource
from surefit.penalties.l2 import L2
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.centred_hessian import FAR


@dataclass(frozen=True, slots=True)
class MeanReflection:
    """The means, the reflection :math:`I - 2 v v'` that takes them to one axis, and their length there.

    >>> turned = MeanReflection.to(np.array([3e6, 4e6]))
    >>> turned.rows(np.array([[3e6, 4e6], [3e6, 4e6 + 5]])).round(3)
    array([[ 0., -1.],
           [-3., -1.]])
    >>> turned.outer(turned.inner(np.array([2.0, 1.0]))).round(9)
    array([2., 1.])
    """

    mean: Vector
    v: Vector
    axis: int
    length: float

    @classmethod
    def to(cls, mean: Vector) -> MeanReflection:
        """Turn these means to the axis of the greatest of them."""
        length, axis = float(np.linalg.norm(mean)), int(np.argmax(np.abs(mean)))
        v = mean / length
        v[axis] += np.copysign(1.0, v[axis])  # away from zero: nothing cancels
        return cls(mean, v / np.linalg.norm(v), axis, length)

    @classmethod
    def of(cls, objective: Objective) -> MeanReflection | None:
        """Turn the columns of an objective; None where none is far, or where a turn would change it."""
        if objective.fit_intercept:
            return None
        table = objective.penalty.table(objective.columns)
        if table.l1.any() or not table.l2.all() or np.ptp(table.l2) > 0:
            return None
        rows = objective.need_rows("a solver for piecewise-linear losses")
        if hasattr(rows.X, "tocsr"):
            return None  # rows less their means would fill it
        spread = objective.spread
        deviation = np.sqrt(spread.variance)
        far = np.abs(spread.mean) > FAR * deviation
        if not (far & (deviation > 0)).any():
            return None  # a constant column alone, as an intercept's is, has no spread to lose
        return cls.to(np.where(far, spread.mean, 0.0))

    def rows(self, X: Any) -> Matrix:
        """Return the turned rows."""
        found = np.asarray(X, dtype=np.float64) - self.mean
        found -= np.outer(2.0 * (found @ self.v), self.v)
        found[:, self.axis] /= self.length
        found[:, self.axis] -= np.copysign(1.0, self.v[self.axis])
        return found

    def squares(self, l2: Vector) -> Vector:
        """Return the strength of each turned coefficient."""
        found = l2.copy()
        found[self.axis] /= self.length**2
        return found

    def inner(self, w: Vector) -> Vector:
        """Return coefficients of the turned columns."""
        found = w - 2.0 * np.multiply.outer(self.v, self.v @ w)
        found[self.axis] *= self.length
        return np.asarray(found)

    def outer(self, w: Vector) -> Vector:
        """Return coefficients of the columns."""
        found = w.copy()
        found[self.axis] /= self.length
        return np.asarray(found - 2.0 * np.multiply.outer(self.v, self.v @ found))

    def objective(self, objective: Objective) -> Objective:
        """Return the same objective, of the turned columns."""
        rows = objective.need_rows("a reflection of the columns")
        source = ArraySource(objective.source.schema, replace(rows, X=self.rows(rows.X)))
        squares = L2(1.0, weights=self.squares(objective.penalty.table(objective.columns).l2))
        return Objective(
            source,
            objective.engine,
            objective.loss,
            squares,
            fit_intercept=False,
            outputs=objective.outputs,
        )
