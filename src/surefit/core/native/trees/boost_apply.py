"""The answers of boosted trees: the leaves that rows end in, added up tree after tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.config import threads
from surefit.core.native import compiled
from surefit.core.native.trees.bin_columns import MISSING


@dataclass(frozen=True, slots=True)
class BoostedNodes:
    """The nodes of all trees one after the other, parents before children; a leaf has column -1.

    number: of a leaf its value, of a split the greatest number that goes left, of a split by levels where
    its four words begin in ``bits``. left, right: places among all nodes. root: the first node of each tree.
    """

    column: NDArray[np.int32]
    number: Vector
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    missing_left: NDArray[np.uint8]
    by_levels: NDArray[np.uint8]
    bits: NDArray[np.uint64]
    root: NDArray[np.int64]


def boost_apply(
    nodes: BoostedNodes, X: NDArray[Any], score: Vector, first: int, last: int, *, _threads: int | None = None
) -> None:
    """Add what trees ``first`` to ``last`` say of each row to ``score``, (outputs, rows).

    Tree t belongs to output t modulo their number. X holds numbers and codes of levels, NaN where missing; or
    codes of bins, if the nodes' numbers are.

    >>> one = np.array([1, -1, -1], dtype=np.int32)
    >>> column, flags, words = one - 1 - (one < 0), np.zeros(3, np.uint8), np.empty(0, np.uint64)
    >>> column[1:] = -1
    >>> number, roots = np.array([0.5, -1.0, 2.0]), np.zeros(1, np.int64)
    >>> nodes = BoostedNodes(column, number, one, one + 1, flags, flags, words, roots)
    >>> score = np.zeros((1, 2))
    >>> boost_apply(nodes, np.array([[0.0], [1.0]]), score, 0, 1)
    >>> score.tolist()
    [[-1.0, 2.0]]
    """
    native = compiled()
    if native is None:
        boost_apply_twin(nodes, X, score, first, last)
        return
    native.boost_apply(
        X,
        nodes.column,
        nodes.number,
        nodes.left,
        nodes.right,
        nodes.missing_left,
        nodes.by_levels,
        nodes.bits,
        nodes.root,
        first,
        last,
        score,
        threads() if _threads is None else _threads,
    )


def boost_apply_twin(nodes: BoostedNodes, X: NDArray[Any], score: Vector, first: int, last: int) -> None:
    """Do the same, all rows one step at a time."""
    numbers = X.astype(np.float64)
    if X.dtype == np.uint8:
        numbers[X == MISSING] = np.nan
    for tree in range(first, last):
        at = np.full(len(X), nodes.root[tree])
        while len(inner := np.flatnonzero(nodes.column[at] >= 0)):
            here = at[inner]
            x = numbers[inner, nodes.column[here]]
            known = ~np.isnan(x)
            goes = np.where(known, x <= nodes.number[here], nodes.missing_left[here] == 1)
            sets = known & (nodes.by_levels[here] == 1)
            level = x[sets].astype(np.int64)
            word = nodes.bits[nodes.number[here[sets]].astype(np.int64) + level // 64]
            goes[sets] = (word >> (level % 64).astype(np.uint64)) & np.uint64(1) == 1
            at[inner] = np.where(goes, nodes.left[here], nodes.right[here])
        score[tree % len(score)] += nodes.number[at]
