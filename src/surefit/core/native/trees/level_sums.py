"""The levels of trees that grow batch by batch: whole sums by node, column and code, and where rows stand.

Sums of whole numbers are exact, so batches may be cut and added in any way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.config import threads
from surefit.core.native import compiled
from surefit.core.native.trees.bin_columns import MISSING, Codes

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LevelTree:
    """A tree of codes, parents before children; a leaf has column -1.

    bin: codes up to it go left; of a column of levels, those whose bit is set in ``levels``, (nodes, 4).
    is_level: of each column.
    """

    column: NDArray[np.int32]
    bin: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    missing_left: NDArray[np.uint8]
    levels: NDArray[np.uint64]
    is_level: NDArray[np.uint8]


def code_offsets(counts: Whole) -> Whole:
    """Where the codes of each column begin in sums, and at last their number: its bins, and what is missing.

    >>> code_offsets(np.array([2, 3])).tolist()
    [0, 3, 7]
    """
    return np.concatenate([[0], np.cumsum(counts + 1)]).astype(np.int64)


def level_sums(
    codes: Codes,
    counts: Whole,
    slot: NDArray[np.int32],
    terms: Whole,
    slots: int,
    part: NDArray[np.int32] | None = None,
    parts: int = 1,
    *,
    _threads: int | None = None,
) -> Whole:
    """Return (slots, codes of all columns, parts, terms): what rows add up to, by the slot of their node.

    slot: below 0 for a row that does not count. terms: (rows, terms). part: of each row, which of a code's
    sums it adds to.

    >>> codes, ones = np.asfortranarray([[0], [1], [1]], dtype=np.uint8), np.ones((3, 1), np.int64)
    >>> level_sums(codes, np.array([2]), np.array([0, 0, -1], np.int32), ones, 1).ravel().tolist()
    [1, 1, 0]
    """
    native = compiled()
    if native is None:
        return level_sums_twin(codes, counts, slot, terms, slots, part, parts)
    out = np.zeros((slots, int((counts + 1).sum()), parts, terms.shape[1]), dtype=np.int64)
    own = np.empty(0, dtype=np.int32) if part is None else part
    workers = threads() if _threads is None else _threads
    native.level_sums(codes, counts, slot, own, terms, slots, parts, out.reshape(-1), workers)
    return out


def level_sums_twin(
    codes: Codes,
    counts: Whole,
    slot: NDArray[np.int32],
    terms: Whole,
    slots: int,
    part: NDArray[np.int32] | None = None,
    parts: int = 1,
) -> Whole:
    """Do the same, column by column."""
    offset = code_offsets(counts)
    out = np.zeros((slots, int(offset[-1]), parts, terms.shape[1]), dtype=np.int64)
    rows = np.flatnonzero(slot >= 0)
    own = np.zeros(len(rows), dtype=np.int32) if part is None else part[rows]
    for j in range(codes.shape[1]):
        at = offset[j] + np.minimum(codes[rows, j], counts[j])
        np.add.at(out, (slot[rows], at, own), terms[rows])
    return out


def level_route(tree: LevelTree, codes: Codes, *, _threads: int | None = None) -> NDArray[np.int32]:
    """Return the leaf of each row, as the number of its node.

    >>> one, two = np.array([0, -1, -1], np.int32), np.zeros((3, 4), np.uint64)
    >>> left, none = np.array([1, -1, -1], np.int32), np.zeros(3, np.uint8)
    >>> tree = LevelTree(one, one * 0, left, left + 1, none, two, none[:1])
    >>> level_route(tree, np.asfortranarray([[0], [1], [255]], dtype=np.uint8)).tolist()
    [1, 2, 2]
    """
    native = compiled()
    if native is None:
        return level_route_twin(tree, codes)
    out = np.empty(len(codes), dtype=np.int32)
    native.level_route(
        codes,
        tree.column,
        tree.bin,
        tree.left,
        tree.right,
        tree.missing_left,
        tree.levels.reshape(-1),
        tree.is_level,
        out,
        threads() if _threads is None else _threads,
    )
    return out


def level_route_twin(tree: LevelTree, codes: Codes) -> NDArray[np.int32]:
    """Do the same, all rows one step at a time."""
    at = np.zeros(len(codes), dtype=np.int32)
    while len(inner := np.flatnonzero(tree.column[at] >= 0)):
        node = at[inner]
        code = codes[inner, tree.column[node]].astype(np.int64)
        word = tree.levels[node, np.minimum(code, MISSING - 1) // 64]
        in_set = (word >> (code % 64).astype(np.uint64)) & np.uint64(1) == 1
        goes = np.where(tree.is_level[tree.column[node]] == 1, in_set, code <= tree.bin[node])
        goes = np.where(code == MISSING, tree.missing_left[node] == 1, goes)
        at[inner] = np.where(goes, tree.left[node], tree.right[node])
    return at


@dataclass(frozen=True, slots=True)
class LevelRules:
    """What splits of a boosted tree keep to; units: of gradients and curvatures, and the bits of rows."""

    counts: Whole
    is_level: NDArray[np.uint8]
    has_missing: NDArray[np.uint8]
    monotone: tuple[int, ...]
    units: tuple[float, float, int]
    min_rows_leaf: int
    l2: float


@dataclass(frozen=True, slots=True)
class LevelSplits:
    """The best split of each node; column -1 where there is none. left: (nodes, 2), sums of the left side."""

    gain: Vector
    column: Whole
    bin: Whole
    missing_left: Whole
    left: Whole
    levels: NDArray[np.uint64]


def level_best(
    sums: Whole,
    bounds: Vector,
    chosen: NDArray[np.uint8],
    rules: LevelRules,
    *,
    _threads: int | None = None,
) -> LevelSplits:
    """Read the best split of nodes of a boosted tree off their sums, (nodes, codes of all columns, 2).

    bounds: (nodes, 3), the value of each, and the least and greatest that its children may have. chosen:
    (nodes, columns), which columns are looked at.

    >>> sums = np.array([[[-4, 2 << 3 | 2], [6, 2 << 3 | 2], [0, 0]]])
    >>> none = np.zeros(1, np.uint8)
    >>> rules = LevelRules(np.array([2]), none, none, (), (1.0, 1.0, 3), 1, 0.0)
    >>> found = level_best(sums, np.array([[-0.5, -np.inf, np.inf]]), np.ones((1, 1), np.uint8), rules)
    >>> found.column.tolist(), found.bin.tolist(), found.left.tolist()
    ([0], [0], [[-4, 18]])
    """
    native = compiled()
    if native is None:
        return level_best_twin(sums, bounds, chosen, rules)
    nodes = len(sums)
    gain, found = np.empty(nodes), np.empty((nodes, 5), dtype=np.int64)
    levels = np.empty((nodes, 4), dtype=np.uint64)
    native.level_best(
        np.ascontiguousarray(sums).reshape(nodes, -1),
        bounds,
        chosen,
        rules.counts,
        rules.is_level,
        rules.has_missing,
        list(rules.monotone),
        *rules.units,
        rules.min_rows_leaf,
        rules.l2,
        gain,
        found,
        levels,
        threads() if _threads is None else _threads,
    )
    column, bin_, missing_left = found[:, :3].T
    return LevelSplits(gain, column, bin_, missing_left, found[:, 3:], levels)


def level_best_twin(sums: Whole, bounds: Vector, chosen: NDArray[np.uint8], rules: LevelRules) -> LevelSplits:
    """Do the same, a set of codes at a time."""
    from surefit.core.native.trees.boost_grow import best_of_sums

    found = [best_of_sums(own, bounds[i], chosen[i], rules) for i, own in enumerate(sums)]
    gain, column, bin_, missing_left, left, levels = (list(part) for part in zip(*found, strict=True))
    whole: Any = np.int64
    return LevelSplits(
        np.array(gain),
        np.array(column, whole),
        np.array(bin_, whole),
        np.array(missing_left, whole),
        np.array(left, whole).reshape(-1, 2),
        np.array(levels, np.uint64).reshape(-1, 4),
    )
