"""Growing one tree of a boosted model from codes, gradients and curvatures; the best leaf is split first.

Sums of gradients are whole numbers, so every order of rows, number of threads and cut into batches gives the
same tree. Of equal splits the first column wins, then the lower bin, then missing values to the right.
The numpy twin is the oracle of the kernel, and what runs where it is missing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.config import threads
from surefit.core.native import compiled
from surefit.core.native.trees.bin_columns import MISSING, Codes

LEAST_CURVATURE = 1e-3  # of a side: below it the step of Newton is a division by nothing
LINE = 64  # bytes that memory is read by: rows that begin with one are read at once


@dataclass(frozen=True, slots=True)
class BoostRules:
    """When to stop, and where to look; 0 means no limit.

    column_share: how many of the columns are looked at in a node, drawn by ``seed``. monotone: of each
    column -1, 0 or 1. groups: (groups, columns), which columns may be split by together.
    """

    max_leaves: int = 31
    max_depth: int = 0
    min_rows_leaf: int = 20
    l2: float = 0.0
    column_share: float = 1.0
    monotone: tuple[int, ...] = ()
    groups: NDArray[np.uint8] = field(default_factory=lambda: np.empty((0, 0), dtype=np.uint8))


@dataclass(frozen=True, slots=True)
class BoostTable:
    """Rows as codes of bins, column by column and row by row, and what is known of the columns.

    counts: bins of each column, without missing values. is_level: whether its codes are levels.
    """

    codes: Codes
    packed: Codes
    counts: NDArray[np.int64]
    is_level: NDArray[np.uint8]
    has_missing: NDArray[np.uint8]

    @classmethod
    def of(cls, codes: Codes, counts: Any, is_level: Any, *, _threads: int | None = None) -> BoostTable:
        """Lay the rows out for growing.

        >>> BoostTable.of(np.asfortranarray([[0], [255]], dtype=np.uint8), [2], [False]).packed[:, 0].tolist()
        [0, 2]
        """
        counts = np.asarray(counts, dtype=np.int64)
        is_level = np.asarray(is_level, dtype=np.uint8)
        has_missing = np.array([(own == MISSING).any() for own in codes.T], dtype=np.uint8)
        native = compiled()
        if native is None:
            packed = np.where(codes == MISSING, counts.astype(np.uint8), codes)
            return cls(codes, np.ascontiguousarray(packed), counts, is_level, has_missing)
        stride = native.boost_stride(codes.shape[1])
        room = np.zeros(len(codes) * stride + LINE, dtype=np.uint8)
        first = -room.ctypes.data % LINE
        packed = room[first : first + len(codes) * stride].reshape(len(codes), stride)
        native.boost_pack(codes, counts, packed, threads() if _threads is None else _threads)
        return cls(codes, packed, counts, is_level, has_missing)


class BoostWork:
    """Memory that all rounds share: the rows in the order of the leaves, and their sums."""

    def __init__(self, rows: int) -> None:
        self.rows = np.empty(rows, dtype=np.uint32)
        self.spare = np.empty(rows, dtype=np.uint32)
        self.sums = np.empty((rows, 2), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class BoostTree:
    """A tree as arrays, one entry a node, in the order in which nodes were made.

    column: -1 for a leaf. bin: codes up to it go left; of a column of levels, those whose bit is set in
    ``levels``, (nodes, 4). value: the step of each node. begin, end: its rows in the order of the work.
    """

    column: NDArray[np.int32]
    bin: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    missing_left: NDArray[np.uint8]
    value: Vector
    gain: Vector
    curvature: Vector
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    levels: NDArray[np.uint64]


def boost_grow(
    table: BoostTable,
    gradient: Vector,
    curvature: Vector,
    bounds: tuple[float, float, float],
    rules: BoostRules,
    work: BoostWork,
    seed: int = 0,
    *,
    _threads: int | None = None,
) -> BoostTree:
    """Grow a tree; ``work.rows`` then holds the rows, leaf by leaf.

    bounds: the largest gradient and curvature of any row, and the total curvature.

    >>> table = BoostTable.of(np.asfortranarray([[0], [0], [1], [1]], dtype=np.uint8), [2], [False])
    >>> g, h, work = np.array([-1.0, -1.0, 3.0, 3.0]), np.ones(4), BoostWork(4)
    >>> tree = boost_grow(table, g, h, (3.0, 1.0, 4.0), BoostRules(min_rows_leaf=1), work)
    >>> tree.column.tolist(), tree.value.round(9).tolist()
    ([0, -1, -1], [-1.0, 1.0, -3.0])
    """
    work.rows[:] = np.arange(len(work.rows), dtype=np.uint32)
    native = compiled()
    if native is None:
        return boost_grow_twin(table, gradient, curvature, bounds, rules, work)
    found = native.boost_grow(
        table.codes,
        table.packed,
        table.counts,
        table.is_level,
        table.has_missing,
        list(rules.monotone),
        rules.groups.ravel().tolist(),
        gradient,
        curvature,
        list(bounds),
        work.rows,
        work.spare,
        work.sums,
        rules.max_leaves,
        rules.max_depth,
        rules.min_rows_leaf,
        rules.l2,
        rules.column_share,
        seed,
        threads() if _threads is None else _threads,
    )
    return BoostTree(*[*found[:-1], found[-1].reshape(-1, 4)])


def boost_grow_twin(
    table: BoostTable,
    gradient: Vector,
    curvature: Vector,
    bounds: tuple[float, float, float],
    rules: BoostRules,
    work: BoostWork,
    seed: int = 0,
) -> BoostTree:
    """Do the same with numpy sums of each column and node; it draws no columns."""
    return grow_best_leaf_first(table, gradient, curvature, bounds, rules, work)


def boost_update(
    tree: BoostTree, value: Vector, work: BoostWork, score: Vector, *, _threads: int | None = None
) -> None:
    """Add to the score of each row the value of the leaf that growing left it in."""
    leaf = np.flatnonzero(tree.column < 0)
    native = compiled()
    if native is None:
        for node in leaf:
            score[work.rows[tree.begin[node] : tree.end[node]]] += value[node]
        return
    begin, end = tree.begin[leaf], tree.end[leaf]
    native.boost_update(
        work.rows, begin, end, value[leaf], score, threads() if _threads is None else _threads
    )


TINY = 1e-15
SAME = 1e-12  # of gains that are equal but for rounding, relative
LEVEL_SUPPORT = 10.0  # rows below which a level's mean is mostly noise


@dataclass(slots=True)
class Node:
    """A node while it waits: its rows, sums, and the best split of it."""

    rows: NDArray[np.int64]
    gradient: float
    curvature: float
    value: float
    depth: int
    low: float
    high: float
    groups: NDArray[np.bool_]
    gain: float = 0.0
    column: int = -1
    bin: int = 0
    left_codes: Any = None


def grow_best_leaf_first(
    table: BoostTable,
    gradient: Vector,
    curvature: Vector,
    bounds: tuple[float, float, float],
    rules: BoostRules,
    work: BoostWork,
) -> BoostTree:
    """Grow a tree, the best leaf first; sums are those of numpy, in any order."""
    g, h = _rounded(gradient, curvature, bounds)
    every = np.arange(len(g))
    groups = np.ones(len(rules.groups), dtype=bool)
    nodes = [_node(every, g, h, rules, 0, -np.inf, np.inf, groups)]
    links: dict[int, tuple[int, int]] = {}
    waiting = [0] if _search(nodes[0], table, g, h, rules, 1) else []
    leaves = 1
    while waiting and (rules.max_leaves == 0 or leaves < rules.max_leaves):
        at = max(waiting, key=lambda i: (np.float32(nodes[i].gain), -i))
        waiting.remove(at)
        leaves += 1
        links[at] = (len(nodes), len(nodes) + 1)
        nodes += _children(nodes[at], table, g, h, rules)
        waiting += [i for i in links[at] if _search(nodes[i], table, g, h, rules, leaves)]
    return _as_tree(nodes, links, table, work)


def _rounded(g: Vector, h: Vector, bounds: tuple[float, float, float]) -> tuple[Vector, Vector]:
    """Round as the kernel's whole numbers do, so that equal sums are equal here, too."""
    bits = 61 - len(g).bit_length()

    def units(values: Vector, bounded: float, entry: float) -> Vector:
        if not bounded > 0:
            return values
        power = min(bits - int(np.floor(np.log2(bounded))), 51 - int(np.floor(np.log2(entry))), 1000)
        return np.asarray(np.ldexp(np.rint(np.ldexp(values, power)), -power))

    return units(g, bounds[0], bounds[0]), units(h, bounds[2], bounds[1])


