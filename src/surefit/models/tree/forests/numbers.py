"""Forests that predict numbers: the mean of leaves, and quantiles of the rows in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import ParameterError, RefusalError
from surefit.core.native.trees.forest_walk import forest_apply
from surefit.data.batches.batch import Batch
from surefit.models.tree.forests.reading import ReadableForest
from surefit.models.tree.growing.forest_errors import ForestErrors
from surefit.models.tree.nodes.forest_arrays import ForestParameters, answers_in_units
from surefit.models.tree.nodes.parameters import Target
from surefit.models.tree.targets.numbers import NumberTargets
from surefit.models.tree.trees.regressor import DecisionTreeRegressor


def leaf_quantiles(
    leaves: NDArray[np.int64], levels: Vector, y: Vector, members: NDArray[np.int32], sizes: NDArray[np.int64]
) -> Matrix:
    """Return the quantiles for rows that end in these leaves, (rows, levels).

    leaves: (rows, trees), numbers among the leaves of all trees. y: the training targets. members: the
    training rows of all leaves, one leaf after the other, of which each has ``sizes``.

    >>> y, members = np.array([1.0, 7.0]), np.array([0, 1])
    >>> leaf_quantiles(np.array([[1]]), np.array([0.5]), y, members, np.ones(2, int))
    array([[7.]])
    """
    order = np.argsort(y, kind="stable")
    place = np.empty(len(y), dtype=np.int64)
    place[order] = np.arange(len(y))
    start = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    ranks = place[members]
    found = np.empty((len(leaves), len(levels)))
    for i, own in enumerate(leaves):
        chosen = np.concatenate([ranks[start[leaf] : start[leaf] + sizes[leaf]] for leaf in own])
        weight = np.repeat(1.0 / (sizes[own] * len(own)), sizes[own])
        held = np.bincount(chosen, weight, len(y))
        at = np.searchsorted(np.cumsum(held), levels - 1e-12, side="left")
        found[i] = y[order[np.clip(at, int(chosen.min()), int(chosen.max()))]]
    return found


class NumberForest(NumberTargets, RegressorMixin, ReadableForest, abstract=True):
    """What both forests of numbers share."""

    loss_name = "mean squared error"

    def _truth(self, target: Target) -> Matrix:
        return np.asarray(target.Y)

    def _score_of(self, errors: ForestErrors, target: Target, batch: Batch) -> float:
        from sklearn.metrics import r2_score

        truth = answers_in_units(target.Y, target)
        found = np.nan_to_num(answers_in_units(errors.averages(), target))
        if truth.shape[1] == 1:
            truth, found = truth[:, 0], found[:, 0]
        score = self.oob_score if callable(self.oob_score) else r2_score
        return float(score(truth, found))

    def _forest_parameters(self, common: dict[str, Any]) -> ForestParameters:
        return ForestParameters(**common)

    def _tree(self, seed: int) -> DecisionTreeRegressor:
        names = {entry for entry in DecisionTreeRegressor().get_params() if hasattr(self, entry)}
        given = {name: getattr(self, name) for name in names}
        return DecisionTreeRegressor(**{**given, "random_state": seed})

    def predict(self, X: Any, *, to: str | Path | None = None) -> Vector:
        """Return the mean prediction of the trees, or write it ``to`` a file."""
        several = getattr(self, "n_outputs_", 1)
        names = ["prediction"] if several == 1 else [f"prediction{o}" for o in range(several)]
        return self._answer(self._predict, X, to, names)

    def _predict(self, X: Any) -> Vector:
        found = self._mean(X)
        return found[:, 0] if self.n_outputs_ == 1 else found

    @property
    def oob_prediction_(self) -> Vector:
        """The mean prediction for each row by the trees that have not seen it; 0 where all have."""
        self.oob_score_  # noqa: B018 (which says what to do where nothing was kept)
        found = np.nan_to_num(self.oob_answers_)
        return found[:, 0] if self.n_outputs_ == 1 else found

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> Matrix:
        """Return quantiles of the target for each row, (rows, quantiles).

        Every tree spreads a weight of 1 over the training rows in the leaf of a row; the quantiles are those
        of the training targets under the mean of these weights. Fit with ``keep_members=True``.

        >>> from surefit import RandomForestRegressor
        >>> X, y = np.arange(40.0)[:, None], np.arange(40.0)
        >>> model = RandomForestRegressor(20, keep_members=True, min_samples_leaf=5).fit(X, y)
        >>> low, middle, high = model.predict_quantiles([[20.0]])[0]
        >>> bool(low < middle < high)
        True
        """
        levels = np.asarray(quantiles, dtype=np.float64).reshape(-1)
        if not ((levels >= 0) & (levels <= 1)).all():
            raise ParameterError(f"quantiles={quantiles!r} must lie between 0 and 1.")
        if not len(getattr(self, "leaf_member_", ())):
            raise RefusalError("quantiles need the training rows of each leaf: fit with keep_members=True.")
        if self.n_outputs_ > 1:
            raise RefusalError("quantiles are supported for one target only: fit one forest for each target.")

        def of(rows: Any) -> Matrix:
            forest, counts = self._grown(), self._level_counts()
            leaves = np.concatenate([forest_apply(forest, x, counts) for x in self._blocks_of_rows(rows)])
            # Leaves weigh what was drawn into them.
            sizes = np.rint(forest.weight).astype(np.int64) if self.draws_ else forest.rows
            numbers = leaves + self.leaf_start_[:-1]
            return leaf_quantiles(numbers, levels, self.member_target_[:, 0], self.leaf_member_, sizes)

        return np.asarray(self._answer(of, X))

    def predict_interval(self, X: Any, level: float = 0.9) -> Matrix:
        """Return the prediction interval of probability ``level`` for each row, (rows, 2)."""
        if not 0 < level < 1:
            raise ParameterError(f"level={level!r} must lie between 0 and 1.")
        return self.predict_quantiles(X, ((1.0 - level) / 2.0, (1.0 + level) / 2.0))
