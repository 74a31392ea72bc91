"""The square of a shifted inner product, with its feature map."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np

from surefit.core.parameters import NonNegative
from surefit.kernels.base import WIDE, Bounds
from surefit.kernels.polynomial import Polynomial


class Quadratic(Polynomial):
    r"""All products of two columns: homogeneous for an offset of 0, with the columns themselves else.

    .. math:: k(x, y) = (x'y + c_0)^2

    ``features`` writes its map down: :math:`x_1^2, \sqrt2 x_1 x_2, x_2^2`, and with an offset
    :math:`\sqrt{2 c_0} x_1, \sqrt{2 c_0} x_2, c_0` behind them.

    >>> x, y = [[1.0, 2.0]], [[3.0, 4.0]]
    >>> Quadratic()(x, y), Quadratic(1.0)(x, y)
    (array([[121.]]), array([[144.]]))
    >>> Quadratic().features(x).round(4)
    array([[1.    , 2.8284, 4.    ]])
    """

    name = "quadratic"
    free = ("coef0",)
    degree, gamma = 2.0, 1.0

    def __init__(self, coef0: NonNegative = 0.0, *, coef0_bounds: Bounds = WIDE) -> None:
        self.coef0 = coef0
        self.coef0_bounds = coef0_bounds
        self._check()

    @classmethod
    def named(cls, parameters: Mapping[str, Any], columns: int | None) -> Self:
        """Make it out of parameters by name."""
        return cls(**parameters)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls()
        yield cls(1.0)
