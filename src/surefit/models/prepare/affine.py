"""The two affine maps that scalers are made of, one block at a time so that memory is read once."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.config import threads

_BLOCK = 2**17  # cells; a block stays in the cache between its two steps
_LARGE = 2**22  # cells from which on threads pay for their start

Numbers = NDArray[np.float64] | None


def standardised(X: NDArray[Any], shift: Numbers, scale: Numbers, *, copy: bool) -> NDArray[Any]:
    """Return (X - shift) / scale; in place where ``copy`` is False and X can be written to."""
    return _in_blocks(X, (np.subtract, shift), (np.divide, scale), copy)


def stretched(X: NDArray[Any], scale: Numbers, shift: Numbers, *, copy: bool) -> NDArray[Any]:
    """Return X * scale + shift; in place where ``copy`` is False and X can be written to."""
    return _in_blocks(X, (np.multiply, scale), (np.add, shift), copy)


def scaled_rows(X: Any, scale: Numbers) -> Any:
    """A CSR matrix with each column multiplied by its scale."""
    data = X.data.copy() if scale is None else (X.data * scale[X.indices]).astype(X.dtype, copy=False)
    return type(X)((data, X.indices.copy(), X.indptr.copy()), shape=X.shape)


def _in_blocks(X: NDArray[Any], first: Any, second: Any, copy: bool) -> NDArray[Any]:
    out = np.empty_like(X) if copy or not X.flags.writeable else X
    steps = [(step, values) for step, values in (first, second) if values is not None]
    if not steps and out is not X:
        out[...] = X
    # Fortran order is read column by column, so its blocks are some of the columns.
    turned = X.flags.f_contiguous and not X.flags.c_contiguous

    def work(block: slice) -> None:
        where = (slice(None), block) if turned else (block, slice(None))
        given = X[where]
        # Steps between float32 numbers would round twice.
        made = out[where] if X.dtype == np.float64 else np.empty(given.shape)
        for step, values in steps:
            step(given, values[block] if turned else values, out=made)
            given = made
        if made.dtype != out.dtype:
            out[where] = made

    blocks = _blocks(X.shape[::-1] if turned else X.shape) if steps else []
    if X.size < _LARGE or threads() == 1:
        for block in blocks:
            work(block)
    else:
        with ThreadPoolExecutor(threads()) as pool:  # numpy lets go of the interpreter inside a step
            deque(pool.map(work, blocks), maxlen=0)
    return out


def _blocks(shape: tuple[int, ...]) -> list[slice]:
    rows = max(1, _BLOCK // max(1, shape[1]))
    return [slice(start, start + rows) for start in range(0, shape[0], rows)]
