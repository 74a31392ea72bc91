"""Average classifiers that were fitted to rows drawn again and again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from surefit.core.arrays import Matrix
from surefit.core.parameters import Count, RandomState
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.models.candidate import Candidate
from surefit.models.ensemble import EncodedTarget, Member, predicted
from surefit.models.tree.ensembles.bagging.base import Bagging, BaggingParameters, ColumnsDrawn, RowsDrawn
from surefit.models.tree.ensembles.bagging.draws import columns_of
from surefit.models.tree.ensembles.bagging.errors import MemberErrors
from surefit.models.tree.trees.classifier import DecisionTreeClassifier


@dataclass(frozen=True, slots=True)
class BaggingClassifierParameters(BaggingParameters):
    """The members, what they are worth, and the labels."""

    classes: NDArray[Any]


class BaggingClassifier(ClassifierMixin, Bagging):
    r"""Average the probabilities, or else the votes, of classifiers fitted to bootstraps of the rows.

    .. math:: p(x) = \frac{1}{B} \sum_b p_b(x)

    estimator: any classifier, of surefit or another library; a tree by default. max_samples: how many rows a
    member draws, or which share; max_features: the same for columns. Rows are drawn in proportion to
    ``sample_weight``, and weight equals repetition where ``max_samples`` is a number; with
    ``bootstrap=False`` they are drawn evenly, and keep their weights. A sample that lacks a class teaches a
    member of surefit the others only. random_state: None stands for 0; members have a stream each, so that
    neither the number of threads nor a warm start changes one. verbose: without effect.

    The certificate is the share of rows out of bag that is classified wrongly, with its standard error;
    ``verify`` asks all members again, and proves those of surefit. ``loss_curve_`` has that share after each
    member, ``member_correlation_`` the correlation of errors, and ``averaged_error`` what follows from it.

    >>> from surefit import BaggingClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], list("aaabbb")
    >>> model = BaggingClassifier(n_estimators=20, oob_score=True).fit(X, y)
    >>> model.predict([[0.0], [5.0]]).tolist(), len(model.estimators_), model.certificate_.claim
    (['a', 'b'], 20, 'estimated')
    """

    accepts = Accepts(target="class", by_columns=True)
    learns = BaggingClassifierParameters
    candidate = Candidate(
        "Bagged trees", 45, "tree", {"n_estimators": 50, "random_state": 0}, most_rows=200_000
    )
    loss_name = "share classified wrongly"

    classes_: NDArray[Any]

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

    def _default_base(self) -> DecisionTreeClassifier:
        return DecisionTreeClassifier()

    def _learn(self, source: Source, engine: Any, trace: Any) -> Any:
        self._classes = len(source.schema.classes) if source.schema.classes is not None else 0
        try:
            return super()._learn(source, engine, trace)
        finally:
            del self._classes

    @property
    def n_classes_(self) -> int:
        """How many classes there are."""
        return self.__dict__["_classes"] if "_classes" in self.__dict__ else len(self.classes_)

    def _truth(self, batch: Batch) -> Matrix:
        return np.eye(self.n_classes_)[np.asarray(batch.y)]

    def _coded(self, y: NDArray[Any], batch: Batch) -> EncodedTarget | None:
        return EncodedTarget(y, np.arange(self.n_classes_)) if y is batch.y else None

    def _parameters(self, common: dict[str, Any], source: Source) -> BaggingClassifierParameters:
        assert source.schema.classes is not None
        self._schema = source.schema
        return BaggingClassifierParameters(**common, classes=source.schema.classes)

    def _score_of(self, errors: MemberErrors) -> float:
        right = errors.sums.argmax(axis=1) == errors.truth.argmax(axis=1)
        return float(np.average(right, weights=errors.weight))

    def _answers_of(self, member: Any, X: Any) -> Matrix:
        known = getattr(member, "classes_", None)
        found = np.zeros((X.shape[0], self.n_classes_))
        if hasattr(member, "predict_proba"):
            shares = member.predict_proba(X)
            places = np.arange(self.n_classes_) if known is None else np.asarray(known, dtype=np.intp)
            found[:, places] = shares
            return found
        found[np.arange(len(found)), np.asarray(predicted(member, X), dtype=np.intp)] = 1.0
        return found

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[Any]:
        """Return the class with the largest mean probability, or write it ``to`` a file."""
        return self._answer(
            lambda rows: self.classes_[self._mean_answer(rows).argmax(axis=1)], X, to, ["prediction"]
        )

    def predict_proba(self, X: Any, *, to: str | Path | None = None) -> Matrix:
        """Return the mean probabilities, or the shares of votes, or write them ``to`` a file."""
        return self._answer(self._mean_answer, X, to, self._class_names())

    def predict_log_proba(self, X: Any) -> Matrix:
        """Return the logarithm of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @available_if(lambda self: hasattr(self._base(), "decision_function"))
    def decision_function(self, X: Any, *, to: str | Path | None = None) -> Matrix:
        """Return the members' mean scores, (n,) for two classes and (n, k) for more.

        A class that a member has not seen gets the least of its scores.
        """
        names = self._class_names()
        return self._answer(self._mean_scores, X, to, names[1:] if len(names) == 2 else names)

    def _mean_scores(self, X: Any) -> Matrix:
        total: Any = 0.0
        for member, features in zip(self.estimators_, self.estimators_features_, strict=True):
            total = total + self._scores_of(member, columns_of(X, features))
        return np.asarray(total / len(self.estimators_))

    def _scores_of(self, member: Any, X: Any) -> Matrix:
        known = getattr(member, "classes_", np.arange(self.n_classes_))
        if len(known) == self.n_classes_:
            return np.asarray(member.decision_function(X), dtype=np.float64)
        if not hasattr(member, "decision_function"):  # one class, that all rows are of
            scores = np.ones((X.shape[0], 1))
        else:
            scores = np.asarray(member.decision_function(X), dtype=np.float64)
            scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
        found = np.repeat(scores.min(axis=1, keepdims=True), self.n_classes_, axis=1)
        found[:, np.asarray(known, dtype=np.intp)] = scores
        if len(known) == 1:
            found -= 2.0 * (np.arange(self.n_classes_) != known[0])
        return found if self.n_classes_ > 2 else found[:, 1]

    @property
    def oob_decision_function_(self) -> Matrix:
        """The mean probabilities of each row by the members that have not seen it; NaN where all have."""
        self.oob_score_  # noqa: B018 (which says what to do where nothing was kept)
        return self.oob_answers_
