"""The proximal Newton method: second derivatives of the loss, and any convex penalty."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import linalg

from surefit.core.arrays import Matrix, Vector
from surefit.penalties.ordered import Ordered
from surefit.solvers.newton.newton import newton_point
from surefit.solvers.newton.ordered_quadratic_model import minimise_ordered
from surefit.solvers.newton.quadratic_model import Reduced, eliminate, minimise_prox, minimise_table
from surefit.solvers.newton.second_order import Model, SecondOrder


class ProximalNewton(SecondOrder):
    r"""Minimise the quadratic model of the loss plus the penalty, in one pass over the rows for each step.

    The inner problem, :math:`\tfrac12 d'Hd + g'd + pen(w + d)`, sees no rows. Squares go into the matrix;
    penalties of single coefficients are left to coordinate descent, ordered levels to blocks of equal ones,
    all others to accelerated proximal steps.

    >>> from surefit.losses import Logistic
    >>> from surefit.penalties import L1
    >>> from surefit.solvers.objective.base import Objective
    >>> rows = [[-1.0, 0.3], [0.0, -0.2], [1.0, 0.1], [2.0, -0.3]]
    >>> objective = Objective.of_arrays(rows, [0, 0, 1, 1], Logistic(), L1(0.1))
    >>> ProximalNewton().solve(objective).x.round(4)
    array([ 2.0379,  0.    , -1.0189])
    """

    name = "proximal_newton"

    def minimise_model(self, model: Model) -> Vector | None:
        """Minimise in closed form, over the coordinate table, in order, or by proximal steps."""
        penalty, columns = model.objective.penalty, model.objective.columns
        if penalty.quadratic(columns) is not None:
            return newton_point(model)
        if penalty.offers("table"):
            return _by_table(model)
        if isinstance(penalty, Ordered):
            return _by_order(model, penalty)
        return _by_prox(model)


def _by_table(model: Model) -> Vector | None:
    table, found = model.table(), []
    for H, g, w in zip(model.hessians, model.gradients, model.parts(model.point), strict=True):
        x = minimise_table(H, H @ w - g, table, w)
        if x is None:
            return None
        found.append(x)
    return model.joined(found)


def _by_order(model: Model, penalty: Ordered) -> Vector | None:
    size, found = model.objective.shape[0], []
    groups = [
        [j + k * size for j in group] for k in range(model.outputs) for group in penalty.ordered_columns
    ]
    table = model.table(penalty.separable_table(model.objective.columns))
    for H, g, w in zip(model.hessians, model.gradients, model.parts(model.point), strict=True):
        x = minimise_ordered(H, H @ w - g, table, groups, w)
        if x is None:
            return None
        found.append(x)
    return model.joined(found)


def _by_prox(model: Model) -> Vector | None:
    """Eliminate the intercepts, and go by proximal steps in the coefficients of all outputs together."""
    objective = model.objective
    is_intercept = model.repeated(np.zeros(objective.columns), 1.0) > 0
    reduced: list[Reduced] = []
    for H, g, w in zip(model.hessians, model.gradients, model.parts(model.point), strict=True):
        block = eliminate(H, H @ w - g, is_intercept)
        if block is None:
            return None
        reduced.append(block)
    start, _ = objective.split(model.point)
    bend = max(_greatest(block.matrix) for block in reduced)
    if not bend > 0:
        return None
    linear = _packed([block.linear for block in reduced], start.shape)
    found = minimise_prox(partial(_product, reduced), linear, objective.penalty.prox, bend, start)
    parts = np.array_split(found.T.ravel(), len(reduced))
    return model.joined([block.restore(part) for block, part in zip(reduced, parts, strict=True)])


def _product(reduced: list[Reduced], x: Vector) -> Vector:
    parts = np.array_split(x.T.ravel(), len(reduced))
    return _packed([block.matrix @ part for block, part in zip(reduced, parts, strict=True)], x.shape)


def _packed(parts: list[Vector], shape: tuple[int, ...]) -> Vector:
    return np.concatenate(parts).reshape(shape[::-1]).T


def _greatest(matrix: Matrix) -> float:
    """Return the greatest eigenvalue."""
    if not len(matrix):
        return 0.0
    last = len(matrix) - 1
    found: Any = linalg.eigvalsh(matrix, subset_by_index=(last, last), check_finite=False)
    return float(found[0]) * (1 + 1e-12)  # a step must not be too long by rounding
