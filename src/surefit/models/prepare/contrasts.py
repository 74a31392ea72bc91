"""Contrasts: what a category's levels are compared with, as a matrix with a row a level.

Each has a column less than levels, so that with an intercept every level's mean can be told, once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Contrast = Literal["treatment", "sum", "helmert", "polynomial", "difference"]


def contrast_matrix(kind: Contrast, levels: int) -> Matrix:
    """Return the matrix of a contrast, (levels, levels - 1).

    >>> contrast_matrix("helmert", 3)
    array([[-1., -1.],
           [ 1., -1.],
           [ 0.,  2.]])
    """
    return _MATRICES[kind](levels) if levels > 1 else np.zeros((levels, 0))


def contrast_names(kind: Contrast, levels: list[Any]) -> list[str]:
    """Return what each column of the matrix is called, after the column's name."""
    if kind == "polynomial":
        powers = [".Linear", ".Quadratic", ".Cubic"]
        return [powers[k] if k < 3 else f"^{k + 1}" for k in range(len(levels) - 1)]
    letter = {"treatment": "T", "sum": "S", "helmert": "H", "difference": "D"}[kind]
    named = levels[1:] if kind in ("treatment", "helmert") else levels[:-1]
    return [f"[{letter}.{level}]" for level in named]


def _treatment(k: int) -> Matrix:
    """Each level with the first."""
    return np.eye(k)[:, 1:]


def _sum(k: int) -> Matrix:
    """Each level but the last with the mean of all."""
    return np.vstack([np.eye(k - 1), -np.ones(k - 1)])


def _helmert(k: int) -> Matrix:
    """Each level with the mean of those before it."""
    steps = np.arange(1, k)
    return np.where(np.arange(k)[:, None] < steps, -1.0, np.eye(k)[:, 1:] * steps)


def _polynomial(k: int) -> Matrix:
    """Orthonormal polynomials of the level's place: a straight trend, a bend, and so on."""
    places = np.arange(k) - (k - 1) / 2
    Q, R = np.linalg.qr(np.vander(places, increasing=True))
    return (Q * np.sign(np.diagonal(R)))[:, 1:]


def _difference(k: int) -> Matrix:
    """Each level with the one before it."""
    place, step = np.arange(k)[:, None], np.arange(1, k)
    return np.where(place >= step, step / k, step / k - 1.0)


_MATRICES: Mapping[str, Callable[[int], Matrix]] = {
    "treatment": _treatment,
    "sum": _sum,
    "helmert": _helmert,
    "polynomial": _polynomial,
    "difference": _difference,
}
