"""Trees with models in their leaves, and trees with oblique splits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError
from surefit.core.native.trees.tree_grow import Rules, tree_grow
from surefit.models.linear.squares.ridge import Ridge
from surefit.models.tree.export.conditions import conditions
from surefit.models.tree.export.formats import as_text
from surefit.models.tree.trees.base import fitted_nodes
from surefit.models.tree.trees.regressor import DecisionTreeRegressor


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ModelTree:
    """A regression tree whose leaves hold a model each, by the number of the leaf; names: of the columns."""

    tree: DecisionTreeRegressor
    leaves: dict[int, Any]
    names: tuple[str, ...]

    def to_text(self) -> str:
        """Return the rules, one line a branch, with the linear predictor of each leaf."""
        nodes = fitted_nodes(self.tree)
        splits = conditions(nodes, self.names, self.tree.levels_)

        def says(at: int) -> str:
            model = self.leaves[at]
            if not hasattr(model, "coef_"):
                return repr(model)
            return f"{float(np.ravel(model.intercept_)[0]):.4g}{_mixture(model.coef_, self.names, True)}"

        return as_text(nodes, splits, says)

    def __repr__(self) -> str:
        return f"ModelTree({len(self.leaves)} leaves; to_text() shows them)"

    def predict(self, X: Any) -> Vector:
        """Predict each row by the model of its leaf."""
        X = _numbers(X, "a model tree")
        where, found = self.tree.apply(X), np.empty(len(X))
        for leaf, model in self.leaves.items():
            mine = where == leaf
            if mine.any():
                found[mine] = model.predict(X[mine])
        return found


def model_tree(
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    leaf: Callable[[], Any] = Ridge,
    max_depth: int = 2,
    min_samples_leaf: int = 20,
) -> ModelTree:
    """Fit a tree to the residuals of one model of all rows, and a model in each leaf.

    leaf: makes the models, such as ``Ridge`` or ``PoissonRegressor``. Splits are those after which the
    residuals of one model for all rows, and their products with each column, vary least: a greedy guess at
    where slopes change, which need not be the split with the best models.

    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    >>> y = np.where(X[:, 0] > 0, 3.0, -3.0) * X[:, 1]
    >>> found = model_tree(X, y, max_depth=1)
    >>> int(found.tree.tree_.feature[0]), bool(np.var(y - found.predict(X)) < 0.05 * np.var(y))
    (0, True)
    >>> print(found.to_text().splitlines()[0])
    (200 rows, impurity 3.851)
    """
    names = _names(X)
    X, y = _numbers(X, "a model tree"), _target(y)
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    left_over = y - leaf().fit(X, y, weight).predict(X)
    spread = X.std(axis=0)
    centred = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    scores = np.column_stack([left_over, left_over[:, None] * centred])
    tree = DecisionTreeRegressor(max_depth=max_depth, min_samples_leaf=min_samples_leaf)
    tree.fit(X, scores, weight)
    where = tree.apply(X)
    models = {}
    for number in np.unique(where).tolist():
        mine = where == number
        models[number] = leaf().fit(X[mine], y[mine], None if weight is None else weight[mine])
    return ModelTree(tree, models, names)


def _target(y: Any) -> Vector:
    """Numbers to predict; labels are refused, since leaves hold models of numbers."""
    try:
        return np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            "a model tree needs a numeric target: give numbers as y, or use "
            "oblique_tree(X, y, classify=True) for labels."
        ) from None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ObliqueTree:
    """A tree whose splits ask w'x <= threshold.

    directions: (nodes, columns); left, right: -1 for a leaf; value: the class shares, or the mean, of each.
    """

    directions: Matrix
    threshold: Vector
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    value: Matrix
    classes: NDArray[Any] | None
    names: tuple[str, ...]

    def to_text(self) -> str:
        """Return the rules, one line a branch."""
        lines, stack = [], [(0, 0, "")]
        while stack:
            at, depth, words = stack.pop()
            leaf = self.left[at] < 0
            indent = "|   " * (depth - 1) + "|-- " if depth else ""
            value = self.value[at]
            says = f"{value[0]:.6g}" if self.classes is None else str(self.classes[value.argmax()])
            lines.append(
                f"{indent}{words}{': ' if words else ''}{says if leaf else ''}".rstrip() or "all rows"
            )
            if not leaf:
                mixture, t = _mixture(self.directions[at], self.names), self.threshold[at]
                stack.append((int(self.right[at]), depth + 1, f"{mixture} > {t:.6g}"))
                stack.append((int(self.left[at]), depth + 1, f"{mixture} <= {t:.6g}"))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"ObliqueTree({np.count_nonzero(self.left < 0)} leaves; to_text() shows them)"

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the leaf of each row."""
        X = _numbers(X, "an oblique tree")
        at = np.zeros(len(X), dtype=np.int64)
        while True:
            rows = np.flatnonzero(self.left[at] >= 0)
            if len(rows) == 0:
                return at
            node = at[rows]
            goes = (X[rows] * self.directions[node]).sum(axis=1) <= self.threshold[node]
            at[rows] = np.where(goes, self.left[node], self.right[node])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the majority class, or the mean, of the leaf of each row."""
        found = self.value[self.apply(X)]
        return found[:, 0] if self.classes is None else self.classes[found.argmax(axis=1)]


def oblique_tree(
    X: Any, y: Any, *, classify: bool, max_depth: int = 3, min_samples_leaf: int = 1
) -> ObliqueTree:
    """Grow a tree that splits by a linear combination of columns where that beats every single column.

    At each node the combination is that of ridge regression on the target, or on each class against the
    others; its best threshold competes with those of all columns. Slower and harder to read than a tree of
    single columns.

    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = X[:, 0] + X[:, 1] > 0
    >>> tree = oblique_tree(X, y, classify=True, max_depth=1)
    >>> bool(np.mean(tree.predict(X) == y) > 0.97)
    True
    """
    names = _names(X)
    X, y = _numbers(X, "an oblique tree"), np.asarray(y)
    classes = np.unique(y) if classify else None
    Y = np.searchsorted(classes, y)[:, None] if classes is not None else y.astype(np.float64)[:, None]
    centre = 0.0 if classify else float(Y.mean())
    counts = () if classes is None else (len(classes),)
    made: list[dict[str, Any]] = []
    stack = [(np.arange(len(X)), 0, -1, "")]
    while stack:
        rows, depth, parent, side = stack.pop()
        at = len(made)
        if parent >= 0:
            made[parent][side] = at
        share = (
            np.bincount(Y[rows, 0].astype(np.intp), minlength=counts[0]) / len(rows)
            if counts
            else np.array([float(Y[rows].mean())])
        )
        made.append({"value": share, "w": np.zeros(X.shape[1]), "t": 0.0, "left": -1, "right": -1})
        mixtures = _mixtures(X[rows], Y[rows, 0], counts)
        if depth >= max_depth or len(rows) < 2 * min_samples_leaf or mixtures is None:
            continue
        table = np.ascontiguousarray(np.hstack([X[rows], X[rows] @ mixtures.T]))
        stump = tree_grow(
            table,
            Y[rows] - centre if not counts else Y[rows],
            criterion="gini" if counts else "squared",
            classes=counts,
            rules=Rules(max_depth=1, min_rows_leaf=min_samples_leaf),
        )
        column = int(stump.feature[0])
        if column < 0:
            continue
        made[at]["w"] = np.eye(X.shape[1])[column] if column < X.shape[1] else mixtures[column - X.shape[1]]
        made[at]["t"] = float(stump.threshold[0])
        left = table[:, column] <= made[at]["t"]
        stack += [(rows[~left], depth + 1, at, "right"), (rows[left], depth + 1, at, "left")]
    return ObliqueTree(
        np.array([node["w"] for node in made]),
        np.array([node["t"] for node in made]),
        np.array([node["left"] for node in made]),
        np.array([node["right"] for node in made]),
        np.array([node["value"] for node in made]),
        classes,
        names,
    )


def _names(X: Any) -> tuple[str, ...]:
    columns = getattr(X, "columns", None)
    return tuple(f"x{j}" for j in range(np.shape(X)[1])) if columns is None else tuple(map(str, columns))


def _numbers(X: Any, who: str) -> Matrix:
    """Rows as finite numbers."""
    try:
        found = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.full((1, 1), np.nan)
    if found.ndim != 2 or not np.isfinite(found).all():
        raise DataError(f"{who} needs finite numbers: impute missing values and encode categories.")
    return found


def _mixture(weights: Vector, names: tuple[str, ...], goes_on: bool = False) -> str:
    """A sum of columns; ``goes_on`` begins it with a sign."""
    terms = [(float(w), name) for w, name in zip(np.ravel(weights), names, strict=True) if w != 0]
    if not goes_on and len(terms) == 1 and terms[0][0] == 1.0:
        return terms[0][1]
    words = "".join(f" {'-' if w < 0 else '+'} {abs(w):.4g} {name}" for w, name in terms)
    return words if goes_on else words.removeprefix(" + ").removeprefix(" ")


def _mixtures(X: Matrix, y: NDArray[Any], counts: tuple[int, ...]) -> Matrix | None:
    """Directions in which the target changes; None where it does not."""
    present = np.unique(y)
    if len(present) < 2:
        return None
    spread = X.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    Z = (X - X.mean(axis=0)) / scale
    targets = (y[:, None] == present[:-1] if counts else y[:, None]).astype(np.float64)
    gram = Z.T @ Z + (1e-3 * len(Z) + 1e-12) * np.eye(Z.shape[1])
    return np.asarray((np.linalg.solve(gram, Z.T @ (targets - targets.mean(axis=0))) / scale[:, None]).T)
