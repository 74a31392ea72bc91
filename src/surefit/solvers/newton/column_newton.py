r"""Proximal Newton in working sets of columns: absolute penalties on more columns than have a square.

A round goes through all columns once, for the slopes and a duality gap that drops the columns which are zero
in every solution; lets in those that are pulled hardest; and takes Newton steps over the columns let in, each
by coordinate descent on

.. math:: \frac{1}{2W} \sum_i h_i \left( x_i'd + d_0 + u_i / h_i \right)^2 + pen(w + d),

with the slopes u and curvatures h of the loss.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.native.columns.column_facts import column_facts
from surefit.core.native.columns.columns_dot import columns_dot, columns_times
from surefit.core.native.linear.column_cd import column_cd
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.losses.squared import Squared
from surefit.penalties.coordinate_table import CoordinateTable
from surefit.solvers.linalg.column_order import by_columns
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Needs, Solution, Solver, Stop
from surefit.solvers.squares.working_set import next_columns, safe_to_drop
from surefit.stats.spread import Spread

STEPS = 10  # Newton steps over a working set
LOOSE = 0.1  # share of the gap to which a working set is solved
SWEEPS = 100  # of coordinate descent for one step
HALVINGS = 30
PATIENCE = 8  # rounds without a smaller gap
FLAT = 1e-10  # of the mean curvature: rows with less have next to no say, and huge residuals
EPS = float(np.finfo(float).eps)


class ColumnNewton(Solver):
    """Newton steps over the columns that a sparse solution needs; for tables in memory.

    >>> from surefit.losses import Logistic
    >>> from surefit.penalties import L1
    >>> X, y = [[-1.0, 0.3], [0.0, -0.2], [1.0, 0.1], [2.0, -0.3]], [0, 0, 1, 1]
    >>> ColumnNewton(tolerance=1e-9).solve(Objective.of_arrays(X, y, Logistic(), L1(0.1))).x.round(4)
    array([ 2.0379,  0.    , -1.0189])
    """

    name = "column_newton"
    needs: ClassVar[Needs] = Needs(
        loss=("smooth", "convex", "conjugate"), penalty=("convex", "table", "conjugate"), rows=True
    )
    accuracy: ClassVar[Literal["exact", "second order", "first order"]] = "second order"

    def _refusal(self, objective: Objective) -> str | None:
        if type(objective.loss) is Squared:
            return f"solver {self.name!r} does not support the squared loss."
        if objective.outputs is not None:
            return f"solver {self.name!r} supports a single output, and these rows have {objective.outputs}."
        if not (objective.penalty.table(objective.columns).l1 > 0).all():
            return f"solver {self.name!r} needs an L1 penalty on all columns."
        return None

    def solve(
        self, objective: Objective, start: Vector | None = None, trace: Trace | None = None
    ) -> Solution:
        """Minimise, from a packed point or from the objective's ``null``."""
        self.require(objective)
        trace = Trace() if trace is None else trace
        run = _Run(objective, objective.null if start is None else start)
        wanted = self.tolerance * objective.scale
        floor = objective.targets.floor / objective.targets.weight
        proof, best, stalled, share, before = None, np.inf, 0, LOOSE, np.inf
        stopped: Stop = "limit"
        for _ in trace.iterations(self.max_iter):
            gap = run.look()
            trace.record(
                objective=run.value,
                gap=gap / objective.scale,
                passes=objective.passes,
                columns=float(run.held),
            )
            # A loss that leaves little of that of a constant asks for more: be small beside both.
            if gap <= min(wanted, self.tolerance * max(run.value - floor, EPS * objective.scale)):
                proof = objective.certificate(run.packed, self.tolerance)
                if proof.holds:
                    stopped = "certificate"
                    break
                proof = None
                wanted = 0.1 * min(wanted, gap)
            # Near the end the gap is the root of what is left to gain, and a share of it is no aim any more.
            share = share if before - run.value > 0.01 * gap else 0.01 * share
            stalled = 0 if gap < 0.9 * best else stalled + 1
            best, before = min(best, gap), run.value
            if stalled > PATIENCE:
                stopped = "stalled"
                break
            run.descend(share * gap)
        return self.finish(objective, run.packed, trace, stopped, proof=proof)


