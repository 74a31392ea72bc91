"""The inner product itself."""

from __future__ import annotations

from typing import Any

from surefit.core.arrays import Matrix, Vector
from surefit.kernels.base import Kernel, NativeKernel
from surefit.kernels.rows import dots, result_type, squared_norms


class Linear(Kernel):
    """The plain inner product, k(x, y) = x'y, whose feature map is the row itself.

    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    name = "linear"

    def __init__(self) -> None:
        self._check()

    def _gram(self, X: Any, Y: Any) -> Matrix:
        return dots(X, Y).astype(result_type(X, Y), copy=False)

    def _diagonal(self, X: Any) -> Vector:
        return squared_norms(X).astype(X.dtype, copy=False)

    def native(self) -> NativeKernel:
        """Return what compiled code needs."""
        return NativeKernel("linear")
