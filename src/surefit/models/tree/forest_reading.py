"""A fitted forest as people read it: its trees, what columns are worth, and which leaves rows end in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import DataError, RefusalError
from surefit.core.native.forest_walk import forest_apply, forest_sums
from surefit.models.tree.base import DecisionTree
from surefit.models.tree.forest_arrays import answers_in_units, leaf_places, loss_unit
from surefit.models.tree.forest_base import Forest
from surefit.models.tree.forest_growing import Grower
from surefit.models.tree.forest_importance import OutOfBagImportance, out_of_bag_importance
from surefit.models.tree.forest_judging import judge
from surefit.models.tree.forest_samples import drawn_rows, some_trees
from surefit.models.tree.forest_views import tree_views
from surefit.models.tree.members import jobs_for
from surefit.models.tree.nodes import decision_path
from surefit.models.tree.rows import matrix_of, whole

Floats = NDArray[np.float64]


class ReadableForest(Forest, abstract=True):
    """A forest that can be read."""

    @property
    def estimators_(self) -> list[Any]:
        """The trees, each as a fitted tree by itself; classes are numbered."""
        check_is_fitted(self)
        if "_views" not in self.__dict__:
            self._views = tree_views(self)
        return self._views

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
        if not self.draws_:
            return [np.arange(self.rows_, dtype=np.int32)] * len(self.tree_seeds_)
        return [drawn_rows(self, seed).astype(np.int32) for seed in self.tree_seeds_.tolist()]

    @property
    def feature_importances_(self) -> Floats:
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
        names the columns that ``feature_importances_`` makes too much of.

        >>> from surefit import RandomForestClassifier
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(200, 2))
        >>> model = RandomForestClassifier(20, random_state=0).fit(X, X[:, 0] > 0)
        >>> worth = model.oob_importance(X, X[:, 0] > 0)
        >>> bool(worth.mean[0] > 0.2), bool(abs(worth.mean[1]) < 0.1)
        (True, True)
        """
        _, X, target = self._asked_again(X, y, sample_weight)
        return out_of_bag_importance(self, X, replace(target, Y=self._in_units(target)), n_repeats)

    def oob_curve(self, X: Any, y: Any, sample_weight: Any = None) -> Floats:
        """Return the loss of rows out of bag after each tree; ``loss_curve_`` has it for blocks of them."""
        batch, X, target = self._asked_again(X, y, sample_weight)
        weight, levels = self._weights(batch), self._level_counts()
        grower = Grower(self, X, target, weight, levels, self.seed_, by_number=self.draws_ < 0)
        errors, forest = self._errors(batch, target), self._grown()
        for t in range(forest.trees):
            judge(errors, some_trees(forest, t, t + 1), self.tree_seeds_[t : t + 1], X, grower)
            errors.record()
        return np.array(errors.curve) / loss_unit(target)

    def _asked_again(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        check_is_fitted(self)
        if not self.draws_:
            raise RefusalError("trees that are grown from all rows leave none out: fit with bootstrap=True.")
        classes = getattr(self, "classes_", None)
        batch = whole(self._source(X, y, sample_weight, reset=False, classes=classes), type(self).__name__)
        if len(batch) != self.rows_:
            raise DataError(f"the trees drew from {self.rows_} rows, but these are {len(batch)}.")
        return batch, matrix_of(batch.X, self.levels_), self._target(batch, self._weights(batch))

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

    def _mean(self, X: Any, values: Floats | None = None) -> Floats:
        """The mean of what the leaves of rows say."""
        forest = self._stored() if values is None else self._grown()  # of which only the latter has numbers
        levels = self._level_counts()
        said, shared = (forest.said, forest.is_shared) if values is None else (values, False)
        jobs, blocks = jobs_for(self.n_jobs), self._blocks_of_rows(X)
        found = [forest_sums(forest, x, said, levels, shared=shared, _threads=jobs)[0] for x in blocks]
        total = found[0] if len(found) == 1 else np.concatenate(found)
        return np.divide(total, forest.trees, out=total)

    def decision_path(self, X: Any) -> tuple[csr_array, NDArray[np.int64]]:
        """Return which nodes each row comes by, those of all trees side by side, and where each begins."""
        leaves = self.apply(X)
        paths = [decision_path(self._nodes_of(t), leaves[:, t]) for t in range(leaves.shape[1])]
        return csr_array(hstack(paths, format="csr")), self.node_start_.copy()
