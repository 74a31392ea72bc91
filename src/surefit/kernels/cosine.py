"""The cosine of the angle between rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.kernels.base import Kernel
from surefit.kernels.rows import dots, result_type, scaled_rows, squared_norms


class Cosine(Kernel):
    r"""The cosine of the angle between two rows, whatever their lengths; 0 for a row of zeros.

    .. math:: k(x, y) = x'y / (|x| |y|)

    >>> Cosine()([[1.0, 2.0]], [[3.0, 4.0]]).round(10)
    array([[0.98386991]])
    """

    name = "cosine"

    def __init__(self) -> None:
        self._check()

    def _gram(self, X: Any, Y: Any) -> Matrix:
        found = dots(_unit(X), None if Y is None else _unit(Y))
        if Y is None:
            np.fill_diagonal(found, self._diagonal(X))
        return found.astype(result_type(X, Y), copy=False)

    def _diagonal(self, X: Any) -> Vector:
        return (squared_norms(X) > 0).astype(X.dtype)


def _unit(X: Any) -> Any:
    lengths = np.sqrt(squared_norms(X))
    return scaled_rows(X, 1 / np.where(lengths > 0, lengths, 1.0))
