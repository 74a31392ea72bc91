"""Classify by a decision tree."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from surefit.core.arrays import Vector
from surefit.core.parameters import NonNegative, RandomState, Strength
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.models.candidate import Candidate
from surefit.models.tree.nodes.criteria import CLASS_CRITERIA
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
from surefit.models.tree.targets.classes import ClassTargets
from surefit.models.tree.trees.post_pruning import PrunableTree

ClassWeights = Literal["balanced"] | dict[Any, Any] | list[Any] | None


@dataclass(frozen=True, slots=True)
class ClassTreeParameters(TreeParameters):
    """The same, and the labels: one array, or a list of one for each output."""

    classes: Any


class DecisionTreeClassifier(ClassTargets, ClassifierMixin, PrunableTree):
    r"""Split the rows recursively, each time where the classes become purest.

    A node with class shares :math:`p` costs :math:`1 - \sum_c p_c^2` (Gini) or :math:`-\sum_c p_c \log_2 p_c`
    (entropy); a split is as good as it lowers the weighted cost. Of equal splits the first column's is taken,
    and of its thresholds the lowest. criterion: besides scikit-learn's, ``"information_gain"`` (by entropy),
    ``"gain_ratio"``, ``"chi_squared"`` and ``"misclassification"``. categorical_features: columns that are
    split by sets of levels: ``"from_dtype"`` takes the categories of a table, or give names or numbers.
    missing: missing values go where they lower the cost most (``"learned"``), are a level of their own in
    columns of categories (``"category"``), follow a surrogate split of another column
    (``"surrogate"``), or go both ways with weights (``"fractional"``); trees of the last two are grown in
    Python, for moderate sizes. min_impurity: nodes with no more impurity are not split. min_gain: neither
    are those whose best split gains less. split_search: ``"exact"`` looks at every value, ``"histogram"`` at
    255 bins a column in large nodes (of 1024 rows in small tables, up to 8192 in large ones), ``"auto"`` at
    every value up to 1e8 cells.

    The certificate says that every stored split is the best of its node.

    >>> from surefit import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> model.predict([[2.4], [2.6]]).tolist(), model.tree_.threshold[0].item()
    (['no', 'yes'], 2.5)
    """

    accepts = Accepts(target="class", several_targets=True, missing=True, tables=True)
    learns = ClassTreeParameters
    kernel_criteria = CLASS_CRITERIA
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
        criterion: Literal[
            "gini",
            "entropy",
            "log_loss",
            "information_gain",
            "gain_ratio",
            "chi_squared",
            "misclassification",
        ] = "gini",
        splitter: Literal["best", "random"] = "best",
        max_depth: Depth = None,
        min_samples_split: SplitRows = 2,
        min_samples_leaf: LeafRows = 1,
        min_weight_fraction_leaf: LeafWeight = 0.0,
        max_features: ColumnsLookedAt = None,
        random_state: RandomState = None,
        max_leaf_nodes: Leaves = None,
        min_impurity_decrease: NonNegative = 0.0,
        class_weight: ClassWeights = None,
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
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.missing = missing
        self.min_impurity = min_impurity
        self.min_gain = min_gain
        self.split_search = split_search

    def _learn(self, source: Source, engine: Any, trace: Any) -> Any:
        if source.schema.classes is not None:
            self._several_classes = [source.schema.classes]
        learned = super()._learn(source, engine, trace)
        del self._several_classes
        return learned

    def _parameters(self, common: TreeParameters, schema: Schema) -> ClassTreeParameters:
        labels = self._labels_of()
        values = {entry.name: getattr(common, entry.name) for entry in fields(common)}
        return ClassTreeParameters(**values, classes=labels[0] if len(labels) == 1 else labels)

    def predict(self, X: Any, check_input: bool = True, *, to: str | Path | None = None) -> NDArray[Any]:
        """Return the majority class of the leaf of each row, or write it ``to`` a file."""
        return self._answer(self._predict, X, to, self._output_names())

    def _predict(self, X: Any) -> NDArray[Any]:
        if not isinstance(self.classes_, list):
            return self.classes_[self._values(X).argmax(axis=1)]
        shares = self._by_output(self._values(X))
        found = [labels[share.argmax(axis=1)] for labels, share in zip(self.classes_, shares, strict=True)]
        return np.column_stack(found)

    def _answer_of(self, value: Vector) -> Any:
        shares = np.split(value, np.cumsum(self._class_counts)[:-1])
        found = [labels[share.argmax()] for labels, share in zip(self._labels_of(), shares, strict=True)]
        plain = [label.item() if hasattr(label, "item") else label for label in found]
        return plain[0] if len(plain) == 1 else plain

    def predict_proba(self, X: Any, check_input: bool = True, *, to: str | Path | None = None) -> Any:
        """Return the class probabilities of each row; a list of them for several outputs."""
        labels = getattr(self, "classes_", ())
        if isinstance(labels, list):
            return self._by_output(self._answer(self._values, X))
        return self._answer(self._values, X, to, [str(label) for label in labels])

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of ``predict_proba``."""
        found = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(each) for each in found] if isinstance(found, list) else np.log(found)
