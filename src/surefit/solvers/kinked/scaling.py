"""From an objective to rows with kinks in units of their own, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core.arrays import Vector
from surefit.solvers.kinked.mean_reflection import MeanReflection
from surefit.solvers.kinked.rows import KinkedRows, cap_of
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.centred_hessian import SecondDerivatives

ALIKE = 2.0**10  # columns within this of 1 keep their units: a table is not copied for less
TIE = 1e-4  # of a row: it leaves a single best answer alone, and tells equal ones apart


@dataclass(frozen=True, slots=True)
class Units:
    """The rows that count, in units of their own, and the way there and back.

    Columns and targets far from zero are moved there, as the intercept allows; without one, columns are
    turned as squares allow. sizes: what columns with an absolute penalty are divided by, powers of 2 that
    round nothing: a kink of a coefficient is met or not by the same measure as one of a row. value: what an
    objective of ``rows`` is in units of the objective. tie: small squares, so that of coefficients that are
    equally good the same are chosen, in whatever order and repetition rows come.
    """

    rows: KinkedRows
    value: float
    size: float
    shift: float
    seconds: SecondDerivatives
    turned: MeanReflection | None
    sizes: Vector | None
    kept: Any
    weight: Vector
    ends: tuple[Vector, Vector]
    tie: Vector
    total: int

    @classmethod
    def of(cls, objective: Objective) -> Units:
        """Take the rows of positive weight."""
        batch = objective.need_rows("a solver for piecewise-linear losses")
        X: Any = batch.X
        s = np.ones(len(batch)) if batch.weight is None else np.asarray(batch.weight, dtype=np.float64)
        y, offset = np.asarray(batch.y), getattr(batch, "offset", None)
        kept: Any = slice(None)
        if not s.all():
            kept = s > 0
            X, y, s = X[kept], y[kept], s[kept]
        seconds = SecondDerivatives(objective)
        if seconds.by.any():
            X = np.asarray(X, dtype=np.float64) - seconds.by
        turned = MeanReflection.of(objective)
        X = X if turned is None else turned.rows(X)
        sizes = _sizes(objective, seconds.by)
        X = X if sizes is None else _divided(X, sizes)
        loss: Any = objective.loss
        kinks = loss.kinks(y)
        at = np.array([kink.at for kink in kinks])
        if offset is not None:
            at = at - offset[kept]
        shift = float(np.mean(at @ s)) / float(s.sum()) if objective.fit_intercept else 0.0
        at = at - shift
        size = float(np.mean(np.abs(at))) or 1.0
        low, high = np.array([kink.low for kink in kinks]), np.array([kink.high for kink in kinks])
        table, n = objective.penalty.table(objective.columns), len(s)
        # One row that outweighs all others would leave these next to nothing: they weigh about 1.
        counted = float(np.minimum(s, cap_of(s, objective.shape[0])).sum())
        weight, whole = s * (n / counted), n * (float(s.sum()) / counted)
        l1, l2 = table.l1, table.l2 if turned is None else turned.squares(table.l2)
        if sizes is not None:
            l1, l2 = l1 / sizes, l2 / sizes**2
        last = [0.0] if objective.fit_intercept else []
        rows = KinkedRows(
            X,
            objective.fit_intercept,
            at / size,
            low * weight,
            high * weight,
            np.concatenate([l1 * whole, last]),
            np.concatenate([l2 * (whole * size), last]),
            np.zeros(objective.shape[0]),
        )
        ends = low.sum(axis=0), high.sum(axis=0)
        tie = _tie(objective, seconds.by)
        if sizes is not None:
            tie[: objective.columns] /= sizes**2
        return cls(
            rows, size / whole, size, shift, seconds, turned, sizes, kept, weight, ends, tie, len(batch)
        )

    def inner(self, w: Vector) -> Vector:
        """Return a packed point in these units."""
        found = np.array(self.seconds.inner(w), dtype=np.float64)
        found = found if self.turned is None else self.turned.inner(found)
        if self.sizes is not None:
            found[: len(self.sizes)] *= self.sizes
        if self.rows.fit_intercept:
            found[-1] -= self.shift
        return np.asarray(found / self.size)

    def outer(self, w: Vector) -> Vector:
        """Return a packed point in units of the objective."""
        found = w * self.size
        if self.rows.fit_intercept:
            found[-1] += self.shift
        found = found if self.turned is None else self.turned.outer(found)
        if self.sizes is not None:
            found[: len(self.sizes)] /= self.sizes
        return self.seconds.outer(found)

    def slopes(self, u: Vector) -> Vector:
        """Return one slope a row of the objective, within the ends of its loss."""
        found = np.zeros(self.total)
        found[self.kept] = np.clip(self.rows.folded(u)[0] / self.weight, *self.ends)
        return found


def _sizes(objective: Objective, by: Vector) -> Vector | None:
    """Return the powers of 2 next to the sizes of columns; None where these are near 1, or have no kink."""
    if not objective.penalty.table(objective.columns).l1.any():
        return None
    sizes = _lengths(objective, by)
    sizes = np.where((sizes > 0) & np.isfinite(sizes), sizes, 1.0)
    if sizes.max(initial=1.0) < ALIKE and sizes.min(initial=1.0) > 1 / ALIKE:
        return None
    return np.asarray(np.exp2(np.round(np.log2(sizes))))


def _divided(X: Any, sizes: Vector) -> Any:
    """Return rows in units of their columns."""
    if not hasattr(X, "tocsr"):
        return np.asarray(X, dtype=np.float64) / sizes
    rows = X.tocsr()
    return rows._with_data(rows.data / sizes[rows.indices], copy=False)


def _lengths(objective: Objective, by: Vector) -> Vector:
    spread = objective.spread
    return np.asarray(np.sqrt(spread.variance + (spread.mean - by) ** 2))


def _tie(objective: Objective, by: Vector) -> Vector:
    sizes = _lengths(objective, by)
    sizes = np.append(sizes, 1.0) if objective.fit_intercept else sizes
    return np.asarray(TIE * sizes**2)
