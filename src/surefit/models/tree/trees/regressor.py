"""Predict numbers by a decision tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from sklearn.base import RegressorMixin

from surefit.core.arrays import Vector
from surefit.core.parameters import NonNegative, RandomState, Strength
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.models.candidate import Candidate
from surefit.models.tree.nodes.criteria import NUMBER_CRITERIA
from surefit.models.tree.nodes.parameters import (
    Categories,
    ColumnsLookedAt,
    Depth,
    LeafRows,
    LeafWeight,
    Leaves,
    Missing,
    Monotone,
    SplitRows,
    SplitSearch,
    TreeParameters,
)
from surefit.models.tree.targets.numbers import NumberTargets
from surefit.models.tree.trees.post_pruning import PrunableTree


class DecisionTreeRegressor(NumberTargets, RegressorMixin, PrunableTree):
    r"""Split the rows recursively, each time where the target varies least.

    A node costs the mean of :math:`(y - \bar y)^2`, of :math:`|y - \mathrm{med}|` (absolute_error) or half
    the Poisson deviance :math:`y \log(y / \bar y)`, and predicts that mean or median. Parameters beside
    scikit-learn's are those of :class:`~surefit.DecisionTreeClassifier`; friedman_mse is another name of
    squared_error, as there.

    The certificate says that every stored split is the best of its node.

    >>> from surefit import DecisionTreeRegressor
    >>> model = DecisionTreeRegressor().fit([[1], [2], [3], [4]], [1.0, 1.0, 5.0, 5.0])
    >>> model.predict([[2.4], [2.6]]).tolist(), model.tree_.threshold[0].item()
    ([1.0, 5.0], 2.5)
    """

    accepts = Accepts(target="number", several_targets=True, missing=True, tables=True)
    learns = TreeParameters
    kernel_criteria = NUMBER_CRITERIA
    candidate = Candidate(
        "Decision tree",
        20,
        "tree",
        {"min_samples_leaf": 5, "random_state": 0},
        {"max_leaf_nodes": (4, 8, 16, 32)},
        most_rows=500_000,
    )

    def __init__(
        self,
        *,
        criterion: Literal["squared_error", "friedman_mse", "absolute_error", "poisson"] = "squared_error",
        splitter: Literal["best", "random"] = "best",
        max_depth: Depth = None,
        min_samples_split: SplitRows = 2,
        min_samples_leaf: LeafRows = 1,
        min_weight_fraction_leaf: LeafWeight = 0.0,
        max_features: ColumnsLookedAt = None,
        random_state: RandomState = None,
        max_leaf_nodes: Leaves = None,
        min_impurity_decrease: NonNegative = 0.0,
        ccp_alpha: Strength = 0.0,
        monotonic_cst: Monotone = None,
        categorical_features: Categories = "from_dtype",
        missing: Missing = "learned",
        min_impurity: NonNegative = 0.0,
        min_gain: NonNegative = 0.0,
        split_search: SplitSearch = "auto",
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.missing = missing
        self.min_impurity = min_impurity
        self.min_gain = min_gain
        self.split_search = split_search

    def _parameters(self, common: TreeParameters, schema: Schema) -> TreeParameters:
        return common

    def predict(self, X: Any, check_input: bool = True, *, to: str | Path | None = None) -> Vector:
        """Return the prediction of the leaf of each row, or write it ``to`` a file."""
        several = getattr(self, "n_outputs_", 1)
        names = ["prediction"] if several == 1 else [f"prediction{o}" for o in range(several)]
        return self._answer(self._predict, X, to, names)

    def _answer_of(self, value: Vector) -> Any:
        found = value.tolist()
        return found[0] if len(found) == 1 else found

    def _predict(self, X: Any) -> Vector:
        found = self._values(X)
        return found[:, 0] if self.n_outputs_ == 1 else found
