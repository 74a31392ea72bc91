"""Where the nodes of a tree hang, from its splits alone: no fact of a leaf is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """Of each node in a walk that goes left first: the one above it, -1 for the root, and how many are."""

    parents: Whole
    depths: Whole

    @classmethod
    def of(cls, feature: NDArray[Any], right: NDArray[Any]) -> Outline:
        """That of stored splits: ``feature`` is negative for leaves, left children follow their parents.

        >>> found = Outline.of(np.array([0, 1, -1, -1, -1]), np.array([4, 3, 0, 0, 0]))
        >>> found.parents.tolist(), found.depths.tolist()
        ([-1, 0, 1, 1, 0], [0, 1, 2, 2, 1])
        """
        parents = np.full(len(feature), -1, dtype=np.int64)
        depths = np.zeros(len(feature), dtype=np.int64)
        level, depth = np.zeros(1, dtype=np.int64), 0
        while len(level := level[feature[level] >= 0]):
            depth += 1
            left, other = level + 1, right[level].astype(np.int64)
            parents[left] = parents[other] = level
            level = np.concatenate([left, other])
            depths[level] = depth
        return cls(parents, depths)

    @property
    def node_count(self) -> int:
        """How many nodes there are."""
        return len(self.parents)

    @property
    def max_depth(self) -> int:
        """How many splits are above the deepest leaf."""
        return int(self.depths.max())
