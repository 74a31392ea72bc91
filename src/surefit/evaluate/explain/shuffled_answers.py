"""Answers to shuffled columns: from coefficients or trees, without asking the model again; else by asking."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier

from surefit.core.arrays import Matrix
from surefit.core.native.trees.forest_grow import MISSING_LEFT
from surefit.core.native.trees.tree_apply import Splits
from surefit.core.native.trees.tree_shuffle import tree_shuffle
from surefit.evaluate.rows.column_changes import shuffled
from surefit.models.tree.forests.base import Forest, forest_nodes
from surefit.models.tree.trees.base import SURROGATE_MODES, DecisionTree, fitted_nodes

CELLS = 20_000_000  # numbers of changed answers held at a time


def numbers_of(X: Any) -> NDArray[Any] | None:
    """A table of numbers in memory, from an array or a frame of pandas'; None for anything else."""
    if hasattr(X, "iloc") and all(getattr(kind, "kind", "O") in "biuf" for kind in X.dtypes):
        X = X.to_numpy()
    return X if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf" else None


def trees_of(model: Any) -> list[tuple[Any, Matrix]] | None:
    """The trees of a forest, ours or scikit-learn's, or its one tree, with values a node; None for others."""
    from sklearn.ensemble._forest import ForestClassifier, ForestRegressor
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    if isinstance(model, Forest | DecisionTree):
        return _own_trees(model)
    if isinstance(model, ForestClassifier | ForestRegressor):
        members = model.estimators_
    elif isinstance(model, DecisionTreeClassifier | DecisionTreeRegressor):
        members = [model]
    else:
        return None
    if members[0].n_outputs_ != 1:
        return None
    return [_nodes(member.tree_, member.n_features_in_) for member in members]


def _own_trees(model: Any) -> list[tuple[Any, Matrix]] | None:
    if model.n_outputs_ != 1 or model.levels_ or model.missing in SURROGATE_MODES:
        return None
    every = [fitted_nodes(model)] if isinstance(model, DecisionTree) else forest_nodes(model)
    return [(nodes.grown, np.ascontiguousarray(nodes.value)) for nodes in every]


def _nodes(tree: Any, columns: int) -> tuple[Splits, Matrix]:
    order = _left_first(tree.children_left, tree.children_right)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order))
    leaf = tree.children_left[order] < 0
    feature = tree.feature[order] | np.where(tree.missing_go_to_left[order] != 0, MISSING_LEFT, 0)
    splits = Splits(
        np.where(leaf, -1, feature).astype(np.int32),
        np.ascontiguousarray(tree.threshold[order], dtype=np.float64),
        np.where(leaf, -1, place[tree.children_right[order]]).astype(np.int32),
        np.zeros(0, dtype=np.uint64),
        np.zeros(columns, dtype=np.int64),
    )
    values = np.asarray(tree.value[order, 0, :], dtype=np.float64)
    if tree.max_n_classes > 1 or values.shape[1] > 1:
        values = values / values.sum(axis=1, keepdims=True)
    return splits, np.ascontiguousarray(values)


def _left_first(left: Any, right: Any) -> NDArray[np.int64]:
    """The order of a walk that goes left first, which trees that grew by their best leaf are not in."""
    inner = np.flatnonzero(left >= 0)
    if np.array_equal(left[inner], inner + 1):
        return np.arange(len(left))
    order, waiting = [], [0]
    while waiting:
        at = waiting.pop()
        order.append(at)
        if left[at] >= 0:
            waiting += [int(right[at]), int(left[at])]
    return np.array(order)


def linear_part(model: Any, X: Any, numbers: Any) -> tuple[Any, Matrix, Matrix] | None:
    """Columns, coefficients (outputs, p) and scores (rows, outputs) of a linear model of these columns."""
    coef = getattr(model, "coef_", None)
    if coef is None or getattr(model, "intercept_", None) is None or hasattr(model, "steps"):
        return None
    if numbers is None or numbers.dtype.kind != "f":
        return None
    table = np.atleast_2d(np.asarray(coef.toarray() if sparse.issparse(coef) else coef, dtype=np.float64))
    if table.shape[1] != numbers.shape[1]:
        return None
    method = "decision_function" if is_classifier(model) else "predict"
    if not hasattr(model, method):
        return None
    scores = np.asarray(getattr(model, method)(X), dtype=np.float64).reshape(len(numbers), -1)
    straight = numbers.astype(np.float64, copy=False) @ table.T + np.atleast_1d(model.intercept_)
    if scores.shape != straight.shape or not np.allclose(scores, straight, rtol=1e-6, atol=1e-8):
        return None  # a link, or an offset, that is not linear in the columns
    return numbers, table, scores


def changed_by_trees(
    trees: list[tuple[Any, Matrix]], X: Any, orders: NDArray[np.int64], columns: Any
) -> Iterator[tuple[int, int, Matrix]]:
    """Yield (column, repeat, change of the mean answer), with all columns' shufflings walked at once."""
    # scikit-learn's trees compare single floats; ours the numbers as they are.
    theirs = isinstance(trees[0][0], Splits) or X.dtype == np.float32
    table = np.ascontiguousarray(X, dtype=np.float32 if theirs else np.float64)
    classes = trees[0][1].shape[1]
    width = max(1, classes - 1)  # shares sum to one: the last is what the others leave
    step = max(1, int(CELLS // max(1, table.size * width)))
    for begin in range(0, len(orders), step):
        some = orders[begin : begin + step]
        change = np.zeros((table.shape[1], len(some), len(table), width))
        for nodes, values in trees:
            tree_shuffle(nodes, values[:, :width], table, some, change)
        change /= len(trees)
        for j in columns:
            for r in range(len(some)):
                found = change[j, r]
                last = -found.sum(axis=1, keepdims=True)
                yield int(j), begin + r, found if classes == 1 else np.hstack([found, last])


def changed_by_asking(
    model: Any, methods: Any, X: Any, orders: NDArray[np.int64], columns: Any
) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield (column, repeat, answers by method) from a table with the column shuffled."""
    for j in columns:
        for r, order in enumerate(orders):
            given = shuffled(X, int(j), order)
            yield int(j), r, {name: getattr(model, name)(given) for name in methods}
