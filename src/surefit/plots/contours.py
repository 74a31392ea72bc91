"""Contours of a function on a grid, by marching squares: where each level crosses each cell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MOST = 4500  # segments, so that a chart can carry them


def contour_segments(x: Array, y: Array, values: Array, levels: Array) -> dict[str, Array]:
    """Return the segments of all contours: ends (x, y) and (x2, y2), and the rank of the level.

    ``values`` has a row for each y and a column for each x; cells with a value that is not finite have none.

    >>> grid = np.array([0.0, 1.0])
    >>> found = contour_segments(grid, grid, np.array([[0.0, 1.0], [0.0, 1.0]]), np.array([0.5]))
    >>> sorted(zip(found["y"].tolist() + found["y2"].tolist(), found["x"].tolist() + found["x2"].tolist()))
    [(0.0, 0.5), (1.0, 0.5)]
    """
    found = []
    for rank, level in enumerate(levels):
        found += [(*ends, float(rank)) for ends in _of_level(x, y, values, float(level))]
    step = -(-len(found) // MOST) or 1
    columns = np.array(found[::step]).reshape(-1, 5).T
    return dict(zip(("x", "y", "x2", "y2", "rank"), columns, strict=True))


def _of_level(x: Array, y: Array, values: Array, level: float) -> list[tuple[float, float, float, float]]:
    above = values > level
    corners = above[:-1, :-1].astype(int) + above[:-1, 1:] + above[1:, :-1] + above[1:, 1:]
    finite = np.isfinite(values)
    whole = finite[:-1, :-1] & finite[:-1, 1:] & finite[1:, :-1] & finite[1:, 1:]
    segments = []
    for i, j in np.argwhere((corners > 0) & (corners < 4) & whole):
        # The corners in a round, so that each edge joins neighbours.
        places = [(i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)]
        crossed = []
        for (a, b), (c, d) in zip(places, [*places[1:], places[0]], strict=True):
            if above[a, b] != above[c, d]:
                share = (level - values[a, b]) / (values[c, d] - values[a, b])
                crossed.append((x[b] + share * (x[d] - x[b]), y[a] + share * (y[c] - y[a])))
        # A saddle crosses all four edges: neighbours in the round are joined.
        segments += [
            (float(p[0]), float(p[1]), float(q[0]), float(q[1]))
            for p, q in zip(crossed[::2], crossed[1::2], strict=True)
        ]
    return segments
