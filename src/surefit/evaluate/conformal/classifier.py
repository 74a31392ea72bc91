"""Sets of classes that hold the true one as often as they say, for any classifier with probabilities."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, FormatError, RefusalError
from surefit.core.parameters import RandomState, validate
from surefit.evaluate.conformal.nonconformity import conformal_quantile, proved, set_aside
from surefit.evaluate.conformal.regressor import Level, Model, Share
from surefit.evaluate.persistence import Saved, Verify, check_models, check_numbers
from surefit.evaluate.rows.dataset import rows_of
from surefit.evaluate.rows.source_models import answers_of
from surefit.resample.streams import seed_of, stream


class ConformalClassifier(Saved, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Sets of classes around any classifier's answer that hold the true class with probability ``level``.

    method: "lac" takes every class that is likely enough, which gives the smallest sets on average, some
    empty perhaps. "aps" takes classes in order of their probability until enough is covered, so that hard
    rows get larger sets; the last class is in with the chance that makes the level exact, drawn from
    ``random_state``, unless ``randomize=False``, which covers more. calibration: the share of rows set aside;
    a frozen model is calibrated with all rows. X may be a table that is read in batches.

    >>> import surefit
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = surefit.ConformalClassifier(surefit.GaussianNB(), level=0.95, random_state=0).fit(X, y)
    >>> model.predict_set(X[[0, 52]]).astype(int)
    array([[1, 0, 0],
           [0, 1, 1]])
    """

    finds: ClassVar[tuple[str, ...]] = ("seed_", "model_", "classes_", "strangeness_", "threshold_")
    may_find: ClassVar[tuple[str, ...]] = ("n_features_in_",)
    reads_sources: ClassVar[bool] = True

    def __init__(
        self,
        model: Model,
        *,
        level: Level = 0.9,
        method: Literal["lac", "aps"] = "lac",
        randomize: bool = True,
        calibration: Share = 0.25,
        random_state: RandomState = None,
    ) -> None:
        self.model = model
        self.level = level
        self.method = method
        self.randomize = randomize
        self.calibration = calibration
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ConformalClassifier:
        """Fit the model, and keep how strange the rows set aside look to it."""
        validate(self)
        table = rows_of(self, X, y, sample_weight)
        truth, weight = table.y, table.weight
        if not hasattr(self.model, "predict_proba"):
            raise RefusalError(
                f"{type(self.model).__name__} has no predict_proba, which prediction sets need: "
                "choose a model that has it."
            )
        self.seed_ = seed_of(self.random_state)
        train, aside = self._cut(truth)
        self.model_ = table.fit(self.model, train)
        self.classes_ = self.model_.classes_
        known = np.isin(truth[aside], self.classes_)
        if not known.all():
            raise DataError(
                f"class {truth[aside][~known][0]!s} does not occur in the training rows; add rows of it."
            )
        self.strangeness_ = self._of_truth(table, aside)
        kept = None if weight is None else weight[aside]
        self.threshold_ = conformal_quantile(self.strangeness_, self.level, kept)
        if hasattr(self.model_, "n_features_in_"):
            self.n_features_in_ = self.model_.n_features_in_
        return self

    def _strangeness(self, chances: NDArray[np.float64], generator: Any) -> NDArray[np.float64]:
        """How strange each class would be for each row."""
        if self.method == "lac":
            return 1 - chances
        order = np.argsort(-chances, axis=1, kind="stable")
        sorted_ = np.take_along_axis(chances, order, axis=1)
        within = np.cumsum(sorted_, axis=1)
        if self.randomize:
            within -= generator.random((len(chances), 1)) * sorted_
        found = np.empty_like(within)
        np.put_along_axis(found, order, within, axis=1)
        return found

    def _cut(self, y: Any) -> Any:
        """Rows to learn from and rows to calibrate with, as the seed draws them."""
        state = np.random.RandomState(self.seed_ % 2**32)
        return set_aside(self.model, y, self.calibration, state, stratify=True)

    def _of_truth(self, table: Any, aside: Any) -> NDArray[np.float64]:
        """How strange the true classes of the rows set aside look to the model."""
        codes = np.searchsorted(self.classes_, table.y[aside])
        chances = table.ask(self.model_, aside, "predict_proba").astype(np.float64)
        return self._strangeness(chances, stream(self.seed_, 0))[np.arange(len(codes)), codes]

    def _check_found(self) -> None:
        check_numbers(self, "strangeness_")
        check_models(self, [self.model_])
        if not isinstance(self.threshold_, float) or not isinstance(self.seed_, int):
            raise FormatError("the threshold and the seed of a ConformalClassifier must be numbers.")

    def verify_by(self, verify: Verify, X: Any, y: Any, weight: Any) -> Certificate:
        """Verify the model on the rows that it has learnt from, and calibrate with the others anew."""
        table = rows_of(self, X, y, weight)
        train, aside = self._cut(table.y)
        kept = None if table.weight is None else table.weight[aside]

        def apart(_: Any) -> float:
            again = conformal_quantile(self.strangeness_, self.level, kept)
            return 0.0 if again == self.threshold_ else abs(again - self.threshold_)

        models = [(self.model_, train)]
        return proved(verify, table, models, self.strangeness_, lambda: self._of_truth(table, aside), apart)

    def predict_set(self, X: Any) -> NDArray[np.bool_]:
        """Return which classes are in the set of each row, (n, classes), in the order of ``classes_``."""
        check_is_fitted(self, "model_")
        chances = answers_of(self.model_, X, "predict_proba").astype(np.float64)
        # A threshold is one of these very numbers, so that equal ones must not fall to rounding.
        return np.asarray(self._strangeness(chances, stream(self.seed_, 1)) <= self.threshold_ + 1e-12)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the likeliest class of each row."""
        check_is_fitted(self, "model_")
        return answers_of(self.model_, X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the model's probabilities."""
        check_is_fitted(self, "model_")
        return answers_of(self.model_, X, "predict_proba")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.model).input_tags
        return tags
