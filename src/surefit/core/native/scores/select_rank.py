"""Absolute errors, and the numbers at given places in their order, without sorting or copying."""

from __future__ import annotations

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.config import threads
from surefit.core.native import compiled


def select_ranks(x: Vector, low: int, high: int, *, _threads: int | None = None) -> tuple[float, float]:
    """Return the numbers of ranks low and high, which is low or low + 1, from 0 for the least.

    >>> select_ranks(np.array([5.0, 1.0, 4.0]), 1, 2)
    (4.0, 5.0)
    """
    native = compiled()
    if native is None:
        return select_ranks_twin(x, low, high)
    first, second = native.select_ranks(x, low, high, threads() if _threads is None else _threads)
    return first, second


def select_ranks_twin(x: Vector, low: int, high: int) -> tuple[float, float]:
    """Do the same on a copy."""
    found = np.partition(x, sorted({low, high}))
    return float(found[low]), float(found[high])


def absolute_errors(truth: Vector, guess: Vector, *, _threads: int | None = None) -> tuple[Vector, bool]:
    """Return the size of each error, and whether all are finite.

    >>> absolute_errors(np.array([1.0, 2.0]), np.array([1.5, 4.0]))
    (array([0.5, 2. ]), True)
    """
    native = compiled()
    if native is None:
        return absolute_errors_twin(truth, guess)
    errors = np.empty(len(truth))
    finite = native.absolute_errors(truth, guess, errors, threads() if _threads is None else _threads)
    return errors, bool(finite)


def absolute_errors_twin(truth: Vector, guess: Vector) -> tuple[Vector, bool]:
    """Do the same with temporaries."""
    errors = np.abs(truth - guess)
    return errors, bool(np.isfinite(errors).all())
