r"""Constraints on the coefficients of any linear model, and the multipliers that prove them to be met.

Bounds join the numbers that a penalty has for each coefficient; ordered levels put their coefficients in
order before it. The mean loss plus that penalty is then solved and proved like any other. At the answer
(Karush, Kuhn and Tucker) the slope of the loss and penalty is balanced by multipliers, none negative, of the
constraints that bind:

.. math:: \nabla_j = \lambda^{low}_j - \lambda^{up}_j + \lambda^{order}_{j - 1} - \lambda^{order}_j
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from scipy.optimize import lsq_linear

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError
from surefit.core.parameters import Has
from surefit.penalties.arrays import soft_threshold
from surefit.penalties.base import Penalty
from surefit.penalties.box import Box
from surefit.penalties.monotone import Monotone
from surefit.penalties.no_penalty import NoPenalty
from surefit.penalties.nonnegative import NonNegative
from surefit.penalties.ordered import Ordered
from surefit.penalties.restricted import Restricted
from surefit.penalties.tabulated import Tabulated
from surefit.solvers.objective.base import Objective
from surefit.solvers.squares.level_limits import LevelLimits

Constraints = Annotated[object, Has("prox")] | list | tuple | None
ROUNDING = 8 * np.finfo(float).eps  # of a bound: rounding may leave a coefficient a digit inside


def constrained(who: str, penalty: Penalty, given: Any, columns: int, beyond: int = 0) -> Penalty:
    """Return a penalty that is infinite wherever a constraint does not hold.

    beyond: how many further coefficients, such as a penalised intercept, come last and are free.

    >>> constrained("LinearModel", NoPenalty(), [NonNegative(), Box(-1.0, 2.0)], 1)
    Box(lower=array([0.]), upper=array([2.]))
    """
    asked = listed(given)
    if not asked:
        return penalty
    lower, upper = np.full(columns, -np.inf), np.full(columns, np.inf)
    free = np.full(beyond, np.inf)
    groups: list[Any] = []
    for each in asked:
        if isinstance(each, Monotone):
            groups += each.groups
            each.prox(np.zeros(columns), 1.0)  # refuses groups beyond the columns
        elif isinstance(each, Box | NonNegative):
            table = each.table(columns)
            lower, upper = np.maximum(lower, table.lower), np.minimum(upper, table.upper)
        else:
            raise ParameterError(
                f"{who}: constraints={each!r} is not allowed; give Box, NonNegative or Monotone of "
                "surefit.penalties, or a list of them."
            )
    if not isinstance(penalty, Tabulated):
        raise ParameterError(
            f"{who}: constraints need a penalty that is a sum over coefficients, which "
            f"{type(penalty).__name__} is not: choose L1, L2, ElasticNet or no penalty."
        )
    if np.isfinite(lower).any() or np.isfinite(upper).any():
        lower, upper = np.append(lower, -free), np.append(upper, free)
        penalty = Box(lower, upper) if isinstance(penalty, NoPenalty) else Restricted(penalty, lower, upper)
    if not groups:
        return penalty
    return Monotone(groups) if isinstance(penalty, NoPenalty) else Ordered(penalty, groups)


def listed(given: Any) -> list[Any]:
    """Return constraints one by one."""
    return [] if given is None else list(given) if isinstance(given, list | tuple) else [given]


def limits_of(who: str, constraints: Any, columns: int) -> LevelLimits:
    """Return constraints as bounds and groups, checked.

    >>> from surefit.penalties import Monotone, NonNegative
    >>> limits_of("BayesianRidge", [NonNegative(), Monotone([[1, 0]])], 2)
    LevelLimits(lower=array([0., 0.]), upper=array([inf, inf]), groups=[[1, 0]])
    """
    penalty: Penalty = constrained(who, NoPenalty(), constraints, columns)
    penalty.prox(np.zeros(columns), 1.0)  # refuses levels of one group with different bounds
    groups: list[list[int]] = []
    if isinstance(penalty, Ordered):
        groups, penalty = penalty.ordered_columns, penalty.separable_part
    table = penalty.table(columns)
    return LevelLimits(np.array(table.lower), np.array(table.upper), groups)


def multipliers(
    objective: Objective, x: Vector, slopes: Any = None, beyond: int = 0
) -> tuple[dict[str, Any], dict[str, float]]:
    """Return the multipliers of the constraints at a packed point, and how well they balance the slope.

    slopes: one a row, of a loss with kinks. ``lower`` and ``upper`` have the shape of the coefficients;
    ``order`` holds one array a group, with a number for each two levels in a row. Only constraints that bind
    have one. ``stationarity`` is what no multiplier balances, relative to the slope at zero coefficients.
    """
    penalty, (coef, _) = objective.penalty, objective.split(x)
    groups = penalty.ordered_columns if isinstance(penalty, Ordered) else []
    table = (penalty.separable_part if isinstance(penalty, Ordered) else penalty).table(objective.columns)
    w = coef.reshape(len(coef), -1)
    gradient = (
        objective.split(objective.at(x, 1).gradient)[0]
        if slopes is None
        else _gradient_of_slopes(objective, slopes)
    )
    first, _ = objective.split(objective.at(np.asarray(objective.null), 1).gradient)
    l1, l2 = table.l1[:, None], table.l2[:, None]
    smooth = gradient.reshape(w.shape) + l2 * w + l1 * np.sign(w)
    slope = np.where(w == 0, soft_threshold(smooth, l1), smooth)  # a kink takes what it can
    low, high = _at(table.lower[:, None], w), _at(table.upper[:, None], w)
    lower, upper = np.where(low, np.maximum(slope, 0.0), 0.0), np.where(high, np.maximum(-slope, 0.0), 0.0)
    order = []
    for group in groups:
        found = [
            _of_group(smooth[group, k], low[group, k], high[group, k], w[group, k], float(table.l1[group[0]]))
            for k in range(w.shape[1])
        ]
        for k, (below, above, _, left) in enumerate(found):
            lower[group, k], upper[group, k], slope[group, k] = below, above, left
        order.append(np.column_stack([between for _, _, between, _ in found]).reshape(-1, *coef.shape[1:]))
    left = slope - lower + upper
    for group, between in zip(groups, order, strict=True):
        left[group] += np.diff(between.reshape(len(group) - 1, -1), axis=0, prepend=0.0, append=0.0)
    size = max(float(np.abs(first).max(initial=0.0)), float(np.abs(gradient).max(initial=0.0)))
    unbalanced = float(np.abs(left).max(initial=0.0)) / max(size, float(np.finfo(float).tiny))
    kept = len(coef) - beyond
    shaped = {"lower": lower.reshape(coef.shape)[:kept], "upper": upper.reshape(coef.shape)[:kept]}
    return {**shaped, "order": tuple(order)}, {"stationarity": unbalanced}


def _at(bound: Any, w: Any) -> Any:
    """Return which coefficients are at their bound."""
    return np.isfinite(bound) & (np.abs(w - bound) <= ROUNDING * np.abs(bound))


def _gradient_of_slopes(objective: Objective, slopes: Any) -> Any:
    """Return the slope of the mean loss for given slopes of its rows."""
    batch = objective.need_rows("the certificate of a nonsmooth loss")
    weight = np.ones(len(batch)) if batch.weight is None else batch.weight
    X: Any = batch.X
    return np.asarray(X.T @ (slopes.T * weight).T) / weight.sum()


def _of_group(
    slope: Vector, low: Any, high: Any, w: Vector, kink: float
) -> tuple[Vector, Vector, Vector, Vector]:
    """Return the multipliers of one group of ordered levels that balance best, none negative.

    Last comes the slope without what the kinks at zero take, each up to ``kink``.
    """
    equal = np.flatnonzero(np.diff(w) <= ROUNDING * np.abs(w).max())
    size, zero = len(slope), (w == 0) & (kink > 0)
    steps = np.zeros((size, len(equal)))
    steps[equal, np.arange(len(equal))], steps[equal + 1, np.arange(len(equal))] = -1.0, 1.0
    one = np.eye(size)
    binding = np.hstack([one[:, low], -one[:, high], steps, one[:, zero]])
    counts = np.cumsum([low.sum(), high.sum(), len(equal), zero.sum()])
    found = np.zeros(counts[-1])
    if len(found):
        least = np.r_[np.zeros(counts[2]), np.full(zero.sum(), -kink)]
        most = np.r_[np.full(counts[2], np.inf), np.full(zero.sum(), kink)]
        found = lsq_linear(binding, slope, (least, most), method="bvls").x
    below, above, between = np.zeros(size), np.zeros(size), np.zeros(size - 1)
    below[low], above[high], between[equal], taken = np.split(found, counts[:3])
    return below, above, between, slope - one[:, zero] @ taken
