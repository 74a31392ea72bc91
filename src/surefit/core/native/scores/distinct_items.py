"""Items of a fixed number of bytes, such as text in an array, numbered by their first appearance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.config import threads
from surefit.core.native import compiled


def distinct_items(
    items: NDArray[Any], *, _threads: int | None = None
) -> tuple[NDArray[Any], NDArray[np.int32]] | None:
    """Return the distinct items in order of appearance and the number of each row's; None for thousands.

    >>> distinct_items(np.array(["b", "a", "b"]))
    (array(['b', 'a'], dtype='<U1'), array([0, 1, 0], dtype=int32))
    """
    native = compiled()
    if native is None or items.dtype.itemsize == 0:
        return distinct_items_twin(items)
    items = np.ascontiguousarray(items)
    numbers = np.empty(len(items), dtype=np.int32)
    rows = native.distinct_items(
        items.view(np.uint8).reshape(len(items), items.dtype.itemsize),
        numbers,
        threads() if _threads is None else _threads,
    )
    return None if len(items) and not rows else (items[np.array(rows, dtype=np.int64)], numbers)


def distinct_items_twin(items: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Do the same by sorting."""
    distinct, first, numbers = np.unique(items, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return distinct[order], np.argsort(order)[numbers].astype(np.int32)
