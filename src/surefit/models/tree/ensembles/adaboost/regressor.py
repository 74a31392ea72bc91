"""Boost a regression: each member is fitted to rows that those before it met badly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import ParameterError
from surefit.core.parameters import Count, Positive, RandomState
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.models.candidate import Candidate
from surefit.models.ensemble import STATED, Member, can_be_weighted
from surefit.models.tree.ensembles.adaboost.base import AdaBoost, AdaBoostParameters, Round
from surefit.models.tree.ensembles.frame_rows import whole_rows
from surefit.models.tree.trees.regressor import DecisionTreeRegressor
from surefit.resample.draws import draw_rows


class AdaBoostRegressor(RegressorMixin, AdaBoost):
    r"""Take the weighted median of regressions, each fitted to rows drawn by the errors of those before it.

    With the losses :math:`L_i` of member t for its rows, in [0, 1], their weighted mean :math:`e_t` and
    :math:`\beta_t = e_t / (1 - e_t)`, its vote and the new weights are

    .. math:: \alpha_t = -\eta \log \beta_t, \quad w_i \leftarrow w_i \beta_t^{\eta (1 - L_i)}

    loss: of the absolute error over the largest, :math:`a`: itself, its square, or :math:`1 - e^{-a}`.
    resample: fit members to rows drawn by weight, as scikit-learn does; or to all rows, weighted, so that
    weight equals repetition. Boosting stops where a member has no error, or a mean loss of at least 1/2.
    random_state: None stands for 0.

    The certificate says that weighing the rows again gives the stated losses and votes.

    >>> from surefit import AdaBoostRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 4.0, 9.0]
    >>> model = AdaBoostRegressor(n_estimators=10, resample=False).fit(X, y)
    >>> model.predict([[3.0]]).tolist(), model.certificate_.holds
    ([9.0], True)
    """

    accepts = Accepts(target="number", by_columns=True)
    learns = AdaBoostParameters
    candidate = Candidate(
        "AdaBoost",
        55,
        "tree",
        {"random_state": 0},
        most_rows=200_000,
    )

    def __init__(
        self,
        estimator: Member | None = None,
        *,
        n_estimators: Count = 50,
        learning_rate: Positive = 1.0,
        loss: Literal["linear", "square", "exponential"] = "linear",
        random_state: RandomState = None,
        resample: bool = True,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.random_state = random_state
        self.resample = resample

    def _default_base(self) -> DecisionTreeRegressor:
        return DecisionTreeRegressor(max_depth=3)

    def _refuse(self, base: Any) -> None:
        if not self.resample and not can_be_weighted(base):
            raise ParameterError(
                f"{type(base).__name__} doesn't support sample_weight: use resample=True, or choose another."
            )

    def _given(
        self, batch: Batch, weight: Vector, draws: np.random.Generator
    ) -> tuple[Any, Any, Vector | None]:
        X: Any = batch.X
        y = np.asarray(batch.y)
        if not self.resample:
            return X, y, weight
        rows = draw_rows(len(y), len(y), draws, weight)
        return X[rows], y[rows], None

    def _answers_of(self, member: Any, X: Any) -> Vector:
        return np.asarray(member.predict(X), dtype=np.float64)

    def _judge(self, answers: Any, batch: Batch, weight: Vector) -> Round | None:
        off = np.abs(answers - np.asarray(batch.y))
        used = weight > 0
        largest = float(off[used].max())
        share = np.minimum(off / largest, 1.0) if largest > 0 else np.zeros_like(off)
        if self.loss == "square":
            share = share**2
        elif self.loss == "exponential":
            share = 1.0 - np.exp(-share)
        error = float((weight[used] * share[used]).sum() / weight.sum())
        if error <= 0:
            return Round(0.0, 1.0, None)
        if error >= 0.5:
            return None
        beta = error / (1.0 - error)
        vote = -self.learning_rate * float(np.log(beta))
        return Round(error, vote, weight * beta ** ((1.0 - share) * self.learning_rate))

    def _keeps_bad(self, members: int) -> bool:
        return members == 0

    def _proof(self, answers: list[Any], rounds: list[Round], batch: Batch) -> Certificate:
        weight = np.ones(len(batch)) if batch.weight is None else batch.weight
        votes = np.zeros(len(answers))
        votes[: len(rounds)] = [found.vote for found in rounds]
        error = float(np.average((_medians(answers, votes) - np.asarray(batch.y)) ** 2, weights=weight))
        words = "relative change of the losses and votes of members"
        return Certificate("measured", words, 0.0, STATED, {"mean squared error": error})

    def _parameters(self, common: dict[str, Any], source: Source) -> AdaBoostParameters:
        return AdaBoostParameters(**common)

    def _predict(self, X: Any) -> Vector:
        rows = whole_rows(X)
        return _medians(
            [self._answers_of(member, rows) for member in self.estimators_], self.estimator_weights_
        )

    def predict(self, X: Any, *, to: str | Path | None = None) -> Vector:
        """Return the weighted median of the members' predictions, or write it ``to`` a file."""
        return self._answer(self._predict, X, to, ["prediction"])

    def staged_predict(self, X: Any) -> Iterator[Vector]:
        """Yield the predictions after each member."""
        rows = whole_rows(self._rows_at_once(X))
        answers = []
        for member in self.estimators_:
            answers.append(self._answers_of(member, rows))
            yield _medians(answers, self.estimator_weights_)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yield R^2, the share of variance explained, after each member."""
        for found in self.staged_predict(X):
            yield float(r2_score(y, found, sample_weight=sample_weight))


def _medians(answers: list[Vector], votes: Vector) -> Vector:
    """The first answer, from below, at which half of the votes are reached."""
    table = np.column_stack(answers)
    order = np.argsort(table, axis=1)  # the order of equal answers changes no median
    reached = np.cumsum(votes[order], axis=1)
    place = (reached >= 0.5 * reached[:, -1:]).argmax(axis=1)
    rows = np.arange(len(table))
    return np.asarray(table[rows, order[rows, place]])
