"""Growing one decision tree: every threshold of every column, in every node.

Columns hold numbers, or codes of levels (0, 1, ...); NaN is missing. Of equal splits the first column wins,
then the lower threshold, then the one that sends missing values right. The numpy twin sorts once a column
and node.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.config import threads
from surefit.core.native import compiled
from surefit.core.native.inputs import row_weights
from surefit.core.native.trees.count_distance import count_distance
from surefit.core.native.trees.node_random import MASK, mixed

# In the order in which the kernel numbers them.
CRITERIA = (
    "gini",
    "entropy",
    "misclassification",
    "gain_ratio",
    "chi_squared",
    "squared",
    "poisson",
    "absolute",
)
# Up to so many levels, all subsets of them are tried where no order of them is known to be the best.
FEW_LEVELS = 10


@dataclass(frozen=True, slots=True)
class Rules:
    """When to stop, and where to look; 0 means no limit.

    min_decrease: of the impurity, as a share of all rows; min_gain: as a share of the node's.
    pure_below: nodes with no more impurity are not split. max_leaves: with a limit, the best leaf is
    split first. max_columns: how many columns that vary are looked at in a node. random_threshold: draw
    one threshold a column. monotone: of each column, -1, 0 or 1.
    """

    max_depth: int = 0
    min_rows_split: int = 2
    min_rows_leaf: int = 1
    min_weight_leaf: float = 0.0
    min_decrease: float = 0.0
    max_leaves: int = 0
    max_columns: int = 0
    random_threshold: bool = False
    monotone: tuple[int, ...] = ()
    seed: int = 0
    min_gain: float = 0.0
    pure_below: float = 0.0


@dataclass(frozen=True, slots=True)
class Grown:
    """A tree as arrays, one entry a node, in the order of a walk that goes left first.

    feature: -1 for a leaf. threshold: rows with at most it go left; of a column of levels, where its bits
    begin in ``left_levels``. missing_left: where missing values and unknown levels go. sums: (nodes, width):
    the weight of each class, or of numbers the sums of y and of its squares about the mean (of y log(y / c) -
    (y - c) about the mean c for Poisson; for absolute deviations the median times the weight, and their sum).
    levels: of each column, 0 for numbers.
    """

    feature: NDArray[np.int32]
    threshold: Vector
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    missing_left: NDArray[np.uint8]
    impurity: Vector
    weight: Vector
    rows: NDArray[np.int64]
    sums: Matrix
    left_levels: NDArray[np.uint64]
    levels: NDArray[np.int64]


def tree_grow(
    X: NDArray[Any],
    Y: NDArray[Any],
    weight: Any = None,
    *,
    criterion: str,
    classes: tuple[int, ...] = (),
    levels: Any = None,
    rules: Rules | None = None,
    _threads: int | None = None,
) -> Grown:
    """Grow a tree for the targets Y, (n, outputs): codes if ``classes`` counts those of each output.

    Rows of weight 0 do not take part.

    >>> X, Y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([[0], [0], [1], [1]])
    >>> grown = tree_grow(X, Y, criterion="gini", classes=(2,))
    >>> grown.feature.tolist(), grown.threshold.tolist(), grown.impurity.tolist()
    ([0, -1, -1], [1.5, 0.0, 0.0], [0.5, 0.0, 0.0])
    """
    rules = Rules() if rules is None else rules
    levels = np.zeros(X.shape[1], dtype=np.int64) if levels is None else np.asarray(levels, dtype=np.int64)
    weight = row_weights(weight)
    native = compiled()
    if native is None:
        return tree_grow_twin(X, Y, weight, criterion=criterion, classes=classes, levels=levels, rules=rules)
    grow_by_sorting = native.tree_grow_classes if classes else native.tree_grow_numbers
    outputs = Y.shape[1]
    y = np.ascontiguousarray(Y, dtype=np.int32 if classes else np.float64).ravel()
    found = grow_by_sorting(
        X,
        y,
        outputs,
        weight,
        CRITERIA.index(criterion),
        np.concatenate([[0], np.cumsum(classes)]).astype(int).tolist(),
        levels.tolist(),
        list(rules.monotone),
        rules.max_depth or np.iinfo(np.int64).max,
        rules.min_rows_split,
        rules.min_rows_leaf,
        rules.min_weight_leaf,
        rules.min_decrease,
        rules.min_gain,
        rules.pure_below,
        rules.max_leaves,
        rules.max_columns,
        rules.random_threshold,
        rules.seed,
        threads() if _threads is None else _threads,
    )
    names = ("feature", "threshold", "left", "right", "missing_left", "impurity", "weight", "rows")
    nodes = dict(zip(names, found, strict=False))
    sums, left_levels = found[-2:]
    return Grown(**nodes, sums=sums.reshape(len(nodes["rows"]), -1), left_levels=left_levels, levels=levels)


def tree_grow_twin(
    X: NDArray[Any],
    Y: NDArray[Any],
    weight: Vector | None,
    *,
    criterion: str,
    classes: tuple[int, ...],
    levels: NDArray[np.int64],
    rules: Rules,
) -> Grown:
    """Do the same with one sort a column and node."""
    return grow_by_sorting(X, Y, weight, criterion, classes, levels, rules)


TINY = float(np.finfo(np.float64).eps)


@dataclass(slots=True)
class Split:
    """The best split so far: rows of the node that go left, and how it is written down."""

    score: float = -np.inf
    column: int = -1
    threshold: float = 0.0
    left: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    levels: frozenset[int] = frozenset()
    saw_missing: bool = False
    missing_left: bool = False


@dataclass(slots=True)
class Node:
    """Rows, and what is known of them."""

    rows: NDArray[np.intp]
    depth: int
    seed: int
    weight: float
    impurity: float
    sums: Vector
    lowest: float = -np.inf
    highest: float = np.inf


class Grower:
    """What a node asks of the table."""

    def __init__(
        self,
        X: NDArray[Any],
        Y: NDArray[Any],
        weight: Vector | None,
        criterion: str,
        classes: tuple[int, ...],
        levels: NDArray[np.int64],
        rules: Rules,
    ) -> None:
        self.X = np.asarray(X, dtype=np.float64)
        self.criterion, self.classes, self.levels, self.rules = criterion, classes, levels, rules
        self.w = np.ones(len(X)) if weight is None else weight
        if classes:
            codes = np.asarray(Y, dtype=np.intp)
            self.terms = np.hstack([np.eye(k)[codes[:, o]] for o, k in enumerate(classes)])
        else:
            self.terms = np.asarray(Y, dtype=np.float64)
        self.terms = self.terms * self.w[:, None]
        self.outputs, self.squared = len(classes) if classes else Y.shape[1], criterion == "squared"

    def sums_of(self, rows: NDArray[np.intp]) -> Vector:
        """Add the rows up; squares and distances are from the mean, deviations from the median."""
        if self.classes:
            return np.asarray(self.terms[rows].sum(axis=0))
        y, w = self.terms[rows, : self.outputs] / self.w[rows, None], self.w[rows]
        if self.criterion != "absolute":
            gap, mean = y - w @ y / w.sum(), w @ y / w.sum()
            return np.concatenate([w @ y, w @ (gap**2 if self.squared else count_distance(gap, mean))])
        middle = np.array([_median(column, w) for column in y.T])
        return np.concatenate([middle * w.sum(), w @ np.abs(y - middle)])

    def node(self, rows: NDArray[np.intp], depth: int, seed: int) -> Node:
        """Make a node of rows."""
        sums, weight = self.sums_of(rows), float(self.w[rows].sum())
        return Node(rows, depth, seed, weight, float(self.impurity(sums, weight)), sums)

    def _by_output(self, sums: Vector) -> list[Vector]:
        return np.split(sums, np.cumsum(self.classes)[:-1], axis=-1)

    def impurity(self, sums: Vector, weight: float) -> float:
        """Return the impurity of a node, a mean over outputs."""
        if not self.classes:
            return float((sums[self.outputs :] / weight).mean())
        found = []
        for counts in self._by_output(sums):
            share = counts[counts > 0] / weight
            if self.criterion in ("gini", "chi_squared"):
                found.append(1.0 - (counts @ counts) / weight**2)
            elif self.criterion == "misclassification":
                found.append(1.0 - counts.max() / weight)
            else:
                found.append(-(share * np.log2(share)).sum())
        return float(np.mean(found))

    def score(self, left: Vector, wl: float, right: Vector, wr: float, about: Vector) -> float:
        """Score a split by the sums of its sides; ``about``: those of the left one about the node's mean."""
        if not self.classes:
            a, b = left[: self.outputs], right[: self.outputs]
            if self.criterion == "absolute":
                return -float(left[self.outputs :].sum() + right[self.outputs :].sum())
            if self.squared:
                return float((about**2).sum() / (wl * wr))
            if (a <= 0).any() or (b <= 0).any():
                return -np.inf
            c = (a + b) / (wl + wr)
            return float((wl * count_distance(about / wl, c) + wr * count_distance(-about / wr, c)).sum())
        sides = zip(self._by_output(left), self._by_output(right), strict=True)
        return float(sum(self._class_score(a, wl, b, wr) for a, b in sides))

    def _class_score(self, a: Vector, wl: float, b: Vector, wr: float) -> float:
        whole, w = a + b, wl + wr
        if self.criterion == "gini":
            return float(((a - whole * (wl / w)) ** 2).sum() / (wl * wr))
        if self.criterion == "misclassification":
            return float(a.max() + b.max())
        if self.criterion == "chi_squared":
            gap, seen = a - whole * (wl / w), whole > 0
            return float((gap[seen] ** 2 / whole[seen]).sum() * (w / wl + w / wr))
        inside = float(_x_log_x(a).sum() + _x_log_x(b).sum() - _x_log_x(np.array([wl, wr])).sum())
        if self.criterion == "entropy":
            return inside + w
        before = float(_x_log_x(whole).sum() - _x_log_x(np.array(w)))
        return (inside - before) / float(_x_log_x(np.array(w)) - _x_log_x(np.array([wl, wr])).sum())

    def is_leaf(self, node: Node) -> bool:
        """Whether a rule stops here."""
        rules, rows = self.rules, len(node.rows)
        return (
            (rules.max_depth > 0 and node.depth >= rules.max_depth)
            or rows < max(rules.min_rows_split, 2 * rules.min_rows_leaf)
            or node.weight < 2 * rules.min_weight_leaf
            or node.impurity <= max(self._pure(node), rules.pure_below)
        )

    def _pure(self, node: Node) -> float:
        if self.criterion == "poisson":
            return 1e-28 * float(node.sums[: self.outputs].max()) / node.weight
        return 0.0 if self.criterion == "absolute" else TINY

    def columns(self, node: Node) -> list[int]:
        """Return the columns to look at."""
        X, rules = self.X[node.rows], self.rules
        every = list(range(X.shape[1]))
        varies = [not (np.all(X[:, j] == X[0, j]) or np.all(np.isnan(X[:, j]))) for j in every]
        if rules.max_columns == 0 or rules.max_columns >= len(every):
            return [j for j in every if varies[j]]
        chosen, state = list[int](), node.seed
        for left in range(len(every), 0, -1):
            if len(chosen) == rules.max_columns:
                break
            at = mixed(state) % left
            state = (state + 1) & MASK
            every[at], every[left - 1] = every[left - 1], every[at]
            if varies[every[left - 1]]:
                chosen.append(every[left - 1])
        return sorted(chosen)

    def find(self, node: Node) -> Split:
        """Return the best split of a node."""
        best = Split()
        for j in self.columns(node):
            if len(node.rows) == 2 and best.column >= 0:
                break  # two rows part in one way: the first column has it
            x = self.X[node.rows, j]
            if self.levels[j] > 0:
                self._look_at_levels(node, j, x, best)
            elif self.rules.random_threshold:
                self._look_at_one(node, j, x, best)
            else:
                self._look_at_numbers(node, j, x, best)
        return best

    def _try(self, node: Node, j: int, left: NDArray[np.bool_], best: Split, **how: Any) -> None:
        """Take a split, given by who goes left, if it is better."""
        rules, count = self.rules, int(left.sum())
        if count < rules.min_rows_leaf or len(left) - count < rules.min_rows_leaf or count in (0, len(left)):
            return
        mine, others = self.sums_of(node.rows[left]), self.sums_of(node.rows[~left])
        wl, wr = float(self.w[node.rows[left]].sum()), float(self.w[node.rows[~left]].sum())
        if min(wl, wr) < rules.min_weight_leaf or not self._monotone(node, j, mine, wl, others, wr):
            return
        rounding = 1e-14 * node.impurity if self.criterion == "gini" else 0.0
        about = np.zeros(self.outputs)
        if self.criterion in ("squared", "poisson"):  # a node's mean far from zero costs no digits
            mean, rows = node.sums[: self.outputs] / node.weight, node.rows[left]
            about = (self.terms[rows] - np.outer(self.w[rows], mean)).sum(axis=0)
            size, top, W = np.abs(mean).sum(), max(best.score, 0.0), node.weight
            scale, root = (1.0, 2e-15 * size) if self.squared else (W, 1e-15 * np.sqrt(2.0 * size * W))
            rounding = 1e-14 * node.impurity * scale * self.outputs + root * np.sqrt(top)
        score = self.score(mine, wl, others, wr, about)
        if score > (best.score + 1e-13 * abs(best.score) + rounding if best.column >= 0 else -np.inf):
            best.score, best.column, best.left = score, j, left
            best.threshold, best.levels = how.get("threshold", 0.0), how.get("levels", frozenset())
            best.missing_left, best.saw_missing = how["missing_left"], how["saw_missing"]

    def _monotone(self, node: Node, j: int, left: Vector, wl: float, right: Vector, wr: float) -> bool:
        if not self.rules.monotone:
            return True
        at = 1 if self.classes else 0
        low, high = left[at] / wl, right[at] / wr
        if min(low, high) < node.lowest or max(low, high) > node.highest:
            return False
        return bool(self.rules.monotone[j] * (high - low) >= 0)

    def _look_at_numbers(self, node: Node, j: int, x: Vector, best: Split) -> None:
        missing = np.isnan(x)
        values = np.unique(x[~missing])
        for i, low in enumerate(values):
            last = i + 1 == len(values)
            if last and not missing.any():
                break
            threshold = np.inf if last else _between(low, values[i + 1])
            for missing_left in (False, True):
                if missing_left and (last or not missing.any()):
                    break
                left = np.where(missing, missing_left, x <= low)
                how = {"missing_left": missing_left, "saw_missing": bool(missing.any())}
                self._try(node, j, left, best, threshold=threshold, **how)

    def _look_at_one(self, node: Node, j: int, x: Vector, best: Split) -> None:
        missing = np.isnan(x)
        low, high = float(np.min(x[~missing])), float(np.max(x[~missing]))
        if low == high:
            return
        state = node.seed ^ mixed(j + 1)
        threshold = low + (high - low) * ((mixed(state) >> 11) * 2.0**-53)
        threshold = threshold if threshold < high else low
        missing_left = bool(missing.any() and mixed((state + 1) & MASK) & 1)
        left = np.where(missing, missing_left, x <= threshold)
        how = {"missing_left": missing_left, "saw_missing": bool(missing.any())}
        self._try(node, j, left, best, threshold=threshold, **how)

    def _look_at_levels(self, node: Node, j: int, x: Vector, best: Split) -> None:
        missing = np.isnan(x)
        present = np.unique(x[~missing]).astype(int).tolist()
        for chosen in self._subsets(node, x, present, bool(missing.any())):
            for missing_left in (False, True):
                if missing_left and not missing.any():
                    break
                left = np.where(missing, missing_left, np.isin(x, chosen))
                how = {"missing_left": missing_left, "saw_missing": bool(missing.any())}
                self._try(node, j, left, best, levels=frozenset(chosen), **how)

    def _subsets(self, node: Node, x: Vector, present: list[int], missing: bool) -> list[list[int]]:
        width = self.terms.shape[1] if self.classes else self.outputs
        orders = list(range(1 if self.criterion == "absolute" else width))
        orders = [1] if self.classes and width == 2 else orders
        if len(orders) > 1 and len(present) <= FEW_LEVELS:
            free = present if missing else present[:-1]
            sets = [list(s) for size in range(1, len(free) + 1) for s in combinations(free, size)]
            return sorted(sets, key=lambda s: sum(1 << present.index(level) for level in s))
        found = []
        for order in orders:
            of = [node.rows[x == level] for level in present]
            mean = [self.terms[rows, order].sum() / self.w[rows].sum() for rows in of]
            ranked = [present[i] for i in np.argsort(mean, kind="stable")]
            found += [ranked[: i + 1] for i in range(len(ranked))]
        return found

    def children(self, node: Node, split: Split) -> tuple[Node, Node]:
        """Part the rows."""
        left = self.node(node.rows[split.left], node.depth + 1, mixed(node.seed ^ 0x5851F42D4C957F2D))
        right = self.node(node.rows[~split.left], node.depth + 1, mixed(node.seed ^ 0x14057B7EF767814F))
        left.lowest = right.lowest = node.lowest
        left.highest = right.highest = node.highest
        sign = self.rules.monotone[split.column] if self.rules.monotone else 0
        if sign:
            at = 1 if self.classes else 0
            middle = (left.sums[at] / left.weight + right.sums[at] / right.weight) / 2
            below, above = (left, right) if sign > 0 else (right, left)
            below.highest = above.lowest = middle
        return left, right

    def decrease(self, node: Node, left: Node, right: Node, total: float) -> float:
        """Return by how much a split lowers the impurity, as a share of all rows."""
        after = left.weight * left.impurity + right.weight * right.impurity
        return (node.weight * node.impurity - after) / total


