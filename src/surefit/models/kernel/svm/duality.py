r"""Primal and dual of support vector machines: their gap, and what the KKT conditions say of each row.

With signed coefficients b, kernel sums f = Kb, an intercept and the bounds c_i = C s_i::

    classes   P = f'b/2 + sum c_i (1 - y_i (f_i + b0))_+        D = sum |b_i| - f'b/2
    numbers   P = f'b/2 + sum c_i (|y_i - f_i - b0| - eps)_+    D = y'b - eps sum |b_i| - f'b/2

The gap is never negative where b keeps its bounds and adds up to 0, whatever the kernel; it proves the best
answer where the kernel is positive semi-definite. It is stated a unit of the bounds: divided by their sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.certificate import Certificate

Floats = NDArray[np.float64]
FEASIBLE = 1e-9  # of the sum of absolute coefficients: rounding of a million steps is a thousandth of it
Place = Literal["outside", "on the margin", "inside", "misclassified"]


@dataclass(frozen=True, slots=True)
class Machine:
    """One dual problem and a point of it.

    kind: which problem. y: signs or numbers. bound: c_i, which are infinite for "hard" classes. size: of "nu
    numbers" and "one class", what the absolute coefficients add up to at the most. unit_scale: what the unit
    of the gap is multiplied by, as the coefficients of classes with nu are scaled.
    """

    kind: Literal["classes", "hard", "numbers", "nu numbers", "one class"]
    beta: Floats
    f: Floats
    y: Floats
    bound: Floats
    intercept: float
    epsilon: float = 0.0
    size: float = 0.0
    unit_scale: float = 1.0

    def feasible(self) -> bool:
        """Whether the coefficients keep their bounds, and their sums."""
        b, total = self.beta, float(np.abs(self.beta).sum())
        slack = FEASIBLE * total
        if not np.isfinite(total) or (np.abs(b) > self.bound * (1 + FEASIBLE) + FEASIBLE * slack).any():
            return False
        if self.kind in ("classes", "hard") and (b * self.y < 0).any():
            return False
        if self.kind == "one class":
            return bool((b >= 0).all()) and abs(total - self.size) <= FEASIBLE * self.size
        if self.kind == "nu numbers" and total > self.size * (1 + FEASIBLE):
            return False
        return abs(float(b.sum())) <= slack

    def objectives(self) -> tuple[float, float]:
        """The primal and the dual objective."""
        half = 0.5 * float(self.beta @ self.f)
        if self.kind == "hard":
            margin = float((self.y * (self.f + self.intercept)).min())
            primal = half / margin**2 if margin > 0 else np.inf
            return primal, float(np.abs(self.beta).sum()) - half
        return half + float(self.bound @ self.slack()) + self._linear(), self._dual() - half

    def _linear(self) -> float:
        """What the primal has beside squares and slacks."""
        if self.kind == "one class":
            return -self.size * self.margin
        return self.size * self.tube() if self.kind == "nu numbers" else 0.0

    @property
    def margin(self) -> float:
        """The score at which a row stops to cost; scores of a machine for one class have it at 0."""
        return -self.intercept if self.kind == "one class" else 1.0

    def _dual(self) -> float:
        if self.kind == "numbers":
            return float(self.y @ self.beta) - self.epsilon * float(np.abs(self.beta).sum())
        if self.kind == "nu numbers":
            return float(self.y @ self.beta)
        return float(np.abs(self.beta).sum()) if self.kind == "classes" else 0.0

    def tube(self) -> float:
        """The half width of the tube that costs least, of the "nu" numbers."""
        off = np.abs(self.y - self.f - self.intercept)
        order = np.argsort(-off, kind="stable")
        weight = np.cumsum(self.bound[order])
        at = int(np.searchsorted(weight, self.size))
        return float(off[order[at]]) if at < len(off) else 0.0

    def slack(self) -> Floats:
        """By how much each row misses what is asked of it."""
        if self.kind in ("numbers", "nu numbers"):
            tube = self.epsilon if self.kind == "numbers" else self.tube()
            return np.maximum(np.abs(self.y - self.f - self.intercept) - tube, 0.0)
        if self.kind == "one class":
            return np.maximum(self.margin - self.f, 0.0)
        return np.maximum(1 - self.y * (self.f + self.intercept), 0.0)

    def unit(self) -> float:
        """What the gap is divided by: the sum of the bounds, or the objective where there are none."""
        if self.kind == "hard":
            return max(float(self.beta @ self.f), np.finfo(float).tiny)
        return max(float(self.bound.sum()) * self.unit_scale, np.finfo(float).tiny)

    def gap(self) -> float:
        """The difference of the objectives a unit; infinite where the coefficients are not allowed."""
        if not self.feasible():
            return np.inf
        primal, dual = self.objectives()
        return max(primal - dual, 0.0) / self.unit() if np.isfinite(primal) else np.inf


def certificate(machines: list[Machine], tolerance: float, positive: bool) -> Certificate:
    """State the largest gap of some machines."""
    gaps = [machine.gap() for machine in machines]
    worst = int(np.argmax(gaps)) if gaps else 0
    parts: dict[str, float] = {}
    if machines:
        primal, dual = machines[worst].objectives()
        unit = machines[worst].unit()
        parts = {"primal": primal, "dual": dual, "unit": unit}
        parts["objective"] = float(sum(m.objectives()[1] / m.unit() for m in machines))
    claim: Literal["optimal", "stationary"] = "optimal" if positive else "stationary"
    measure = "duality gap a unit of the bounds"
    if machines and machines[0].kind == "hard":
        measure, tolerance = "duality gap relative to the squared norm", 2 * tolerance
    return Certificate(claim, measure, max(gaps, default=0.0), tolerance, parts)


@dataclass(frozen=True, slots=True)
class KKTReport:
    """The conditions of the best answer, row by row, and how far each is from holding.

    alpha, slack: multipliers and slacks of the rows. place: "outside" the margin (alpha is 0), "on the
    margin" (between 0 and its bound), "inside" (at the bound, on the right side), or "misclassified"; for
    numbers, inside and outside of the tube have the same words, and none is misclassified. stationarity: the
    sum of the signed multipliers; primal and dual violation; complementary slackness; the objectives.
    """

    alpha: Floats
    slack: Floats
    place: NDArray[Any]
    stationarity: float
    primal_violation: float
    dual_violation: float
    complementary_slackness: float
    primal: float
    dual: float

    @property
    def gap(self) -> float:
        """The duality gap."""
        return self.primal - self.dual


def kkt_report(machine: Machine) -> KKTReport:
    """Sort the rows of a machine for classes or numbers."""
    alpha, slack, bound = np.abs(machine.beta), machine.slack(), machine.bound
    score = machine.f + machine.intercept
    numbers = machine.kind in ("numbers", "nu numbers")
    tube = machine.tube() if machine.kind == "nu numbers" else machine.epsilon
    need = np.abs(machine.y - score) - tube if numbers else machine.margin - machine.y * score
    if machine.kind == "one class":
        need = machine.margin - machine.f
    place = np.full(len(alpha), "outside", dtype="<U13")
    place[alpha > 0] = "on the margin"
    place[alpha >= bound * (1 - 1e-12)] = "inside"
    if machine.kind == "classes":
        place[(alpha > 0) & (slack > 1)] = "misclassified"
    primal, dual = machine.objectives()
    with np.errstate(invalid="ignore"):
        loose = np.where(np.isfinite(bound), (bound - alpha) * slack, 0.0)
    complementary = max(
        float(np.abs(alpha * (need - slack)).max(initial=0.0)), float(np.abs(loose).max(initial=0.0))
    )
    violated = float(slack.max(initial=0.0)) if machine.kind == "hard" else 0.0
    outside = float(np.maximum(alpha - bound, 0.0).max(initial=0.0))
    total = float(machine.beta.sum()) - (machine.size if machine.kind == "one class" else 0.0)
    return KKTReport(alpha, slack, place, abs(total), violated, outside, complementary, primal, dual)
