"""Forests that predict numbers: the mean of leaves, and quantiles of the rows in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from surefit.core.errors import ParameterError, RefusalError
from surefit.core.native.forest_walk import forest_apply
from surefit.data.batch import Batch
from surefit.models.tree.arrays import Target
from surefit.models.tree.decision_tree_regressor import DecisionTreeRegressor
from surefit.models.tree.forest_arrays import ForestParameters, answers_in_units
from surefit.models.tree.forest_errors import ForestErrors
from surefit.models.tree.forest_quantiles import leaf_quantiles
from surefit.models.tree.forest_reading import ReadableForest
from surefit.models.tree.number_targets import NumberTargets

Floats = NDArray[np.float64]


class NumberForest(NumberTargets, RegressorMixin, ReadableForest, abstract=True):
    """What both forests of numbers share."""

    loss_name = "mean squared error"

    def _truth(self, target: Target) -> Floats:
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

    def predict(self, X: Any, *, to: str | Path | None = None) -> Floats:
        """Return the mean prediction of the trees, or write it ``to`` a file."""
        several = getattr(self, "n_outputs_", 1)
        names = ["prediction"] if several == 1 else [f"prediction{o}" for o in range(several)]
        return self._answer(self._predict, X, to, names)

    def _predict(self, X: Any) -> Floats:
        found = self._mean(X)
        return found[:, 0] if self.n_outputs_ == 1 else found

    @property
    def oob_prediction_(self) -> Floats:
        """The mean prediction for each row by the trees that have not seen it; 0 where none has not."""
        self.oob_score_  # noqa: B018 (which says what to do where nothing was kept)
        found = np.nan_to_num(self.oob_answers_)
        return found[:, 0] if self.n_outputs_ == 1 else found

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> Floats:
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
            raise RefusalError("quantiles are those of one target: fit one forest for each.")

        def of(rows: Any) -> Floats:
            forest, counts = self._grown(), self._level_counts()
            leaves = np.concatenate([forest_apply(forest, x, counts) for x in self._blocks_of_rows(rows)])
            return leaf_quantiles(self, leaves, levels)

        return np.asarray(self._answer(of, X))

    def predict_interval(self, X: Any, level: float = 0.9) -> Floats:
        """Return the ends of the middle share ``level`` of the target for each row, (rows, 2)."""
        if not 0 < level < 1:
            raise ParameterError(f"level={level!r} must lie between 0 and 1.")
        return self.predict_quantiles(X, ((1.0 - level) / 2.0, (1.0 + level) / 2.0))
