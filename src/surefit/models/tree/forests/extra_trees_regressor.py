"""Predict numbers by the mean of many trees whose thresholds are drawn at random."""

from __future__ import annotations

from typing import Literal

from surefit.core.parameters import Count, NonNegative, RandomState, Strength
from surefit.data.door import Accepts
from surefit.models.candidate import Candidate
from surefit.models.tree.forests.numbers import NumberForest
from surefit.models.tree.nodes.criteria import NUMBER_CRITERIA
from surefit.models.tree.nodes.forest_arrays import (
    Bootstrap,
    ForestMissing,
    ForestParameters,
    OutOfBag,
    RowsDrawn,
)
from surefit.models.tree.nodes.parameters import (
    Categories,
    ColumnsLookedAt,
    Depth,
    LeafRows,
    LeafWeight,
    Leaves,
    Monotone,
    SplitRows,
)


class ExtraTreesRegressor(NumberForest):
    r"""Grow trees from all rows; a split is the best of thresholds drawn for some columns.

    Parameters are those of :class:`~surefit.RandomForestRegressor`, the certificate that of
    :class:`~surefit.ExtraTreesClassifier`.

    >>> from surefit import ExtraTreesRegressor
    >>> model = ExtraTreesRegressor(20, random_state=0).fit([[1], [2], [3], [4]], [1.0, 1.0, 5.0, 5.0])
    >>> model.predict([[1.0], [4.0]]).tolist()
    [1.0, 5.0]
    """

    accepts = Accepts(target="number", several_targets=True, missing=True, tables=True)
    learns = ForestParameters
    kernel_criteria = NUMBER_CRITERIA
    candidate = Candidate("Extremely random trees", 51, "tree", {"random_state": 0}, most_rows=1_000_000)
    splitter = "random"

    def __init__(
        self,
        n_estimators: Count = 100,
        *,
        criterion: Literal["squared_error", "friedman_mse", "absolute_error", "poisson"] = "squared_error",
        max_depth: Depth = None,
        min_samples_split: SplitRows = 2,
        min_samples_leaf: LeafRows = 1,
        min_weight_fraction_leaf: LeafWeight = 0.0,
        max_features: ColumnsLookedAt = 1.0,
        max_leaf_nodes: Leaves = None,
        min_impurity_decrease: NonNegative = 0.0,
        bootstrap: Bootstrap = False,
        oob_score: OutOfBag = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: Strength = 0.0,
        max_samples: RowsDrawn = None,
        monotonic_cst: Monotone = None,
        categorical_features: Categories = "from_dtype",
        missing: ForestMissing = "learned",
        settled: NonNegative = 0.0,
        keep_members: bool = False,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.missing = missing
        self.settled = settled
        self.keep_members = keep_members
