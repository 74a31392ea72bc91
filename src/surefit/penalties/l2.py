"""The squared penalty, which shrinks every coefficient and sets none to zero."""

from __future__ import annotations

from surefit.penalties.base import Columns, Strength
from surefit.penalties.weighted import Weighted


class L2(Weighted):
    r"""Ridge's penalty on the scale with one half, :math:`\frac12 strength \sum_j weight_j w_j^2`.

    weights: one a column, 0 leaves it free. positive: also asks for w ≥ 0.

    >>> L2(3.0).value([1.0, 2.0]), L2(3.0).prox([4.0], step=1.0).tolist()
    (7.5, [1.0])
    """

    name = "l2"
    l1_share = 0.0

    def __init__(
        self, strength: Strength = 1.0, *, weights: Columns | None = None, positive: bool = False
    ) -> None:
        self.strength = strength
        self.weights = weights
        self.positive = positive
        self._check()
