"""Coefficients and per-column numbers on their way in, and results on their way out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefit.core.arrays import Vector
from surefit.core.errors import DataError, ParameterError

Floats = Vector  # for those that import it from here


def coefficients(w: ArrayLike) -> Vector:
    """Return a vector or matrix of coefficients in float64; no copy where it is one already."""
    array = np.asarray(w, dtype=np.float64)
    if array.ndim not in (1, 2):
        raise DataError(
            f"the coefficients have {array.ndim} dimensions; give a vector, "
            "or a matrix with one row a column of X."
        )
    return array


def in_type_of(result: Vector, given: ArrayLike) -> NDArray[Any]:
    """Return the result in the type of what was given, where that is a type of floats."""
    dtype = getattr(given, "dtype", result.dtype)
    return result.astype(dtype, copy=False) if np.issubdtype(dtype, np.floating) else result


def rounding(given: ArrayLike) -> float:
    """Return the relative size of one rounding in the type of what was given, at least that of float64."""
    dtype = getattr(given, "dtype", np.dtype(np.float64))
    floats = np.issubdtype(dtype, np.floating) and dtype.itemsize < 8
    return float(np.finfo(dtype if floats else np.float64).eps)


def by_row(column: Vector, w: Vector) -> Vector:
    """Shape one number a row so that it meets a vector or a matrix of coefficients."""
    return column if w.ndim == 1 else column[:, None]


def axes(chosen: NDArray[np.bool_]) -> Vector:
    """Return the unit vectors of the chosen coefficients, in columns."""
    numbers = np.flatnonzero(chosen)
    found = np.zeros((len(chosen), len(numbers)))
    found[numbers, np.arange(len(numbers))] = 1.0
    return found


def soft_threshold(v: Vector, threshold: Any) -> Vector:
    """Return sign(v) max(\\|v\\| - threshold, 0).

    >>> soft_threshold(np.array([3.0, -3.0, 0.5]), 1.0)
    array([ 2., -2.,  0.])
    """
    return v - np.clip(v, -threshold, threshold)


def checked_numbers(owner: str, name: str, given: Any, *, ndim: int = 1, low: float = -np.inf) -> Vector:
    """Return a parameter as an array of float64; what is no finite number of the right kind is named."""
    try:
        array = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{owner}: {name} must hold numbers only.") from None
    if array.ndim != ndim or array.size == 0:
        raise ParameterError(
            f"{owner}: {name} has shape {array.shape}; "
            f"give {'one number a column' if ndim == 1 else 'a matrix with one column a coefficient'}."
        )
    wrong = ~np.isfinite(array) | (array < low)
    if wrong.any():
        place = tuple(int(index) for index in np.argwhere(wrong)[0])
        range_ = "finite" if low == -np.inf else f"finite and at least {low:g}"
        raise ParameterError(
            f"{owner}: {name}{list(place)} is {array[place]:g}; every entry must be {range_}."
        )
    return array


def require_length(owner: str, name: str, length: int, p: int) -> None:
    """Complain when a parameter with one entry a column meets another number of columns."""
    if length != p:
        raise DataError(
            f"{owner}: {name} is for {length} columns, but there are {p} coefficients; "
            "give one entry a column."
        )
