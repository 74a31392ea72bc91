"""One tree that grows from sums of passes, a level at a time; nodes of few rows are left to the kernels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.trees.level_sums import LevelTree, code_offsets
from surefit.core.native.trees.node_random import MASK, mixed
from surefit.core.native.trees.tree_grow import TINY, Grown, Rules
from surefit.models.tree.growing.binned_search import exact_search_rows
from surefit.models.tree.rows.row_draws import refuse_empty
from surefit.models.tree.streams.boosted_growth import Plan
from surefit.models.tree.streams.level_search import LevelColumns, LevelSplit, best_split
from surefit.models.tree.targets.node_sums import LevelTarget, NodeFacts

Whole = NDArray[np.int64]
MOST_BYTES = 2**28  # of the sums of nodes that are kept, and of those that a pass adds up


@dataclass(slots=True, eq=False)
class TreeNode:
    """A node: a leaf, one that waits for its sums, one of few rows, or one that is split."""

    facts: NodeFacts
    depth: int
    seed: int
    split: LevelSplit | None = None
    left: int = -1  # among all nodes; the right one is beside it
    sums: Whole | None = None
    below: Grown | None = None  # the tree of a node of few rows
    is_small: bool = False


class TreeGrowth:
    """Ask for a plan, add it up, and hand the sums in, until there is none; then grow the small nodes."""

    def __init__(self, columns: LevelColumns, target: LevelTarget, rules: Rules, seed: int) -> None:
        self.columns, self.target, self.rules, self.seed = columns, target, rules, mixed(seed & MASK)
        self.is_level = (columns.levels > 0).astype(np.uint8)
        self.codes = int(code_offsets(columns.counts)[-1])
        self.nodes: list[TreeNode] = []
        self._small_rows = 0  # of nodes that are searched value by value; known with the root
        self._waiting: list[tuple[int, int]] = []  # children, or -1 for one that needs no sums
        self._summed: list[tuple[int, int]] = []  # nodes of the plan under way, and who takes what is left

    @property
    def node_bytes(self) -> int:
        """What the sums of a node take."""
        return 8 * self.codes * self.target.parts * self.target.entries

    def plan(self, room: int) -> Plan | None:
        """Return what to add up next, of at most so many nodes; None when only small nodes are left."""
        if not self.nodes:
            self._summed = [(0, -1)]
            return Plan(self.route(), np.zeros(1, dtype=np.int32), 1)
        self._summed = []
        while self._waiting and len(self._summed) < max(1, room - 1):
            self._summed += self._wanted(*self._waiting.pop())
        if not self._summed:
            return None
        slot = np.full(len(self.nodes), -1, dtype=np.int32)
        slot[[at for at, _ in self._summed]] = np.arange(len(self._summed))
        return Plan(self.route(), slot, len(self._summed))

    def _wanted(self, parent: int, left: int) -> list[tuple[int, int]]:
        """Which children are added up: the smaller one where the other is what is left of the parent."""
        children = [left, left + 1]
        open_ = [at for at in children if self._is_open(self.nodes[at])]
        above = self.nodes[parent]
        if above.sums is None:
            return [(at, -1) for at in open_]
        small = min(children, key=lambda at: self.nodes[at].facts.rows)
        return [(small, parent)]

    def _is_open(self, node: TreeNode) -> bool:
        return not self._is_leaf(node) and not node.is_small

    def _is_leaf(self, node: TreeNode) -> bool:
        rules, facts = self.rules, node.facts
        return bool(
            (rules.max_depth > 0 and node.depth >= rules.max_depth)
            or facts.rows < max(rules.min_rows_split, 2 * rules.min_rows_leaf)
            or facts.weight < 2.0 * rules.min_weight_leaf
            or facts.impurity <= rules.pure_below
            or self._is_pure(facts)
        )

    def _is_pure(self, facts: NodeFacts) -> bool:
        if self.target.classes:
            return facts.impurity <= 2.3e-16
        if facts.weight == 0:
            return True
        return facts.impurity <= max(1e-30 * (facts.sums[0] / facts.weight) ** 2, self.target.doubt)

    def take(self, sums: Whole) -> None:
        """Take the sums of the plan, (slots, codes, parts, entries), and split what can be split."""
        if not self.nodes:
            place = self.columns.place(0)
            root = self.target.node(sums[0, place].sum(axis=0))
            refuse_empty(root.rows)
            self._add(root, 0, self.seed)
        for own, (at, parent) in zip(sums, self._summed, strict=True):
            if parent >= 0:
                above = self.nodes[parent]
                other = self.nodes[2 * above.left + 1 - at]
                assert above.sums is not None
                rest, above.sums = above.sums - own, None
                if self._is_open(other):
                    self._grow(2 * above.left + 1 - at, rest)
            if self._is_open(self.nodes[at]):
                self._grow(at, own)
        self._let_go()

    def _add(self, facts: NodeFacts, depth: int, seed: int) -> None:
        node = TreeNode(facts, depth, seed)
        if not self.nodes:
            self._small_rows = exact_search_rows(facts.rows, len(self.columns.levels), self.rules)
        node.is_small = facts.rows <= self._small_rows and not self._is_leaf(node)
        self.nodes.append(node)

    def _grow(self, at: int, sums: Whole) -> None:
        node = self.nodes[at]
        split = best_split(sums, node.facts, node.seed, self.columns, self.target, self.rules)
        if split.column < 0:
            return
        sides = [self.target.node(split.left), self.target.node(node.facts.total - split.left)]
        gain = node.facts.cost - sides[0].cost - sides[1].cost
        total = self.nodes[0].facts.weight
        if gain / total + TINY < self.rules.min_decrease:
            return
        if gain / node.facts.weight + TINY < self.rules.min_gain:
            return
        node.split, node.left = split, len(self.nodes)
        for facts, salt in zip(sides, (0x5851F42D4C957F2D, 0x14057B7EF767814F), strict=True):
            self._add(facts, node.depth + 1, mixed(node.seed ^ salt))
        if any(self._is_open(self.nodes[child]) for child in (node.left, node.left + 1)):
            node.sums = sums
            self._waiting.append((at, node.left))

    def _let_go(self) -> None:
        """Keep the sums of as many parents as there is room for; the others' children are both added up."""
        room = MOST_BYTES // self.node_bytes
        for parent, _ in self._waiting[: max(0, len(self._waiting) - room)]:
            self.nodes[parent].sums = None

    def route(self) -> LevelTree:
        """Return the tree so far, for rows to find their nodes."""
        if not self.nodes:
            one, none = np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.uint8)
            return LevelTree(one - 1, one, one - 1, one - 1, none, np.zeros((1, 4), np.uint64), self.is_level)
        left = np.array([node.left for node in self.nodes], dtype=np.int32)
        splits = [node.split or LevelSplit() for node in self.nodes]
        return LevelTree(
            np.array([split.column for split in splits], dtype=np.int32),
            np.array([split.bin for split in splits], dtype=np.int32),
            left,
            np.where(left >= 0, left + 1, -1).astype(np.int32),
            np.array([split.missing_left for split in splits], dtype=np.uint8),
            np.array([split.levels for split in splits], dtype=np.uint64),
            self.is_level,
        )

    def small(self) -> list[int]:
        """The nodes of few rows that have no tree yet."""
        return [at for at, node in enumerate(self.nodes) if node.is_small and node.below is None]

    def small_rules(self, at: int) -> Rules:
        """The rules for the tree of a node of few rows: depth and weight count from the root of all."""
        node, rules = self.nodes[at], self.rules
        share = self.nodes[0].facts.weight / node.facts.weight
        depth = rules.max_depth - node.depth if rules.max_depth else 0
        return replace(rules, max_depth=depth, min_decrease=rules.min_decrease * share)

    def grown(self) -> Grown:
        """Return the whole tree, its nodes in the order of a walk that goes left first."""
        walk, words = _Walk(), int(max((self.columns.levels + 63) // 64, default=0))
        stack = [(0, -1, 0)]  # a node, its parent's place and side
        while stack:
            at, above, side = stack.pop()
            node = self.nodes[at]
            here = walk.size
            walk.link(above, side, here)
            if node.below is not None:
                walk.graft(node.below)
                continue
            walk.append(node, self.nodes[node.left].facts.rows if node.left >= 0 else 0, self.columns, words)
            if node.left >= 0:
                stack += [(node.left + 1, here, 1), (node.left, here, 0)]
        return walk.grown(self.columns.levels)


class _Walk:
    """The arrays of a tree, put together node by node and branch by branch."""

    def __init__(self) -> None:
        names = ("feature", "threshold", "left", "right", "missing_left", "impurity", "weight", "rows")
        self.entries: dict[str, list[Any]] = {name: [] for name in (*names, "sums")}
        self.bits: list[int] = []

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return len(self.entries["feature"])

    def link(self, above: int, side: int, here: int) -> None:
        """Make a node the child of another."""
        if above >= 0:
            self.entries["right" if side else "left"][above] = here

    def append(self, node: TreeNode, rows_left: int, columns: LevelColumns, words: int) -> None:
        """Add one node; where no row was missing, later ones follow the larger side."""
        split, facts = node.split, node.facts
        goes, where = False, 0.0
        if split is not None:
            goes = split.missing_left if split.saw_missing else 2 * rows_left > facts.rows
            where = split.threshold
            if columns.levels[split.column] > 0:
                where = float(len(self.bits))
                self.bits += split.levels[:words].tolist()
        told = (facts.impurity, facts.weight, facts.rows, facts.sums)
        found = (-1 if split is None else split.column, where, -1, -1, goes, *told)
        for own, value in zip(self.entries.values(), found, strict=True):
            own.append(value)

    def graft(self, tree: Grown) -> None:
        """Add all nodes of a tree."""
        here, bits = self.size, len(self.bits)
        inner = tree.feature >= 0
        by_level = inner & (tree.levels[np.maximum(tree.feature, 0)] > 0)
        changed = {
            "left": np.where(inner, tree.left + here, -1),
            "right": np.where(inner, tree.right + here, -1),
            "threshold": np.where(by_level, tree.threshold + bits, tree.threshold),
        }
        for name, own in self.entries.items():
            own += list(changed.get(name, getattr(tree, name)))
        self.bits += tree.left_levels.tolist()

    def grown(self, levels: Whole) -> Grown:
        """Return the arrays."""
        kinds: Any = (np.int32, float, np.int32, np.int32, np.uint8, float, float, np.int64, float)
        arrays: dict[str, Any] = {
            name: np.array(own, dtype=kind)
            for (name, own), kind in zip(self.entries.items(), kinds, strict=True)
        }
        return Grown(**arrays, left_levels=np.array(self.bits, dtype=np.uint64), levels=levels)
