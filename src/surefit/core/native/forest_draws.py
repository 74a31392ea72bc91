"""How often each row is drawn into the sample of a tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefit.core.native import compiled
from surefit.core.native.tree_grow_twin import mixed


def forest_draws(
    seed: int, draws: int, rows: int, cumulative: NDArray[np.float64] | None = None
) -> NDArray[np.uint32]:
    """Return how often each of ``rows`` rows is drawn, with replacement.

    cumulative: the running sums of the weights in proportion to which rows are drawn; None for alike.

    >>> int(forest_draws(7, 100, 10).sum()), forest_draws(7, 5, 3, np.array([0.0, 1.0, 1.0])).tolist()
    (100, [0, 5, 0])
    """
    native = compiled()
    if native is None:
        return forest_draws_twin(seed, draws, rows, cumulative)
    counts = np.zeros(rows, dtype=np.uint32)
    native.forest_draws(seed, draws, cumulative, counts)
    return counts


def forest_draws_twin(
    seed: int, draws: int, rows: int, cumulative: NDArray[np.float64] | None = None
) -> NDArray[np.uint32]:
    """Do the same, all draws at once."""
    state = mixed(seed ^ 0xB5297A4D3F84D5A5)
    steps = np.uint64(state) + np.arange(draws, dtype=np.uint64)
    unit = (_mixed(steps) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    if cumulative is None:
        at = (unit * rows).astype(np.int64)
    else:
        at = np.searchsorted(cumulative, unit * cumulative[-1], side="right")
    return np.bincount(np.minimum(at, rows - 1), minlength=rows).astype(np.uint32)


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
