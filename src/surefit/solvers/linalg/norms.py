r"""How long a vector is, how much a matrix can stretch one, and by how much it stretches this one.

Each takes whatever numpy makes an array of, and none overflows on the way to a length that does not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from surefit.core.errors import DataError


def inner_product(x: Any, y: Any) -> float:
    r"""Return :math:`\langle x, y \rangle = \sum_j x_j y_j`.

    >>> inner_product([1.0, 2.0], [3.0, -1.0])
    1.0
    """
    one, two = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if one.ndim != 1 or one.shape != two.shape:
        raise DataError(
            f"inner_product: shapes {one.shape} and {two.shape} do not fit: give two vectors of one length."
        )
    return float(one @ two)


def euclidean_norm(x: Any) -> float:
    r"""Return :math:`\|x\| = \sqrt{\langle x, x \rangle}`.

    >>> euclidean_norm([3e200, 0.0])
    3e+200
    """
    return float(linalg.norm(np.asarray(x, dtype=np.float64).ravel()))


def one_norm(x: Any) -> float:
    r"""Return :math:`\|x\|_1 = \sum_j |x_j|`.

    >>> one_norm([3.0, -4.0])
    7.0
    """
    return float(np.abs(np.asarray(x, dtype=np.float64)).sum())


def frobenius_norm(X: Any) -> float:
    r"""Return :math:`\|X\|_F = \sqrt{\sum_{ij} x_{ij}^2}`, the length of all entries as one vector.

    >>> frobenius_norm([[1.0, 2.0], [2.0, 4.0]])
    5.0
    """
    return euclidean_norm(X)


def operator_norm(X: Any) -> float:
    r"""Return :math:`\|X\| = \sup_{y \ne 0} \|Xy\| / \|y\|`, the largest singular value.

    >>> operator_norm([[3.0, 0.0, 0.0], [0.0, 4.0, 0.0]])
    4.0
    """
    return float(linalg.svdvals(np.atleast_2d(np.asarray(X, dtype=np.float64))).max(initial=0.0))


def rayleigh_quotient(X: Any, w: Any) -> float:
    r"""Return :math:`\langle Xw, w \rangle / \|w\|^2`; of an eigenvector, its eigenvalue.

    >>> rayleigh_quotient([[2.0, 0.0], [0.0, 5.0]], [0.0, 7.0])
    5.0
    """
    direction = np.asarray(w, dtype=np.float64)
    length = euclidean_norm(direction)
    if length == 0:
        raise DataError(
            "rayleigh_quotient: w is the zero vector, where the quotient is undefined: give a nonzero vector."
        )
    unit = direction / length
    return inner_product(np.asarray(X, dtype=np.float64) @ unit, unit)
