r"""The hinge of all classes at once, with squared coefficients: minimise

.. math:: \frac1W \sum_i s_i \max_k (w_k'x_i - w_{y_i}'x_i + [k \ne y_i]) + \frac1{2CW} \sum_k |w_k|^2

by its dual, whose slopes are the proof: see :mod:`surefit.core.native.linear.class_dual_cd`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.core.native.linear.class_dual_cd import class_dual_cd
from surefit.core.trace import Trace
from surefit.solvers.objective.gap import proved

EPOCHS, WORK = (20, 2000), 10_000_000  # epochs from one look at the gap to the next: more of small tables
FIRST, TIGHTER = 0.001, 0.03  # how far scores may move in an epoch


@dataclass(frozen=True, slots=True)
class ClassMargins:
    """Rows, the codes of their classes, how many classes there are, what rows weigh, and the strength C.

    >>> problem = ClassMargins(np.array([[1.0], [-1.0]]), np.array([0, 1]), 2, np.ones(2), 10.0)
    >>> w, proof = problem.solve(1e-9, 100, Trace())
    >>> w.ravel().round(6), proof.holds
    (array([ 0.5, -0.5]), True)
    """

    X: Any
    codes: NDArray[np.int64]
    classes: int
    weight: Vector
    C: float

    @property
    def _total(self) -> float:
        return self.C * float(self.weight.sum())

    def value(self, w: Vector) -> float:
        """The objective at coefficients (K, p)."""
        scores = np.asarray(self.X @ w.T, dtype=np.float64)
        rows = np.arange(len(self.codes))
        margins = scores - scores[rows, self.codes][:, None] + 1.0
        margins[rows, self.codes] = 0.0
        return float(self.weight @ margins.max(axis=1)) * self.C / self._total + self._squares(w)

    def _squares(self, w: Vector) -> float:
        return 0.5 * float((w * w).sum()) / self._total

    def bound(self, slopes: Vector) -> float:
        """What no coefficients go below: the dual at slopes (n, K), taken to the nearest that are allowed."""
        rows = np.arange(len(self.codes))
        against = -np.minimum(slopes, 0.0)
        against[rows, self.codes] = 0.0
        spent, cost = against.sum(axis=1), self.C * self.weight
        against *= np.divide(cost, spent, out=np.ones_like(cost), where=spent > cost)[:, None]
        allowed = -against
        allowed[rows, self.codes] = against.sum(axis=1)
        return float(against.sum()) / self._total - self._squares(self.made_by(allowed))

    def made_by(self, slopes: Vector) -> Vector:
        """The coefficients that slopes make."""
        return np.ascontiguousarray(np.asarray(self.X.T @ slopes).T)

    def proof(self, w: Vector, slopes: Vector, tolerance: float) -> Certificate:
        """The duality gap of coefficients, by slopes; a constant has a loss of 1."""
        value = self.value(w)
        return proved(value, value - self.bound(slopes), max(1.0, value), tolerance, slopes=slopes)

    def solve(self, tolerance: float, most: int, trace: Trace) -> tuple[Vector, Certificate]:
        """Minimise; return coefficients (K, p) and their proof."""
        X: Any = np.ascontiguousarray(self.X) if isinstance(self.X, np.ndarray) else self.X
        slopes = np.zeros((len(self.codes), self.classes))
        w = np.zeros((self.classes, X.shape[1]))
        proof = self.proof(w, slopes, tolerance)
        cost, step, best = self.C * self.weight, FIRST, np.inf
        cells = X.size * self.classes  # stored ones, of a sparse table
        each = int(np.clip(WORK // max(cells, 1), *EPOCHS))
        for number in trace.iterations(most):
            epochs, _ = class_dual_cd(X, self.codes, cost, slopes, w, tolerance=step, most=each, seed=number)
            w = self.made_by(slopes)  # anew, so that rounding does not add up
            proof = self.proof(w, slopes, tolerance)
            gap, value = proof.parts["gap"], proof.parts["objective"]
            trace.record(objective=value, gap=proof.value, epochs=epochs)
            if gap <= tolerance * min(1.0, value) or (step < 1e-15 and gap >= best):
                break
            step = step * TIGHTER if epochs < each else step
            best = min(best, gap)
        return w, proof
