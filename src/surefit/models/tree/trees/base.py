"""What classifier and regressor share: parameters become rules, rows become leaves."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.diagnosis import Diagnosis
from surefit.core.errors import ParameterError, RefusalError
from surefit.core.native.trees.tree_apply import Splits, tree_apply
from surefit.core.native.trees.tree_grow import Rules, tree_grow
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.door import admit_rows
from surefit.data.schema import Schema
from surefit.data.source import Source, in_memory
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.tree.export.conditions import Condition, conditions
from surefit.models.tree.export.formats import as_json, as_python, as_sql, as_text, path_in_words
from surefit.models.tree.export.leaf_boxes import LeafBoxes, boxes
from surefit.models.tree.growing.binned_search import ALL_VALUES, EXACT_CELLS, grow_by_bins, supports_bins
from surefit.models.tree.nodes.compact_tree import CompactTree, compact_tree
from surefit.models.tree.nodes.loaded_trees import check_classes, check_levels, check_tree, expect
from surefit.models.tree.nodes.node_arrays import Nodes, TreeStructure, TreeView, decision_path
from surefit.models.tree.nodes.parameters import Target, TreeParameters, as_parameters, in_units, scaled_by
from surefit.models.tree.nodes.surrogate_arrays import Surrogates
from surefit.models.tree.rows.matrix import (
    MOST_LEVELS,
    find_levels,
    level_counts,
    matrix_of,
    whole,
)
from surefit.models.tree.rows.zero_weight_classes import drop_zero_weight_classes
from surefit.models.tree.targets.base import TreeRows, columns_searched, growth_rules
from surefit.models.tree.trees.proof import Problem, best_splits
from surefit.models.tree.trees.surrogates import grow_with_surrogates, leaf_weights, prove_surrogates
from surefit.resample.streams import seed_of
from surefit.stats.missing import Missing

SURROGATE_MODES = ("surrogate", "fractional")


class DecisionTree(TreeRows, abstract=True):
    """A tree: ``apply`` gives the leaf of each row; what a leaf answers is the class's own."""

    takes_checked_rows = True

    random_state: Any
    ccp_alpha: float
    missing: str
    split_search: str

    node_threshold_: Vector
    node_feature_: NDArray[np.int32]
    node_right_: NDArray[np.int32]
    node_level_bits_: NDArray[np.uint64]
    leaf_value_: Matrix
    leaf_weight_: NDArray[Any]
    leaf_impurity_: NDArray[Any]
    inner_value_: Matrix
    inner_decrease_: NDArray[Any]
    importance_: Vector
    seed_: int
    max_features_: int
    n_outputs_: int
    surrogate_node_: NDArray[np.int32]
    surrogate_column_: NDArray[np.int32]
    surrogate_threshold_: Vector
    surrogate_turned_: NDArray[np.uint8]
    surrogate_agreement_: Vector

    @abstractmethod
    def _parameters(self, common: TreeParameters, schema: Schema) -> Any:
        """Return what is learnt, with what is the class's own."""

    @property
    def _class_counts(self) -> tuple[int, ...]:
        return ()

    @classmethod
    def of_older_file(cls, parameters: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
        """Fitted values that an older version wrote, as they are kept now."""
        from surefit.models.tree.nodes.older_files import tree_of_older_file

        return tree_of_older_file(state, cls.kernel_criteria[parameters["criterion"]])

    def check_loaded(self) -> None:
        """Refuse arrays of a file that are no tree."""
        width, labels = self.n_features_in_, getattr(self, "classes_", None)
        classes = () if labels is None else check_classes(labels, self.n_outputs_)
        levels = check_levels(self.levels_, width, MOST_LEVELS)
        check_tree(self._kept(), self._surrogates(), levels, classes, self.n_outputs_)
        expect(self.importance_.shape in ((0,), (width,)), "every column must have its importance")
        expect(1 <= self.max_features_ <= width, "columns that were looked at must be in the table")

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        from surefit.models.tree.streams.setup import is_streamed

        source = drop_zero_weight_classes(self, source)
        if is_streamed(self, source, engine):
            return self._learn_streamed(source, engine)
        schema = source.schema
        cells = None if in_memory(source) is not None else engine.accumulate(Missing.of, source)
        batch = whole(source, type(self).__name__)
        levels = find_levels(batch.X, self._category_mask(schema), schema.names, self.missing == "category")
        X, weight = matrix_of(batch.X, levels), self._weights(batch)
        target = self._target(batch, weight)
        counts = level_counts(levels, X.shape[1])
        columns = columns_searched(self.max_features, X.shape[1])
        drawn = columns < X.shape[1] or self.splitter == "random"
        seed = seed_of(self.random_state) if drawn else 0
        rules = growth_rules(self, X.shape, weight, target, columns, seed)
        kind, surrogates = self.kernel_criteria[self.criterion], None
        if self.missing in SURROGATE_MODES:
            self._refuse_for_surrogates(rules)
            problem = Problem(X, target.Y, weight, kind, target.classes, rules)
            found, surrogates = grow_with_surrogates(problem, counts, self.missing == "fractional")
            nodes = in_units(found.grown, target, found.value)
        else:
            nodes = self._pruned(self._searched(X, target, weight, counts, rules))
        self._schema = schema
        common = as_parameters(nodes, kind, levels, seed, columns, target.Y.shape[1], surrogates)
        parameters = self._parameters(common, schema)
        cells = _cells(X, weight) if cells is None else cells
        evidence = {"cells": (cells.weight, cells.missing), **self._evidence(batch, weight)}
        by_bins = self.missing not in SURROGATE_MODES and self._by_bins(X, target, counts, rules)
        return Learned(parameters, self._certificate({"gain missed": 0.0}, by_bins), evidence)

    def _learn_streamed(self, source: Source, engine: Engine) -> Learned:
        """Grow the tree from sums that passes over the rows add up."""
        from surefit.models.tree.streams.setup import open_stream, stream_evidence

        schema, width = source.schema, source.schema.width
        columns = columns_searched(self.max_features, width)
        seed = seed_of(self.random_state) if columns < width or self.splitter == "random" else 0
        categories = self._category_mask(schema)
        stream, known, levels = open_stream(self, source, engine, categories, columns, seed)
        grown = stream.grow((seed,))[0]
        nodes = self._pruned(in_units(grown, known.target.target(np.empty(0))))
        self._schema = schema
        parameters = as_parameters(nodes, known.target.kind, levels, seed, columns, 1)
        return Learned(
            self._parameters(parameters, schema),
            self._certificate({"gain missed": 0.0}, by_bins=True),
            stream_evidence(known, source, engine),
        )

    def _searched(
        self, X: NDArray[Any], target: Target, weight: Vector | None, counts: NDArray[np.int64], rules: Rules
    ) -> Nodes:
        kind = self.kernel_criteria[self.criterion]
        if self._by_bins(X, target, counts, rules):
            return grow_by_bins(X, target, weight, kind, counts, rules)
        grown = tree_grow(
            X, target.Y, weight, criterion=kind, classes=target.classes, levels=counts, rules=rules
        )
        return in_units(grown, target)

    def _by_bins(self, X: NDArray[Any], target: Target, counts: NDArray[np.int64], rules: Rules) -> bool:
        """Whether large nodes are searched by bins."""
        if self.split_search == "exact" or self.splitter == "random":
            return False
        known = supports_bins(target, self.kernel_criteria[self.criterion], counts, rules)
        if self.split_search == "auto":
            return known and X.size > EXACT_CELLS
        if not known:
            raise ParameterError(
                f"{type(self).__name__}: split_search='histogram' supports one output, of classes or with "
                "squared error, without categories, monotonic_cst and max_leaf_nodes: "
                "use split_search='exact'."
            )
        return len(X) > ALL_VALUES

    def _refuse_for_surrogates(self, rules: Rules) -> None:
        others = {
            "splitter": rules.random_threshold,
            "max_features": rules.max_columns,
            "max_leaf_nodes": rules.max_leaves,
            "monotonic_cst": rules.monotone,
            "ccp_alpha": self.ccp_alpha,
        }
        name = next((name for name, asked in others.items() if asked), None)
        if name is not None:
            raise ParameterError(
                f"{type(self).__name__}: missing={self.missing!r} cannot be combined with {name}: "
                "leave it at its default, or use missing='learned'."
            )

    @property
    def _has_surrogates(self) -> bool:
        return self.missing in SURROGATE_MODES

    def _surrogates(self) -> Surrogates:
        return Surrogates(
            self.surrogate_node_,
            self.surrogate_column_,
            self.surrogate_threshold_,
            self.surrogate_turned_,
            self.surrogate_agreement_,
        )

    def _values(self, X: Any) -> Matrix:
        """What the leaves of rows say; a mixture where a row went both ways."""
        if not self._has_surrogates:
            return self._kept().said(self._leaves(X))
        rows, nodes = matrix_of(X, self.levels_), self._nodes()
        return np.asarray(leaf_weights(nodes, self._surrogates(), rows, self._both_ways) @ nodes.value)

    @property
    def _both_ways(self) -> bool:
        return self.missing == "fractional"

    def _evidence(self, batch: Batch, weight: Vector | None) -> dict[str, Any]:
        return {"rows": len(batch)}

    def _pruned(self, nodes: Nodes) -> Nodes:
        if self.ccp_alpha <= 0:
            return nodes
        from surefit.models.tree.growing.pruning import pruned_at

        # As a model would keep it: so prices of its pruning path are these to the last bit.
        kind = self.kernel_criteria[self.criterion]
        return pruned_at(
            compact_tree(nodes, kind).nodes(nodes.grown.levels, kind, nodes.classes), self.ccp_alpha
        )

    @staticmethod
    def _certificate(parts: dict[str, float], by_bins: bool = False) -> Certificate:
        value = float(np.max(list(parts.values()))) if parts else 0.0
        if by_bins:
            words = "relative change of recomputed leaf values; large nodes were searched by bins"
            return Certificate("measured", words, value, 1e-9, parts)
        measure = "gain that a better split of a node would add, as a share of the root's impurity"
        return Certificate("best splits", measure, value, 1e-9, parts)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Score every stored split again, against all others that its node allows; leaves, where by bins."""
        from surefit.models.tree.streams.setup import is_streamed

        source = drop_zero_weight_classes(self, source)
        if is_streamed(self, source, engine) or self._was_by_bins:
            return self._certify_leaves(source, engine)
        batch = whole(source, type(self).__name__)
        X, weight = matrix_of(batch.X, self.levels_), self._weights(batch)
        target = self._target(batch, weight)
        rules = growth_rules(self, X.shape, weight, target, self.max_features_, self.seed_)
        nodes = scaled_by(self._nodes(), target)
        kind = self.kernel_criteria[self.criterion]
        problem = Problem(X, target.Y, weight, kind, target.classes, rules, grain=target.grain)
        if self._has_surrogates:
            return self._certificate(prove_surrogates(nodes, self._surrogates(), problem, self._both_ways))
        return self._certificate(best_splits(nodes, problem))

    def _certify_leaves(self, source: Source, engine: Engine) -> Certificate:
        """Add up the rows of each leaf again."""
        from surefit.models.tree.streams.errors import tree_leaf_gap
        from surefit.models.tree.streams.setup import stream_facts

        known = stream_facts(self, source, engine)
        gap = tree_leaf_gap(self._nodes().grown, self.levels_, known, source, engine)
        return self._certificate({"answers of leaves": gap}, by_bins=True)

    @property
    def _was_by_bins(self) -> bool:
        return self.certificate_.claim == "measured"

    def _kept(self) -> CompactTree:
        return CompactTree(
            self.node_feature_,
            self.node_threshold_,
            self.node_right_,
            self.node_level_bits_,
            self.leaf_value_,
            self.leaf_weight_,
            self.leaf_impurity_,
            self.inner_value_,
            self.inner_decrease_,
        )

    def _nodes(self) -> Nodes:
        kind = self.kernel_criteria[self.criterion]
        return self._kept().nodes(level_counts(self.levels_, self.n_features_in_), kind, self._class_counts)

    def _structure(self) -> TreeStructure:
        return TreeStructure.of(self.node_feature_, self.node_right_)

    def _leaves(self, X: Any) -> NDArray[np.int64]:
        if self._has_surrogates:
            found = leaf_weights(
                self._nodes(), self._surrogates(), matrix_of(X, self.levels_), self._both_ways
            )
            return np.asarray(found.argmax(axis=1)).ravel().astype(np.int64)
        splits = Splits(
            self.node_feature_,
            self.node_threshold_,
            self.node_right_,
            self.node_level_bits_,
            level_counts(self.levels_, self.n_features_in_),
        )
        if isinstance(X, np.ndarray) and not self.levels_:
            return tree_apply(splits, X)
        if not isinstance(X, np.ndarray) and hasattr(X, "tocsr"):
            step = max(1, 2**22 // max(1, X.shape[1]))
            blocks = [X[i : i + step] for i in range(0, X.shape[0], step)]
            return np.concatenate([tree_apply(splits, matrix_of(b, self.levels_)) for b in blocks])
        return tree_apply(splits, matrix_of(X, self.levels_))

    @property
    def tree_(self) -> TreeView:
        """The tree under scikit-learn's names."""
        check_is_fitted(self)
        return TreeView(self._nodes(), self.n_features_in_, self.n_outputs_)

    @property
    def feature_importances_(self) -> Vector:
        """By how much the splits of each column lower the impurity, as shares that add up to 1."""
        check_is_fitted(self)
        return self.importance_ if len(self.importance_) else self._nodes().importances()

    def apply(self, X: Any, check_input: bool = True) -> NDArray[np.int64]:
        """Return the leaf that each row ends in, as the number of its node."""
        return np.asarray(self._answer(self._leaves, X))

    def decision_path(self, X: Any, check_input: bool = True) -> csr_array:
        """Return which nodes each row passes, as a sparse matrix of ones."""
        leaves = self.apply(X)
        return decision_path(self._structure(), leaves)

    def get_depth(self) -> int:
        """Return the depth of the tree: the number of splits above its deepest leaf."""
        check_is_fitted(self)
        return self._structure().max_depth

    def get_n_leaves(self) -> int:
        """Return how many leaves there are."""
        check_is_fitted(self)
        return int(np.count_nonzero(self.node_feature_ < 0))

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Return the effective alphas of cost-complexity pruning, and the impurity of the leaves at each."""
        from surefit.models.tree.growing.pruning import pruning_path

        full = type(self)(**{**self.get_params(deep=False), "ccp_alpha": 0.0}).fit(X, y, sample_weight)
        alphas, impurities = pruning_path(full._nodes())
        return Bunch(ccp_alphas=alphas, impurities=impurities)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def fitted_nodes(tree: DecisionTree) -> Nodes:
    """Return the nodes of a fitted tree as arrays."""
    return tree._nodes()


def fitted_tree(
    tree: DecisionTree, parameters: TreeParameters, schema: Schema, certificate: Certificate
) -> DecisionTree:
    """Make an unfitted tree one that is fitted to rows of this schema, with these parameters."""
    for name in type(parameters).__dataclass_fields__:
        setattr(tree, f"{name}_", getattr(parameters, name))
    tree.n_features_in_, tree._schema = schema.width, schema
    tree.certificate_, tree.diagnosis_, tree.trace_ = certificate, Diagnosis(), Trace()
    return tree


def _cells(X: NDArray[Any], weight: Vector | None) -> Missing:
    """What is missing; a sum tells whether anything is."""
    if np.isnan(X.sum(dtype=np.float64)):
        return Missing.of(Batch(X, weight=weight))
    return Missing(float(len(X)) if weight is None else float(weight.sum()), np.zeros(X.shape[1]))


class ReadableTree(DecisionTree, abstract=True):
    """A tree that says what it has learnt."""

    def _names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.n_features_in_)] if names is None else [str(n) for n in names]

    def _splits(self) -> dict[int, Condition]:
        check_is_fitted(self)
        if self._has_surrogates:
            raise RefusalError(
                f"a tree with missing={self.missing!r} cannot be written as rules of single columns: "
                "use missing='learned'."
            )
        return conditions(self._nodes(), self._names(), self.levels_)

    @abstractmethod
    def _answer_of(self, value: NDArray[np.float64]) -> Any:
        """What a node of this value says, as a plain Python value."""

    def _told(self) -> tuple[Nodes, dict[int, Condition], Callable[[int], Any]]:
        """The nodes, their conditions, and what each would answer."""
        splits, nodes = self._splits(), self._nodes()
        return nodes, splits, lambda at: self._answer_of(nodes.value[at])

    def _known(self) -> dict[int, list[Any]]:
        return {j: own.tolist() for j, own in enumerate(self.levels_) if len(own)}

    def to_text(self, max_depth: int | None = None) -> str:
        """Return the rules, one line a branch, as deep as ``max_depth``.

        >>> from surefit import DecisionTreeClassifier
        >>> print(DecisionTreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"]).to_text())
        (4 rows, impurity 0.5)
        |-- x0 <= 2.5: no  (2 rows, impurity 0)
        |-- x0 > 2.5: yes  (2 rows, impurity 0)
        """
        return as_text(*self._told(), max_depth)

    def to_json(self) -> str:
        """Return the nodes as JSON: a split names its column, threshold or levels, and its children."""
        return as_json(*self._told())

    def to_sql(self) -> str:
        """Return one CASE expression over the columns, which gives the prediction.

        >>> from surefit import DecisionTreeRegressor
        >>> print(DecisionTreeRegressor().fit([[1], [2], [3], [4]], [1.0, 1.0, 5.0, 5.0]).to_sql())
        CASE WHEN "x0" <= 2.5 THEN 1.0 ELSE 5.0 END
        """
        return as_sql(*self._told(), self._known())

    def to_python(self) -> str:
        """Return the source of a function ``predict(row)`` that needs no library; row: its cells in order.

        >>> from surefit import DecisionTreeClassifier
        >>> source = DecisionTreeClassifier().fit([[1], [2], [3], [4]], [0, 0, 1, 1]).to_python()
        >>> found = {}
        >>> exec(source, found)
        >>> found["predict"]([1.5]), found["predict"]([3.5])
        (0, 1)
        """
        return as_python(*self._told(), self._known())

    def explain(self, X: Any) -> list[str]:
        """Return the decision path of each row in words.

        >>> from surefit import DecisionTreeClassifier
        >>> DecisionTreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"]).explain([[1.5]])
        ['no, because x0 <= 2.5: so went 2 of 4 rows.']
        """
        told, leaves, rows = self._told(), self.apply(X), self._matrix(X)
        return [path_in_words(*told, int(leaf), row) for leaf, row in zip(leaves, rows, strict=True)]

    def boxes(self) -> LeafBoxes:
        """Return the leaves as boxes and weights: the tree as a sum of basis functions."""
        self._splits()  # refuses what boxes cannot say
        return boxes(self._nodes())

    def _matrix(self, X: Any) -> NDArray[np.float64]:
        """Rows as the tree sees them."""
        return np.asarray(matrix_of(admit_rows(self, self._accepted(), X), self.levels_), dtype=np.float64)


def read_tree(tree: ReadableTree) -> tuple[Nodes, dict[int, Condition], Callable[[int], Any]]:
    """Return the nodes of a fitted tree, the conditions of its splits by node, and the answer of a node."""
    return tree._told()
