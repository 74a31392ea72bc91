"""Quantiles of the training targets that share leaves with a row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def leaf_quantiles(forest: Any, leaves: NDArray[np.int32], levels: Floats) -> Floats:
    """Return the quantiles for rows that end in these leaves, (rows, levels); leaves is (rows, trees)."""
    y = forest.member_target_[:, 0]
    order = np.argsort(y, kind="stable")
    place = np.empty(len(y), dtype=np.int64)
    place[order] = np.arange(len(y))
    start, size = _member_ranges(forest)
    members = place[forest.leaf_member_]
    found = np.empty((len(leaves), len(levels)))
    for i, own in enumerate(leaves + forest.leaf_start_[:-1]):
        chosen = np.concatenate([members[start[leaf] : start[leaf] + size[leaf]] for leaf in own])
        weight = np.repeat(1.0 / (size[own] * len(own)), size[own])
        held = np.bincount(chosen, weight, len(y))
        at = np.searchsorted(np.cumsum(held), levels - 1e-12, side="left")
        found[i] = y[order[np.clip(at, int(chosen.min()), int(chosen.max()))]]
    return found


def _member_ranges(forest: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the members of each leaf begin, and how many there are: leaves weigh what was drawn into them."""
    kept = forest._grown()
    size = np.rint(kept.weight).astype(np.int64) if forest.draws_ else kept.rows
    return np.concatenate([[0], np.cumsum(size)[:-1]]), size
