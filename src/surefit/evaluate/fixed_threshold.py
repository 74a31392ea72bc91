"""Classes by a threshold of one's own, for any classifier of two classes."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, FormatError, ParameterError, RefusalError
from surefit.core.parameters import Has, validate
from surefit.evaluate.persistence import Saved, Verify, check_models
from surefit.evaluate.rows.dataset import rows_of
from surefit.evaluate.rows.source_models import answers_of

METHODS = ("predict_proba", "decision_function")


def _inner_has(method: str) -> Any:
    return available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), method))


class FixedThresholdClassifier(Saved, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    r"""The positive class where a classifier's probability, or its score, reaches a threshold.

    threshold: "auto" is 0.5 for probabilities and 0 for scores. pos_label: the positive class, the second of
    ``classes_`` if None. response_method: "predict_proba", "decision_function", or "auto", the first of them
    that there is. tie: the class of a row exactly at the threshold, "positive" (:math:`p \ge t`) or
    "negative" (:math:`p > t`). A frozen model is taken as it is; X may be a table that is read in batches.

    >>> import surefit
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> careful = surefit.FixedThresholdClassifier(surefit.LogisticRegression(), threshold=0.4).fit(X, y)
    >>> careful.predict(X), careful.estimator_.predict(X)
    (array([0, 1, 1, 1]), array([0, 0, 1, 1]))
    """

    finds: ClassVar[tuple[str, ...]] = ("estimator_", "classes_")
    may_find: ClassVar[tuple[str, ...]] = ("n_features_in_", "feature_names_in_")
    reads_sources: ClassVar[bool] = True

    def __init__(
        self,
        estimator: Annotated[object, Has("fit")],
        *,
        threshold: Literal["auto"] | float = "auto",
        pos_label: Any = None,
        response_method: Literal["auto", "predict_proba", "decision_function"] = "auto",
        tie: Literal["positive", "negative"] = "positive",
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.pos_label = pos_label
        self.response_method = response_method
        self.tie = tie

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> FixedThresholdClassifier:
        """Fit the classifier."""
        validate(self)
        fitted = rows_of(self, X, y, sample_weight).fit(self.estimator)
        if len(fitted.classes_) != 2:
            raise DataError(
                f"a threshold divides two classes, but y has {len(fitted.classes_)}: "
                "join classes, or use the classifier without a threshold."
            )
        if self.pos_label is not None and self.pos_label not in fitted.classes_.tolist():
            raise ParameterError(
                f"pos_label={self.pos_label!r} must be one of the classes {fitted.classes_.tolist()}."
            )
        self.estimator_ = fitted
        self._method()
        self.classes_ = fitted.classes_
        for name in self.may_find:
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))
        return self

    def _method(self) -> str:
        wanted = METHODS if self.response_method == "auto" else (self.response_method,)
        for method in wanted:
            if hasattr(self.estimator_, method):
                return method
        raise RefusalError(
            f"{type(self.estimator_).__name__} has no {' nor '.join(wanted)}, which a threshold needs: "
            "choose a classifier that has it."
        )

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row by its side of the threshold."""
        check_is_fitted(self, "estimator_")
        method = self._method()
        scores = answers_of(self.estimator_, X, method)
        positive = 1 if self.pos_label is None else self.classes_.tolist().index(self.pos_label)
        if method == "predict_proba":
            scores = scores[:, positive]
        elif positive == 0:
            scores = -scores
        level = (0.5 if method == "predict_proba" else 0.0) if self.threshold == "auto" else self.threshold
        above = scores >= level if self.tie == "positive" else scores > level
        return np.asarray(self.classes_[np.where(above, positive, 1 - positive)])

    @_inner_has("predict_proba")
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the classifier's probabilities."""
        check_is_fitted(self, "estimator_")
        return answers_of(self.estimator_, X, "predict_proba")

    @_inner_has("predict_log_proba")
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the classifier's logarithms of probabilities."""
        check_is_fitted(self, "estimator_")
        return answers_of(self.estimator_, X, "predict_log_proba")

    @_inner_has("decision_function")
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the classifier's scores."""
        check_is_fitted(self, "estimator_")
        return answers_of(self.estimator_, X, "decision_function")

    def _check_found(self) -> None:
        check_models(self, [self.estimator_])
        if not isinstance(self.classes_, np.ndarray) or self.classes_.shape != (2,):
            raise FormatError("a FixedThresholdClassifier has two classes.")

    def verify_by(self, verify: Verify, X: Any, y: Any, weight: Any) -> Certificate:
        """Verify the classifier: the threshold is given, not found."""
        return verify(self.estimator_, X, y, weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags
