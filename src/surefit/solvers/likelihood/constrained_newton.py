"""Newton's method for a likelihood with further parameters, its coefficients within constraints."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.solvers.first_order.backtracking import backtracking
from surefit.solvers.likelihood.constrained_model import ConstrainedModel, numbers, refusal
from surefit.solvers.methods.base import EPS, Move
from surefit.solvers.methods.damped_newton import DampedNewton
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Needs

LEAST, MOST, GROWTH = 1e-10, 1e6, 10.0  # of the damping, relative to the diagonal


class ConstrainedNewton(DampedNewton, abstract=True):  # not listed: it needs a joint likelihood
    """Each step goes to the minimum of the second-order model within the constraints, or part of the way."""

    name = "newton_within"
    needs: ClassVar[Needs] = Needs(loss=("smooth",), penalty=("convex",))

    def _refusal(self, objective: Objective) -> str | None:
        return refusal(self.name, objective)

    def _steps(self, objective: Objective, x: Vector) -> Iterator[Move]:
        columns = objective.columns
        room, table = ConstrainedModel.of(objective, objective.shape[0] - columns), numbers(objective)
        assert room is not None
        assert table is not None
        squares = np.zeros(objective.shape[0])
        squares[:columns] = table.l2
        while True:
            here = objective.at(x, 2)
            gradient, square = here.gradient + squares * x, here.hessian + np.diag(squares)
            target = _target(room, square, gradient, x)
            if target is None:
                return
            moved, value = target - x, here.value + objective.penalised(x)
            slope = float(gradient @ moved)
            if not slope < 0:
                return
            step: float | None = 1.0
            if -slope > EPS * max(abs(value), objective.scale):
                step = backtracking(partial(_along, objective, x, moved), value, slope)
            if step is None:
                return
            x = target if step == 1.0 else x + step * moved
            yield x, step


def _along(objective: Objective, x: Vector, moved: Vector, share: float) -> float:
    return objective.value(x + share * moved)


def _target(room: ConstrainedModel, square: Matrix, gradient: Vector, x: Vector) -> Vector | None:
    """Return the model's minimiser, damped until there is one."""
    if not np.isfinite(square).all():
        return None
    diagonal = np.diagonal(square)
    ground = np.where(diagonal > 0, diagonal, max(float(diagonal.max(initial=0.0)), 1e-300))
    damping = 0.0
    while damping <= MOST:
        target = room.minimiser(square + np.diag(damping * ground), gradient, x)
        if target is not None:
            return target
        damping = max(GROWTH * damping, LEAST)
    return None
