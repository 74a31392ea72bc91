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
from scipy.sparse import csr_array

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.trees.tree_grow import Grown, Rules, tree_grow
from surefit.models.tree.nodes.candidate_splits import between, level_splits, number_splits
from surefit.models.tree.nodes.criteria import absolute_gains, count_costs, gain, impurity, medians, terms
from surefit.models.tree.nodes.node_arrays import Nodes
from surefit.models.tree.nodes.surrogate_arrays import Surrogates
from surefit.models.tree.trees.proof import DEVIATION, Problem

MOST_SURROGATES = 5


@dataclass(frozen=True, slots=True)
class ColumnSplit:
    """A split of one column: rows at most at the threshold, or of these levels, go left, or right if turned.

    agreement: the share of weight, among rows with both columns, that goes where the first column sends it.
    """

    column: int
    threshold: float
    levels: tuple[int, ...] | None
    turned: bool = False
    agreement: float = 1.0

    def goes_left(self, X: Matrix) -> NDArray[np.bool_]:
        """Where rows go; those without a value are for the caller to look at."""
        x = X[:, self.column]
        with np.errstate(invalid="ignore"):
            inside = x <= self.threshold if self.levels is None else np.isin(x, self.levels)
        return ~inside if self.turned else inside


@dataclass(frozen=True, slots=True, eq=False)
class SurrogateNode:
    """A node: its rows' sums and cost, and how it is split; ``split`` is None for a leaf."""

    rows: int
    weight: float
    impurity: float
    value: Matrix
    split: ColumnSplit | None = None
    surrogates: tuple[ColumnSplit, ...] = ()
    share_left: float = 0.0
    left: int = -1
    right: int = -1


def send(node: SurrogateNode, X: Matrix) -> NDArray[np.bool_]:
    """Where a split node sends rows: by its column, by the surrogates in turn, or with the majority."""
    assert node.split is not None
    left = np.full(len(X), node.share_left > 0.5)
    waiting = np.ones(len(X), dtype=bool)
    for split in (node.split, *node.surrogates):
        known = waiting & ~np.isnan(X[:, split.column])
        left[known] = split.goes_left(X[known])
        waiting &= ~known
    return left


@dataclass(frozen=True, slots=True, eq=False)
class SurrogateGrower:
    """What a tree with surrogates is grown from; the arguments of ``tree_grow``."""

    X: Matrix
    Y: NDArray[Any]
    w: Vector
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
        stack: list[tuple[NDArray[np.intp], Vector, int, int, bool]] = [(rows, self.w[rows], 0, -1, False)]
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

    def _node(self, rows: NDArray[np.intp], weight: Vector) -> SurrogateNode:
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
        self, node: SurrogateNode, rows: NDArray[np.intp], weight: Vector, depth: int, total: float
    ) -> SurrogateNode | None:
        rules = self.rules
        if (rules.max_depth and depth >= rules.max_depth) or node.impurity <= max(1e-15, rules.pure_below):
            return None
        if len(rows) < max(rules.min_rows_split, 2 * rules.min_rows_leaf):
            return None
        best, gained = None, -np.inf
        for j in range(self.X.shape[1]):
            split, gain = self._best_of(rows, weight, j)
            if split is not None and gain > gained + 1e-13 * abs(gained if best else 0.0):
                best, gained = split, gain
        if best is None or gained / total < rules.min_decrease or gained / node.weight < rules.min_gain:
            return None
        has = ~np.isnan(self.X[rows, best.column])
        known, own = rows[has], weight[has]
        goes = best.goes_left(self.X[known])
        share = float(own[goes].sum() / own.sum())
        others = () if self.fractional else self._surrogates(known, own, best.column, goes)
        return replace(node, split=best, surrogates=others, share_left=share)

    def _best_of(self, rows: NDArray[np.intp], weight: Vector, j: int) -> tuple[ColumnSplit | None, float]:
        """The best split by one column among the rows that have it, and the cost it takes away."""
        has = ~np.isnan(self.X[rows, j])
        known, own = rows[has], weight[has]
        if len(known) < 2:
            return None, -np.inf
        stump = self._stump(known, own, j, self.Y[known], self.criterion, self.classes)
        if stump.feature[0] < 0:
            return None, -np.inf
        cost = stump.impurity * stump.weight
        return _split_of(stump, j), float(cost[0] - cost[1] - cost[2])

    def _surrogates(
        self, known: NDArray[np.intp], weight: Vector, first: int, goes: NDArray[np.bool_]
    ) -> tuple[ColumnSplit, ...]:
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
            split = _split_of(stump, j)
            same = float(own[split.goes_left(self.X[rows]) == side].sum() / own.sum())
            majority = float(own[side].sum() / own.sum())
            if max(same, 1 - same) > max(majority, 1 - majority) + 1e-12:
                found.append(replace(split, turned=same < 0.5, agreement=max(same, 1 - same)))
        return tuple(sorted(found, key=lambda split: (-split.agreement, split.column))[:MOST_SURROGATES])

    def _stump(
        self, rows: NDArray[np.intp], weight: Vector, j: int, Y: Any, criterion: str, classes: tuple[int, ...]
    ) -> Grown:
        column = np.ascontiguousarray(self.X[rows, j])[:, None]
        stops, levels = Rules(max_depth=1), self.levels[[j]]
        return tree_grow(
            column, Y, weight, criterion=criterion, classes=classes, levels=levels, rules=stops, _threads=1
        )


