"""Surrogate splits: where a value is missing, the column that parts the rows most alike decides.

A split is chosen by the rows that have its column. Other columns are then ranked by how well a threshold, or
a set of levels, of theirs tells the same two sides apart among the rows that have both; a row without the
first value follows the best of them that it has, and where it has none, the side with more weight.

Without surrogates, rows may go both ways instead, with weights: the share of the known rows on either side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.tree_grow import Grown, Rules, tree_grow
from surefit.models.tree.criteria import count_costs, impurity, terms
from surefit.models.tree.medians import medians

Floats = NDArray[np.float64]
MOST_SURROGATES = 5


@dataclass(frozen=True, slots=True)
class Way:
    """A split of one column: rows at most at the threshold, or of these levels, go left, or right if turned.

    agreement: the share of weight, among rows with both columns, that goes where the first column sends it.
    """

    column: int
    threshold: float
    levels: tuple[int, ...] | None
    turned: bool = False
    agreement: float = 1.0

    def goes_left(self, X: Floats) -> NDArray[np.bool_]:
        """Where rows go; those without a value are for the caller to look at."""
        x = X[:, self.column]
        with np.errstate(invalid="ignore"):
            inside = x <= self.threshold if self.levels is None else np.isin(x, self.levels)
        return ~inside if self.turned else inside


@dataclass(frozen=True, slots=True, eq=False)
class SurrogateNode:
    """A node: its rows' sums and cost, and how it is split; ``way`` is None for a leaf."""

    rows: int
    weight: float
    impurity: float
    value: Floats
    way: Way | None = None
    surrogates: tuple[Way, ...] = ()
    share_left: float = 0.0
    left: int = -1
    right: int = -1


def send(node: SurrogateNode, X: Floats) -> NDArray[np.bool_]:
    """Where a split node sends rows: by its column, by the surrogates in turn, or with the majority."""
    assert node.way is not None
    left = np.full(len(X), node.share_left > 0.5)
    waiting = np.ones(len(X), dtype=bool)
    for way in (node.way, *node.surrogates):
        known = waiting & ~np.isnan(X[:, way.column])
        left[known] = way.goes_left(X[known])
        waiting &= ~known
    return left


