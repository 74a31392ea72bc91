"""Splits into as many branches as a column has levels, as the first trees had them: for teaching sizes.

Many branches leave few rows in each, and columns with many levels look better than they are; gain_ratio
corrects for that. Any such tree can be written with binary splits, which is what the estimators grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.errors import DataError
from surefit.models.tree.export.formats import counted
from surefit.models.tree.nodes.criteria import impurity


@dataclass(frozen=True, slots=True, eq=False)
class MultiwayNode:
    """A node: the count of each class, and for a split its column, gain and one child a level."""

    counts: Vector
    column: int = -1
    gain: float = 0.0
    children: dict[Any, MultiwayNode] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class MultiwayTree:
    """A tree with one branch a level; a row whose level a node has not seen stops there."""

    root: MultiwayNode
    classes: NDArray[Any]
    names: tuple[str, ...]

    def predict(self, rows: Sequence[Sequence[Any]]) -> NDArray[Any]:
        """Return the majority class of the node that each row reaches."""
        found = []
        for row in _cells(rows):
            node = self.root
            while node.column >= 0 and row[node.column] in node.children:
                node = node.children[row[node.column]]
            found.append(int(node.counts.argmax()))
        return self.classes[found]

    def to_text(self) -> str:
        """Return one line a branch, indented by depth."""
        lines: list[str] = []
        stack: list[tuple[MultiwayNode, int, str]] = [(self.root, 0, "")]
        while stack:
            node, depth, words = stack.pop()
            says = (
                str(self.classes[node.counts.argmax()])
                if node.column < 0
                else f"by {self.names[node.column]}"
            )
            indent = "|   " * (depth - 1) + "|-- " if depth else ""
            lines.append(f"{indent}{words}{says}  ({counted(int(node.counts.sum()))})")
            for level, child in reversed(node.children.items()):
                is_level = "is missing" if level is None else f"= {level}"
                stack.append((child, depth + 1, f"{self.names[node.column]} {is_level}: "))
        return "\n".join(lines)


def multiway_tree(
    rows: Any, y: Any, *, names: Sequence[str] | None = None, criterion: str = "entropy", max_depth: int = 0
) -> MultiwayTree:
    """Grow a tree with one branch for each level; ``criterion`` is entropy, gini or gain_ratio.

    A cell that is missing is a level of its own. names: of the columns; those of a frame by default.

    >>> tree = multiway_tree([["hot"], ["hot"], ["mild"], ["cold"]], ["no", "no", "yes", "no"], names=["air"])
    >>> print(tree.to_text())
    by air  (4 rows)
    |-- air = cold: no  (1 row)
    |-- air = hot: no  (2 rows)
    |-- air = mild: yes  (1 row)
    """
    table, (classes, codes) = _cells(rows), np.unique(np.asarray(y), return_inverse=True)
    if table.ndim != 2 or len(table) != len(codes) or len(table) == 0:
        raise DataError(
            f"rows has shape {table.shape} for {len(codes)} targets: give one row of levels for each."
        )
    if criterion not in ("entropy", "gini", "gain_ratio"):
        raise DataError(f"criterion={criterion!r} must be 'entropy', 'gini' or 'gain_ratio'.")
    words = getattr(rows, "columns", [f"x{j}" for j in range(table.shape[1])]) if names is None else names

    def grow(mine: NDArray[np.intp], free: tuple[int, ...], depth: int) -> MultiwayNode:
        counts = np.bincount(codes[mine], minlength=len(classes)).astype(np.float64)
        if np.count_nonzero(counts) < 2 or not free or (max_depth and depth >= max_depth):
            return MultiwayNode(counts)
        gains = {j: _gain(table[mine, j], codes[mine], counts, criterion) for j in free}
        best = max(gains, key=lambda j: (gains[j], -j))
        levels = sorted(set(table[mine, best].tolist()), key=str)
        if len(levels) < 2:
            return MultiwayNode(counts)
        rest = tuple(j for j in free if j != best)
        below = {level: grow(mine[table[mine, best] == level], rest, depth + 1) for level in levels}
        return MultiwayNode(counts, best, gains[best], below)

    return MultiwayTree(
        grow(np.arange(len(codes)), tuple(range(table.shape[1])), 0), classes, tuple(map(str, words))
    )


def _cells(rows: Any) -> NDArray[Any]:
    """The cells of rows; None where they are missing, for NaN is not equal to itself."""
    table = np.array(rows, dtype=object)
    table[table != table] = None
    return table


def _gain(column: NDArray[Any], codes: NDArray[np.intp], counts: Vector, criterion: str) -> float:
    kind = "gini" if criterion == "gini" else "entropy"
    classes, n = (len(counts),), len(codes)

    def cost(own: Vector) -> float:
        return float(impurity(own[None], np.array([own.sum()]), kind, classes)[0])

    sides = [
        np.bincount(codes[column == level], minlength=len(counts)).astype(float) for level in set(column)
    ]
    shares = np.array([side.sum() / n for side in sides])
    found = cost(counts) - float(sum(s * cost(side) for s, side in zip(shares, sides, strict=True)))
    if criterion != "gain_ratio":
        return found
    entropy = float(-(shares * np.log2(shares)).sum())
    return found / entropy if entropy > 0 else -np.inf