def parted(
    node: SurrogateNode, X: Matrix, weight: Vector, fractional: bool
) -> list[tuple[NDArray[np.intp], Vector]]:
    """Which rows go left and right, and with what weights."""
    if not fractional:
        left = send(node, X)
        return [(np.flatnonzero(side), weight[side]) for side in (left, ~left)]
    assert node.split is not None
    gone = np.isnan(X[:, node.split.column])
    left = node.split.goes_left(X) & ~gone
    share = np.where(gone, node.share_left, left)
    both = [weight * share, weight * (1 - share)]
    return [(np.flatnonzero(own > 0), own[own > 0]) for own in both]


def _split_of(stump: Grown, column: int) -> ColumnSplit:
    if stump.levels[0] == 0:
        return ColumnSplit(column, float(stump.threshold[0]), None)
    bits = np.unpackbits(stump.left_levels.view(np.uint8), bitorder="little")
    return ColumnSplit(column, 0.0, tuple(np.flatnonzero(bits[: int(stump.levels[0])]).tolist()))


def grow_with_surrogates(
    problem: Problem, levels: NDArray[np.int64], fractional: bool
) -> tuple[Nodes, Surrogates]:
    """Grow a tree with surrogates, or with rows that go both ways."""
    w = np.ones(len(problem.X)) if problem.weight is None else problem.weight
    X = np.asarray(problem.X, dtype=np.float64)
    grower = SurrogateGrower(
        X, problem.Y, w, problem.criterion, problem.classes, levels, problem.rules, fractional
    )
    return _as_arrays(grower.grow(), levels, problem.classes)