def _node(
    rows: Any, g: Vector, h: Vector, rules: BoostRules, depth: int, low: float, high: float, groups: Any
) -> Node:
    G, H = float(g[rows].sum()), float(h[rows].sum())
    value = float(np.clip(-G / (H + rules.l2 + TINY), low, high))
    return Node(rows, G, H, value, depth, low, high, groups)


def _search(node: Node, table: BoostTable, g: Vector, h: Vector, rules: BoostRules, leaves: int) -> bool:
    stays = (
        (rules.max_leaves > 0 and leaves >= rules.max_leaves)
        or (rules.max_depth > 0 and node.depth >= rules.max_depth)
        or len(node.rows) < max(2, 2 * rules.min_rows_leaf)
        or node.curvature < LEAST_CURVATURE
    )
    if stays:
        return False
    for j in range(table.codes.shape[1]):
        if len(rules.groups) and not (rules.groups[node.groups, j] == 1).any():
            continue
        _look_at(node, j, table, g, h, rules)
    return node.column >= 0


def _look_at(node: Node, j: int, table: BoostTable, g: Vector, h: Vector, rules: BoostRules) -> None:
    codes = table.packed[node.rows, j]
    size = int(table.counts[j]) + 1
    sums = [np.bincount(codes, own, size) for own in (g[node.rows], h[node.rows], np.ones(len(codes)))]
    _look_at_sums(node, j, sums, bool(table.has_missing[j]), bool(table.is_level[j]), rules)


