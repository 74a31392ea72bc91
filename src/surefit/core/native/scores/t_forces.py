"""Attraction and repulsion of points, by a tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.config import threads
from surefit.core.native import compiled


def t_forces(
    Y: Matrix,
    mass: Vector,
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    weight: Vector,
    angle: float,
    *,
    _threads: int | None = None,
) -> tuple[float, Matrix, Matrix]:
    r"""With kernels :math:`q_{ij} = 1/(1 + \|y_i - y_j\|^2)`: the sum of :math:`m_i m_j q_{ij}` over pairs,
    :math:`\sum_j m_i m_j q_{ij}^2 (y_i - y_j)`, and :math:`\sum_j w_{ij} q_{ij} (y_i - y_j)` along edges.

    Points far away are taken together where their cell is seen under less than ``angle``.

    >>> none = np.zeros(0)
    >>> empty = np.zeros(3, dtype=np.int64), np.zeros(0, dtype=np.int64), none
    >>> t_forces(np.array([[0.0, 0.0], [1.0, 0.0]]), np.ones(2), *empty, 0.0)[0]
    1.0
    """
    native = compiled()
    if native is None or Y.shape[1] not in (2, 3):
        return t_forces_twin(Y, mass, starts, ends, weight, angle)
    repulsion, attraction = np.empty_like(Y), np.empty_like(Y)
    count = threads() if _threads is None else _threads
    sums = native.t_forces(Y, mass, starts, ends, weight, angle, repulsion, attraction, count)
    return float(sums), repulsion, attraction


def t_forces_twin(
    Y: Matrix,
    mass: Vector,
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    weight: Vector,
    angle: float,
) -> tuple[float, Matrix, Matrix]:
    """Do the same from all pairs, a block of rows at a time."""
    repulsion, total = np.zeros_like(Y), 0.0
    for start in range(0, len(Y), 512):
        rows = slice(start, start + 512)
        square = ((Y[rows, None] - Y[None]) ** 2).sum(axis=2)
        kernel = 1 / (1 + square)
        total += float(mass[rows] @ (kernel @ mass - mass[rows]))
        pull = mass[rows, None] * mass * kernel**2
        repulsion[rows] = pull.sum(axis=1)[:, None] * Y[rows] - pull @ Y
    begins = np.repeat(np.arange(len(Y)), np.diff(starts))
    apart = Y[begins] - Y[ends]
    w = weight / (1 + (apart**2).sum(axis=1))
    pulls = [np.bincount(begins, w * column, len(Y)) for column in apart.T]
    attraction: Matrix = np.column_stack(pulls).astype(np.float64)
    return total, repulsion, attraction
