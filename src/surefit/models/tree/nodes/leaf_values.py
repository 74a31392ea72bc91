"""What leaves say, in as few bytes as it takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector

# Digits of a float32 suffice for deviations from medians, which nothing is predicted by.
SINGLE = float(np.finfo(np.float32).eps) / 2


def in_place(width: int, classes: tuple[int, ...]) -> bool:
    """Whether one number is all that a leaf says.

    >>> in_place(1, ()), in_place(2, (2,)), in_place(2, ()), in_place(3, (3,))
    (True, True, False, False)
    """
    return width == 1 or classes == (2,)


def as_said(value: Matrix, classes: tuple[int, ...]) -> Matrix:
    """Values of leaves with the bits that they have once they are kept: of two shares, only the second is.

    >>> as_said(np.array([[0.7, 0.3]]), (2,)).tolist() == [[1.0 - 0.3, 0.3]]
    True
    """
    return np.column_stack([1.0 - value[:, 1], value[:, 1]]) if classes == (2,) else value


def shared_rows(value: Matrix) -> tuple[Matrix, NDArray[np.int64]]:
    """The different rows, and which of them each is.

    >>> table, which = shared_rows(np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]))
    >>> len(table), bool(which[0] == which[2] != which[1])
    (2, True)
    """
    cells = np.ascontiguousarray(value + 0.0).view(np.uint64)  # -0 becomes 0
    odd = np.random.default_rng(0).integers(2**63, size=value.shape[1], dtype=np.uint64) * 2 + 1
    mixed = cells ^ (cells >> np.uint64(29))  # shares differ in their upper bits alone
    _, first, which = np.unique((mixed * odd).sum(axis=1), return_index=True, return_inverse=True)
    if not np.array_equal(value[first][which], value):
        _, first, which = np.unique(value, axis=0, return_index=True, return_inverse=True)
    return value[first], which.reshape(-1)


def least_weight(weight: Vector, rows: NDArray[np.int64]) -> NDArray[Any]:
    """Weights of leaves: nothing where rows tell them, and half the bytes where these hold all digits.

    >>> rows = np.array([1, 2])
    >>> [least_weight(np.array(w), rows).dtype.name for w in ([1.0, 3.0], [0.5, 2.0], [0.1, 2.0])]
    ['uint32', 'float32', 'float64']
    >>> len(least_weight(np.array([1.0, 2.0]), rows))
    0
    """
    if np.array_equal(weight, rows):
        return np.empty(0)
    largest = weight.max(initial=0.0)
    for kind, most in ((np.uint32, 2.0**32), (np.float32, 1e38)):
        half = weight.astype(kind) if largest < most else weight
        if np.array_equal(half, weight):
            return half
    return weight


def least_impurity(impurity: Vector, absolute: bool) -> NDArray[Any]:
    """Impurities of leaves: nothing where all are 0, and half the bytes of absolute deviations.

    >>> len(least_impurity(np.zeros(3), False)), least_impurity(np.ones(3), True).dtype.name
    (0, 'float32')
    """
    if not impurity.any():
        return np.empty(0)
    return single(impurity) if absolute else impurity


def single(deviations: Vector) -> NDArray[Any]:
    """The same with the digits of a float32, unless the largest is out of its range.

    >>> single(np.array([1e-60])).dtype.name, single(np.array([0.0, 1e-60, 1.0])).dtype.name
    ('float64', 'float32')
    """
    largest = float(np.abs(deviations).max(initial=0.0))
    fits = largest == 0.0 or 1e-18 < largest < 1e38  # the least it has is 1e-20 of that, and rounding here
    return deviations.astype(np.float32) if fits else deviations
