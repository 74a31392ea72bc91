"""Boost a weak classifier: each member is fitted to the rows that those before it missed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, ParameterError
from surefit.core.parameters import Count, Positive, RandomState
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.models.candidate import Candidate
from surefit.models.ensemble import EncodedTarget, Member, can_be_weighted
from surefit.models.tree.ensembles.adaboost.base import AdaBoost, AdaBoostParameters, Round
from surefit.models.tree.ensembles.frame_rows import whole_rows
from surefit.models.tree.trees.classifier import DecisionTreeClassifier


@dataclass(frozen=True, slots=True)
class AdaBoostClassifierParameters(AdaBoostParameters):
    """The members, their votes and errors, and the labels."""

    classes: NDArray[Any]


class AdaBoostClassifier(ClassifierMixin, AdaBoost):
    r"""Add up the votes of classifiers, each fitted to weights that grow where those before it were wrong.

    With the weighted error :math:`e_t` of member t and K classes, its vote and the new weights are

    .. math:: \alpha_t = \eta (\log \tfrac{1 - e_t}{e_t} + \log(K - 1)), \quad
        w_i \leftarrow w_i \exp(\alpha_t [h_t(x_i) \ne y_i])

    estimator: any classifier that takes weights; a tree of one split by default. learning_rate: :math:`\eta`.
    Boosting stops where one makes no error, or is no better than chance. random_state: None stands for 0.

    The certificate is a bound: a row that is classified wrongly has half of the votes against it, so that
    the training error is at most :math:`\prod_t ((1 - e_t) e^{-\alpha_t / 2} + e_t e^{\alpha_t / 2})`,
    which is :math:`\prod_t 2 \sqrt{e_t (1 - e_t)}` for two classes and :math:`\eta = 1`.

    >>> from surefit import AdaBoostClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], list("aabbaa")
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> model.score(X, y), model.estimator_errors_.round(3).tolist()
    (1.0, [0.333, 0.25, 0.167])
    >>> model.certificate_.holds, round(model.certificate_.tolerance, 4)
    (True, 0.6086)
    """

    accepts = Accepts(target="class", by_columns=True)
    learns = AdaBoostClassifierParameters
    candidate = Candidate(
        "AdaBoost",
        55,
        "tree",
        {"random_state": 0},
        most_rows=200_000,
    )

    classes_: NDArray[Any]

    def __init__(
        self,
        estimator: Member | None = None,
        *,
        n_estimators: Count = 50,
        learning_rate: Positive = 1.0,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state

    def _default_base(self) -> DecisionTreeClassifier:
        return DecisionTreeClassifier(max_depth=1)

    def _refuse(self, base: Any) -> None:
        if not can_be_weighted(base):
            raise ParameterError(
                f"{type(base).__name__} doesn't support sample_weight, which AdaBoost "
                "requires: choose another estimator."
            )

    def _learn(self, source: Source, engine: Any, trace: Any) -> Any:
        self._labels = source.schema.classes
        try:
            return super()._learn(source, engine, trace)
        finally:
            del self._labels

    @property
    def n_classes_(self) -> int:
        """How many classes there are."""
        return len(self._known)

    @property
    def _known(self) -> NDArray[Any]:
        return np.asarray(self.__dict__["_labels" if "_labels" in self.__dict__ else "classes_"])

    def _given(self, batch: Batch, weight: Vector, draws: np.random.Generator) -> tuple[Any, Any, Vector]:
        return batch.X, self._known[np.asarray(batch.y)], weight

    def _coded(self, batch: Batch) -> EncodedTarget:
        return EncodedTarget(np.asarray(batch.y), self._known)

    def _answers_of(self, member: Any, X: Any) -> NDArray[np.intp]:
        """The number of the class that a member votes for."""
        return np.searchsorted(self._known, member.predict(X))

    def _judge(self, answers: Any, batch: Batch, weight: Vector) -> Round | None:
        missed = answers != np.asarray(batch.y)
        error = float(weight[missed].sum() / weight.sum())
        if error <= 0:
            return Round(0.0, 1.0, None)
        classes = self.n_classes_
        if error >= 1.0 - 1.0 / classes:
            return None
        vote = self.learning_rate * float(np.log((1.0 - error) / error) + np.log(classes - 1.0))
        with np.errstate(over="ignore"):
            after = np.where(missed, weight * np.exp(vote), weight)
        return Round(error, vote, after)

    def _keeps_bad(self, members: int) -> bool:
        if members == 0:
            raise DataError(
                "BaseClassifier in AdaBoostClassifier ensemble is worse than random, ensemble can not be "
                "fit: choose a stronger estimator."
            )
        return False

    def _proof(self, answers: list[Any], rounds: list[Round], batch: Batch) -> Certificate:
        weight = np.ones(len(batch)) if batch.weight is None else batch.weight
        votes = np.array([found.vote for found in rounds])
        scores = self._scores(answers, votes, len(batch))
        wrong = self._winners(scores) != np.asarray(batch.y)
        error = float(weight[wrong].sum() / weight.sum())
        factors = [
            (1.0 - found.error) * np.exp(-found.vote / 2) + found.error * np.exp(found.vote / 2)
            for found in rounds
        ]
        # A member without an error ends the fit; its vote is 1 by convention, and it may be outvoted.
        if rounds and rounds[-1].error == 0:
            factors[-1] = float(np.exp(-rounds[-1].vote / 2))
        bound = float(np.prod(factors)) * (1 + 1e-9)  # as many roundings as there are rows
        if len(rounds) == 1 and rounds[0].error == 0:
            bound = 0.0
        return Certificate(
            "bounded", "training error", error, bound, {"training error": error, "bound": bound}
        )

    def _parameters(self, common: dict[str, Any], source: Source) -> AdaBoostClassifierParameters:
        assert source.schema.classes is not None
        return AdaBoostClassifierParameters(**common, classes=source.schema.classes)

    def _scores(self, answers: list[Any], votes: Vector, rows: int) -> Matrix:
        """The last of the sums of votes, (n, k)."""
        *_, found = self._staged_scores(iter(answers), votes, rows)
        return found

    def _staged_scores(self, answers: Iterator[Any], votes: Vector, rows: int) -> Iterator[Matrix]:
        """After each member: for each class the votes for it less a share of those for others, over all."""
        classes, total = self.n_classes_, 0.0
        sums = np.zeros((rows, classes))
        says = np.where(np.eye(classes) > 0, 1.0, -1.0 / max(classes - 1, 1))
        for codes, vote in zip(answers, votes, strict=False):
            total += vote
            sums = sums + vote * says[codes]
            yield sums / total

    @staticmethod
    def _winners(scores: Matrix) -> NDArray[np.intp]:
        # Of two classes, the first wins ties; of more, the first of the best.
        return scores.argmax(axis=1)

    def _stages(self, X: Any) -> Iterator[Matrix]:
        rows = whole_rows(self._rows_at_once(X))
        answers = (self._answers_of(member, rows) for member in self.estimators_)
        return self._staged_scores(answers, self.estimator_weights_, rows.shape[0])

    def _all_scores(self, X: Any) -> Matrix:
        rows = whole_rows(X)
        answers = [self._answers_of(member, rows) for member in self.estimators_]
        return self._scores(answers, self.estimator_weights_, X.shape[0])

    def _flat(self, scores: Matrix) -> Vector:
        """Of two classes, one number a row, positive for the second."""
        return scores[:, 1] - scores[:, 0] if self.n_classes_ == 2 else scores

    def _shares(self, scores: Matrix) -> Matrix:
        classes = self.n_classes_
        if classes == 1:
            return np.ones((len(scores), 1))
        # Of two classes, the scores are one the negative of the other.
        logits = scores if classes == 2 else scores / (classes - 1)
        found = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[Any]:
        """Return the class with the most votes, or write it ``to`` a file."""
        return self._answer(
            lambda rows: self.classes_[self._winners(self._all_scores(rows))], X, to, ["prediction"]
        )

    def decision_function(self, X: Any, *, to: str | Path | None = None) -> Matrix:
        """Return the votes, (n,) for two classes and (n, k) for more, or write them ``to`` a file."""
        names = self._class_names()
        return self._answer(
            lambda rows: self._flat(self._all_scores(rows)), X, to, names[1:] if len(names) == 2 else names
        )

    def predict_proba(self, X: Any, *, to: str | Path | None = None) -> Matrix:
        """Return the softmax of the votes over one less than the classes, or write it ``to`` a file."""
        names = self._class_names()
        return self._answer(lambda rows: self._shares(self._all_scores(rows)), X, to, names)

    def predict_log_proba(self, X: Any) -> Matrix:
        """Return the logarithm of ``predict_proba``."""
        return np.log(self.predict_proba(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the classes after each member."""
        return (self.classes_[self._winners(scores)] for scores in self._stages(X))

    def staged_decision_function(self, X: Any) -> Iterator[Matrix]:
        """Yield the votes after each member."""
        return (self._flat(scores) for scores in self._stages(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Matrix]:
        """Yield the probabilities after each member."""
        return (self._shares(scores) for scores in self._stages(X))

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yield the accuracy after each member."""
        truth = np.asarray(y)
        for found in self.staged_predict(X):
            yield float(np.average(found == truth, weights=sample_weight))