def _x_log_x(x: Vector) -> Vector:
    return np.asarray(x * np.log(np.where(x > 0, x, 1.0)))


def _median(y: Vector, w: Vector) -> float:
    order = np.argsort(y, kind="stable")
    y, cumulative = y[order], np.cumsum(w[order])
    half, blur = w.sum() / 2.0, 32 * TINY * w.sum()
    at = min(int(np.searchsorted(cumulative, half - blur)), len(y) - 1)
    two = cumulative[at] <= half + blur and at + 1 < len(y)
    return float(y[at] / 2.0 + y[at + 1] / 2.0 if two else y[at])


def _between(low: float, high: float) -> float:
    middle = low / 2.0 + high / 2.0
    return middle if low <= middle < high else low


@dataclass(slots=True)
class _Part:
    """A node of the finished tree, with what hangs below it."""

    node: Node
    split: Split | None = None
    below: tuple[_Part, _Part] | None = None


def grow_by_sorting(
    X: NDArray[Any],
    Y: NDArray[Any],
    weight: Vector | None,
    criterion: str,
    classes: tuple[int, ...],
    levels: NDArray[np.int64],
    rules: Rules,
) -> Grown:
    """Grow a tree: the best leaf first if leaves are limited, else all of them."""
    grower = Grower(X, Y, weight, criterion, classes, levels, rules)
    root = _Part(grower.node(np.flatnonzero(grower.w > 0), 0, mixed(rules.seed)))
    waiting: list[tuple[float, int, _Part, Split]] = []
    made = 0

    def consider(part: _Part) -> None:
        nonlocal made
        made += 1
        if grower.is_leaf(part.node):
            return
        split = grower.find(part.node)
        if split.column < 0:
            return
        gain = grower.decrease(part.node, *grower.children(part.node, split), root.node.weight)
        own = gain * root.node.weight / part.node.weight
        if gain + TINY >= rules.min_decrease and own + TINY >= rules.min_gain:
            waiting.append((gain, -made, part, split))

    consider(root)
    leaves = 1
    while waiting and (rules.max_leaves == 0 or leaves < rules.max_leaves):
        best = max(range(len(waiting)), key=lambda i: waiting[i][:2])
        _, _, part, split = waiting.pop(best)
        left, right = grower.children(part.node, split)
        part.split, part.below = split, (_Part(left), _Part(right))
        leaves += 1
        consider(part.below[0])
        consider(part.below[1])
    return _as_arrays(root, levels)


