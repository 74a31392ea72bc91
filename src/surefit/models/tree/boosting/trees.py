"""Boosted trees as arrays: put together while they grow, taken apart to answer."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix
from surefit.core.native.trees.boost_apply import BoostedNodes, boost_apply
from surefit.core.native.trees.boost_grow import BoostTree
from surefit.models.tree.rows.bins import Bins


@dataclass(frozen=True, slots=True)
class BoostedTrees:
    """Some trees one after the other, once by the numbers of the data and once by codes of bins."""

    nodes: BoostedNodes

    def __len__(self) -> int:
        return len(self.nodes.root)

    def add_to(self, score: Matrix, X: NDArray[Any], first: int = 0, last: int | None = None) -> None:
        """Add what the trees say of rows to their scores, (outputs, n)."""
        boost_apply(self.nodes, X, score, first, len(self) if last is None else last)


def empty_grove() -> BoostedTrees:
    """No trees."""
    kinds: Any = (np.int32, np.float64, np.int32, np.int32, np.uint8, np.uint8, np.uint64, np.int64)
    return BoostedTrees(BoostedNodes(*[np.empty(0, dtype=kind) for kind in kinds]))


def boosted_trees_of(tree: BoostTree, value: Matrix, bins: Bins, by_code: bool = False) -> BoostedTrees:
    """Return one tree whose leaves say ``value``; ``by_code`` compares codes of bins, not numbers."""
    column = tree.column
    leaf = column < 0
    by_levels = ~leaf & (bins.levels[np.maximum(column, 0)] > 0)
    number = np.where(leaf, value, tree.bin.astype(np.float64))
    if not by_code:
        for node in np.flatnonzero(~leaf & ~by_levels):
            edges = bins.edges[column[node]]
            number[node] = edges[tree.bin[node]] if tree.bin[node] < len(edges) else np.inf
    number[by_levels] = 4 * np.arange(np.count_nonzero(by_levels))
    return BoostedTrees(
        BoostedNodes(
            column,
            number,
            tree.left,
            tree.right,
            tree.missing_left,
            by_levels.astype(np.uint8),
            tree.levels[by_levels].ravel(),
            np.zeros(1, dtype=np.int64),
        )
    )


def joined(tree_blocks: list[BoostedTrees]) -> BoostedTrees:
    """Return all trees of some tree_blocks, in order."""
    if not tree_blocks:
        return empty_grove()
    sizes = np.cumsum([0, *[len(tree_block.nodes.column) for tree_block in tree_blocks]])
    words = np.cumsum([0, *[len(tree_block.nodes.bits) for tree_block in tree_blocks]])
    parts: dict[str, list[Any]] = {entry.name: [] for entry in fields(BoostedNodes)}
    for tree_block, at, word in zip(tree_blocks, sizes, words, strict=False):
        nodes = tree_block.nodes
        for name in parts:
            parts[name].append(getattr(nodes, name))
        inner = nodes.column >= 0
        parts["left"][-1] = np.where(inner, nodes.left + at, -1).astype(np.int32)
        parts["right"][-1] = np.where(inner, nodes.right + at, -1).astype(np.int32)
        parts["number"][-1] = nodes.number + np.where(nodes.by_levels == 1, word, 0)
        parts["root"][-1] = nodes.root + at
    return BoostedTrees(BoostedNodes(**{name: np.concatenate(own) for name, own in parts.items()}))
