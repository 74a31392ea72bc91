"""One table in every layout that the kernels read."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp


def _wide_indices(S: Any) -> Any:
    S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    return S


def _untidy(S: Any) -> Any:
    """Store every entry twice, as two halves apart from each other, in reverse order within the row."""
    order = np.concatenate([np.tile(np.arange(a, b)[::-1], 2) for a, b in pairwise(S.indptr)] or [[]])
    order = order.astype(int)
    return sp.csr_array((S.data[order] / 2, S.indices[order], 2 * S.indptr), shape=S.shape)


LAYOUTS: dict[str, Callable[[np.ndarray], Any]] = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "csr": sp.csr_array,
    "csr64": lambda X: _wide_indices(sp.csr_array(X)),
    "untidy": lambda X: _untidy(sp.csr_array(X)),
}


def cells(shape: tuple[int, int], dtype: Any, density: float, seed: int) -> np.ndarray:
    """Draw columns of different means, with zeros among them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(shape) + rng.standard_normal(shape[1])
    return (X * (rng.random(shape) < density)).astype(dtype)
