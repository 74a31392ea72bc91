"""Constraints on the coefficients of a likelihood with further parameters: thresholds, or a dispersion."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.certificate import Certificate
from surefit.models.linear.common.constraints import constrained, listed, multipliers
from surefit.penalties.box import Box
from surefit.penalties.monotone import Monotone
from surefit.penalties.nonnegative import NonNegative
from surefit.solvers.likelihood.ancillary_parameters import JointObjective
from surefit.solvers.likelihood.constrained_newton import ConstrainedNewton
from surefit.solvers.methods.damped_newton import DampedNewton
from surefit.solvers.objective.solver import Solution, Solver


def ordered_groups(constraints: Any) -> list[list[int]]:
    """Return the groups of ordered levels among constraints, whose columns must share their units.

    >>> ordered_groups([Monotone([[0, 2]]), NonNegative()])
    [[0, 2]]
    """
    return [
        group for each in listed(constraints) if isinstance(each, Monotone) for group in each.ordered_columns
    ]


def hold(objective: JointObjective, who: str, constraints: Any) -> JointObjective:
    """Let the coefficients of standardised columns keep the constraints of those given."""
    size, held = objective.columns_moved.size, []
    for each in listed(constraints):
        if isinstance(each, Box | NonNegative):
            table = each.table(len(size))
            each = Box(table.lower * size, table.upper * size)
        held.append(each)
    objective.penalty = constrained(who, objective.penalty, held, objective.columns)
    return objective


def newton_for(constraints: Any, **options: Any) -> Solver:
    """Return Newton's method, within the constraints if there are any."""
    return DampedNewton(**options) if constraints is None else ConstrainedNewton(**options)


def at_bounds(coef: NDArray[np.float64], constraints: Any) -> NDArray[np.float64]:
    """Return coefficients of the columns given, back in a constraint that rounding of units led out of."""
    for each in listed(constraints):
        coef = np.asarray(each.prox(coef, 1.0))
    return coef


def proof_of(objective: JointObjective, solution: Solution, constraints: Any) -> Certificate:
    """Return the certificate of a solution, with the multipliers of the constraints if there are any."""
    proof = solution.certificate
    if constraints is None:
        return proof
    witness, parts = multipliers(objective, solution.x)
    size = objective.columns_moved.size
    bounds = {side: witness[side] * size for side in ("lower", "upper")}
    groups = ordered_groups(constraints)
    order = [each * size[group[0]] for each, group in zip(witness["order"], groups, strict=True)]
    return replace(proof, witness=bounds | {"order": tuple(order)}, parts={**proof.parts, **parts})
