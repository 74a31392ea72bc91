"""Growing the trees of a forest, each from a sample of the rows.

A tree depends on its seed alone. Numbers of one output and classes of one output are searched by bins in
large nodes and by every value in small ones; everything else goes through the exact search of one tree.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.config import threads
from surefit.core.native import compiled
from surefit.core.native.inputs import row_weights
from surefit.core.native.trees.forest_columns import ForestColumns
from surefit.core.native.trees.forest_draws import forest_draws
from surefit.core.native.trees.tree_grow import CRITERIA, Grown, Rules

NODE = np.dtype([("threshold", np.float64), ("feature", np.int32), ("child", np.int32)])
MISSING_LEFT = 1 << 30
Trees = TypeVar("Trees", bound=Any)


@dataclass(frozen=True, slots=True, eq=False)
class ForestArrays:
    """The splits of trees one after the other; those of tree t begin at entry t of each ``*_start``.

    nodes: (nodes, 2), 16 bytes each, as ``NODE`` reads them: a leaf has a feature below 0 and its number as
    child; others have their left child there, the right one beside it, and MISSING_LEFT in the feature where
    missing values go left. importance: (trees, columns), by how much their splits lower weight times
    impurity.
    """

    nodes: NDArray[np.uint64]
    node_start: NDArray[np.int64]
    leaf_start: NDArray[np.int64]
    importance: Matrix
    level_bits: NDArray[np.uint64]
    level_start: NDArray[np.int64]

    @property
    def trees(self) -> int:
        """How many trees there are."""
        return len(self.node_start) - 1


@dataclass(frozen=True, slots=True, eq=False)
class GrownForest(ForestArrays):
    """Trees as they were grown; their leaves have feature -1.

    value: (leaves, width), the weight of each class or the prediction of each output. inner: (nodes, 1 +
    outputs), impurity and value of all nodes, where leaves do not tell them (absolute errors); else empty.
    """

    value: Vector
    weight: Vector
    impurity: Vector
    rows: NDArray[np.int64]
    inner: Vector


def leaf_numbers(forest: ForestArrays) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The places of leaves among the nodes of all trees, and the number of each among all leaves.

    >>> X = np.array([[0.0], [1.0]])
    >>> grown = forest_grow(X, X, np.array([7, 8], dtype=np.uint64), criterion="squared")
    >>> [found.tolist() for found in leaf_numbers(grown)]
    [[1, 2, 4, 5], [0, 1, 2, 3]]
    """
    nodes = forest.nodes.view(NODE).reshape(-1)
    at = np.flatnonzero(nodes["feature"] < 0)
    tree = np.searchsorted(forest.node_start, at, side="right") - 1
    return at, forest.leaf_start[tree] + nodes["child"][at]


@dataclass(frozen=True, slots=True)
class Sample:
    """How the sample of each tree comes about.

    draws: how many rows are drawn with replacement, in proportion to weights with the running sums
    ``cumulative``; 0 takes every row, with its ``weight``. balanced: classes count alike in each sample.
    """

    draws: int = 0
    cumulative: Vector | None = None
    weight: Vector | None = None
    balanced: bool = False


def forest_grow(
    X: NDArray[Any], Y: NDArray[Any], seeds: NDArray[np.uint64], sample: Sample | None = None, **given: Any
) -> GrownForest:
    """Grow a tree for each seed, as ``grown_trees`` does, and join them.

    >>> X, Y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([[0], [0], [1], [1]])
    >>> grown = forest_grow(X, Y, np.array([7, 8], dtype=np.uint64), criterion="gini", classes=(2,))
    >>> grown.trees, grown.value.tolist()
    (2, [[2.0, 0.0], [0.0, 2.0], [2.0, 0.0], [0.0, 2.0]])
    """
    return joined(grown_trees(X, Y, seeds, sample, **given))


def grown_trees(
    X: NDArray[Any],
    Y: NDArray[Any],
    seeds: NDArray[np.uint64],
    sample: Sample | None = None,
    *,
    criterion: str,
    classes: tuple[int, ...] = (),
    levels: Any = None,
    rules: Rules | None = None,
    columns: ForestColumns | None = None,
    quick: bool = False,
    small: bool = False,
    _threads: int | None = None,
) -> list[GrownForest]:
    """Grow a tree for each seed; ``columns`` of X, where given, are searched by bins in large nodes.

    quick: draw thresholds of numbers without sorting them, for one output of classes or by squares. small: X
    is a small node of a larger tree, in which every value is looked at.
    """
    sample = Sample() if sample is None else sample
    rules = Rules() if rules is None else rules
    levels = np.zeros(X.shape[1], dtype=np.int64) if levels is None else np.asarray(levels, dtype=np.int64)
    native = compiled()
    if native is None:
        return grown_trees_twin(
            X, Y, seeds, sample, criterion=criterion, classes=classes, levels=levels, rules=rules
        )
    y = np.ascontiguousarray(Y, dtype=np.int32 if classes else np.float64).ravel()
    grow_by_sorting = native.forest_grow_classes if classes else native.forest_grow_numbers
    empty = np.empty(0)
    found = grow_by_sorting(
        X,
        columns is not None or quick,
        small,
        None if columns is None or columns.rank is None else columns.rank.reshape(-1, order="A"),
        None if columns is None or columns.ascending is None else columns.ascending.reshape(-1),
        np.empty(0, dtype=np.uint8) if columns is None else columns.bins.reshape(-1, order="A"),
        empty if columns is None else columns.lowest.reshape(-1),
        empty if columns is None else columns.highest.reshape(-1),
        columns is not None and columns.by_column,
        y,
        Y.shape[1],
        row_weights(sample.weight),
        row_weights(sample.cumulative),
        sample.draws,
        sample.balanced,
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
        np.ascontiguousarray(seeds, dtype=np.uint64),
        threads() if _threads is None else _threads,
    )
    return [_tree(parts, Y.shape[1]) for parts in found]


