"""Predict numbers by boosted trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.base import RegressorMixin

from surefit.core.arrays import Vector
from surefit.core.errors import ParameterError
from surefit.core.parameters import Count, Positive, RandomState, Strength, Tolerance, WholeNumber
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.models.candidate import Candidate
from surefit.models.tree.boosting.base import HistGradientBoosting
from surefit.models.tree.boosting.losses import BoostLoss, regression_loss
from surefit.models.tree.boosting.parameters import (
    BinCount,
    BoostParameters,
    ColumnShare,
    HeldOut,
    Interactions,
)
from surefit.models.tree.nodes.parameters import Categories, Depth, Leaves, Monotone


class HistGradientBoostingRegressor(RegressorMixin, HistGradientBoosting):
    r"""Add up small trees, each fitted to the gradients of the loss after the trees before it.

    Round m adds :math:`\nu\, T_m`, where leaf :math:`R` of :math:`T_m` predicts
    :math:`-\sum_R g_i / (\sum_R h_i + \lambda)` with gradients g and curvatures h of the loss. Columns are
    cut into at most ``max_bins`` bins; categories are split by sets of levels, and missing values go to the
    side with the greater gain. Parameters and losses are scikit-learn's. Weights count as repetitions,
    but for ``min_samples_leaf``, which counts rows.

    The certificate says that the trees, sent the data again, have the training and the held-out loss that the
    fit stated.

    >>> from surefit import HistGradientBoostingRegressor
    >>> X = np.arange(100.0)[:, None]
    >>> model = HistGradientBoostingRegressor(max_iter=50).fit(X, X[:, 0] > 60)
    >>> model.predict([[10.0], [90.0]]).round(2).tolist()
    [0.0, 1.0]
    """

    accepts = Accepts(target="number", missing=True, infinite=True, tables=True)
    learns = BoostParameters
    candidate = Candidate("Gradient boosting", complexity=60, purpose="tree")

    def __init__(
        self,
        loss: Literal["squared_error", "absolute_error", "gamma", "poisson", "quantile"] = "squared_error",
        *,
        quantile: Any = None,
        learning_rate: Positive = 0.1,
        max_iter: Count = 100,
        max_leaf_nodes: Leaves = 31,
        max_depth: Depth = None,
        min_samples_leaf: Count = 20,
        l2_regularization: Strength = 0.0,
        max_features: ColumnShare = 1.0,
        max_bins: BinCount = 255,
        categorical_features: Categories = "from_dtype",
        monotonic_cst: Monotone = None,
        interaction_cst: Interactions = None,
        warm_start: bool = False,
        early_stopping: Literal["auto"] | bool = "auto",
        scoring: str | Callable[..., float] | None = "loss",
        validation_fraction: HeldOut = 0.1,
        n_iter_no_change: Count = 10,
        tol: Tolerance = 1e-7,
        verbose: WholeNumber = 0,
        random_state: RandomState = None,
    ) -> None:
        self.loss = loss
        self.quantile = quantile
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

    def _boost_loss(self, schema: Schema | None = None) -> BoostLoss:
        if self.loss == "quantile" and not (self.quantile is not None and 0 <= self.quantile <= 1):
            raise ParameterError(
                f"HistGradientBoostingRegressor: quantile={self.quantile!r} must lie in [0, 1] "
                "for loss='quantile'; give one."
            )
        return regression_loss(self.loss, self.quantile)

    def _parameters(self, common: BoostParameters, schema: Schema) -> BoostParameters:
        return common

    def predict(self, X: Any, *, to: str | Path | None = None) -> Vector:
        """Return what the trees add up to, on the scale of the target, or write it ``to`` a file."""
        return np.asarray(self._answer(self._predict, X, to, ["prediction"]))

    def _predict(self, X: Any) -> Vector:
        return self._boost_loss().mean(self._scores(X))

    def staged_predict(self, X: Any) -> Iterator[Vector]:
        """Yield the predictions after each round."""
        for score in self._staged_scores(X):
            yield self._boost_loss().mean(score)
