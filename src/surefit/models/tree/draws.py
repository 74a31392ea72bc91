"""What the grower draws at random, drawn again: the kernel's hash of seeds, columns and thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.node_random import MASK, mixed
from surefit.models.tree.nodes import Nodes


def node_seeds(nodes: Nodes, seed: int) -> list[int]:
    """The seed of each node, from that of the tree."""
    found = [0] * nodes.node_count
    found[0] = mixed(seed)
    left, right = nodes.grown.left, nodes.grown.right
    for at in np.flatnonzero(nodes.inner).tolist():
        found[left[at]] = mixed(found[at] ^ 0x5851F42D4C957F2D)
        found[right[at]] = mixed(found[at] ^ 0x14057B7EF767814F)
    return found


def chosen_columns(block: NDArray[Any], count: int, seed: int) -> list[int]:
    """The columns that a node with these rows looks at."""
    every = list(range(block.shape[1]))
    varies = ~((block == block[0]) | (np.isnan(block) & np.isnan(block[0]))).all(axis=0)
    chosen: list[int] = []
    state = seed
    for left in range(len(every), 0, -1):
        if len(chosen) == count:
            break
        at = mixed(state) % left
        state = (state + 1) & MASK
        every[at], every[left - 1] = every[left - 1], every[at]
        if varies[every[left - 1]]:
            chosen.append(every[left - 1])
    return chosen


def drawn_threshold(known: NDArray[np.float64], column: int, seed: int) -> tuple[float, bool]:
    """The threshold that a node draws for a column, and whether missing values would go left."""
    low, high = float(known.min()), float(known.max())
    state = seed ^ mixed(column + 1)
    threshold = low + (high - low) * ((mixed(state) >> 11) * 2.0**-53)
    missing_left = bool(mixed((state + 1) & MASK) & 1)
    return (threshold if threshold < high else low), missing_left
