"""Every stored split is the best of its node: scored again in numpy, level by level, without the grower.

At each depth all rows of all nodes are looked at together: a column is sorted by node and value, the sums of
the left sides of all its cuts are running sums, and the best of them is compared with what is stored. What a
node says of itself (weight, value, impurity, where its threshold stands) is computed from its rows as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.trees.tree_apply import tree_apply_twin
from surefit.core.native.trees.tree_grow import Rules
from surefit.models.tree.nodes.candidate_splits import (
    between,
    chosen_columns,
    drawn_split,
    drawn_threshold,
    level_splits,
    node_seeds,
    number_splits,
    one_step,
)
from surefit.models.tree.nodes.criteria import absolute_gains, count_costs, gain, impurity, medians, terms
from surefit.models.tree.nodes.leaf_values import SINGLE
from surefit.models.tree.nodes.node_arrays import Nodes

Whole = NDArray[np.int64]

# Absolute deviations are rounded to a float32 when a tree is kept, and once more each time that it is pruned.
DEVIATION = 4 * SINGLE


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What a tree was grown from: rows, targets (n, outputs), weights, criterion and rules.

    exact_rows: up to which a node was searched value by value; the splits of larger ones are left out.
    grain: by how much rounding moves what a leaf says, see ``Target``.
    """

    X: NDArray[Any]
    Y: NDArray[Any]
    weight: Vector | None
    criterion: str
    classes: tuple[int, ...]
    rules: Rules
    exact_rows: int | None = None
    grain: Vector | float = 0.0


@dataclass(slots=True, eq=False)
class _Level:
    """The nodes of one depth: their rows, sorted by node, and where the rows of each begin."""

    nodes: Whole
    rows: Whole
    place: Whole  # of each row, which of the nodes
    start: Whole
    sums: Matrix
    weight: Vector


def best_splits(nodes: Nodes, problem: Problem) -> dict[str, float]:
    """Return how far a tree is from what it claims, part by part: 0 but for rounding where it holds."""
    return _Proof(nodes, problem).parts()


