"""How far a point is from satisfying the first-order condition over a convex set or with a penalty."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from surefit.penalties.base import Penalty


def first_order_residual(x: ArrayLike, gradient: ArrayLike, penalty: Penalty, step: float = 1.0) -> float:
    r"""Return :math:`\|x - prox(x - step \nabla f(x))\| / step`: 0 exactly where x is optimal, for convex f.

    For a constraint set, that is where :math:`\nabla f(x)'(y - x) \ge 0` for all y of the set. The gradient
    itself need not vanish: an active constraint balances it.

    >>> from surefit.penalties.half_space import HalfSpace
    >>> first_order_residual([1.0, 1.0], [2.0, 2.0], HalfSpace([-2.0, -2.0], -4.0))
    0.0
    """
    point, slope = np.asarray(x, dtype=np.float64), np.asarray(gradient, dtype=np.float64)
    return float(np.linalg.norm(point - penalty.prox(point - step * slope, step))) / step
