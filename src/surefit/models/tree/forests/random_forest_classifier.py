"""Classify by the mean of many trees, each grown from a sample of rows and columns."""

from __future__ import annotations

from typing import Literal

from surefit.core.parameters import Count, NonNegative, RandomState, Strength
from surefit.data.door import Accepts
from surefit.models.candidate import Candidate
from surefit.models.tree.forests.classes import ClassForest
from surefit.models.tree.nodes.criteria import CLASS_CRITERIA
from surefit.models.tree.nodes.forest_arrays import (
    Bootstrap,
    ClassForestParameters,
    ForestClassWeights,
    ForestMissing,
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


class RandomForestClassifier(ClassForest):
    r"""Grow trees from bootstraps of the rows, each split the best of some columns, and average them.

    .. math:: p(c \mid x) = \frac{1}{B} \sum_b p_b(c \mid x)

    Large nodes are searched by 255 bins a column, small ones by every value. Rows are drawn in
    proportion to their weights; ``bootstrap="poisson"`` draws each by its number, as a table larger than
    memory is drawn from, and grows the same trees. categorical_features, missing: as
    :class:`~surefit.DecisionTreeClassifier` has them. settled: stop once the loss of rows out of bag has
    changed by no more than this share of itself over thirty trees. keep_members: keep the training rows of
    each leaf.

    The certificate is the share of wrong classes among rows out of bag, with its standard error;
    ``averaged_error`` says what more trees would bring.

    >>> from surefit import RandomForestClassifier
    >>> X, y = [[1], [2], [3], [4]], ["no", "no", "yes", "yes"]
    >>> model = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> model.predict([[1.0], [4.0]]).tolist(), model.certificate_.claim
    (['no', 'yes'], 'estimated')
    """

    accepts = Accepts(target="class", several_targets=True, missing=True, tables=True)
    learns = ClassForestParameters
    kernel_criteria = CLASS_CRITERIA
    candidate = Candidate("Random forest", 50, "tree", {"random_state": 0}, most_rows=1_000_000)

    def __init__(
        self,
        n_estimators: Count = 100,
        *,
        criterion: Literal[
            "gini",
            "entropy",
            "log_loss",
            "information_gain",
            "gain_ratio",
            "chi_squared",
            "misclassification",
        ] = "gini",
        max_depth: Depth = None,
        min_samples_split: SplitRows = 2,
        min_samples_leaf: LeafRows = 1,
        min_weight_fraction_leaf: LeafWeight = 0.0,
        max_features: ColumnsLookedAt = "sqrt",
        max_leaf_nodes: Leaves = None,
        min_impurity_decrease: NonNegative = 0.0,
        bootstrap: Bootstrap = True,
        oob_score: OutOfBag = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: ForestClassWeights = None,
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
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.missing = missing
        self.settled = settled
        self.keep_members = keep_members
