"""A boosted tree that grows from sums of passes: the best leaf first, as in memory, a level at a time.

Which leaf is best is only known once those before it are split; so each pass adds up the children of every
leaf that could still be split before the limit, and the order is made afterwards. A tree then takes as many
passes as it is deep, and is the one that the rows in memory give.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from math import ceil, frexp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.native.trees.boost_grow import LEAST_CURVATURE, BoostRules, BoostTree
from surefit.core.native.trees.level_sums import LevelRules, LevelTree, code_offsets, level_best
from surefit.core.native.trees.node_random import MASK, mixed

Whole = NDArray[np.int64]
MOST_BYTES = 2**28  # of the sums of a tree's nodes that are kept at a time
TINY = 1e-15
SEARCHED = 64  # nodes that are searched at a time


@dataclass(frozen=True, slots=True)
class FixedPoint:
    """What whole sums stand for: powers of two to multiply by, and the bits that count rows.

    >>> unit = FixedPoint.of(4, 3.0, 1.0, 4.0)
    >>> total = unit.terms(np.array([-1.0, 3.0]), np.ones(2)).sum(axis=0)
    >>> unit.gradient_of(total), unit.curvature_of(total), unit.rows_of(total)
    (2.0, 2.0, 2)
    """

    gradient: float
    curvature: float
    row_bits: int

    @classmethod
    def of(cls, rows: int, largest_gradient: float, largest_curvature: float, total: float) -> FixedPoint:
        """Return the finest units in which no sum overflows, as the kernel has them."""
        row_bits = rows.bit_length()
        bits = 62 - row_bits

        def power(bounded: float, entry: float) -> float:
            if not bounded > 0:
                return 1.0
            return float(2.0 ** min(bits - frexp(bounded)[1], 52 - frexp(entry)[1], 1000))

        return cls(power(largest_gradient, largest_gradient), power(total, largest_curvature), row_bits)

    def terms(self, gradient: Vector, curvature: Vector) -> Whole:
        """Return what rows add, (rows, 2)."""
        found = np.empty((len(gradient), 2), dtype=np.int64)
        found[:, 0] = np.rint(gradient * self.gradient)
        found[:, 1] = (np.rint(curvature * self.curvature).astype(np.int64) << self.row_bits) + 1
        return found

    def gradient_of(self, total: Whole) -> float:
        """The gradient of a sum."""
        return float(total[0]) / self.gradient

    def curvature_of(self, total: Whole) -> float:
        """The curvature of a sum."""
        return float(int(total[1]) >> self.row_bits) / self.curvature

    def rows_of(self, total: Whole) -> int:
        """The rows of a sum."""
        return int(total[1]) & ((1 << self.row_bits) - 1)


@dataclass(slots=True, eq=False)
class Node:
    """A node, and once its sums are known, its best split; children that may never be made included."""

    depth: int
    seed: int
    total: Whole
    gradient: float
    curvature: float
    rows: int
    value: float
    low: float
    high: float
    groups: NDArray[np.bool_]
    sums: Whole | None = None
    gain: float = 0.0
    column: int = -1
    bin: int = 0
    missing_left: bool = False
    left_total: Whole = field(default_factory=lambda: np.zeros(2, dtype=np.int64))
    levels: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(4, dtype=np.uint64))
    left: int = -1  # among all nodes; the right one is beside it


@dataclass(frozen=True, slots=True)
class Plan:
    """What a pass adds up: where the rows stand in the tree so far, and which leaves have sums."""

    tree: LevelTree
    slot: NDArray[np.int32]  # of each node; -1 for none
    slots: int


class BoostGrowth:
    """One tree; ask for a plan, add it up, and hand the sums in, until there is none."""

    def __init__(
        self, rules: BoostRules, counts: Whole, is_level: NDArray[np.uint8], unit: FixedPoint, seed: int
    ) -> None:
        self.rules, self.unit, self.seed = rules, unit, mixed(seed & MASK)
        none = np.zeros(len(counts), dtype=np.uint8)
        units = unit.gradient, unit.curvature, unit.row_bits
        self.search = LevelRules(
            counts, is_level, none, tuple(rules.monotone), units, rules.min_rows_leaf, rules.l2
        )
        self.room = max(1, MOST_BYTES // (16 * int(code_offsets(counts)[-1])))
        self.nodes: list[Node] = []
        self.order: list[int] = []
        self._summed: list[tuple[int, int]] = []  # nodes of the plan that is under way, and their parents

    def plan(self) -> Plan | None:
        """Return what to add up next; None when the tree is grown."""
        if not self.nodes:
            self._summed = [(0, -1)]
            one, none = np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.uint8)
            tree = LevelTree(one - 1, one, one - 1, one - 1, none, np.zeros((1, 4), np.uint64), none)
            return Plan(replace(tree, is_level=self.search.is_level), one, 1)
        while wanted := self._wanted():
            self._summed = []
            for at in wanted[: self.room]:
                self._part(at)
            if self._summed:
                break
        else:
            return None
        slot = np.full(len(self.nodes), -1, dtype=np.int32)
        slot[[at for at, _ in self._summed]] = np.arange(len(self._summed))
        return Plan(self._tree_of(range(len(self.nodes))), slot, len(self._summed))

    def _wanted(self) -> list[int]:
        """Split the best leaf as far as is known; return the leaves that could be next, the best first."""
        self.order, leaves, limit = [0], 1, self.rules.max_leaves
        waiting: list[tuple[float, int, int]] = []

        def push(at: int, made: int) -> None:
            if self.nodes[at].column >= 0:  # of gains that are equal but for rounding, the older node's
                heappush(waiting, (-float(np.float32(self.nodes[at].gain)), made, at))

        push(0, 0)
        while waiting and (limit == 0 or leaves < limit):
            at = waiting[0][2]
            left = self.nodes[at].left
            if left < 0:
                ranked = [entry[2] for entry in sorted(waiting)]
                ranked = ranked if limit == 0 else ranked[: limit - leaves]
                return [other for other in ranked if self.nodes[other].left < 0]
            heappop(waiting)
            leaves += 1
            for child in (left, left + 1):
                push(child, len(self.order))
                self.order.append(child)
        return []

    def _part(self, at: int) -> None:
        """Make the children of a node, and plan the sums of the smaller one: the other is what is left."""
        parent = self.nodes[at]
        left = self._node(parent, parent.left_total, 0x5851F42D4C957F2D)
        right = self._node(parent, parent.total - parent.left_total, 0x14057B7EF767814F)
        sign = self.rules.monotone[parent.column] if self.rules.monotone else 0
        if sign:
            middle = (left.value + right.value) / 2.0
            lower, upper = (left, right) if sign > 0 else (right, left)
            lower.high = upper.low = middle
        parent.left = len(self.nodes)
        self.nodes += [left, right]
        small = parent.left + (left.rows > right.rows)
        large = 2 * parent.left + 1 - small
        open_ = [child for child in (small, large) if not self._stays_leaf(self.nodes[child])]
        if open_ and parent.sums is not None:
            self._summed.append((small, at))
        else:
            self._summed += [(child, -1) for child in open_]

    def _node(self, parent: Node, total: Whole, salt: int) -> Node:
        node = self._settled(total, parent.depth + 1, mixed(parent.seed ^ salt), parent.low, parent.high)
        node.groups = parent.groups
        if len(self.rules.groups):
            node.groups = parent.groups & (self.rules.groups[:, parent.column] != 0)
        return node

    def _settled(self, total: Whole, depth: int, seed: int, low: float, high: float) -> Node:
        unit = self.unit
        g, h = unit.gradient_of(total), unit.curvature_of(total)
        value = min(max(-g / (h + self.rules.l2 + TINY), low), high)
        groups = np.ones(len(self.rules.groups), dtype=bool)
        return Node(depth, seed, total, g, h, unit.rows_of(total), value, low, high, groups)

    def _stays_leaf(self, node: Node) -> bool:
        rules = self.rules
        return (
            (rules.max_depth > 0 and node.depth >= rules.max_depth)
            or node.rows < max(2, 2 * rules.min_rows_leaf)
            or node.curvature < LEAST_CURVATURE
        )

    def take(self, sums: Whole) -> None:
        """Take the sums of the plan, (slots, codes of all columns, 2), and search the nodes."""
        if not self.nodes:
            self._take_root(sums[0])
            sums = sums[:0]
        found: list[int] = [0] if len(self.nodes) == 1 else []
        for own, (at, parent) in zip(sums, self._summed, strict=False):
            self.nodes[at].sums = own
            found.append(at)
            if parent < 0:
                continue
            above = self.nodes[parent]
            other = 2 * above.left + 1 - at
            assert above.sums is not None
            self.nodes[other].sums = above.sums - own
            above.sums = None
            found.append(other)
        searched = [at for at in found if not self._stays_leaf(self.nodes[at])]
        for i in range(0, len(searched), SEARCHED):
            self._find(searched[i : i + SEARCHED])
        for at in found:
            if self.nodes[at].column < 0:
                self.nodes[at].sums = None
        self._let_go()

    def _take_root(self, sums: Whole) -> None:
        offset = code_offsets(self.search.counts)
        total = sums[: offset[1]].sum(axis=0)
        bits = (1 << self.unit.row_bits) - 1
        missing = (sums[offset[1:] - 1, 1] & bits) > 0
        self.search = replace(self.search, has_missing=missing.astype(np.uint8))
        root = self._settled(total, 0, self.seed, -np.inf, np.inf)
        root.sums = sums
        self.nodes.append(root)

    def _find(self, places: list[int]) -> None:
        nodes = [self.nodes[at] for at in places]
        stacked = np.stack([node.sums for node in nodes if node.sums is not None])
        bounds = np.array([[node.value, node.low, node.high] for node in nodes])
        chosen = np.stack([self._columns(node) for node in nodes])
        found = level_best(stacked, bounds, chosen, self.search)
        for i, node in enumerate(nodes):
            node.gain, node.column = float(found.gain[i]), int(found.column[i])
            node.bin, node.missing_left = int(found.bin[i]), bool(found.missing_left[i])
            node.left_total, node.levels = found.left[i].copy(), found.levels[i].copy()

    def _columns(self, node: Node) -> NDArray[np.uint8]:
        """Which columns are looked at in a node: those of its groups, and of them a share that is drawn."""
        groups, share = self.rules.groups, self.rules.column_share
        width = len(self.search.counts)
        allowed = (groups[node.groups] != 0).any(axis=0) if len(groups) else np.ones(width, dtype=bool)
        if share >= 1.0 or not allowed.any():
            return allowed.astype(np.uint8)
        columns = np.flatnonzero(allowed).tolist()
        wanted = max(1, ceil(share * len(columns)))
        for i in range(wanted):
            other = i + mixed((node.seed + i) & MASK) % (len(columns) - i)
            columns[i], columns[other] = columns[other], columns[i]
        chosen = np.zeros(width, dtype=np.uint8)
        chosen[columns[:wanted]] = 1
        return chosen

    def _let_go(self) -> None:
        """Keep the sums of as many waiting nodes as there is room for, the best ones."""
        kept = [at for at, node in enumerate(self.nodes) if node.sums is not None]
        for at in sorted(kept, key=lambda at: -self.nodes[at].gain)[self.room :]:
            self.nodes[at].sums = None

    def _tree_of(self, places: Any) -> LevelTree:
        nodes = [self.nodes[at] for at in places]
        left = np.array([node.left for node in nodes], dtype=np.int32)
        split = left >= 0
        column = np.where(split, [node.column for node in nodes], -1).astype(np.int32)
        return LevelTree(
            column,
            np.array([node.bin for node in nodes], dtype=np.int32),
            left,
            np.where(split, left + 1, -1).astype(np.int32),
            np.array([node.missing_left for node in nodes], dtype=np.uint8),
            np.array([node.levels for node in nodes], dtype=np.uint64),
            self.search.is_level,
        )

    def tree(self) -> BoostTree:
        """Return the tree, its nodes in the order in which the best leaf is split first."""
        nodes = [self.nodes[at] for at in self.order]
        place = {at: i for i, at in enumerate(self.order)}
        inner = [node.left in place for node in nodes]
        left = np.array([place[n.left] if own else -1 for n, own in zip(nodes, inner, strict=True)], np.int32)
        missing_left = np.zeros(len(nodes), dtype=np.uint8)
        for i in np.flatnonzero(inner).tolist():
            node, below = nodes[i], nodes[left[i]]
            larger = 2 * below.rows > node.rows  # where no row was missing, later ones follow the larger side
            missing_left[i] = node.missing_left if self.search.has_missing[node.column] else larger
        none = np.zeros(len(nodes), dtype=np.int64)
        kept = np.array(inner)
        return BoostTree(
            np.where(kept, [node.column for node in nodes], -1).astype(np.int32),
            np.where(kept, [node.bin for node in nodes], 0).astype(np.int32),
            left,
            np.where(kept, left + 1, -1).astype(np.int32),
            missing_left,
            np.array([node.value for node in nodes]),
            np.where(kept, [node.gain for node in nodes], 0.0),
            np.array([node.curvature for node in nodes]),
            none,
            none,
            np.where(kept[:, None], [node.levels for node in nodes], np.uint64(0)).astype(np.uint64),
        )