def _as_arrays(
    found: list[SurrogateNode], levels: NDArray[np.int64], classes: tuple[int, ...]
) -> tuple[Nodes, Surrogates]:
    words = int(max((levels + 63) // 64, default=0))
    bits: list[int] = []

    def where(split: ColumnSplit) -> float:
        if split.levels is None:
            return split.threshold
        start = len(bits)
        own = split.levels
        bits.extend(sum(1 << (level % 64) for level in own if level // 64 == k) for k in range(words))
        return float(start)

    main = np.array([0.0 if node.split is None else where(node.split) for node in found])
    others = [(i, split) for i, node in enumerate(found) for split in node.surrogates]
    surrogates = Surrogates(
        np.array([i for i, _ in others], dtype=np.int32),
        np.array([split.column for _, split in others], dtype=np.int32),
        np.array([where(split) for _, split in others], dtype=np.float64),
        np.array([split.turned for _, split in others], dtype=np.uint8),
        np.array([split.agreement for _, split in others], dtype=np.float64),
    )
    value = np.array([node.value for node in found])
    grown = Grown(
        np.array([-1 if node.split is None else node.split.column for node in found], dtype=np.int32),
        main,
        np.array([node.left for node in found], dtype=np.int32),
        np.array([node.right for node in found], dtype=np.int32),
        np.array([node.share_left > 0.5 for node in found], dtype=np.uint8),
        np.array([node.impurity for node in found]),
        np.array([node.weight for node in found]),
        np.array([node.rows for node in found], dtype=np.int64),
        value,
        np.array(bits, dtype=np.uint64),
        levels,
    )
    return Nodes(grown, value, classes), surrogates


def _as_list(nodes: Nodes, surrogates: Surrogates, fractional: bool) -> list[SurrogateNode]:
    grown = nodes.grown
    # A row without the value goes both ways by the shares of those with it, which leaves these as they are.
    share = grown.weight[grown.left] / grown.weight if fractional else grown.missing_left.astype(np.float64)
    own = surrogates
    listed: dict[int, list[ColumnSplit]] = {}

    def split(column: int, threshold: float, turned: bool = False, agreement: float = 1.0) -> ColumnSplit:
        if grown.levels[column] == 0:
            return ColumnSplit(column, threshold, None, turned, agreement)
        own = tuple(nodes.levels_at(int(threshold), column).tolist())
        return ColumnSplit(column, 0.0, own, turned, agreement)

    for at, *told in zip(
        *(each.tolist() for each in (own.node, own.column, own.threshold, own.turned, own.agreement)),
        strict=True,
    ):
        listed.setdefault(at, []).append(split(told[0], told[1], bool(told[2]), told[3]))
    found = []
    for i in range(nodes.node_count):
        main = split(int(grown.feature[i]), float(grown.threshold[i])) if grown.feature[i] >= 0 else None
        found.append(
            SurrogateNode(
                int(grown.rows[i]),
                float(grown.weight[i]),
                float(grown.impurity[i]),
                nodes.value[i],
                main,
                tuple(listed.get(i, ())),
                float(share[i]),
                int(grown.left[i]),
                int(grown.right[i]),
            )
        )
    return found


def leaf_weights(nodes: Nodes, surrogates: Surrogates, X: NDArray[Any], fractional: bool) -> csr_array:
    """How much of each row ends in each leaf, (rows, nodes)."""
    X, found = np.asarray(X, dtype=np.float64), _as_list(nodes, surrogates, fractional)
    rows: list[NDArray[np.intp]] = []
    at: list[NDArray[np.intp]] = []
    weights: list[Vector] = []
    stack = [(0, np.arange(len(X)), np.ones(len(X)))]
    while stack:
        i, mine, weight = stack.pop()
        node = found[i]
        if node.split is None:
            rows.append(mine)
            at.append(np.full(len(mine), i))
            weights.append(weight)
            continue
        for child, (side, own) in zip(
            (node.left, node.right), parted(node, X[mine], weight, fractional), strict=True
        ):
            stack.append((child, mine[side], own))
    place = (np.concatenate(rows), np.concatenate(at))
    return csr_array((np.concatenate(weights), place), shape=(len(X), nodes.node_count))


def prove_surrogates(
    nodes: Nodes, surrogates: Surrogates, problem: Problem, fractional: bool
) -> dict[str, float]:
    """Send the rows down again, and score each split against all others of the rows that have its column."""
    X = np.asarray(problem.X, dtype=np.float64)
    found = _as_list(nodes, surrogates, fractional)
    w = np.ones(len(X)) if problem.weight is None else problem.weight
    rows = np.flatnonzero(w > 0)
    parts = {"gain missed": 0.0, "threshold moved": 0.0, "value": 0.0, "weight": 0.0}

    def worse(part: str, value: float) -> None:
        parts[part] = max(parts[part], value if np.isfinite(value) else np.inf)

    root = max(found[0].impurity, 1e-300) * max(float(w[rows].sum()), 1e-300)
    scale = 1.0 if problem.classes else max(float(np.abs(problem.Y).max()), 1e-300)
    stack = [(0, rows, w[rows])]
    while stack:
        i, mine, weight = stack.pop()
        node = found[i]
        again = SurrogateGrower(
            X, problem.Y, w, problem.criterion, problem.classes, nodes.grown.levels, problem.rules
        )
        own = again._node(mine, weight)
        worse("weight", abs(own.weight / node.weight - 1.0) + float(own.rows != node.rows))
        absolute = problem.criterion == "absolute"
        if absolute or node.split is None:  # what inner nodes say is added up from leaves, unless a median
            worse("value", float((np.abs(own.value - node.value) - problem.grain).max()) / scale)
            digits = DEVIATION * own.impurity if absolute else 0.0
            worse("value", (abs(own.impurity - node.impurity) - digits) * node.weight / root)
        if node.split is None:
            continue
        stored, best = _gains(problem, nodes.grown.levels, X[mine], problem.Y[mine], weight, node.split)
        worse("gain missed", (best - stored) / root)
        has = ~np.isnan(X[mine, node.split.column])
        goes = node.split.goes_left(X[mine][has])
        share = float(weight[has][goes].sum() / weight[has].sum())
        worse("threshold moved", abs((share if fractional else share > 0.5) - node.share_left))
        x = X[mine, node.split.column][has]
        if node.split.levels is None and goes.any() and not goes.all():
            low, high = float(x[goes].max()), float(x[~goes].min())
            worse("threshold moved", abs(node.split.threshold - between(low, high)) / (high - low))
        for other in node.surrogates:
            both = has.copy()
            both &= ~np.isnan(X[mine, other.column])
            same = other.goes_left(X[mine][both]) == node.split.goes_left(X[mine][both])
            worse(
                "threshold moved", abs(float(weight[both][same].sum() / weight[both].sum()) - other.agreement)
            )
        for child, (side, part) in zip(
            (node.left, node.right), parted(node, X[mine], weight, fractional), strict=True
        ):
            stack.append((child, mine[side], part))
    return parts


def _gains(
    problem: Problem,
    levels: NDArray[np.int64],
    X: Matrix,
    Y: NDArray[Any],
    weight: Vector,
    split: ColumnSplit,
) -> tuple[float, float]:
    """The cost that the stored split takes away, and the most that any takes."""
    best, stored = -np.inf, -np.inf
    for j in range(X.shape[1]):
        has = ~np.isnan(X[:, j])
        x, own, y = X[has, j], weight[has], Y[has]
        if len(x) < 2 or x.min() == x.max():
            continue
        kind = "squared" if problem.criterion == "absolute" else problem.criterion
        y = y if problem.classes else y - own @ y / own.sum() if kind == "squared" else y
        mean = own @ y / own.sum() if kind == "poisson" else None
        each = terms(y, own, kind, problem.classes, mean)
        orders = [1] if sum(problem.classes) == 2 else list(range(sum(problem.classes) or Y.shape[1]))
        sides = level_splits(x, each, own, orders) if levels[j] > 0 else number_splits(x)
        if j == split.column:
            sides = np.vstack([split.goes_left(X[has]), sides])
        if problem.criterion == "absolute":
            found = absolute_gains(y, own, sides) * own.sum()
        else:
            total = np.full(len(sides), own.sum())
            whole = np.repeat(each.sum(axis=0)[None], len(sides), axis=0)
            found = gain(sides @ each, sides @ own, whole, total, kind, problem.classes, mean) * own.sum()
        best = max(best, float(found.max()))
        if j == split.column:
            stored = float(found[0])
    return stored, best
