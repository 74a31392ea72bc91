"""From an objective to rows with kinks in units of their own, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.solvers.kinked_rows import KinkedRows
from surefit.solvers.objective import Objective
from surefit.solvers.offset import SecondDerivatives

Array = NDArray[np.float64]

TIE = 1e-4  # of a row: it leaves a single best answer alone, and tells equal ones apart


@dataclass(frozen=True, slots=True)
class Units:
    """The rows that count, in units of their own, and the way there and back.

    Columns and targets far from zero are moved there, as the intercept allows. value: what an objective of
    ``rows`` is in units of the objective. tie: small squares, so that of coefficients that
    are equally good the same are chosen, in whatever order and repetition rows come.
    """

    rows: KinkedRows
    value: float
    size: float
    shift: float
    seconds: SecondDerivatives
    kept: Any
    weight: Array
    ends: tuple[Array, Array]
    tie: Array
    total: int

    @classmethod
    def of(cls, objective: Objective) -> Units:
        """Take the rows of positive weight."""
        batch = objective.need_rows("a solver of straight pieces")
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
        weight = s * (n / s.sum())
        last = [0.0] if objective.fit_intercept else []
        rows = KinkedRows(
            X,
            objective.fit_intercept,
            at / size,
            low * weight,
            high * weight,
            np.concatenate([table.l1 * n, last]),
            np.concatenate([table.l2 * (n * size), last]),
            np.zeros(objective.shape[0]),
        )
        ends = low.sum(axis=0), high.sum(axis=0)
        tie = _tie(objective, seconds.by)
        return cls(rows, size / n, size, shift, seconds, kept, weight, ends, tie, len(batch))

    def inner(self, w: Array) -> Array:
        """Return a packed point in these units."""
        found = np.array(self.seconds.inner(w), dtype=np.float64)
        if self.rows.fit_intercept:
            found[-1] -= self.shift
        return np.asarray(found / self.size)

    def outer(self, w: Array) -> Array:
        """Return a packed point in units of the objective."""
        found = w * self.size
        if self.rows.fit_intercept:
            found[-1] += self.shift
        return self.seconds.outer(found)

    def slopes(self, u: Array) -> Array:
        """Return one slope a row of the objective, within the ends of its loss."""
        found = np.zeros(self.total)
        found[self.kept] = np.clip(self.rows.folded(u)[0] / self.weight, *self.ends)
        return found


def _tie(objective: Objective, by: Array) -> Array:
    spread = objective.spread
    sizes = np.sqrt(spread.variance + (spread.mean - by) ** 2)
    sizes = np.append(sizes, 1.0) if objective.fit_intercept else sizes
    return np.asarray(TIE * sizes**2)
