"""The slopes that a path of lassos follows, from columns in memory or from sums.

By columns, most of them can be left alone for many steps: the slope of a column moves by no more than its
length times that of what the residual moved by, so that columns far below the strength cannot have reached
it. They are looked at again when that bound no longer tells.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.core.native.column_facts import column_facts
from surefit.core.native.columns_dot import columns_dot, columns_times
from surefit.solvers.squared_columns import SquaredColumns
from surefit.solvers.squared_sums import SquaredSums

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]

_WATCHED = 0.2  # share of the columns that are followed step by step
_FEW = 500  # columns, below which all are followed
_ROUNDING = 32 * np.finfo(float).eps


class Slopes(Protocol):
    """Slopes c = A'Sr/W at a point of the path, and their change a = A'SA_S d/W along a direction d.

    near: the columns whose entries of c and a are current. centre: the means of the columns.
    noise: what rounding may do to each slope.
    """

    centre: Vector
    cross: Vector
    rms: Vector
    noise: Vector
    near: Indices
    c: Vector
    a: Vector

    def products(self, column: int, active: Indices) -> Vector:
        """Return the entries of the Gram matrix for one column and the active ones."""

    def refresh(self, active: Indices, w: Vector) -> None:
        """Compute all slopes afresh from the coefficients."""

    def turn(self, active: Indices, d: Vector) -> None:
        """Take a new direction."""

    def sure(self, step: float, level: float) -> bool:
        """Whether no column outside ``near`` can have reached ``level`` within the step."""

    def move(self, step: float, level: float) -> None:
        """Go along the direction, down to a strength of ``level``."""

    def leave(self, column: int, slope: float) -> None:
        """Follow a column that was active, and has this slope."""


class SlopesOfSums:
    """From the Gram matrix; every column is followed."""

    def __init__(self, sums: SquaredSums) -> None:
        self._gram, self.cross, self.rms = sums.gram, sums.cross, sums.rms
        self.centre = sums.mean_x
        self.noise = _ROUNDING * self.rms * np.sqrt(sums.energy)
        self.near: Indices = np.arange(len(self.cross))
        self.c, self.a = self.cross.copy(), np.zeros(len(self.cross))

    def products(self, column: int, active: Indices) -> Vector:
        """Return the entries of the Gram matrix for one column and the active ones."""
        return np.asarray(self._gram[column, active])

    def refresh(self, active: Indices, w: Vector) -> None:
        """Compute all slopes afresh from the coefficients."""
        self.c = self.cross - self._product(active, w)

    def turn(self, active: Indices, d: Vector) -> None:
        """Take a new direction."""
        self.a = self._product(active, d)

    def sure(self, step: float, level: float) -> bool:
        """Return True, as all columns are followed."""
        return True

    def move(self, step: float, level: float) -> None:
        """Go along the direction."""
        self.c -= step * self.a

    def leave(self, column: int, slope: float) -> None:
        """Set the slope of a column that was active."""
        self.c[column] = slope

    def _product(self, active: Indices, w: Vector) -> Vector:
        if 4 * len(active) < len(self.cross):  # rows are gathered, which costs a copy
            return np.asarray(w @ self._gram[active])
        full = np.zeros(len(self.cross))
        full[active] = w
        return np.asarray(self._gram @ full)


class SlopesOfColumns:
    """From the columns themselves, most of which are left alone for as long as a bound allows."""

    def __init__(self, columns: SquaredColumns, *, positive: bool = False) -> None:
        X = columns.X
        # A path goes through its columns hundreds of times, so that they had better lie one by one.
        self._X = X if sparse.issparse(X) or X.flags.f_contiguous else np.asfortranarray(X)
        self._weight, self._total = columns.weight, columns.total
        self._target, self._positive = columns.target, positive
        facts = column_facts(self._X, self._target, self._weight, columns.fit_intercept)
        self.centre = facts.mean  # zeros without an intercept
        self._centre = facts.mean if columns.fit_intercept else None
        self.rms = np.sqrt(facts.scatter / self._total)
        constant = self.rms <= 4 * np.finfo(float).eps * np.abs(facts.mean)
        self.rms[constant] = 0.0
        self.cross = np.where(constant, 0.0, facts.cross / self._total)
        # Sparse columns are centred in sums, where their means take part.
        reach = np.hypot(self.rms, facts.mean) if sparse.issparse(X) else self.rms
        self.noise = _ROUNDING * reach * np.sqrt(columns.energy)
        self._alive = np.flatnonzero(~constant)
        self.near: Indices = self._alive
        self.c, self.a = self.cross.copy(), np.zeros(len(self.cross))
        self._residual, self._way = self._target.copy(), np.zeros_like(self._target)
        self._before = self._residual
        self._far: Indices = np.empty(0, dtype=np.int64)
        self._far_size, self._far_rms = np.empty(0), np.empty(0)

    def products(self, column: int, active: Indices) -> Vector:
        """Return the entries of the Gram matrix for one column and the active ones."""
        one = columns_times(self._X, np.ones(1), self._centre, [column])
        return self._slopes(one, active)

    def refresh(self, active: Indices, w: Vector) -> None:
        """Compute residual and slopes afresh from the coefficients."""
        self._residual = self._target - columns_times(self._X, w, self._centre, active)
        self.c = np.where(self.rms > 0, self._slopes(self._residual, None), 0.0)
        outside = np.ones(len(self.c), dtype=bool)
        outside[active] = False
        self.near = self._alive[outside[self._alive]]
        self._far = np.empty(0, dtype=np.int64)
        self._far_size = self._far_rms = np.empty(0)

    def turn(self, active: Indices, d: Vector) -> None:
        """Take a new direction."""
        self.near = self.near[self.near != active[-1]]
        self._way = columns_times(self._X, d, self._centre, active)
        self.a[self.near] = self._slopes(self._way, self.near)

    def sure(self, step: float, level: float) -> bool:
        """Whether no column outside ``near`` can have reached ``level`` within the step.

        The bound is convex along the step and the strength linear, so that the end of the step decides.
        """
        if len(self._far) == 0:
            return True
        moved = self._residual - step * self._way - self._before
        square = moved @ moved if self._weight is None else self._weight @ moved**2
        reach = np.sqrt(float(square) / self._total)
        return bool(np.max(self._far_size + self._far_rms * reach) < level)

    def move(self, step: float, level: float) -> None:
        """Go along the direction, and after a look at all columns choose those to follow from here."""
        self._residual -= step * self._way
        self.c[self.near] -= step * self.a[self.near]
        if len(self._far) == 0 and len(self.near) > _FEW:
            size = self.c[self.near] if self._positive else np.abs(self.c[self.near])
            slack = (level - size) / self.rms[self.near]
            watched = int(_WATCHED * len(slack))
            order = np.argpartition(slack, watched)
            self._far, self._far_size = self.near[order[watched:]], size[order[watched:]]
            self._far_rms = self.rms[self._far]
            self.near = np.sort(self.near[order[:watched]])
            self._before = self._residual.copy()

    def leave(self, column: int, slope: float) -> None:
        """Follow a column that was active, and has this slope."""
        self.c[column] = slope
        self.near = np.append(self.near, column)

    def _slopes(self, v: Vector, which: Indices | None) -> Vector:
        scaled = v if self._weight is None else self._weight * v
        return columns_dot(self._X, scaled, self._centre, which) / self._total
