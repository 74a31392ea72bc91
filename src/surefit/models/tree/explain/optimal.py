"""How far a greedy tree of depth two is from the best one, found by looking at all of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import RefusalError
from surefit.core.native.trees.count_distance import count_distance
from surefit.models.tree.nodes.criteria import impurity, terms
from surefit.models.tree.targets.base import fitted_rows
from surefit.models.tree.trees.base import fitted_nodes

_KEPT = ("criterion", "class_weight")
MOST_CELLS = 4e9  # looked at: cuts of the root, times the cells that each looks at


@dataclass(frozen=True, slots=True)
class DepthTwo:
    """The mean cost of rows in the leaves of the greedy tree and of the best one, both of depth two.

    root: column and threshold of the best tree's first split; None where no split helps.
    """

    greedy: float
    optimal: float
    root: tuple[int, float] | None

    @property
    def gap(self) -> float:
        """By how much the greedy tree costs more."""
        return max(self.greedy - self.optimal, 0.0)


def depth_two_gap(model: Any, X: Any, y: Any, sample_weight: Any = None) -> DepthTwo:
    """Compare the greedy tree of depth two, by the model's criterion, with the best of all such trees.

    Only the criterion counts: rules that stop a tree are left out. Columns must be numeric and complete.

    >>> from surefit import DecisionTreeClassifier
    >>> X, y = [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 1]], [0, 1, 1, 0]
    >>> depth_two_gap(DecisionTreeClassifier(), X, y).gap  # the third column looks better at first
    0.25
    """
    plain = clone(model).set_params(
        **{name: value for name, value in type(model)().get_params().items() if name not in _KEPT}
    )
    plain.set_params(max_depth=2)
    greedy = plain.fit(X, y, sample_weight)
    rows = fitted_rows(greedy, X, y, sample_weight)
    table = np.asarray(rows.X, dtype=np.float64)
    if greedy.levels_ or np.isnan(table).any() or model.criterion == "absolute_error":
        raise RefusalError(
            "the optimal tree of depth two needs numeric columns without missing values, and does not "
            "support absolute_error: impute missing values and encode categories first."
        )
    cuts = sum(len(np.unique(column)) - 1 for column in table.T)
    if cuts * table.size > MOST_CELLS:
        raise RefusalError(
            f"{cuts} first splits of {table.size} cells are too many to search: give fewer rows."
        )
    target = rows.target
    w = np.ones(len(table)) if rows.weight is None else rows.weight
    kind = greedy.kernel_criteria[greedy.criterion]
    search = _Search(table, target.Y, w, kind, target.classes)
    best, root = search.run()
    nodes = fitted_nodes(greedy)
    leaf = ~nodes.inner
    scale = target.factor**target.power
    cost = float((nodes.grown.impurity * nodes.grown.weight)[leaf].sum() / nodes.grown.weight[0])
    return DepthTwo(cost, float(best / w.sum() / scale), root)


class _Search:
    def __init__(self, X: Matrix, Y: NDArray[Any], w: Vector, kind: str, classes: tuple[int, ...]) -> None:
        self.X, self.kind, self.classes = X, kind, classes
        self.about = np.average(Y, axis=0, weights=w) if kind == "poisson" else np.zeros(0)
        if kind == "poisson":
            each = np.hstack([Y, count_distance(Y - self.about, self.about)]) * w[:, None]
        else:
            each = terms(Y, w, kind, classes)
        self.order = np.argsort(X, axis=0, kind="stable")
        ranked = np.take_along_axis(X, self.order, axis=0)
        self.cut = ranked[1:] != ranked[:-1]  # (n - 1, d)
        self.sorted_each = each[self.order]  # (n, d, width)
        self.sorted_w = w[self.order]

    def run(self) -> tuple[float, tuple[int, float] | None]:
        """The least cost of all, and the first split that has it."""
        everyone = np.ones(len(self.X), dtype=bool)
        best, root = self._stump(everyone), None
        for j in range(self.X.shape[1]):
            values = np.unique(self.X[:, j])
            for low, high in pairwise(values):
                left = self.X[:, j] <= low
                cost = self._stump(left)
                if cost < best:
                    cost += self._stump(~left)
                if cost < best - 1e-12 * abs(best):
                    best, root = cost, (j, float(low / 2 + high / 2))
        return best, root

    def _stump(self, rows: NDArray[np.bool_]) -> float:
        """The least cost of some rows after at most one split."""
        inside = rows[self.order]
        weight = np.cumsum(self.sorted_w * inside, axis=0)
        sums = np.cumsum(self.sorted_each * inside[:, :, None], axis=0)
        total, whole_sums = weight[-1, 0], sums[-1, 0]
        least = float(self._costs(whole_sums[None], np.array([total]))[0])
        wl, left = weight[:-1][self.cut], sums[:-1][self.cut]
        useful = (wl > 0) & (wl < total)
        wl, left = wl[useful], left[useful]
        if len(wl) == 0:
            return least
        cost = self._costs(left, wl) + self._costs(whole_sums - left, total - wl)
        return min(least, float(cost.min()))

    def _costs(self, sums: Matrix, weight: Vector) -> Vector:
        """Impurities times weights; those of counts are the distances from their own mean."""
        if self.kind != "poisson":
            return weight * impurity(sums, weight, self.kind, self.classes)
        first, second = np.split(sums, 2, axis=1)
        own = count_distance(first / weight[:, None] - self.about, self.about)
        return np.asarray((second - weight[:, None] * own).mean(axis=1))