@dataclass(frozen=True, slots=True, eq=False)
class SurrogateGrower:
    """What a tree with surrogates is grown from; the arguments of ``tree_grow``."""

    X: Floats
    Y: NDArray[Any]
    w: Floats
    criterion: str
    classes: tuple[int, ...]
    levels: NDArray[np.int64]
    rules: Rules
    fractional: bool = False

    def grow(self) -> list[SurrogateNode]:
        """Grow a tree, depth first, the left branch first."""
        nodes: list[SurrogateNode] = []
        rows = np.flatnonzero(self.w > 0)
        total = float(self.w[rows].sum())
        stack: list[tuple[NDArray[np.intp], Floats, int, int, bool]] = [(rows, self.w[rows], 0, -1, False)]
        while stack:
            rows, weight, depth, parent, is_left = stack.pop()
            at = len(nodes)
            nodes.append(self._node(rows, weight))
            if parent >= 0:
                above = nodes[parent]
                nodes[parent] = replace(above, left=at) if is_left else replace(above, right=at)
            found = self._split(nodes[at], rows, weight, depth, total)
            if found is None:
                continue
            sides = parted(found, self.X[rows], weight, self.fractional)
            if any(
                len(side) < self.rules.min_rows_leaf or w.sum() < self.rules.min_weight_leaf
                for side, w in sides
            ):
                continue
            nodes[at] = found
            for (side, own), goes_left in ((sides[1], False), (sides[0], True)):
                stack.append((rows[side], own, depth + 1, at, goes_left))
        return nodes

    def _node(self, rows: NDArray[np.intp], weight: Floats) -> SurrogateNode:
        total = np.array([weight.sum()])
        Y = np.asarray(self.Y[rows], dtype=np.float64)
        if self.criterion == "absolute":
            value, spread = medians(Y, weight, np.arange(len(rows)), np.array([0, len(rows)]))
            return SurrogateNode(len(rows), float(total[0]), float(spread.mean()), value[0])
        centre = np.zeros(Y.shape[1]) if self.classes else weight @ Y / total[0]
        if self.criterion == "poisson":
            cost = float(count_costs(Y, weight, centre).sum() / total[0])
            return SurrogateNode(len(rows), float(total[0]), cost, centre)
        sums = terms(Y - centre, weight, self.criterion, self.classes).sum(axis=0)[None]
        cost = float(impurity(sums, total, self.criterion, self.classes)[0])
        width = sum(self.classes) if self.classes else Y.shape[1]
        value = sums[0, :width] / total[0]
        return SurrogateNode(len(rows), float(total[0]), cost, value if self.classes else value + centre)

    def _split(
        self, node: SurrogateNode, rows: NDArray[np.intp], weight: Floats, depth: int, total: float
    ) -> SurrogateNode | None:
        rules = self.rules
        if (rules.max_depth and depth >= rules.max_depth) or node.impurity <= max(1e-15, rules.pure_below):
            return None
        if len(rows) < max(rules.min_rows_split, 2 * rules.min_rows_leaf):
            return None
        best, gained = None, -np.inf
        for j in range(self.X.shape[1]):
            way, gain = self._best_of(rows, weight, j)
            if way is not None and gain > gained + 1e-13 * abs(gained if best else 0.0):
                best, gained = way, gain
        if best is None or gained / total < rules.min_decrease or gained / node.weight < rules.min_gain:
            return None
        has = ~np.isnan(self.X[rows, best.column])
        known, own = rows[has], weight[has]
        goes = best.goes_left(self.X[known])
        share = float(own[goes].sum() / own.sum())
        others = () if self.fractional else self._surrogates(known, own, best.column, goes)
        return replace(node, way=best, surrogates=others, share_left=share)

    def _best_of(self, rows: NDArray[np.intp], weight: Floats, j: int) -> tuple[Way | None, float]:
        """The best split by one column among the rows that have it, and the cost it takes away."""
        has = ~np.isnan(self.X[rows, j])
        known, own = rows[has], weight[has]
        if len(known) < 2:
            return None, -np.inf
        stump = self._stump(known, own, j, self.Y[known], self.criterion, self.classes)
        if stump.feature[0] < 0:
            return None, -np.inf
        cost = stump.impurity * stump.weight
        return _way_of(stump, j), float(cost[0] - cost[1] - cost[2])

    def _surrogates(
        self, known: NDArray[np.intp], weight: Floats, first: int, goes: NDArray[np.bool_]
    ) -> tuple[Way, ...]:
        """Other columns that tell the same sides apart better than the majority does, the best first."""
        found = []
        for j in range(self.X.shape[1]):
            has = ~np.isnan(self.X[known, j])
            rows, own, side = known[has], weight[has], goes[has]
            if j == first or len(rows) < 2 or side.all() or not side.any():
                continue
            stump = self._stump(rows, own, j, side.astype(np.int32)[:, None], "misclassification", (2,))
            if stump.feature[0] < 0:
                continue
            way = _way_of(stump, j)
            same = float(own[way.goes_left(self.X[rows]) == side].sum() / own.sum())
            majority = float(own[side].sum() / own.sum())
            if max(same, 1 - same) > max(majority, 1 - majority) + 1e-12:
                found.append(replace(way, turned=same < 0.5, agreement=max(same, 1 - same)))
        return tuple(sorted(found, key=lambda way: (-way.agreement, way.column))[:MOST_SURROGATES])

    def _stump(
        self, rows: NDArray[np.intp], weight: Floats, j: int, Y: Any, criterion: str, classes: tuple[int, ...]
    ) -> Grown:
        column = np.ascontiguousarray(self.X[rows, j])[:, None]
        stops, levels = Rules(max_depth=1), self.levels[[j]]
        return tree_grow(
            column, Y, weight, criterion=criterion, classes=classes, levels=levels, rules=stops, _threads=1
        )


def parted(
    node: SurrogateNode, X: Floats, weight: Floats, fractional: bool
) -> list[tuple[NDArray[np.intp], Floats]]:
    """Which rows go left and right, and with what weights."""
    if not fractional:
        left = send(node, X)
        return [(np.flatnonzero(side), weight[side]) for side in (left, ~left)]
    assert node.way is not None
    gone = np.isnan(X[:, node.way.column])
    left = node.way.goes_left(X) & ~gone
    share = np.where(gone, node.share_left, left)
    both = [weight * share, weight * (1 - share)]
    return [(np.flatnonzero(own > 0), own[own > 0]) for own in both]


def _way_of(stump: Grown, column: int) -> Way:
    if stump.levels[0] == 0:
        return Way(column, float(stump.threshold[0]), None)
    bits = np.unpackbits(stump.left_levels.view(np.uint8), bitorder="little")
    return Way(column, 0.0, tuple(np.flatnonzero(bits[: int(stump.levels[0])]).tolist()))
