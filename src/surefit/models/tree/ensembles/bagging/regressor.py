"""Average regressions that were fitted to rows drawn again and again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from surefit.core.arrays import Matrix, Vector
from surefit.core.parameters import Count, RandomState
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.models.candidate import Candidate
from surefit.models.ensemble import Member, predicted
from surefit.models.tree.ensembles.bagging.base import Bagging, BaggingParameters, ColumnsDrawn, RowsDrawn
from surefit.models.tree.ensembles.bagging.errors import MemberErrors
from surefit.models.tree.trees.regressor import DecisionTreeRegressor


class BaggingRegressor(RegressorMixin, Bagging):
    r"""Average the predictions of regressions fitted to bootstraps of the rows.

    .. math:: f(x) = \frac{1}{B} \sum_b f_b(x)

    estimator: any regression, of surefit or another library; a tree by default. The other parameters are
    those of :class:`~surefit.BaggingClassifier`.

    The certificate is the mean squared error of rows out of bag, with its standard error. Averaging helps
    where members vary: ``averaged_error`` says what more members would bring.

    >>> from surefit import BaggingRegressor
    >>> model = BaggingRegressor(n_estimators=20).fit([[1], [2], [3], [4]], [1.0, 1.0, 5.0, 5.0])
    >>> bool(model.averaged_error(100) < model.averaged_error(1)), len(model.loss_curve_)
    (True, 20)
    """

    accepts = Accepts(target="number", several_targets=True, by_columns=True)
    learns = BaggingParameters
    candidate = Candidate(
        "Bagged trees", 45, "tree", {"n_estimators": 50, "random_state": 0}, most_rows=200_000
    )
    loss_name = "mean squared error"

    def __init__(
        self,
        estimator: Member | None = None,
        n_estimators: Count = 10,
        *,
        max_samples: RowsDrawn = None,
        max_features: ColumnsDrawn = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _default_base(self) -> DecisionTreeRegressor:
        return DecisionTreeRegressor()

    def _truth(self, batch: Batch) -> Matrix:
        return np.asarray(batch.y, dtype=np.float64).reshape(len(batch), -1)

    def _parameters(self, common: dict[str, Any], source: Source) -> BaggingParameters:
        self._schema = source.schema
        return BaggingParameters(**common)

    def _score_of(self, errors: MemberErrors) -> float:
        rows = errors.seen
        if not rows.any():
            return float("nan")
        from sklearn.metrics import r2_score

        return float(r2_score(errors.truth[rows], errors.averages()[rows], sample_weight=errors.weight[rows]))

    def _answers_of(self, member: Any, X: Any) -> Matrix:
        found = np.asarray(predicted(member, X), dtype=np.float64)
        return found.reshape(len(found), -1)

    def predict(self, X: Any, *, to: str | Path | None = None) -> Vector:
        """Return the mean prediction of the members, or write it ``to`` a file."""
        return self._answer(self._predict, X, to, ["prediction"])

    def _predict(self, X: Any) -> Vector:
        found = self._mean_answer(X)
        return found[:, 0] if self._schema.target_is_flat else found

    @property
    def oob_prediction_(self) -> Vector:
        """The mean prediction for each row by the members that have not seen it; NaN where all have."""
        self.oob_score_  # noqa: B018 (which says what to do where nothing was kept)
        found = self.oob_answers_
        return found[:, 0] if self._schema.target_is_flat else found
