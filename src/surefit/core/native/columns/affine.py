"""The two maps that scalers are made of, and in the same pass whether the cells are finite."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.config import threads
from surefit.core.native import compiled


def standardise(
    X: NDArray[Any], shift: Vector, scale: Vector, out: NDArray[Any], *, _threads: int | None = None
) -> bool:
    """Write (X - shift) / scale into ``out``; return whether no cell of X is NaN or infinite.

    X is a contiguous float matrix; ``out`` has its type, shape and order, and may be X itself. float32 is
    computed in float64 and rounded once.

    >>> out = np.empty((2, 1))
    >>> standardise(np.array([[1.0], [5.0]]), np.array([1.0]), np.array([2.0]), out), out.ravel()
    (True, array([0., 2.]))
    """
    native = compiled()
    if native is None:
        return standardise_twin(X, shift, scale, out)
    return bool(native.standardise(X, shift, scale, out, threads() if _threads is None else _threads))


def stretch(
    X: NDArray[Any], scale: Vector, shift: Vector, out: NDArray[Any], *, _threads: int | None = None
) -> bool:
    """Write X * scale + shift into ``out``; otherwise as ``standardise``, which it undoes.

    >>> out = np.empty((2, 1))
    >>> stretch(np.array([[0.0], [2.0]]), np.array([2.0]), np.array([1.0]), out), out.ravel()
    (True, array([1., 5.]))
    """
    native = compiled()
    if native is None:
        return stretch_twin(X, scale, shift, out)
    return bool(native.stretch(X, scale, shift, out, threads() if _threads is None else _threads))


def standardise_twin(X: NDArray[Any], shift: Vector, scale: Vector, out: NDArray[Any]) -> bool:
    """Do the same by two steps of numpy."""
    finite = bool(np.isfinite(X).all())
    out[...] = (X.astype(np.float64, copy=False) - shift) / scale
    return finite


def stretch_twin(X: NDArray[Any], scale: Vector, shift: Vector, out: NDArray[Any]) -> bool:
    """Do the same by two steps of numpy."""
    finite = bool(np.isfinite(X).all())
    out[...] = X.astype(np.float64, copy=False) * scale + shift
    return finite
