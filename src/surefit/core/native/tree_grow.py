"""Growing one decision tree: every threshold of every column, in every node.

Columns hold numbers, or codes of levels (0, 1, ...); NaN is missing. Of equal splits the first column wins,
then the lower threshold, then the one that sends missing values right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.config import threads
from surefit.core.native import compiled
from surefit.core.native.inputs import row_weights

Floats = NDArray[np.float64]

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
    threshold: Floats
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    missing_left: NDArray[np.uint8]
    impurity: Floats
    weight: Floats
    rows: NDArray[np.int64]
    sums: Floats
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
    grow = native.tree_grow_classes if classes else native.tree_grow_numbers
    outputs = Y.shape[1]
    y = np.ascontiguousarray(Y, dtype=np.int32 if classes else np.float64).ravel()
    found = grow(
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
    weight: Floats | None,
    *,
    criterion: str,
    classes: tuple[int, ...],
    levels: NDArray[np.int64],
    rules: Rules,
) -> Grown:
    """Do the same with one sort a column and node."""
    from surefit.core.native.tree_grow_twin import grow

    return grow(X, Y, weight, criterion, classes, levels, rules)
