"""The cells of centres in the plane: the points that are nearer to one than to all others."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.arrays import Matrix
from surefit.core.errors import DataError
from surefit.core.public import public


@public
def voronoi_cells(centers: Any, box: Any) -> list[Matrix]:
    r"""Return the polygon :math:`\{x : \|x - c_k\| \le \|x - c_j\| \text{ for all } j\}` of each centre
    within a box.

    box: (left, bottom, right, top). A cell is convex, and its corners go round it; of equal centres the first
    has the cell.

    >>> import surefit
    >>> [cell.tolist() for cell in surefit.voronoi_cells([[1.0, 1.0], [3.0, 1.0]], (0.0, 0.0, 4.0, 2.0))]
    [[[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]], [[2.0, 0.0], [4.0, 0.0], [4.0, 2.0], [2.0, 2.0]]]
    """
    points = np.asarray(centers, dtype=np.float64)
    left, bottom, right, top = (float(side) for side in box)
    if points.ndim != 2 or points.shape[1] != 2 or not (left < right and bottom < top):
        raise DataError(
            "voronoi_cells: centers must have two columns, and box be (left, bottom, right, top)."
        )
    cells = []
    for k, centre in enumerate(points):
        cell = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
        for j, other in enumerate(points):
            if j == k:
                continue
            if (other == centre).all():
                cell = cell if k < j else cell[:0]
                continue
            cell = _clipped(cell, other - centre, (centre + other) / 2)
        cells.append(cell)
    return cells


def _clipped(cell: Matrix, normal: Any, middle: Any) -> Matrix:
    """The part of a convex polygon on the near side of a line."""
    if not len(cell):
        return cell
    height = (cell - middle) @ normal
    corners = []
    for place in range(len(cell)):
        here, there = place, (place + 1) % len(cell)
        if height[here] <= 0:
            corners.append(cell[here])
        if height[here] * height[there] < 0:
            share = height[here] / (height[here] - height[there])
            corners.append(cell[here] + share * (cell[there] - cell[here]))
    return np.array(corners).reshape(-1, 2)
