"""What a user's function makes of objects, as rows of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError
from surefit.kernels.base import length
from surefit.kernels.rows import as_rows


def mapped_objects(function: Callable[[Any], Any], X: Any, vectorized: bool) -> Any:
    """Return what the function makes of each object, or of all at once."""
    if vectorized:
        made = function(X)
        if length(made) != length(X):
            raise DataError(
                f"the function made {length(made)} rows out of {length(X)}: it must keep one an object."
            )
        return made
    return [function(X[i]) for i in range(length(X))]


def mapped(function: Callable[[Any], Any], X: Any, vectorized: bool) -> Matrix:
    """Return the features (n, D) that the function makes of objects; a single number is one feature."""
    made: Any = mapped_objects(function, X, vectorized)
    if not hasattr(made, "tocsr"):
        try:
            made = np.asarray(made, dtype=np.float64)
        except (TypeError, ValueError):
            raise DataError(
                "the function must make as many numbers of each object, and it made none or different ones."
            ) from None
        made = made.reshape(length(X), -1) if made.size else made.reshape(length(X), 0)
    found: Matrix = as_rows(made, "the feature map")
    return found


def factors(function: Callable[[Any], Any], X: Any, vectorized: bool) -> Vector:
    """Return the one number that the function makes of each object."""
    made = mapped(function, X, vectorized)
    if made.shape[1] != 1:
        raise DataError(
            f"the function that scales a kernel must give one number an object, not {made.shape[1]}."
        )
    return np.asarray(made).ravel()