class _Run:
    """Where a solution stands: coefficients, the scores of all rows, and the columns still in play."""

    def __init__(self, objective: Objective, start: Vector) -> None:
        rows = objective.need_rows("solver 'column_newton'")
        X: Any = rows.X
        s = np.ones(len(rows)) if rows.weight is None else np.asarray(rows.weight, dtype=np.float64)
        y, offset = np.asarray(rows.y), rows.offset
        if not s.all():
            kept = s > 0
            X, y, s = X[kept], y[kept], s[kept]
            offset = None if offset is None else offset[kept]
        self.objective, self.loss, self.y, self.s = objective, objective.loss, y, s
        self.X = _columns_of(X)
        if len(s) == len(rows) and hasattr(self.X, "indptr"):
            objective.spread = Spread.of(
                Batch(self.X, weight=rows.weight)
            )  # while its columns stand together
        self.total = float(s.sum())
        self.table: CoordinateTable = objective.penalty.table(objective.columns)
        coef, intercept = objective.split(np.array(start, dtype=np.float64))
        self.coef = np.clip(coef, self.table.lower, self.table.upper)
        self.intercept = 0.0 if intercept is None else float(intercept)
        self.alive = np.ones(len(coef), dtype=bool)
        self.offset = 0.0 if offset is None else offset
        self.z = self._scores()
        self.value = self._value(self.z, self.coef)
        facts = column_facts(self.X, np.zeros(len(s)), s, objective.fit_intercept)
        self.rms = np.sqrt(np.asarray(facts.scatter) / self.total)
        self.mean = np.asarray(facts.mean)
        self.slopes = np.zeros(len(coef))
        self.held = 0

    @property
    def packed(self) -> Vector:
        """The packed point."""
        return np.append(self.coef, self.intercept) if self.objective.fit_intercept else self.coef

    def _scores(self) -> Vector:
        support = np.flatnonzero(self.coef)
        return columns_times(self.X, self.coef[support], None, support) + self.intercept + self.offset

    def _value(self, z: Vector, coef: Vector) -> float:
        return self._loss(z) + self._paid(coef)

    def _loss(self, z: Vector) -> float:
        with np.errstate(over="ignore", invalid="ignore"):  # a trial step may be too long
            return float(self.s @ self.loss.value(self.y, z)) / self.total

    def _paid(self, coef: Vector) -> float:
        support = np.flatnonzero(coef)
        return _part(self.table, support).value(coef[support])

    def look(self) -> float:
        """Go through all columns: their slopes, the gap, and which can be dropped for good."""
        self.objective.passes += 1
        self.z = self._scores()
        self.value = self._value(self.z, self.coef)
        self._settle_intercept()
        u = self.loss.gradient(self.y, self.z)
        pull = -self.s * u
        some = None if self.alive.all() else np.flatnonzero(self.alive)
        found = columns_dot(self.X, pull, self.mean if self.objective.fit_intercept else None, some)
        self.slopes = (
            found / self.total if some is None else _spread(found / self.total, some, len(self.coef))
        )
        penalty = self.objective.penalty
        factor = float(penalty.dual_scaling(self.slopes))
        v = factor * self.slopes
        held = float(penalty.conjugate(v)) + self._paid(self.coef) - float(v @ self.coef)
        excess = float(self.s @ self.loss.excess(self.y, self.z, factor * u)) / self.total
        gap = excess + max(held, 0.0)
        smooth = self.loss.smoothness
        if smooth is not None and np.isfinite(gap):
            self.alive &= ~safe_to_drop(self.table, self.slopes, factor, self.rms, smooth * gap)
            self.alive |= self.coef != 0
        return gap

    def _settle_intercept(self) -> None:
        """Newton steps for the intercept alone, so that the slopes add up to nothing."""
        if not self.objective.fit_intercept:
            return
        for _ in range(5):
            slope = float(self.s @ self.loss.gradient(self.y, self.z))
            bend = float(self.s @ self._bends(self.z))
            step = -slope / bend if bend > 0 else 0.0
            there = self.z + step
            value = self._value(there, self.coef)
            if not value <= self.value + 4 * EPS * abs(self.value):
                break
            self.z, self.value, self.intercept = there, value, self.intercept + step
            if abs(slope) <= 16 * EPS * self.total * float(np.abs(self.y).max(initial=1.0)):
                break

    def _bends(self, z: Vector) -> Vector:
        bend = np.asarray(self.loss.curvature(self.y, z), dtype=np.float64)
        return np.where(np.isfinite(bend), bend, 0.0)

    def descend(self, tolerance: float) -> None:
        """Take Newton steps over a working set until the model promises less than ``tolerance``."""
        support = self.coef != 0
        entering = next_columns(
            self.table, self.slopes, self.rms, self.alive & ~support, int(np.count_nonzero(support))
        )
        which = np.concatenate([np.flatnonzero(support), entering])
        which.sort()
        self.held = len(which)
        if not len(which):
            return
        block, some = self._block(which)
        part = _part(self.table, which)
        for _ in range(STEPS):
            if self._step(block, some, which, part, tolerance) <= tolerance:
                break

    def _block(self, which: Any) -> tuple[Any, Any]:
        """Return the matrix that holds the columns let in, and their numbers there."""
        if isinstance(self.X, np.ndarray):
            return np.asfortranarray(self.X[:, which]), np.arange(len(which))
        return self.X[:, which], np.arange(len(which))

    def _step(self, block: Any, some: Any, which: Any, table: CoordinateTable, tolerance: float) -> float:
        """Take one step with a line search; return the decrease that its model promised."""
        free = self.objective.fit_intercept
        u = self.s * self.loss.gradient(self.y, self.z)
        h = self.s * self._bends(self.z)
        h = np.maximum(h, FLAT * float(h.mean()) + np.finfo(float).tiny)
        mass = float(h.sum())
        facts = column_facts(block, np.zeros(len(h)), h, free)
        residual = -u / h
        level = float(h @ residual) / mass if free else 0.0
        residual -= level
        old = self.coef[which]
        w = old.copy()
        ratio = self.total / mass
        scaled = CoordinateTable(ratio * table.l1, ratio * table.l2, table.lower, table.upper)
        column_cd(
            block,
            some,
            facts.mean,
            facts.scatter / mass,
            scaled,
            w,
            residual,
            weight=h,
            tolerance=0.1 * tolerance * ratio,
            most=SWEEPS,
        )
        lift = level - float(facts.mean @ (w - old)) if free else 0.0
        along = columns_times(block, w - old, None, some) + lift  # rows with no say have residuals too large
        promised = -float(u @ along) / self.total - (table.value(w) - table.value(old))
        if not promised > 0:
            return 0.0
        size = 1.0
        for _ in range(HALVINGS):
            trial = w if size == 1.0 else old + size * (w - old)
            z = self.z + size * along
            value = self._loss(z) + table.value(trial)
            if value <= self.value - 1e-4 * size * promised + 4 * EPS * abs(self.value):
                self.z, self.value = z, value
                self.coef[which] = trial
                self.intercept += size * lift
                return promised
            size *= 0.5
        return 0.0


def _columns_of(X: Any) -> Any:
    found = by_columns(X)
    return (
        found if not isinstance(found, np.ndarray) or found.flags.f_contiguous else np.asfortranarray(found)
    )


def _part(table: CoordinateTable, some: Any) -> CoordinateTable:
    return CoordinateTable(table.l1[some], table.l2[some], table.lower[some], table.upper[some])


def _spread(found: Vector, some: Any, size: int) -> Vector:
    whole = np.zeros(size)
    whole[some] = found
    return whole
