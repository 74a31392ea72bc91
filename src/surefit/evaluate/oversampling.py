"""Classifiers that learn from equally many rows of each class, by copies drawn inside the fold."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from surefit.core.certificate import Certificate
from surefit.core.errors import FormatError
from surefit.core.parameters import Has, RandomState, validate
from surefit.evaluate.persistence import Saved, Verify, check_models
from surefit.evaluate.rows.dataset import rows_of
from surefit.evaluate.rows.source_models import answers_of
from surefit.resample.streams import seed_of


def oversampled(y: Any, random_state: Any = 0) -> NDArray[np.intp]:
    """Row numbers with those of rarer classes drawn again, until all classes are equally frequent.

    >>> oversampled(["a", "b", "a", "a"]).tolist()
    [0, 1, 2, 3, 1, 1]
    """
    labels = np.asarray(y)
    rng = np.random.default_rng(random_state)
    names, counts = np.unique(labels, return_counts=True)
    more = [
        rng.choice(np.flatnonzero(labels == name), counts.max() - count)
        for name, count in zip(names, counts, strict=True)
    ]
    return np.concatenate([np.arange(len(labels)), *more]).astype(np.intp)


class OversampledClassifier(Saved, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Any classifier, fitted with rows of rarer classes copied until all classes are equally frequent.

    The copies are drawn in ``fit``, so that in a cross-validation no copy of a tested row is learnt from.
    ``rows_`` are the numbers of the rows that the classifier has seen. Weights go with their rows.

    >>> import surefit
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], ["a", "a", "a", "a", "b"]
    >>> model = surefit.OversampledClassifier(surefit.GaussianNB(), random_state=0).fit(X, y)
    >>> model.rows_.tolist(), model.estimator_.class_prior_.tolist()
    ([0, 1, 2, 3, 4, 4, 4, 4], [0.5, 0.5])
    """

    finds: ClassVar[tuple[str, ...]] = ("estimator_", "classes_", "rows_")
    may_find: ClassVar[tuple[str, ...]] = ("n_features_in_", "feature_names_in_")

    def __init__(self, estimator: Annotated[object, Has("fit")], *, random_state: RandomState = None) -> None:
        self.estimator = estimator
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OversampledClassifier:
        """Draw the copies, and fit the classifier to them and to the rows themselves."""
        validate(self)
        table = rows_of(self, X, y, sample_weight)
        self.rows_ = oversampled(table.y, seed_of(self.random_state))
        self.estimator_ = table.fit(self.estimator, self.rows_)
        self.classes_ = self.estimator_.classes_
        for name in self.may_find:
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row."""
        check_is_fitted(self, "estimator_")
        return answers_of(self.estimator_, X)

    @available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), "predict_proba"))
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the classifier's probabilities: those of classes that are equally frequent."""
        check_is_fitted(self, "estimator_")
        return answers_of(self.estimator_, X, "predict_proba")

    @available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), "decision_function"))
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the classifier's scores."""
        check_is_fitted(self, "estimator_")
        return answers_of(self.estimator_, X, "decision_function")

    def _check_found(self) -> None:
        check_models(self, [self.estimator_])
        if not isinstance(self.rows_, np.ndarray) or self.rows_.dtype.kind != "i" or self.rows_.ndim != 1:
            raise FormatError("the rows of an OversampledClassifier must be whole numbers.")
        if not isinstance(self.classes_, np.ndarray) or self.classes_.ndim != 1:
            raise FormatError("the classes of an OversampledClassifier are missing.")

    def verify_by(self, verify: Verify, X: Any, y: Any, weight: Any) -> Certificate:
        """Verify the classifier on the rows that it has learnt from."""
        table = rows_of(self, X, y, weight)
        if len(self.rows_) and not 0 <= self.rows_.min() <= self.rows_.max() < table.count:
            raise FormatError("the rows of an OversampledClassifier are not rows of this table.")
        return verify(self.estimator_, *table.given(self.rows_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags
