"""Whether a matrix holds finite numbers only, as fast as memory is read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.config import threads
from surefit.core.native import compiled


def all_finite(X: NDArray[Any], *, _threads: int | None = None) -> bool:
    """Return whether no entry of a contiguous float array is NaN or infinite.

    >>> all_finite(np.array([[1.0, np.inf]]))
    False
    """
    native = compiled()
    if native is None:
        return all_finite_twin(X)
    if not X.flags.forc:
        raise TypeError("the matrix is neither C- nor Fortran-contiguous: pass numpy.ascontiguousarray(X)")
    count = threads() if _threads is None else _threads
    return bool(native.all_finite(X.ravel(order="K"), count))


def all_finite_twin(X: NDArray[Any]) -> bool:
    """Do the same with a mask."""
    return bool(np.isfinite(X).all())
