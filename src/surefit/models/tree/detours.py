"""Trees whose rows take detours where a value is missing, as arrays: grown, sent down and proved."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from surefit.core.native.tree_grow import Grown
from surefit.models.tree.criteria import gain, terms
from surefit.models.tree.medians import absolute_gains
from surefit.models.tree.nodes import Nodes
from surefit.models.tree.proof import DEVIATION, Problem
from surefit.models.tree.surrogate_arrays import Surrogates
from surefit.models.tree.surrogates import SurrogateGrower, SurrogateNode, Way, parted
from surefit.models.tree.ways import between, level_ways, number_ways

Floats = NDArray[np.float64]


def grow_with_detours(
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

    def where(way: Way) -> float:
        if way.levels is None:
            return way.threshold
        start = len(bits)
        own = way.levels
        bits.extend(sum(1 << (level % 64) for level in own if level // 64 == k) for k in range(words))
        return float(start)

    main = np.array([0.0 if node.way is None else where(node.way) for node in found])
    others = [(i, way) for i, node in enumerate(found) for way in node.surrogates]
    surrogates = Surrogates(
        np.array([i for i, _ in others], dtype=np.int32),
        np.array([way.column for _, way in others], dtype=np.int32),
        np.array([where(way) for _, way in others], dtype=np.float64),
        np.array([way.turned for _, way in others], dtype=np.uint8),
        np.array([way.agreement for _, way in others], dtype=np.float64),
    )
    value = np.array([node.value for node in found])
    grown = Grown(
        np.array([-1 if node.way is None else node.way.column for node in found], dtype=np.int32),
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
    listed: dict[int, list[Way]] = {}

    def way(column: int, threshold: float, turned: bool = False, agreement: float = 1.0) -> Way:
        if grown.levels[column] == 0:
            return Way(column, threshold, None, turned, agreement)
        own = tuple(nodes.levels_at(int(threshold), column).tolist())
        return Way(column, 0.0, own, turned, agreement)

    for at, *told in zip(
        *(each.tolist() for each in (own.node, own.column, own.threshold, own.turned, own.agreement)),
        strict=True,
    ):
        listed.setdefault(at, []).append(way(told[0], told[1], bool(told[2]), told[3]))
    found = []
    for i in range(nodes.node_count):
        main = way(int(grown.feature[i]), float(grown.threshold[i])) if grown.feature[i] >= 0 else None
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
    weights: list[Floats] = []
    stack = [(0, np.arange(len(X)), np.ones(len(X)))]
    while stack:
        i, mine, weight = stack.pop()
        node = found[i]
        if node.way is None:
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


def prove_detours(
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
        if absolute or node.way is None:  # what inner nodes say is added up from leaves, unless a median
            worse("value", float((np.abs(own.value - node.value) - problem.grain).max()) / scale)
            digits = DEVIATION * own.impurity if absolute else 0.0
            worse("value", (abs(own.impurity - node.impurity) - digits) * node.weight / root)
        if node.way is None:
            continue
        stored, best = _gains(problem, nodes.grown.levels, X[mine], problem.Y[mine], weight, node.way)
        worse("gain missed", (best - stored) / root)
        has = ~np.isnan(X[mine, node.way.column])
        goes = node.way.goes_left(X[mine][has])
        share = float(weight[has][goes].sum() / weight[has].sum())
        worse("threshold moved", abs((share if fractional else share > 0.5) - node.share_left))
        x = X[mine, node.way.column][has]
        if node.way.levels is None and goes.any() and not goes.all():
            low, high = float(x[goes].max()), float(x[~goes].min())
            worse("threshold moved", abs(node.way.threshold - between(low, high)) / (high - low))
        for other in node.surrogates:
            both = has.copy()
            both &= ~np.isnan(X[mine, other.column])
            same = other.goes_left(X[mine][both]) == node.way.goes_left(X[mine][both])
            worse(
                "threshold moved", abs(float(weight[both][same].sum() / weight[both].sum()) - other.agreement)
            )
        for child, (side, part) in zip(
            (node.left, node.right), parted(node, X[mine], weight, fractional), strict=True
        ):
            stack.append((child, mine[side], part))
    return parts


def _gains(
    problem: Problem, levels: NDArray[np.int64], X: Floats, Y: NDArray[Any], weight: Floats, way: Way
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
        ways = level_ways(x, each, own, orders) if levels[j] > 0 else number_ways(x)
        if j == way.column:
            ways = np.vstack([way.goes_left(X[has]), ways])
        if problem.criterion == "absolute":
            found = absolute_gains(y, own, ways) * own.sum()
        else:
            total = np.full(len(ways), own.sum())
            whole = np.repeat(each.sum(axis=0)[None], len(ways), axis=0)
            found = gain(ways @ each, ways @ own, whole, total, kind, problem.classes, mean) * own.sum()
        best = max(best, float(found.max()))
        if j == way.column:
            stored = float(found[0])
    return stored, best
