"""How often each row is drawn into the sample of a tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefit.core.native import compiled
from surefit.core.native.trees.node_random import mixed, mixed_units


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
    unit = mixed_units(mixed(seed ^ 0xB5297A4D3F84D5A5), draws)
    if cumulative is None:
        at = (unit * rows).astype(np.int64)
    else:
        at = np.searchsorted(cumulative, unit * cumulative[-1], side="right")
    return np.bincount(np.minimum(at, rows - 1), minlength=rows).astype(np.uint32)