class _Proof:
    def __init__(self, nodes: Nodes, problem: Problem) -> None:
        self.nodes, self.problem, self.grown = nodes, problem, nodes.grown
        self.X = problem.X
        self.w = np.ones(len(problem.X)) if problem.weight is None else problem.weight
        self.orders: dict[int, Whole] = {}
        self.absolute = problem.criterion == "absolute"
        kind = "squared" if self.absolute else problem.criterion
        # Counts are taken about their mean, so that one far from zero costs no digits.
        self.about = np.average(problem.Y, axis=0, weights=self.w) if kind == "poisson" else None
        self.terms = terms(problem.Y, self.w, kind, problem.classes, self.about)
        self.scale = 1.0 if problem.classes else max(float(np.abs(problem.Y).max()), 1e-300)
        self.seeds = node_seeds(nodes, problem.rules.seed)
        self.found = {"gain missed": 0.0, "threshold moved": 0.0, "value": 0.0, "weight": 0.0}

    def parts(self) -> dict[str, float]:
        grown = self.grown
        used = np.flatnonzero(self.w > 0)
        leaf = tree_apply_twin(grown, self.X[used])
        parents, depths = self.nodes.parents, self.nodes.depths
        bounds = np.column_stack([np.full(len(depths), -np.inf), np.full(len(depths), np.inf)])
        above: list[Whole] = [leaf]  # of each row, the node at each depth, from the leaf upwards
        for depth in range(int(depths.max()), 0, -1):
            at = above[-1]
            above.append(np.where(depths[at] == depth, parents[at], at))
        for depth, at in enumerate(reversed(above)):
            here = depths[at] == depth
            order = np.argsort(at[here], kind="stable")
            level = self._level(used[here][order], at[here][order])
            self._own(level, np.flatnonzero(depths == depth))
            self._splits(level, bounds)
        return self.found

    def _worse(self, part: str, value: Any) -> None:
        largest = float(np.max(value, initial=0.0))
        if not largest <= self.found[part]:  # NaN counts as wrong
            self.found[part] = largest if np.isfinite(largest) else np.inf

    def _level(self, rows: Whole, at: Whole) -> _Level:
        ids, start, place = np.unique(at, return_index=True, return_inverse=True)
        sums = np.add.reduceat(self.terms[rows], start, axis=0) if len(rows) else self.terms[:0]
        weight = np.add.reduceat(self.w[rows], start) if len(rows) else self.w[:0]
        return _Level(ids, rows, place, np.append(start, len(rows)), sums, weight)

    def _own(self, level: _Level, expected: Whole) -> None:
        """What nodes say of themselves."""
        if not np.array_equal(level.nodes, expected):
            self._worse("weight", np.inf)  # a node that no row reaches
            return
        grown, problem, ids = self.grown, self.problem, level.nodes
        rows = np.diff(level.start)
        self._worse("weight", np.abs(grown.weight[ids] / level.weight - 1.0))
        self._worse("weight", (grown.rows[ids] != rows).astype(float))
        root = float(grown.impurity[0])
        if self.absolute:
            value, spread = medians(problem.Y, self.w, level.rows, level.start)
            own = spread.mean(axis=1)
        else:
            outputs = self.nodes.value.shape[1]
            value = np.column_stack([self._mean(level.sums, level.weight, at) for at in range(outputs)])
            own = self._impurity(level, value)
        # What inner nodes say is added up from leaves, unless it is a median.
        told = np.full(len(ids), True) if self.absolute else grown.feature[ids] < 0
        value, own, ids = value[told], own[told], ids[told]
        self._worse("value", (np.abs(self.nodes.value[ids] - value) - problem.grain) / self.scale)
        gap = np.abs(grown.impurity[ids] - own) - (DEVIATION * own if self.absolute else 0.0)
        self._worse("value", gap / max(root, 1e-300) if root > 0 else own > 1e-12)

    def _mean(self, sums: Matrix, weight: Vector, at: int) -> Matrix:
        """What sides with these sums would say: one number, or the share of one class."""
        return np.asarray(sums[:, at] / weight + (0.0 if self.about is None else self.about[at]))

    def _impurity(self, level: _Level, mean: Vector) -> Vector:
        if self.about is None:
            return impurity(level.sums, level.weight, self.problem.criterion, self.problem.classes)
        each = count_costs(self.problem.Y[level.rows], self.w[level.rows], mean[level.place])
        return np.asarray(np.add.reduceat(each, level.start[:-1]) / level.weight)

    def _gain(self, left: Matrix, wl: Vector, whole: Matrix, weight: Vector) -> Vector:
        return gain(left, wl, whole, weight, self.problem.criterion, self.problem.classes, self.about)

    def _splits(self, level: _Level, bounds: Matrix) -> None:
        """The stored splits of the nodes of a depth, against all others."""
        grown, problem = self.grown, self.problem
        splits = grown.feature[level.nodes] >= 0
        if problem.exact_rows is not None:
            splits &= np.diff(level.start) <= problem.exact_rows
        inner = np.flatnonzero(splits)
        if len(inner) == 0:
            return
        allowed = self._allowed(level, inner)
        stored = np.full(len(level.nodes), -np.inf)
        best = np.full(len(level.nodes), -np.inf)
        left_rows = self._goes_left(level)
        for i in inner:
            self._stands(level, int(i), left_rows)
        stored[inner] = self._gains(level, left_rows, inner)
        for j in range(self.X.shape[1]):
            looked = inner[allowed[inner, j]]
            if len(looked):
                self._look(level, looked, j, bounds, best)
        scale = self._scale(level)
        with np.errstate(invalid="ignore"):
            missed = np.where(best > stored, (best - stored) * scale, 0.0)
        self._worse("gain missed", missed[inner])
        if problem.rules.monotone:
            self._pass_bounds(level, inner, left_rows, bounds)

    def _scale(self, level: _Level) -> Vector:
        """What a gain of a node is measured by: its share of the root's impurity."""
        if self.problem.criterion in ("gain_ratio", "chi_squared"):
            return np.ones(len(level.nodes))
        root = float(self.grown.impurity[0])
        share = level.weight / float(self.grown.weight[0])
        return share / root if root > 0 else np.ones(len(share))

    def _allowed(self, level: _Level, inner: Whole) -> NDArray[np.bool_]:
        """Which columns each node looked at."""
        rules, width = self.problem.rules, self.X.shape[1]
        allowed = np.ones((len(level.nodes), width), dtype=bool)
        if rules.max_columns == 0 or rules.max_columns >= width:
            return allowed
        allowed[:] = False
        for i in inner:
            block = self.X[level.rows[level.start[i] : level.start[i + 1]]]
            allowed[i, chosen_columns(block, rules.max_columns, self.seeds[level.nodes[i]])] = True
        return allowed

    def _goes_left(self, level: _Level) -> NDArray[np.bool_]:
        """Of each row of the level, whether its node sends it left."""
        children = self.grown.left[level.nodes][level.place]
        below = one_step(self.grown, self.X, level.rows, level.nodes[level.place])
        return below == children

    def _gains(self, level: _Level, left: NDArray[np.bool_], inner: Whole) -> Vector:
        """The gain of the stored split of each inner node."""
        problem = self.problem
        if self.absolute:
            found = []
            for i in inner:
                rows = level.rows[level.start[i] : level.start[i + 1]]
                goes = left[level.start[i] : level.start[i + 1]]
                found.append(absolute_gains(problem.Y[rows], self.w[rows], goes[None])[0])
            return np.array(found)
        sums = np.add.reduceat(self.terms[level.rows] * left[:, None], level.start[:-1], axis=0)
        weight = np.add.reduceat(self.w[level.rows] * left, level.start[:-1])
        whole = level.sums
        return self._gain(sums[inner], weight[inner], whole[inner], level.weight[inner])

    def _stands(self, level: _Level, i: int, left: NDArray[np.bool_]) -> None:
        """A threshold stands half-way between its neighbours, or where it was drawn; unused bits are zero."""
        grown, rules, node = self.grown, self.problem.rules, int(level.nodes[i])
        column = int(grown.feature[node])
        span = slice(level.start[i], level.start[i + 1])
        x, goes = np.asarray(self.X[level.rows[span], column], dtype=np.float64), left[span]
        gone = np.isnan(x)
        missing_left = bool(goes[gone][0]) if gone.any() else goes.sum() > (~goes).sum()
        self._worse("threshold moved", float(bool(grown.missing_left[node]) != bool(missing_left)))
        if min(int(goes.sum()), int((~goes).sum())) < rules.min_rows_leaf:
            self._worse("gain missed", np.inf)
        known, goes = x[~gone], goes[~gone]
        if grown.levels[column] > 0:
            expected = np.unique(known[goes]).astype(np.int64)
            self._worse("threshold moved", float(not np.array_equal(self.nodes.left_levels(node), expected)))
            return
        stored = float(grown.threshold[node])
        if goes.all():
            self._worse("threshold moved", float(stored != np.inf))
            return
        if not goes.any():
            self._worse("threshold moved", np.inf)
            return
        low, high = float(known[goes].max()), float(known[~goes].min())
        if rules.random_threshold:
            expected_at = drawn_threshold(known, column, self.seeds[node])[0]
        else:
            expected_at = between(low, high)
        if stored != expected_at:
            gap = (high - low) if np.isfinite(high - low) else max(abs(high), abs(low))
            self._worse("threshold moved", abs(stored - expected_at) / gap)

    def _look(self, level: _Level, looked: Whole, j: int, bounds: Matrix, best: Vector) -> None:
        """Raise ``best`` by the splits of column j."""
        if self.absolute or self.grown.levels[j] > 0 or self.problem.rules.random_threshold:
            for i in looked:
                best[i] = max(best[i], self._one_by_one(level, int(i), j, bounds))
            return
        chosen = np.isin(level.place, looked)
        kind = np.int16 if len(level.nodes) < 2**15 else np.int64
        place_of: NDArray[Any] = np.full(len(self.X), -1, dtype=kind)
        place_of[level.rows[chosen]] = level.place[chosen]
        by_value = self._order(j)
        by_value = by_value[place_of[by_value] >= 0]
        rows = by_value[np.argsort(place_of[by_value], kind="stable")]  # linear for few nodes
        place, x = place_of[rows].astype(np.int64), np.asarray(self.X[rows, j], dtype=np.float64)
        start = np.searchsorted(place, looked)
        first = np.repeat(start, np.diff(np.append(start, len(place))))
        gone = np.isnan(x)
        # Centred by node, so that running sums over many nodes do not lose the digits of a small one.
        mean = level.sums / level.weight[:, None]
        if self.about is not None:
            mean[:, len(self.about) :] = 0.0  # how many rows are above zero adds up exactly
        own = self.terms[rows] - mean[place] * self.w[rows][:, None]
        total, weight = np.cumsum(own, axis=0), np.cumsum(self.w[rows])
        at = np.flatnonzero(
            (place[:-1] == place[1:]) & (x[:-1] != x[1:]) & ~gone[:-1] & ~(gone[:-1] & gone[1:])
        )
        before = first[at]
        wl = weight[at] - np.where(before > 0, weight[before - 1], 0.0)
        left = total[at] - np.where((before > 0)[:, None], total[before - 1], 0.0)
        left = left + mean[place[at]] * wl[:, None]
        count = at - before + 1
        self._raise(level, place[at], j, left, wl, count, bounds, best)
        if gone.any():
            missing = np.zeros_like(level.sums)
            missing_weight, missing_rows = (
                np.zeros(len(level.nodes)),
                np.zeros(len(level.nodes), dtype=np.int64),
            )
            np.add.at(missing, place[gone], self.terms[rows[gone]])
            np.add.at(missing_weight, place[gone], self.w[rows[gone]])
            np.add.at(missing_rows, place[gone], 1)
            of = place[at]
            left, wl, count = left + missing[of], wl + missing_weight[of], count + missing_rows[of]
            inside = count < np.diff(level.start)[of]
            self._raise(level, of[inside], j, left[inside], wl[inside], count[inside], bounds, best)

    def _order(self, j: int) -> Whole:
        """The rows by the values of a column, sorted once; NaN stands last."""
        if j not in self.orders:
            self.orders[j] = np.argsort(self.X[:, j], kind="stable")
        return self.orders[j]

    def _raise(
        self,
        level: _Level,
        of: Whole,
        j: int,
        left: Matrix,
        wl: Vector,
        count: Whole,
        bounds: Matrix,
        best: Vector,
    ) -> None:
        problem, rules = self.problem, self.problem.rules
        whole, weight, rows = level.sums[of], level.weight[of], np.diff(level.start)[of]
        fits = (count >= rules.min_rows_leaf) & (rows - count >= rules.min_rows_leaf)
        fits &= (wl >= rules.min_weight_leaf) & (weight - wl >= rules.min_weight_leaf)
        if rules.monotone:
            at = 1 if problem.classes else 0
            with np.errstate(divide="ignore", invalid="ignore"):
                low, high = self._mean(left, wl, at), self._mean(whole - left, weight - wl, at)
            fits &= _monotone(low, high, bounds[level.nodes[of]], rules.monotone[j])
        found = self._gain(left, wl, whole, weight)
        np.maximum.at(best, of[fits], found[fits])

    def _one_by_one(self, level: _Level, i: int, j: int, bounds: Matrix) -> float:
        """The best gain of one node by one column, from all the ways to send its rows."""
        problem, rules, node = self.problem, self.problem.rules, int(level.nodes[i])
        rows = level.rows[level.start[i] : level.start[i + 1]]
        x = np.asarray(self.X[rows, j], dtype=np.float64)
        if self.grown.levels[j] > 0:
            sides = level_splits(x, self.terms[rows], self.w[rows], self._orders())
        elif rules.random_threshold:
            sides = drawn_split(x, j, self.seeds[node])
        else:
            sides = number_splits(x)
        if len(sides) == 0:
            return -np.inf
        count = sides.sum(axis=1)
        w = self.w[rows]
        wl = sides @ w
        fits = (count >= max(rules.min_rows_leaf, 1)) & (len(rows) - count >= max(rules.min_rows_leaf, 1))
        fits &= (wl >= rules.min_weight_leaf) & (w.sum() - wl >= rules.min_weight_leaf)
        sides, wl = sides[fits], wl[fits]
        if len(sides) == 0:
            return -np.inf
        if self.absolute:
            found = absolute_gains(problem.Y[rows], w, sides)
            low, high = np.empty(0), np.empty(0)
        else:
            left = sides @ self.terms[rows]
            whole = np.repeat(level.sums[i : i + 1], len(sides), axis=0)
            total = np.full(len(sides), level.weight[i])
            found = self._gain(left, wl, whole, total)
            at = 1 if problem.classes else 0
            low, high = self._mean(left, wl, at), self._mean(whole - left, total - wl, at)
        if rules.monotone:
            if self.absolute:
                low = np.array([_median(problem.Y[rows[s], 0], w[s]) for s in sides])
                high = np.array([_median(problem.Y[rows[~s], 0], w[~s]) for s in sides])
            keep = _monotone(low, high, np.repeat(bounds[node][None], len(sides), axis=0), rules.monotone[j])
            found = found[keep]
        return float(np.max(found, initial=-np.inf))

    def _orders(self) -> list[int]:
        """By which sums levels are put in order."""
        classes = self.problem.classes
        if self.absolute:
            return [0]
        if classes:
            return [1] if sum(classes) == 2 else list(range(sum(classes)))
        return list(range(self.problem.Y.shape[1]))

    def _pass_bounds(self, level: _Level, inner: Whole, left: NDArray[np.bool_], bounds: Matrix) -> None:
        """What monotone columns allow the children."""
        grown, rules = self.grown, self.problem.rules
        value = self.nodes.value[:, 1 if self.problem.classes else 0]
        for i in inner:
            node = int(level.nodes[i])
            a, b, sign = (
                int(grown.left[node]),
                int(grown.right[node]),
                rules.monotone[int(grown.feature[node])],
            )
            bounds[a] = bounds[b] = bounds[node]
            if sign:
                middle = (value[a] + value[b]) / 2.0
                low, high = (a, b) if sign > 0 else (b, a)
                bounds[low, 1] = bounds[high, 0] = middle
                if value[low] > value[high]:
                    self._worse("gain missed", np.inf)


def _median(y: Vector, w: Vector) -> float:
    return float(medians(y[:, None], w, np.arange(len(y)), np.array([0, len(y)]))[0][0, 0])


def _monotone(low: Vector, high: Vector, bounds: Matrix, sign: int) -> NDArray[np.bool_]:
    slack = 1e-12 * (1.0 + np.abs(low) + np.abs(high))  # what is allowed but for rounding is not held against
    inside = (np.minimum(low, high) >= bounds[:, 0] + slack) & (np.maximum(low, high) <= bounds[:, 1] - slack)
    return np.asarray(inside & (sign * (high - low) >= (slack if sign else 0.0)))
