"""A tree as basis functions: f(x) = sum of w_m 1(x in box m), one box a leaf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix
from surefit.models.tree.nodes.node_arrays import Nodes


@dataclass(frozen=True, slots=True, eq=False)
class LeafBoxes:
    """The leaves as boxes: a row is in box m if lower < x <= upper in every column.

    leaf: the node of each. weights: what a leaf answers, (boxes, width). Of a column of levels, ``allowed``
    says which are in the box; of one with missing values, ``takes_missing`` whether they are.
    """

    leaf: NDArray[np.int64]
    lower: Matrix
    upper: Matrix
    takes_missing: NDArray[np.bool_]
    allowed: dict[int, NDArray[np.bool_]]
    weights: Matrix

    def holds(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether each row is in each box, (rows, boxes): exactly one of them."""
        found = np.ones((len(X), len(self.leaf)), dtype=bool)
        for j in range(X.shape[1]):
            x = np.asarray(X[:, j], dtype=np.float64)[:, None]
            gone = np.isnan(x)
            if j in self.allowed:
                level = np.where(gone, 0, x).astype(np.intp)[:, 0]
                inside = self.allowed[j][:, np.minimum(level, self.allowed[j].shape[1] - 1)].T
            else:
                with np.errstate(invalid="ignore"):
                    inside = (x > self.lower[:, j]) & (x <= self.upper[:, j])
            found &= np.where(gone, self.takes_missing[:, j], inside)
        return found

    def evaluate(self, X: NDArray[Any]) -> Matrix:
        """The sum over boxes, (rows, width)."""
        return self.holds(X) @ self.weights


def boxes(nodes: Nodes) -> LeafBoxes:
    """The boxes of the leaves of a tree."""
    grown, width = nodes.grown, len(nodes.grown.levels)
    count = nodes.node_count
    lower, upper = np.full((count, width), -np.inf), np.full((count, width), np.inf)
    missing = np.ones((count, width), dtype=bool)
    allowed = {
        j: np.ones((count, int(levels)), dtype=bool) for j, levels in enumerate(grown.levels) if levels > 0
    }
    for at in np.flatnonzero(nodes.inner).tolist():
        j, a, b = int(grown.feature[at]), int(grown.left[at]), int(grown.right[at])
        for child in (a, b):
            lower[child], upper[child], missing[child] = lower[at], upper[at], missing[at]
            for sets in allowed.values():
                sets[child] = sets[at]
        missing[a, j] &= bool(grown.missing_left[at])
        missing[b, j] &= not grown.missing_left[at]
        if j in allowed:
            left = np.zeros(allowed[j].shape[1], dtype=bool)
            left[nodes.left_levels(at)] = True
            allowed[j][a] &= left
            allowed[j][b] &= ~left
        else:
            upper[a, j] = min(upper[a, j], grown.threshold[at])
            lower[b, j] = max(lower[b, j], grown.threshold[at])
    leaf = np.flatnonzero(~nodes.inner)
    return LeafBoxes(
        leaf,
        lower[leaf],
        upper[leaf],
        missing[leaf],
        {j: sets[leaf] for j, sets in allowed.items()},
        nodes.value[leaf],
    )
