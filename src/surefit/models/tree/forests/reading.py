"""A fitted forest as people read it: its trees, what columns are worth, and which leaves rows end in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse
from sklearn.utils.validation import check_is_fitted

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import RefusalError
from surefit.core.native.trees.forest_walk import forest_apply, forest_sums
from surefit.core.native.trees.tree_apply import tree_apply
from surefit.core.native.trees.tree_shuffle import tree_shuffle
from surefit.models.ensemble import jobs_for
from surefit.models.tree.forests.base import Forest
from surefit.models.tree.growing.forest_errors import judge
from surefit.models.tree.growing.forest_samples import drawn_by, drawn_counts, drawn_rows, some_trees
from surefit.models.tree.nodes.forest_arrays import answers_in_units, leaf_places, loss_unit
from surefit.models.tree.nodes.node_arrays import Nodes, decision_path
from surefit.models.tree.nodes.parameters import as_parameters
from surefit.models.tree.rows.matrix import MOST_BYTES, matrix_of
from surefit.models.tree.targets.base import FittedRows, fitted_rows
from surefit.models.tree.trees.base import DecisionTree, fitted_tree
from surefit.resample.streams import stream

SURE = 2.0  # standard errors above 0 from which on a column is worth something


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OutOfBagImportance:
    """By how much the loss of a tree rises when a column is shuffled among the rows that it has not seen.

    each: (trees, columns). impurity: the shares of ``feature_importances_``, for comparison.
    """

    each: Matrix
    impurity: Vector

    @property
    def mean(self) -> Vector:
        """The mean over trees."""
        return self.each.mean(axis=0)

    @property
    def standard_error(self) -> Vector:
        """That of the mean over trees; NaN for one tree."""
        trees = len(self.each)
        if trees < 2:
            return np.full(self.each.shape[1], np.nan)
        return np.asarray(self.each.std(axis=0, ddof=1) / np.sqrt(trees))

    @property
    def relevance(self) -> Vector:
        """The mean of absolute changes over the root of their squared deviations; 0 where nothing changes."""
        size = np.abs(self.each)
        middle = size.mean(axis=0)
        spread = np.sqrt(((size - middle) ** 2).sum(axis=0))
        return np.divide(middle, spread, out=np.zeros_like(middle), where=spread > 0)

    @property
    def overrated(self) -> NDArray[np.intp]:
        """Columns of some impurity importance whose permutation does not raise the loss significantly.

        Impurity is lowered on the rows that a split was chosen by: columns with many values look useful by
        chance. Named are those with more than half of an equal share.
        """
        sure = self.mean > SURE * np.nan_to_num(self.standard_error, nan=np.inf)
        return np.flatnonzero(~sure & (self.impurity > 0.5 / len(self.impurity)))

    def __repr__(self) -> str:
        mean, error = self.mean, self.standard_error
        best = [f"column {j} {mean[j]:.3g} +- {error[j]:.2g}" for j in np.argsort(-mean)[:3]]
        overrated = ", ".join(map(str, self.overrated.tolist())) or "none"
        return f"OutOfBagImportance({len(self.each)} trees; {', '.join(best)}; overrated: {overrated})"


def shuffled_loss(nodes: Nodes, X: NDArray[Any], Y: NDArray[Any], order: NDArray[np.int64]) -> Vector:
    """By how much the mean loss of a tree rises when each column is shuffled by these orders, (columns)."""
    change = np.zeros((X.shape[1], len(order), len(X), nodes.value.shape[1]))
    tree_shuffle(nodes.grown, nodes.value, X, order, change)
    said = nodes.value[tree_apply(nodes.grown, X)]
    before = _losses(said, Y, nodes.classes)
    after = _losses(said + change, Y, nodes.classes)
    return np.asarray((after - before).mean(axis=(1, 2)))


def _losses(said: Matrix, Y: NDArray[Any], classes: tuple[int, ...]) -> Matrix:
    """The loss of each row: the share of outputs that are wrong, or the mean square."""
    if not classes:
        return np.asarray(((said - Y) ** 2).mean(axis=-1))
    parts = np.split(said, np.cumsum(classes)[:-1], axis=-1)
    return np.mean([part.argmax(axis=-1) != Y[:, o] for o, part in enumerate(parts)], axis=0)


class ReadableForest(Forest, abstract=True):
    """A forest that can be read."""

    @property
    def estimators_(self) -> list[Any]:
        """The trees, each as a fitted tree by itself; classes are numbered."""
        check_is_fitted(self)
        if "_views" not in self.__dict__:
            self._views = [self._tree_view(t, int(seed)) for t, seed in enumerate(self.tree_seeds_)]
        return self._views

    def _tree_view(self, t: int, seed: int) -> DecisionTree:
        """One of the trees as a fitted tree by itself; its classes are the numbers of the forest's."""
        kind, nodes = self.kernel_criteria[self.criterion], self._nodes_of(t)
        arrays = as_parameters(nodes, kind, self.levels_, seed, self.max_features_, self.n_outputs_)
        words = "nothing by itself; the certificate of the forest covers all its trees"
        view: Any = fitted_tree(
            self._tree(seed), arrays, self._schema, Certificate("measured", words, 0.0, 1.0)
        )
        classes: Any = [np.arange(count, dtype=np.float64) for count in self._class_counts]
        if classes:
            view.classes_ = classes[0] if len(classes) == 1 else classes
        return view

    @property
    def estimator_(self) -> DecisionTree:
        """A tree with the parameters of this forest's."""
        return self._tree(0)

    @property
    def estimator(self) -> DecisionTree:
        """The same, before and after a fit."""
        return self._tree(0)

    def __len__(self) -> int:
        return len(self.tree_seeds_)

    def __getitem__(self, index: int) -> Any:
        return self.estimators_[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    @property
    def estimators_samples_(self) -> list[NDArray[np.int32]]:
        """The rows that each tree was grown from, as often as they were drawn."""
        check_is_fitted(self)
        if 8 * self.rows_ + 4 * abs(self.draws_) * len(self.tree_seeds_) > MOST_BYTES:
            raise RefusalError(
                f"the samples of {len(self.tree_seeds_)} trees from {self.rows_} rows would take more than "
                f"{MOST_BYTES / 2**30:g} GiB: draw those of one tree at a time from its seed in tree_seeds_."
            )
        if not self.draws_:
            return [np.arange(self.rows_, dtype=np.int32)] * len(self.tree_seeds_)
        seeds, by = self.tree_seeds_.tolist(), drawn_by(self.row_cumulative_)
        return [drawn_rows(seed, self.draws_, self.rows_, by).astype(np.int32) for seed in seeds]

    @property
    def feature_importances_(self) -> Vector:
        """By how much the splits of each column lower the impurity, as shares that add up to 1."""
        check_is_fitted(self)
        each = np.maximum(self.tree_importance_, 0.0)
        total = each.sum(axis=1, keepdims=True)
        grown = total[:, 0] > 0
        if not grown.any():
            return np.zeros(self.n_features_in_)
        found = (each[grown] / total[grown]).mean(axis=0)
        return np.asarray(found / found.sum())

    @property
    def oob_score_(self) -> float:
        """The score of the mean answers of trees for rows that they have not seen."""
        check_is_fitted(self)
        if not len(self.oob_answers_):
            raise AttributeError(f"{type(self).__name__} has no oob_score_: fit it with oob_score=True.")
        return self.oob_value_

    def oob_importance(
        self, X: Any, y: Any, sample_weight: Any = None, *, n_repeats: int = 1
    ) -> OutOfBagImportance:
        """Return by how much shuffling each column among rows out of bag raises the loss of the trees.

        X, y, sample_weight: those of the fit. ``mean`` and ``standard_error`` are over trees; ``overrated``
        names the columns that ``feature_importances_`` overstates.

        >>> from surefit import RandomForestClassifier
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(200, 2))
        >>> model = RandomForestClassifier(20, random_state=0).fit(X, X[:, 0] > 0)
        >>> worth = model.oob_importance(X, X[:, 0] > 0)
        >>> bool(worth.mean[0] > 0.2), bool(abs(worth.mean[1]) < 0.1)
        (True, True)
        """
        rows = self._asked_again(X, y, sample_weight)
        target, cumulative, found = self._in_units(rows.target), drawn_by(self.row_cumulative_), []
        for t, seed in enumerate(self.tree_seeds_.tolist()):
            own = np.flatnonzero(drawn_counts(seed, self.draws_, len(rows.X), cumulative) == 0)
            if len(own):
                generator = stream(self.seed_, t)
                order = np.stack([generator.permutation(len(own)) for _ in range(n_repeats)])
                block = np.ascontiguousarray(rows.X[own])
                found.append(shuffled_loss(self._nodes_of(t), block, target[own], order))
        return OutOfBagImportance(np.array(found), self.feature_importances_)

    def oob_curve(self, X: Any, y: Any, sample_weight: Any = None) -> Vector:
        """Return the loss of rows out of bag after each tree; ``loss_curve_`` has it for blocks of them."""
        rows = self._asked_again(X, y, sample_weight)
        by_number, levels = self.draws_ < 0, self._level_counts()
        grower = self._grower(rows.X, rows.target, rows.weight, levels, self.seed_, by_number)
        errors, forest = self._errors(rows.batch, rows.target), self._grown()
        for t in range(forest.trees):
            tree = some_trees(forest, t, t + 1)
            judge(errors, tree, tree.value, self.tree_seeds_[t : t + 1], grower)
            errors.record()
        return np.array(errors.curve) / loss_unit(rows.target)

    def _asked_again(self, X: Any, y: Any, sample_weight: Any) -> FittedRows:
        check_is_fitted(self)
        if not self.draws_:
            raise RefusalError("out-of-bag estimates need bootstrap samples: fit with bootstrap=True.")
        rows = fitted_rows(self, X, y, sample_weight)
        self._refuse_other_rows(len(rows.batch))
        return rows

    @staticmethod
    def _in_units(target: Any) -> NDArray[Any]:
        return target.Y if target.classes else answers_in_units(target.Y, target)

    def averaged_error(self, trees: int) -> float:
        r"""Return the mean squared error of so many trees: :math:`\rho s^2 + (1 - \rho) s^2 / B`."""
        check_is_fitted(self)
        s2, rho = self.member_error_, self.member_correlation_
        return float(rho * s2 + (1.0 - rho) * s2 / trees)

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the leaf of each row in each tree, as the number of its node, (rows, trees)."""
        return np.asarray(self._answer(self._leaves, X))

    def _leaves(self, X: Any) -> NDArray[np.int64]:
        forest, levels = self._grown(), self._level_counts()
        found = np.concatenate([forest_apply(forest, rows, levels) for rows in self._blocks_of_rows(X)])
        numbers = [leaf_places(forest, t)[found[:, t]] for t in range(forest.trees)]
        return np.column_stack(numbers).astype(np.int64)

    def _blocks_of_rows(self, X: Any) -> Iterator[NDArray[Any]]:
        if issparse(X):
            step = max(1, 2**22 // max(1, X.shape[1]))
            for at in range(0, X.shape[0], step):
                yield matrix_of(X[at : at + step], self.levels_)
            return
        yield matrix_of(X, self.levels_)

    def _mean(self, X: Any, values: Matrix | None = None) -> Matrix:
        """The mean of what the leaves of rows say."""
        forest = self._stored() if values is None else self._grown()  # of which only the latter has numbers
        levels = self._level_counts()
        said, shared = (forest.said, forest.is_shared) if values is None else (values, False)
        jobs, blocks = jobs_for(self.n_jobs), self._blocks_of_rows(X)
        found = [forest_sums(forest, x, said, levels, shared=shared, _threads=jobs)[0] for x in blocks]
        total = found[0] if len(found) == 1 else np.concatenate(found)
        return np.divide(total, forest.trees, out=total)

    def decision_path(self, X: Any) -> tuple[csr_array, NDArray[np.int64]]:
        """Return which nodes each row passes, those of all trees side by side, and where each tree begins."""
        leaves = self.apply(X)
        paths = [decision_path(self._nodes_of(t), leaves[:, t]) for t in range(leaves.shape[1])]
        return csr_array(hstack(paths, format="csr")), self.node_start_.copy()