def _look_at_sums(node: Node, j: int, sums: list[Any], missing: bool, is_level: bool, rules: Any) -> None:
    count = len(sums[0]) - 1
    if is_level:
        used = np.flatnonzero(sums[1][: count + missing] * (len(node.rows) / node.curvature) >= LEVEL_SUPPORT)
        order = used[np.argsort(sums[0][used] / (sums[1][used] + LEVEL_SUPPORT), kind="stable")]
        middle = (len(order) + 1) // 2
        if len(order) > 1:
            _offer(node, j, [order[: i + 1] for i in range(middle)], sums, 0, rules)
            _offer(node, j, [order[::-1][: i + 1] for i in range(middle - 1)], sums, 0, rules)
        return
    sign = rules.monotone[j] if rules.monotone else 0
    _offer(node, j, [np.arange(b + 1) for b in range(count if missing else count - 1)], sums, sign, rules)
    if missing and sums[2][count] > 0:
        sets = [np.append(np.arange(b + 1), count) for b in range(count - 2, -1, -1)]
        _offer(node, j, sets, sums, sign, rules)


def best_of_sums(sums: Any, bounds: Vector, chosen: Any, rules: Any) -> tuple[Any, ...]:
    """The best split of a node, read off its whole sums, as ``LevelSplits`` has it."""
    gradient_unit, curvature_unit, bits = rules.units
    offset = np.concatenate([[0], np.cumsum(rules.counts + 1)])
    own = sums.reshape(-1, 2)
    parts = [own[:, 0] / gradient_unit, (own[:, 1] >> bits) / curvature_unit, own[:, 1] & ((1 << bits) - 1)]
    first = slice(0, offset[1])
    G, H, rows = (float(part[first].sum()) for part in parts)
    every, none = np.arange(int(rows)), np.empty(0, dtype=bool)
    node = Node(every, G, H, float(bounds[0]), 0, float(bounds[1]), float(bounds[2]), none)
    for j in np.flatnonzero(chosen).tolist():
        codes = [part[offset[j] : offset[j + 1]] for part in parts]
        _look_at_sums(node, j, codes, bool(rules.has_missing[j]), bool(rules.is_level[j]), rules)
    levels = np.zeros(4, np.uint64)
    if node.column < 0:
        return 0.0, -1, 0, 0, np.zeros(2, np.int64), levels
    count, is_level = int(rules.counts[node.column]), bool(rules.is_level[node.column])
    for level in node.left_codes[node.left_codes < count].tolist() if is_level else ():
        levels[level // 64] |= np.uint64(1) << np.uint64(level % 64)
    left = own[offset[node.column] + node.left_codes].sum(axis=0)
    return node.gain, node.column, 0 if is_level else node.bin, count in node.left_codes, left, levels


def _offer(node: Node, j: int, sets: list[Any], sums: list[Any], sign: int, rules: BoostRules) -> None:
    """Keep the first of the sets of codes that gains most on the left, if it gains more than any so far."""
    for codes in sets:
        g, h, n = (float(own[codes].sum()) for own in sums)
        G, H, N = node.gradient - g, node.curvature - h, len(node.rows) - n
        if min(n, N) < rules.min_rows_leaf or min(h, H) < LEAST_CURVATURE:
            continue
        left = float(np.clip(-g / (h + rules.l2 + TINY), node.low, node.high))
        right = float(np.clip(-G / (H + rules.l2 + TINY), node.low, node.high))
        before = node.gradient * node.value
        gain = before - g * left - G * right
        if sign * (right - left) >= 0 and gain > node.gain + SAME * (abs(before) + abs(gain)):
            node.gain, node.column, node.left_codes = gain, j, codes
            node.bin = len(codes) - 1 if codes[-1] == len(codes) - 1 else len(codes) - 2


def _children(node: Node, table: BoostTable, g: Vector, h: Vector, rules: BoostRules) -> list[Node]:
    goes = np.isin(table.packed[node.rows, node.column], node.left_codes)
    groups = node.groups & (rules.groups[:, node.column] == 1) if len(rules.groups) else node.groups
    found = [
        _node(node.rows[side], g, h, rules, node.depth + 1, node.low, node.high, groups)
        for side in (goes, ~goes)
    ]
    sign = rules.monotone[node.column] if rules.monotone else 0
    if sign != 0:
        middle = (found[0].value + found[1].value) / 2
        lower, upper = found if sign > 0 else found[::-1]
        lower.high, upper.low = middle, middle
    return found


def _as_tree(
    nodes: list[Node], links: dict[int, tuple[int, int]], table: BoostTable, work: BoostWork
) -> BoostTree:
    size = len(nodes)
    begin, end = np.zeros(size, np.int64), np.zeros(size, np.int64)
    missing_left, levels = np.zeros(size, np.uint8), np.zeros((size, 4), np.uint64)
    for at, node in enumerate(nodes):
        end[at] = begin[at] + len(node.rows)
        work.rows[begin[at] : end[at]] = node.rows
        if at not in links:
            continue
        left, right = links[at]
        begin[left], begin[right] = begin[at], begin[at] + len(nodes[left].rows)
        count = table.counts[node.column]
        seen = bool(table.has_missing[node.column])
        more = len(nodes[left].rows) > len(nodes[right].rows)
        missing_left[at] = count in node.left_codes if seen else more
        if table.is_level[node.column]:
            for level in node.left_codes[node.left_codes < count].tolist():
                levels[at, level // 64] |= np.uint64(1) << np.uint64(level % 64)
    inner = [at in links for at in range(size)]
    by_level = [table.is_level[node.column] == 1 for node in nodes]
    return BoostTree(
        np.array([node.column if own else -1 for node, own in zip(nodes, inner, strict=True)], np.int32),
        np.array(
            [0 if lev or not own else n.bin for n, own, lev in zip(nodes, inner, by_level, strict=True)],
            np.int32,
        ),
        np.array([links.get(at, (-1, -1))[0] for at in range(size)], np.int32),
        np.array([links.get(at, (-1, -1))[1] for at in range(size)], np.int32),
        missing_left,
        np.array([node.value for node in nodes]),
        np.array([node.gain if own else 0.0 for node, own in zip(nodes, inner, strict=True)]),
        np.array([node.curvature for node in nodes]),
        begin,
        end,
        levels,
    )