def _tree(parts: tuple[Any, ...], outputs: int) -> GrownForest:
    nodes, value, weight, impurity, rows, importance, bits, inner = parts
    return GrownForest(
        nodes,
        _starts([len(nodes)]),
        _starts([len(weight)]),
        importance.reshape(1, -1),
        bits,
        _starts([len(bits)]),
        value.reshape(len(weight), -1),
        weight,
        impurity,
        rows,
        inner.reshape(-1, 1 + outputs),
    )


def _starts(counts: Any) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def joined(blocks: list[Trees]) -> Trees:
    """The trees of several forests as one; ``*_start`` say where those of each begin.

    >>> X = np.array([[0.0], [1.0]])
    >>> one = forest_grow(X, X, np.array([7], dtype=np.uint64), criterion="squared")
    >>> joined([one, one]).node_start.tolist()
    [0, 3, 6]
    """
    if len(blocks) == 1:
        return blocks[0]

    def of(name: str) -> Any:
        parts = [getattr(block, name) for block in blocks]
        return (
            _starts(np.concatenate([np.diff(part) for part in parts]))
            if "_start" in name
            else np.concatenate(parts)
        )

    return replace(blocks[0], **{entry.name: of(entry.name) for entry in fields(blocks[0])})


def sample_weights(sample: Sample, rows: int, seed: int, Y: NDArray[Any], classes: tuple[int, ...]) -> Vector:
    """The weight of each row in the sample of a tree.

    >>> sample_weights(Sample(), 3, 0, np.zeros((3, 1)), ())
    array([1., 1., 1.])
    """
    if sample.draws:
        weight = forest_draws(seed, sample.draws, rows, sample.cumulative).astype(np.float64)
    else:
        weight = np.ones(rows) if sample.weight is None else np.array(sample.weight, dtype=np.float64)
    if sample.balanced:
        drawn, total = weight.copy(), float(weight.sum())
        for o, count in enumerate(classes):
            held = np.bincount(Y[:, o].astype(np.intp), drawn, count)
            each = total / np.count_nonzero(held)
            factor = np.divide(each, held, out=np.zeros(count), where=held > 0)
            weight *= factor[Y[:, o].astype(np.intp)]
    return weight


def forest_grow_twin(
    X: NDArray[Any], Y: NDArray[Any], seeds: NDArray[np.uint64], sample: Sample, **given: Any
) -> GrownForest:
    """Do the same by exact search throughout."""
    return joined(grown_trees_twin(X, Y, seeds, sample, **given))


def grown_trees_twin(
    X: NDArray[Any],
    Y: NDArray[Any],
    seeds: NDArray[np.uint64],
    sample: Sample,
    *,
    criterion: str,
    classes: tuple[int, ...],
    levels: NDArray[np.int64],
    rules: Rules,
) -> list[GrownForest]:
    """Do the same by exact search throughout, tree by tree."""
    from surefit.core.native.trees.tree_grow import grow_by_sorting

    found = []
    for seed in seeds.tolist():
        weight = sample_weights(sample, len(X), seed, Y, classes)
        own = replace(rules, seed=seed)
        found.append(
            packed(grow_by_sorting(X, Y, weight, criterion, classes, levels, own), Y.shape[1], criterion)
        )
    return found


def packed(tree: Grown, outputs: int, criterion: str) -> GrownForest:
    """One tree as a forest keeps it: both children side by side.

    >>> from surefit.core.native.trees.tree_grow import tree_grow
    >>> X = np.array([[0.0], [1.0]])
    >>> packed(tree_grow(X, X, criterion="squared"), 1, "squared").value.ravel()
    array([0., 1.])
    """
    numbers = CRITERIA.index(criterion) >= CRITERIA.index("squared")
    value = tree.sums[:, :outputs] / tree.weight[:, None] if numbers else tree.sums
    nodes = np.zeros(len(tree.feature), dtype=NODE)
    place = np.zeros(len(nodes), dtype=np.int64)
    leaves: list[int] = []
    importance = np.zeros(len(tree.levels))
    stack, used = [0], 1
    while stack:
        at = stack.pop()
        if tree.feature[at] < 0:
            nodes[place[at]] = (0.0, -1, len(leaves))
            leaves.append(at)
            continue
        left, right = int(tree.left[at]), int(tree.right[at])
        cost = tree.weight * tree.impurity
        importance[tree.feature[at]] += max(0.0, cost[at] - cost[left] - cost[right])
        feature = int(tree.feature[at]) | (MISSING_LEFT if tree.missing_left[at] else 0)
        nodes[place[at]] = (tree.threshold[at], feature, used)
        place[left], place[right] = used, used + 1
        used += 2
        stack += [right, left]
    inner = np.empty((0, 1 + outputs))
    if criterion == "absolute":
        inner = np.empty((len(nodes), 1 + outputs))
        inner[place] = np.column_stack([tree.impurity, value])
    return GrownForest(
        nodes.view(np.uint64).reshape(-1, 2),
        np.array([0, len(nodes)]),
        np.array([0, len(leaves)]),
        importance[None, :],
        tree.left_levels,
        np.array([0, len(tree.left_levels)]),
        value[leaves],
        tree.weight[leaves],
        tree.impurity[leaves],
        tree.rows[leaves],
        inner,
    )