def _as_arrays(root: _Part, levels: NDArray[np.int64]) -> Grown:
    order: list[_Part] = []
    stack = [root]
    while stack:
        part = stack.pop()
        order.append(part)
        if part.below is not None:
            stack += [part.below[1], part.below[0]]
    place = {id(part): i for i, part in enumerate(order)}
    words = int(max((levels + 63) // 64, default=0))
    feature, threshold, missing_left = [], [], []
    left_levels: list[int] = []
    for part in order:
        split = part.split
        feature.append(-1 if split is None else split.column)
        where, goes = 0.0, False
        if split is not None and part.below is not None:
            where = split.threshold
            lefts, rights = (len(child.node.rows) for child in part.below)
            goes = split.missing_left if split.saw_missing else lefts > rights
            if levels[split.column] > 0:
                where = float(len(left_levels))
                left_levels += [
                    sum(1 << (level % 64) for level in split.levels if level // 64 == k) for k in range(words)
                ]
        threshold.append(where)
        missing_left.append(goes)
    below = [(-1, -1) if p.below is None else (place[id(p.below[0])], place[id(p.below[1])]) for p in order]
    return Grown(
        np.array(feature, dtype=np.int32),
        np.array(threshold),
        np.array([b[0] for b in below], dtype=np.int32),
        np.array([b[1] for b in below], dtype=np.int32),
        np.array(missing_left, dtype=np.uint8),
        np.array([p.node.impurity for p in order]),
        np.array([p.node.weight for p in order]),
        np.array([len(p.node.rows) for p in order], dtype=np.int64),
        np.array([p.node.sums for p in order]),
        np.array(left_levels, dtype=np.uint64),
        levels,
    )
