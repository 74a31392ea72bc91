"""Absolute and squared penalty mixed: zeros, and correlated columns kept together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import numpy as np

from surefit.core.parameters import Fraction
from surefit.penalties.base import Columns, Strength
from surefit.penalties.weighted import Weighted


class ElasticNet(Weighted):
    r"""The elastic net's penalty, with :math:`\rho` for ``l1_ratio``.

    .. math:: strength \sum_j weight_j \left( \rho |w_j| + \tfrac12 (1 - \rho) w_j^2 \right)

    weights: one a column, 0 leaves it free. positive: also asks for w ≥ 0.

    >>> ElasticNet(2.0, l1_ratio=0.5).prox([5.0, -0.5], step=1.0)
    array([2., 0.])
    """

    name = "elastic_net"

    def __init__(
        self,
        strength: Strength = 1.0,
        *,
        l1_ratio: Fraction = 0.5,
        weights: Columns | None = None,
        positive: bool = False,
    ) -> None:
        self.strength = strength
        self.l1_ratio = l1_ratio
        self.weights = weights
        self.positive = positive
        self._check()
        self.l1_share = l1_ratio

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield from super().cases(rng)
        yield cls(0.8, l1_ratio=0.0)
        yield cls(0.8, l1_ratio=1.0)
