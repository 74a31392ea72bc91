"""Columns as codes of one byte, for searches that count rows by code instead of sorting them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.config import threads
from surefit.core.native import compiled

MISSING = 255
MOST_BINS = 255

Codes = NDArray[np.uint8]


def bin_columns(
    X: NDArray[Any],
    edges: Sequence[NDArray[np.float64]],
    levels: NDArray[np.int64] | None = None,
    *,
    _threads: int | None = None,
) -> Codes:
    """Return codes in Fortran order: code <= b means x <= edges[b]; levels keep theirs; 255 is missing.

    edges: of each column, ascending and at most 254; none for a column of levels. levels: how many each
    column has, 0 for numbers; unknown ones count as missing.

    >>> bin_columns(np.array([[0.0], [1.0], [1.5], [np.nan]]), [np.array([0.5, 1.0])]).ravel().tolist()
    [0, 1, 2, 255]
    """
    levels = np.zeros(X.shape[1], dtype=np.int64) if levels is None else levels
    native = compiled()
    if native is None:
        return bin_columns_twin(X, edges, levels)
    codes = np.empty(X.shape, dtype=np.uint8, order="F")
    start = np.concatenate([[0], np.cumsum([len(own) for own in edges])]).astype(np.int64)
    flat = np.concatenate([np.empty(0), *edges])
    native.bin_columns(X, flat, start, levels, codes, threads() if _threads is None else _threads)
    return codes


def bin_columns_twin(
    X: NDArray[Any], edges: Sequence[NDArray[np.float64]], levels: NDArray[np.int64]
) -> Codes:
    """Do the same by a search for each column."""
    codes = np.full(X.shape, MISSING, dtype=np.uint8, order="F")
    for j, (own, count) in enumerate(zip(edges, levels.tolist(), strict=True)):
        x = X[:, j].astype(np.float64)
        known = (x >= 0) & (x < count) if count else ~np.isnan(x)
        codes[known, j] = x[known] if count else np.searchsorted(own, x[known], side="left")
    return codes
