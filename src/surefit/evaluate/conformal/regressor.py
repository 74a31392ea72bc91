"""Intervals around the predictions of any regression model that hold the truth as often as they say."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, FormatError, RefusalError
from surefit.core.parameters import Has, Interval, RandomState, validate
from surefit.evaluate.conformal.nonconformity import conformal_quantile, proved, set_aside
from surefit.evaluate.persistence import Saved, Verify, check_models, check_numbers
from surefit.evaluate.rows.dataset import rows_of
from surefit.evaluate.rows.source_models import answers_of
from surefit.resample.choose import Pair, pairs_of
from surefit.resample.streams import seed_of

Level = Annotated[float, Interval(0, 1, open_low=True, open_high=True)]
Share = Annotated[float, Interval(0, 1, open_low=True, open_high=True)]
Model = Annotated[object, Has("fit")]
BLOCK = 4_000_000  # cells of rows by models at a time


class ConformalRegressor(Saved, RegressorMixin, MetaEstimatorMixin, BaseEstimator):
    r"""Prediction intervals for any regression model, right for any distribution of exchangeable rows.

    method: "split" fits on some rows and takes the errors of the others: covered with probability ``level``
    at least. "cross" (CV+) uses all rows for both, by ``folds``; "jackknife+" leaves out one at a time:
    covered with :math:`2\,\text{level} - 1` at least, and about ``level`` in practice. "cqr" widens or
    narrows the band of two quantile models, so that it follows the spread; the model needs a parameter
    ``quantile``. calibration: the share of rows set aside by "split" and "cqr"; a frozen model is
    calibrated with all rows. X may be a table that is read in batches, with the name of its target as y: it
    is read for each fit and each question, and only errors are held.

    >>> import numpy as np, surefit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 2)); y = X @ [1.0, 2.0] + rng.normal(size=4000)
    >>> model = surefit.ConformalRegressor(surefit.Ridge(), level=0.9, random_state=0).fit(X[:2000], y[:2000])
    >>> low, high = model.predict_interval(X[2000:]).T
    >>> float(np.mean((low <= y[2000:]) & (y[2000:] <= high)).round(2))
    0.9
    """

    finds: ClassVar[tuple[str, ...]] = ("seed_", "models_", "errors_")
    may_find: ClassVar[tuple[str, ...]] = (
        "width_", "model_of_row_", "weight_of_row_", "whole_", "n_features_in_",
    )  # fmt: skip
    reads_sources: ClassVar[bool] = True

    def __init__(
        self,
        model: Model,
        *,
        level: Level = 0.9,
        method: Literal["split", "cross", "jackknife+", "cqr"] = "split",
        calibration: Share = 0.25,
        folds: Annotated[int, Interval(2, None)] = 10,
        random_state: RandomState = None,
    ) -> None:
        self.model = model
        self.level = level
        self.method = method
        self.calibration = calibration
        self.folds = folds
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ConformalRegressor:
        """Fit the model or models, and keep the errors of rows that they have not seen."""
        validate(self)
        table = rows_of(self, X, y, sample_weight)
        truth = np.asarray(table.y, dtype=np.float64)
        if truth.ndim != 1:
            raise DataError(f"ConformalRegressor takes one target a row, but y has {truth.ndim} dimensions.")
        self.seed_ = seed_of(self.random_state) % 2**32
        if self.method in ("cross", "jackknife+"):
            self._fit_cross(table, truth)
        else:
            self._fit_split(table, truth)
        if hasattr(self.models_[0], "n_features_in_"):
            self.n_features_in_ = self.models_[0].n_features_in_
        return self

    def _fit_split(self, table: Any, y: Any) -> None:
        train, aside = self._cut(y)[0]
        tail = (1 - self.level) / 2
        wanted = [self.model] if self.method == "split" else [_at(self.model, q) for q in (tail, 1 - tail)]
        self.models_ = [table.fit(model, train) for model in wanted]
        self.errors_ = self._errors(table, y)
        given = None if table.weight is None else table.weight[aside]
        self.width_ = conformal_quantile(self.errors_, self.level, given)

    def _cut(self, y: Any) -> list[Pair]:
        """Rows to learn from and rows to measure errors on, as the seed draws them."""
        if self.method in ("cross", "jackknife+"):
            folds = len(y) if self.method == "jackknife+" else self.folds
            return pairs_of(folds, y, random_state=self.seed_)
        return [set_aside(self.model, y, self.calibration, self.seed_, stratify=False)]

    def _errors(self, table: Any, y: Any) -> NDArray[np.float64]:
        """The errors of rows that the models have not seen."""
        pairs = self._cut(y)
        if self.method in ("split", "cqr"):
            aside = pairs[0][1]
            answers = [table.ask(model, aside) for model in self.models_]
            return np.asarray(np.maximum(answers[0] - y[aside], y[aside] - answers[-1]))
        found = np.empty(len(y))
        for model, (_, test) in zip(self.models_, pairs, strict=True):
            found[test] = np.abs(y[test] - table.ask(model, test))
        return found

    def _fit_cross(self, table: Any, y: Any) -> None:
        pairs = self._cut(y)
        self.models_ = [table.fit(self.model, train) for train, _ in pairs]
        self.model_of_row_ = np.empty(len(y), dtype=np.intp)
        for number, (_, test) in enumerate(pairs):
            self.model_of_row_[test] = number
        self.errors_ = self._errors(table, y)
        self.weight_of_row_ = table.weight
        self.whole_ = table.fit(self.model)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict a number a row: by the model of all rows, or the middle of two quantiles."""
        check_is_fitted(self, "models_")
        if self.method in ("cross", "jackknife+"):
            return answers_of(self.whole_, X)
        return np.asarray(np.mean([answers_of(model, X) for model in self.models_], axis=0))

    def predict_interval(self, X: Any) -> NDArray[np.float64]:
        """Return low and high for each row, (n, 2); infinite where there are too few rows for the level."""
        check_is_fitted(self, "models_")
        answers = np.stack([answers_of(model, X).astype(np.float64) for model in self.models_])
        if self.method in ("split", "cqr"):
            low, high = answers[0] - self.width_, answers[-1] + self.width_
            crossed = low > high  # a band that was narrowed past itself: its middle is what is left
            middle = np.where(crossed, answers[0] + answers[-1], 0.0) / 2
            return np.column_stack([np.where(crossed, middle, low), np.where(crossed, middle, high)])
        found = np.empty((answers.shape[1], 2))
        step = max(1, BLOCK // len(self.errors_))
        for start in range(0, len(found), step):
            rows = slice(start, start + step)
            centres = answers[self.model_of_row_, rows]
            found[rows, 0] = -self._ranked(self.errors_[:, None] - centres)
            found[rows, 1] = self._ranked(self.errors_[:, None] + centres)
        return found

    def _ranked(self, values: NDArray[np.float64]) -> Any:
        weight = self.weight_of_row_
        if weight is not None:
            return [conformal_quantile(column, self.level, weight) for column in values.T]
        rank = int(np.ceil(self.level * (len(values) + 1) * (1 - 1e-12)))
        if rank > len(values):
            return np.full(values.shape[1], np.inf)
        return np.partition(values, rank - 1, axis=0)[rank - 1]

    def _check_found(self) -> None:
        check_numbers(self, "errors_")
        crossed = self.method in ("cross", "jackknife+")
        check_models(self, [*self.models_, *([self.whole_] if crossed else [])])
        if crossed:
            places = self.model_of_row_
            fits = places.shape == self.errors_.shape and set(np.unique(places)) == set(
                range(len(self.models_))
            )
            if not fits:
                raise FormatError("the fold of each row is missing from this ConformalRegressor.")
        elif not isinstance(self.width_, float):
            raise FormatError("the width of a ConformalRegressor must be a number.")

    def verify_by(self, verify: Verify, X: Any, y: Any, weight: Any) -> Certificate:
        """Verify each model on the rows that it has learnt from; measure the errors of the others anew."""
        table = rows_of(self, X, y, weight)
        truth = np.asarray(table.y, dtype=np.float64)
        pairs = self._cut(truth)
        models = [(model, pairs[min(k, len(pairs) - 1)][0]) for k, model in enumerate(self.models_)]
        whole = getattr(self, "whole_", None)
        every = [*models, *([] if whole is None else [(whole, None)])]
        return proved(
            verify, table, every, self.errors_, lambda: self._errors(table, truth), self._width_again
        )

    def _width_again(self, table: Any) -> float:
        """How far the width kept is from that of the errors kept; those of folds have none."""
        if not hasattr(self, "width_"):
            return 0.0
        aside = self._cut(table.y)[0][1]
        again = conformal_quantile(
            self.errors_, self.level, None if table.weight is None else table.weight[aside]
        )
        return 0.0 if again == self.width_ else float(abs(again - self.width_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.model).input_tags
        return tags


def _at(model: Any, quantile: float) -> Any:
    """The model for another quantile; in a pipeline, its last step."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if "quantile" not in last.get_params(deep=False):
        raise RefusalError(
            f"method='cqr' needs a model of quantiles, and {type(last).__name__} has no parameter quantile: "
            "take QuantileRegressor, or another method."
        )
    name = f"{model.steps[-1][0]}__quantile" if hasattr(model, "steps") else "quantile"
    return clone(model).set_params(**{name: quantile})
