"""The absolute penalty, which sets coefficients to zero exactly."""

from __future__ import annotations

from surefit.penalties.base import Columns, Strength
from surefit.penalties.weighted import Weighted


class L1(Weighted):
    r"""The lasso's penalty, :math:`strength \sum_j weight_j |w_j|`.

    weights: one a column, 0 leaves it free. positive: also asks for w ≥ 0.

    >>> L1(1.0).prox([3.0, -3.0, 0.5, 1.0], step=1.0)
    array([ 2., -2.,  0.,  0.])
    """

    name = "l1"
    l1_share = 1.0

    def __init__(
        self, strength: Strength = 1.0, *, weights: Columns | None = None, positive: bool = False
    ) -> None:
        self.strength = strength
        self.weights = weights
        self.positive = positive
        self._check()
