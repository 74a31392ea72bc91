r"""How far coefficients of several targets, within bounds and in order, can be from the best.

For mean squares, a penalty on rows, and multipliers :math:`\lambda \ge 0` of the order, with slopes u and
:math:`a = u + D'\lambda`, every share s of the residual R as dual point bounds what is left to gain by

.. math:: \tfrac12 (1 - s)^2 \|R\|^2 + pen(V) + pen^*(s a) - s \langle a, V \rangle
          + s \langle \lambda, DV \rangle ,

where nothing is negative. Rounding may have made as much of a slope as ``noise``; so much of it is taken
towards what the point asks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.penalties.group_l1_within import GroupL1Within
from surefit.solvers.objective.base import Objective
from surefit.solvers.tasks.order import LevelOrder, Multipliers
from surefit.stats.duality import Slopes

ROUNDING = 16 * np.finfo(float).eps  # relative to the lengths that go into a product


@dataclass(frozen=True, slots=True)
class TaskSlopes:
    """At coefficients V: the slopes (p, k), the mean squares of the residual, and of its own mean.

    noise: how large a slope rounding alone can make, one a row.
    """

    slopes: Matrix
    energy: float
    mean_square: float
    noise: Vector


def slopes_of_rows(objective: Objective, packed: Matrix) -> TaskSlopes:
    """Read the rows once; what the intercepts leave of the residual's mean is told apart."""
    coef, intercept = objective.split(packed)
    none = np.zeros((objective.columns, 0))
    of = partial(Slopes.of, loss=objective.loss, w=coef, intercept=intercept, free=none)
    at: Any = objective.accumulate(of)
    gradient, last = objective.split(at.gradient)
    sums, squares = objective.split(at.sums)[0], objective.split(at.squares)[0]
    mean = np.zeros(coef.shape[1]) if last is None else last / at.weight
    spread = squares if last is None else np.maximum(squares - sums**2 / at.weight, 0.0)
    reach = float(np.sum(np.abs(packed) * np.sqrt(at.squares)[:, None]))
    with np.errstate(over="ignore"):
        noise = ROUNDING * (np.sqrt(squares) * np.sqrt(at.energy) + np.sqrt(spread) * reach) / at.weight
    noise = np.where(np.isfinite(noise), noise, 0.0)  # scores beyond all range excuse nothing
    slopes = -(gradient - np.multiply.outer(sums, mean)) / at.weight
    square = float(mean @ mean)
    return TaskSlopes(slopes, max(at.energy / at.weight - square, 0.0), square, noise)


def task_gap(
    penalty: GroupL1Within, order: LevelOrder, V: Matrix, at: TaskSlopes, multipliers: Multipliers
) -> float:
    """Return the gap; infinite where V is not allowed.

    >>> from surefit.penalties.group_l1 import GroupL1
    >>> at = TaskSlopes(np.array([[3.0, 4.0]]), 25.0, 0.0, np.zeros(1))
    >>> task_gap(GroupL1Within(GroupL1(5.0)), LevelOrder([]), np.zeros((1, 2)), at, ())
    0.0
    """
    paid = penalty.value(V)
    if not np.isfinite(paid):
        return np.inf
    a = at.slopes + order.transposed_differences(multipliers, V.shape)
    a = a - np.clip(penalty.beyond(V, a), -at.noise[:, None], at.noise[:, None])
    of, lost = penalty.numbers(len(V)), order.slack(multipliers, V)
    size = of.length(of.open(a))
    most = penalty.dual_scaling(a)
    inside = float(np.min(of.l1[size > of.l1] / size[size > of.l1], initial=1.0))
    best = np.inf
    for share in sorted({0.0, min(most, inside), most}, reverse=True):
        open_ = 0.5 * (1 - share) ** 2 * at.energy + share * lost
        if open_ < best:  # what the penalty adds is never negative, and costs more than all the rest
            held = max(paid + penalty.conjugate(share * a) - share * float(np.sum(a * V)), 0.0)
            best = min(best, open_ + held)
    return best + 0.5 * at.mean_square


def balanced(
    penalty: GroupL1Within, order: LevelOrder, V: Matrix, slopes: Matrix, near: Multipliers
) -> Multipliers:
    """Return multipliers of the order that leave the penalty slopes which it can take, as far as they can.

    A row at zero takes any slope in a ball; what it took with the multipliers that are near, and a cube
    around it in that ball, stand for the ball, so that targets can be told apart.
    """
    if not order.groups:
        return ()
    of = penalty.numbers(len(V))
    low, high = of.bounds(V)
    size = of.length(V)
    active = (size > 0) | (of.l1 == 0)
    smooth = (np.where(size > 0, of.l1 / np.where(size > 0, size, 1.0), 0.0) + of.l2)[:, None] * V
    taken = slopes + order.transposed_differences(near, V.shape)
    kept = np.where(low == V, np.maximum(taken, 0.0), taken)
    kept = np.where(high == V, np.minimum(kept, 0.0), kept)
    length = of.length(kept)
    kept = kept * np.minimum(1.0, of.l1 / np.where(length > 0, length, 1.0))[:, None]
    room = (np.maximum(of.l1 - length, 0.0) / np.sqrt(V.shape[1]))[:, None]
    least = np.where(active[:, None], 0.0, kept - room)
    most = np.where(active[:, None], 0.0, kept + room)
    least, most = np.where(low == V, -np.inf, least), np.where(high == V, np.inf, most)
    return order.balance(V, slopes - smooth, least, most, near)


def bound_multipliers(
    penalty: GroupL1Within, order: LevelOrder, V: Matrix, slopes: Matrix, multipliers: Multipliers
) -> tuple[Matrix, Matrix, float]:
    """Return the multipliers of lower and of upper bounds, and the largest slope that nothing balances."""
    of = penalty.numbers(len(V))
    low, high = of.bounds(V)
    size = of.length(V)
    a = slopes + order.transposed_differences(multipliers, V.shape)
    push = a - (np.where(size > 0, of.l1 / np.where(size > 0, size, 1.0), 0.0) + of.l2)[:, None] * V
    out = ((low == V) & (push < 0)) | ((high == V) & (push > 0))
    # A row at zero leaves to its bounds what the ball of its kink has no room for.
    inside, outside = of.length(np.where(out, 0.0, push)), of.length(np.where(out, push, 0.0))
    room = np.where(size > 0, 0.0, np.sqrt(np.maximum(of.l1**2 - inside**2, 0.0)))
    share = np.maximum(outside - room, 0.0) / np.where(outside > 0, outside, 1.0)
    push = np.where(out, push, 0.0) * share[:, None]
    lower, upper = np.maximum(-push, 0.0), np.maximum(push, 0.0)
    left = penalty.beyond(V, a)
    return lower, upper, float(np.abs(left).max(initial=0.0))
