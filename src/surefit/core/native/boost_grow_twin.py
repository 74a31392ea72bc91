"""The growing of a boosted tree in numpy: the oracle of the kernel, and what runs where it is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.boost_grow import LEAST_CURVATURE, BoostRules, BoostTable, BoostTree, BoostWork

Floats = NDArray[np.float64]
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


def grow(
    table: BoostTable,
    gradient: Floats,
    curvature: Floats,
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


def _rounded(g: Floats, h: Floats, bounds: tuple[float, float, float]) -> tuple[Floats, Floats]:
    """Round as the kernel's whole numbers do, so that equal sums are equal here, too."""
    bits = 61 - len(g).bit_length()

    def units(values: Floats, bounded: float, entry: float) -> Floats:
        if not bounded > 0:
            return values
        power = min(bits - int(np.floor(np.log2(bounded))), 51 - int(np.floor(np.log2(entry))), 1000)
        return np.asarray(np.ldexp(np.rint(np.ldexp(values, power)), -power))

    return units(g, bounds[0], bounds[0]), units(h, bounds[2], bounds[1])


def _node(
    rows: Any, g: Floats, h: Floats, rules: BoostRules, depth: int, low: float, high: float, groups: Any
) -> Node:
    G, H = float(g[rows].sum()), float(h[rows].sum())
    value = float(np.clip(-G / (H + rules.l2 + TINY), low, high))
    return Node(rows, G, H, value, depth, low, high, groups)


def _search(node: Node, table: BoostTable, g: Floats, h: Floats, rules: BoostRules, leaves: int) -> bool:
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


def _look_at(node: Node, j: int, table: BoostTable, g: Floats, h: Floats, rules: BoostRules) -> None:
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


def best_of_sums(sums: Any, bounds: Floats, chosen: Any, rules: Any) -> tuple[Any, ...]:
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


def _children(node: Node, table: BoostTable, g: Floats, h: Floats, rules: BoostRules) -> list[Node]:
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
