"""The best split of a node, read off its sums by code; candidates come in the order of the kernels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.native.trees.level_sums import code_offsets
from surefit.core.native.trees.node_random import MASK, mixed
from surefit.core.native.trees.tree_grow import FEW_LEVELS, Rules
from surefit.models.tree.targets.node_sums import LevelTarget, NodeFacts

Whole = NDArray[np.int64]


@dataclass(slots=True)
class LevelSplit:
    """The best split so far; column -1 for none. bin: codes up to it go left. left: the sums of that side."""

    score: float = -np.inf
    bar: float = -np.inf
    column: int = -1
    bin: int = 0
    threshold: float = 0.0
    missing_left: bool = False
    saw_missing: bool = False
    left: Any = None
    levels: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(4, dtype=np.uint64))


@dataclass(frozen=True, slots=True)
class LevelColumns:
    """The columns: how many bins or levels each has, and the least and the greatest value of each bin."""

    counts: Whole
    levels: Whole
    lowest: Vector
    highest: Vector

    def place(self, column: int) -> slice:
        """Where the codes of a column are among all, that of missing values last."""
        offset = code_offsets(self.counts)
        return slice(int(offset[column]), int(offset[column + 1]))


def best_split(
    sums: Whole, node: NodeFacts, seed: int, columns: LevelColumns, target: LevelTarget, rules: Rules
) -> LevelSplit:
    """Return the best split of a node with these sums, (codes of all columns, parts, entries)."""
    best = LevelSplit()
    offset = code_offsets(columns.counts)
    rows = sums[:, :, 1].sum(axis=1)
    seen = np.add.reduceat((rows > 0).astype(np.int64), offset[:-1])
    for j in _chosen(seen, seed, rules):
        own, count = sums[offset[j] : offset[j + 1]], rows[offset[j] : offset[j + 1]]
        lowest, highest = (ends[offset[j] : offset[j + 1]] for ends in (columns.lowest, columns.highest))
        look = _Look(own, count, j, node, seed, target, rules, best)
        if columns.levels[j] > 0:
            look.at_levels()
        elif rules.random_threshold:
            look.at_one(lowest, highest)
        else:
            look.at_numbers(lowest, highest)
    return best


def _chosen(seen: Whole, seed: int, rules: Rules) -> list[int]:
    """The columns that vary, or some of them as the kernels draw them."""
    width, most = len(seen), rules.max_columns
    if most == 0 or most >= width:
        return [int(j) for j in np.flatnonzero(seen > 1)]
    order, found = list(range(width)), list[int]()
    for step, left in enumerate(range(width, 0, -1)):
        if len(found) == most:
            break
        at = mixed((seed + step) & MASK) % left
        order[at], order[left - 1] = order[left - 1], order[at]
        if seen[order[left - 1]] > 1:
            found.append(order[left - 1])
    return sorted(found)


def between(low: float, high: float) -> float:
    """Half-way between two neighbours; what rounds up to the right one would take it along.

    >>> between(1.0, 2.0), between(1.0, float(np.nextafter(1.0, 2.0)))
    (1.5, 1.0)
    """
    middle = low / 2.0 + high / 2.0
    return middle if low <= middle < high else low


@dataclass(slots=True)
class _Look:
    """One column of a node; sums and rows of its codes, missing values last."""

    sums: Whole
    rows: Whole
    column: int
    node: NodeFacts
    seed: int
    target: LevelTarget
    rules: Rules
    best: LevelSplit

    def _offer(self, left: Whole) -> list[int]:
        """Take the best of splits with these sums on the left, one after the other; return those taken."""
        score, wl = self.target.scores(self.node, left)
        rows = left[:, :, 1].sum(axis=1)
        least, weight = max(1, self.rules.min_rows_leaf), self.rules.min_weight_leaf
        allowed = (rows >= least) & (self.node.rows - rows >= least) & (wl > 0) & (self.node.weight - wl > 0)
        allowed &= (wl >= weight) & (self.node.weight - wl >= weight)
        score = np.where(allowed & ~np.isnan(score), score, -np.inf)
        taken, best = list[int](), self.best
        while (score > best.bar).any():
            at = int(np.argmax(score > best.bar))
            best.score, best.column, best.left = float(score[at]), self.column, left[at]
            best.bar, best.saw_missing = self.target.bar(self.node, best.score), bool(self.rows[-1] > 0)
            taken.append(at)
            score[: at + 1] = -np.inf
        return taken

    def at_numbers(self, lowest: Vector, highest: Vector) -> None:
        """Try every boundary between bins, with missing values on either side."""
        used, gone = np.flatnonzero(self.rows[:-1] > 0), bool(self.rows[-1] > 0)
        if len(used) < (1 if gone else 2):
            return
        below = np.cumsum(self.sums[used], axis=0)
        ends = len(used) if gone else len(used) - 1
        left = below[:ends]
        if gone:  # what is known against what is missing comes last, on one side only
            left = np.repeat(left, 2, axis=0)
            left[1::2] += self.sums[-1]
            left = left[:-1]
        if not (taken := self._offer(left)):
            return
        at = taken[-1] // 2 if gone else taken[-1]
        best = self.best
        best.bin, best.missing_left = int(used[at]), gone and taken[-1] % 2 == 1
        last = at + 1 == len(used)
        best.threshold = np.inf if last else between(float(highest[used[at]]), float(lowest[used[at + 1]]))

    def at_one(self, lowest: Vector, highest: Vector) -> None:
        """Try one threshold, drawn between the least and the greatest value, where a bin ends."""
        used, gone = np.flatnonzero(self.rows[:-1] > 0), bool(self.rows[-1] > 0)
        if not len(used) or not lowest[used[0]] < highest[used[-1]]:
            return
        low, high = float(lowest[used[0]]), float(highest[used[-1]])
        state = self.seed ^ mixed(self.column + 1)
        drawn = low + (high - low) * ((mixed(state) >> 11) * 2.0**-53)
        drawn = drawn if drawn < high else low
        missing_left = gone and bool(mixed((state + 1) & MASK) & 1)
        at = min(int(np.count_nonzero(lowest[used] <= drawn)), len(used) - 1) - 1
        if at < 0:
            return
        left = self.sums[used[: at + 1]].sum(axis=0) + (self.sums[-1] if missing_left else 0)
        if self._offer(left[None]):
            best, end = self.best, float(highest[used[at]])
            inside = end <= drawn < float(lowest[used[at + 1]])
            best.bin, best.missing_left = int(used[at]), missing_left
            best.threshold = drawn if inside else end

    def at_levels(self) -> None:
        """Try beginnings of the levels in the order of their means, or all sets of few."""
        used, gone = np.flatnonzero(self.rows[:-1] > 0), bool(self.rows[-1] > 0)
        if len(used) == 0:
            return
        keys = self.target.level_keys(self.sums[used])
        if len(keys) > 1 and len(used) <= FEW_LEVELS:
            number = np.arange(1, 1 << (len(used) if gone else len(used) - 1))
            sets = (number[:, None] >> np.arange(len(used)) & 1) == 1
        else:
            orders = [np.argsort(key, kind="stable") for key in keys]
            first = [np.argsort(order)[None, :] <= np.arange(len(used))[:, None] for order in orders]
            sets = np.concatenate(first)
        if len(sets) == 0:
            return
        left = np.tensordot(sets.astype(np.int64), self.sums[used], axes=1)
        if gone:
            left = np.repeat(left, 2, axis=0)
            left[1::2] += self.sums[-1]
        if not (taken := self._offer(left)):
            return
        at = taken[-1] // 2 if gone else taken[-1]
        self.best.bin, self.best.missing_left = 0, gone and taken[-1] % 2 == 1
        bits = np.zeros(4, dtype=np.uint64)
        for level in used[sets[at]].tolist():
            bits[level // 64] |= np.uint64(1) << np.uint64(level % 64)
        self.best.levels = bits
