"""The least (or greatest) entries of each row: nearest centres, nearest neighbours, best classes.

Entries are ordered by value, equal values (0.0 and -0.0 among them) by column, and NaN comes after every
number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.config import threads
from surefit.core.errors import DataError, ParameterError
from surefit.core.native import compiled


@dataclass(frozen=True, slots=True)
class Chosen:
    """The columns chosen in each row and what stands there: (n,) for one, (n, k) for k of them."""

    index: NDArray[np.int64]
    value: NDArray[Any]


def row_argmin(A: NDArray[Any], *, _threads: int | None = None) -> Chosen:
    """Return the column of the least entry of each row, and the entry; C order is the quickest.

    >>> row_argmin(np.array([[2.0, 1.0, 1.0]])).index
    array([1])
    """
    if A.shape[1] == 0:
        raise DataError(
            "row_argmin: the matrix has no columns, so no row has a least entry; pass at least one column."
        )
    native = compiled()
    if native is None:
        return row_argmin_twin(A)
    chosen = Chosen(np.empty(A.shape[0], dtype=np.int64), np.empty(A.shape[0], dtype=A.dtype))
    native.row_argmin(A, chosen.index, chosen.value, threads() if _threads is None else _threads)
    return chosen


def row_argmin_twin(A: NDArray[Any]) -> Chosen:
    """Do the same with a stable sort of each row."""
    first = top_k_twin(A, 1)
    return Chosen(first.index[:, 0], first.value[:, 0])


def top_k(A: NDArray[Any], k: int, largest: bool = False, *, _threads: int | None = None) -> Chosen:
    """Return the columns of the k least entries of each row, or of the k greatest, in order, and the entries.

    >>> top_k(np.array([[2.0, 3.0, 1.0]]), 2, largest=True).index
    array([[1, 0]])
    """
    if not 1 <= k <= A.shape[1]:
        raise ParameterError(f"top_k: k={k!r} must lie between 1 and the number of columns, {A.shape[1]}.")
    native = compiled()
    if native is None:
        return top_k_twin(A, k, largest)
    shape = (A.shape[0], k)
    chosen = Chosen(np.empty(shape, dtype=np.int64), np.empty(shape, dtype=A.dtype))
    native.top_k(A, largest, chosen.index, chosen.value, threads() if _threads is None else _threads)
    return chosen


def top_k_twin(A: NDArray[Any], k: int, largest: bool = False) -> Chosen:
    """Do the same with a stable sort of each row: numpy, too, puts NaN last."""
    index = np.argsort(-A if largest else A, axis=1, kind="stable")[:, :k]
    return Chosen(np.ascontiguousarray(index), np.take_along_axis(A, index, axis=1))
