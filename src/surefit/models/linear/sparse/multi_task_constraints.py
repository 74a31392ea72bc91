"""Constraints on models of several targets whose coefficients of a column are zero together, and their proof.

Bounds hold for each coefficient of each target, and levels are in order for each target. The penalty of a
column couples its targets, so that these are solved and proved together, not one by one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.losses.squared import Squared
from surefit.models.linear.common.constraints import constrained
from surefit.models.linear.sparse.regularisation_path import Path
from surefit.penalties.group_l1 import GroupL1
from surefit.penalties.group_l1_within import GroupL1Within
from surefit.penalties.l1 import L1
from surefit.penalties.monotone import Monotone
from surefit.penalties.ordered import Ordered
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.gap import proved
from surefit.solvers.tasks.columns import TaskProblem
from surefit.solvers.tasks.constrained import ConstrainedTasks
from surefit.solvers.tasks.gap import TaskSlopes, balanced, bound_multipliers, slopes_of_rows, task_gap
from surefit.solvers.tasks.order import LevelOrder, Multipliers


@dataclass(frozen=True, slots=True)
class TaskLimits:
    """The bounds of each column and the groups of ordered ones.

    >>> from surefit.penalties import Box, NonNegative
    >>> TaskLimits.of("MultiTaskLasso", [NonNegative(), Box(-1.0, 2.0)], 1)
    TaskLimits(lower=array([0.]), upper=array([2.]), groups=[])
    """

    lower: Vector
    upper: Vector
    groups: list[list[int]]

    @classmethod
    def of(cls, who: str, given: Any, columns: int) -> TaskLimits:
        """Check constraints as those of single coefficients are: columns of a group are bounded alike."""
        single = constrained(who, L1(1.0), given, columns)
        groups = single.ordered_columns if isinstance(single, Ordered) else []
        table = single.separable_table(columns) if isinstance(single, Ordered) else single.table(columns)
        return cls(np.array(table.lower), np.array(table.upper), groups)

    def within(self, penalty: GroupL1) -> GroupL1Within:
        """Return the penalty within the bounds."""
        return GroupL1Within(penalty, self.lower, self.upper)

    def hold(self, problem: TaskProblem) -> ConstrainedTasks:
        """Return the problem within the constraints."""
        return ConstrainedTasks(problem, self.lower, self.upper, self.groups)


def path_within(
    held: ConstrainedTasks, alphas: Vector, l1_ratio: float, tolerance: float, max_iter: int
) -> Path:
    """Solve for strengths from large to small."""
    penalties = [GroupL1(float(alpha), l1_ratio=l1_ratio) for alpha in alphas]
    found = list(held.path(penalties, tolerance=tolerance, max_iter=max_iter))
    return Path(
        np.array([one.coef for one in found]),
        np.array([one.intercept for one in found]),
        np.array([one.gap for one in found]),
        np.array([one.epochs for one in found]),
    )


class TaskProof:
    """What the rows say about coefficients within constraints; it calls no solver."""

    def __init__(
        self,
        source: Source,
        engine: Engine,
        penalty: GroupL1,
        limits: TaskLimits,
        fit_intercept: bool,
        outputs: int,
    ) -> None:
        self._limits, self._order = limits, LevelOrder(limits.groups)
        self._penalty = limits.within(penalty)
        self._objective = Objective(
            source, engine, Squared(), self._penalty, fit_intercept=fit_intercept, outputs=outputs
        )

    def found(self, coef: Matrix, intercept: Any, known: Multipliers, tolerance: float) -> Certificate:
        """Prove a fit (p, k), with the multipliers of the order that the rows themselves ask for."""
        at = self._at(coef, intercept)
        own = balanced(self._penalty, self._order, coef, at.slopes, known)
        gaps = [task_gap(self._penalty, self._order, coef, at, each) for each in (own, known)]
        return self._proved(coef, at, own if gaps[0] <= gaps[1] else known, min(gaps), tolerance)

    def stored(self, coef: Matrix, intercept: Any, witness: Any, tolerance: float) -> Certificate:
        """Prove coefficients by multipliers that are known; none is better than wrong ones."""
        at = self._at(coef, intercept)
        given = witness.get("order", ())
        shapes = [(len(group) - 1, coef.shape[1]) for group in self._limits.groups]
        fits = [np.shape(each) for each in given] == shapes
        known = tuple(
            np.maximum(np.nan_to_num(given[k]), 0.0) if fits else np.zeros(shape)
            for k, shape in enumerate(shapes)
        )
        return self._proved(coef, at, known, task_gap(self._penalty, self._order, coef, at, known), tolerance)

    def _at(self, coef: Matrix, intercept: Any) -> TaskSlopes:
        if not self._objective.fit_intercept:
            return slopes_of_rows(self._objective, coef)
        return slopes_of_rows(
            self._objective, np.vstack([coef, np.broadcast_to(intercept, (1, coef.shape[1]))])
        )

    def _proved(
        self, coef: Matrix, at: TaskSlopes, known: Multipliers, gap: float, tolerance: float
    ) -> Certificate:
        primal = 0.5 * (at.energy + at.mean_square) + self._penalty.value(coef)
        if self._limits.groups and not Monotone(self._limits.groups).feasible(coef):
            primal = gap = np.inf
        scale = max(self._objective.scale, primal) if np.isfinite(primal) else self._objective.scale
        lower, upper, left = bound_multipliers(self._penalty, self._order, coef, at.slopes, known)
        first, _ = self._objective.split(self._objective.at(self._objective.null, 1).gradient)
        size = max(float(np.abs(first).max(initial=0.0)), float(np.abs(at.slopes).max(initial=0.0)))
        proof = proved(primal, gap, scale, tolerance)
        balance = left / max(size, float(np.finfo(float).tiny))
        return replace(
            proof,
            witness={**proof.witness, "lower": lower, "upper": upper, "order": known},
            parts={**proof.parts, "stationarity": balance},
        )
