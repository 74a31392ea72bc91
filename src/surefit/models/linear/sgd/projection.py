"""Constraints on coefficients that are learnt row by row: the set that each step ends in, and multipliers.

The duality gap of such a fit is measured within the constraints. Its multipliers are those of
:mod:`surefit.models.linear.common.constraints`; with several problems, such as one a class, each has a
column of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.core.native.linear.coefficient_set import CoefficientSet
from surefit.models.linear.common.constraints import limits_of, listed, multipliers
from surefit.solvers.objective.base import Objective


def held_by(who: str, constraints: Any, columns: int) -> CoefficientSet | None:
    """Return the set that coefficients are held in; None where nothing is asked of them.

    >>> from surefit.penalties import Box, Monotone
    >>> held_by("SGDRegressor", [Monotone([[0, 1]]), Box(-1.0, 2.0)], 2).project(np.array([3.0, 1.5]))
    array([2., 2.])
    """
    if not listed(constraints):
        return None
    limits = limits_of(who, constraints, columns)
    return CoefficientSet.of(limits.lower, limits.upper, limits.groups)


def within(held: CoefficientSet | None, objective: Objective, point: Vector) -> Vector:
    """Return a packed point with its coefficients projected; the intercept is free."""
    if held is None:
        return point
    moved = np.array(point)
    coef, _ = objective.split(moved)
    coef[...] = held.project(coef)
    return moved


def with_multipliers(
    proof: Certificate,
    objectives: Sequence[Objective],
    points: Sequence[Vector],
    slopes: Sequence[Vector | None],
) -> Certificate:
    """Return a certificate with the multipliers of each problem, and what the worst leaves unbalanced."""
    found = [multipliers(*each) for each in zip(objectives, points, slopes, strict=True)]
    several = len(found) > 1

    def joined(arrays: Sequence[Any]) -> Any:
        return np.column_stack(arrays) if several else arrays[0]

    witness = {side: joined([of[side] for of, _ in found]) for side in ("lower", "upper")}
    groups = range(len(found[0][0]["order"]))
    order = tuple(joined([of["order"][g] for of, _ in found]) for g in groups)
    left = max(parts["stationarity"] for _, parts in found)
    return replace(
        proof,
        witness={**proof.witness, **witness, "order": order},
        parts={**proof.parts, "stationarity": left},
    )
