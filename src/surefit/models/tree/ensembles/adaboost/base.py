"""What both kinds of AdaBoost share: members one after the other, each for the rows that were met badly."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import SurefitWarning, warn
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Estimator, Learned
from surefit.models.ensemble import (
    STATED,
    EncodedTarget,
    all_rows,
    fit_member,
    proof_of,
    relative_change,
    seeded,
)
from surefit.models.rows_in_memory import gathered
from surefit.models.tree.ensembles.frame_rows import whole_rows
from surefit.models.tree.ensembles.framed import FramedEnsemble
from surefit.resample.streams import seed_of, stream

TINY = float(np.finfo(np.float64).eps)  # of the whole weight: rows do not fall below, so that none is lost


@dataclass(frozen=True, slots=True)
class AdaBoostParameters:
    """The members, what each says in the vote, and its error; both of as many entries as were asked for.

    seed: of what was drawn.
    """

    estimator_weights: Vector
    estimator_errors: Vector
    estimators: list[Any]
    seed: int


@dataclass(frozen=True, slots=True)
class Round:
    """What a member is worth: its error, its vote, and the weights of rows after it; None to end with it."""

    error: float
    vote: float
    after: Vector | None


class AdaBoost(FramedEnsemble, abstract=True):
    """Members fitted one after the other to rows that weigh more the worse they were met."""

    n_estimators: int
    learning_rate: float
    random_state: Any

    estimator_weights_: Vector
    estimator_errors_: Vector
    seed_: int

    @abstractmethod
    def _given(
        self, batch: Batch, weight: Vector, draws: np.random.Generator
    ) -> tuple[Any, Any, Vector | None]:
        """The rows that a member is fitted to, their target, and their weights."""

    def _coded(self, batch: Batch) -> EncodedTarget | None:
        """The classes that members are taught, where all see the same rows; None for numbers."""
        return None

    @abstractmethod
    def _judge(self, answers: Any, batch: Batch, weight: Vector) -> Round | None:
        """What a member with such answers is worth; None where it is too bad to be kept."""

    @abstractmethod
    def _keeps_bad(self, members: int) -> bool:
        """Whether a member that is too bad stays nevertheless, being the first; or raise."""

    @abstractmethod
    def _proof(self, answers: list[Any], rounds: list[Round], batch: Batch) -> Certificate:
        """The certificate, from what the members are worth."""

    @abstractmethod
    def _parameters(self, common: dict[str, Any], source: Source) -> Any:
        """What is learnt, with what is the class's own."""

    @abstractmethod
    def _answers_of(self, member: Any, X: Any) -> Any:
        """What a member answers for rows."""

    def _iteration_limit(self) -> int:
        return self.n_estimators

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        batch, evidence = all_rows(source, engine)
        base, seed = self._checked_base(), 0 if self.random_state is None else seed_of(self.random_state)
        self._refuse(base)
        weight = _shares(batch)
        members: list[Any] = []
        answers: list[Any] = []
        rounds: list[Round] = []

        def learned() -> Learned:
            return self._learned(members, answers, rounds, seed, batch, source, evidence)

        for number in trace.iterations(self.n_estimators):
            draws = stream(seed, number)
            member = seeded(base, draws)
            X, y, given = self._given(batch, weight, draws)
            fit_member(member, whole_rows(X), y, given, self._coded(batch))
            said = self._answers_of(member, whole_rows(batch.X))
            found = self._judge(said, batch, weight)
            if found is not None or self._keeps_bad(len(members)):
                members.append(member)
                answers.append(said)
            if found is not None:
                rounds.append(found)
            trace.record(objective=None if found is None else found.error, learned=learned)
            if found is None or found.after is None or found.error == 0:
                break
            total = float(found.after.sum())
            if not np.isfinite(total):
                warn(
                    f"Sample weights have reached infinite values, at iteration {number}, causing overflow. "
                    "Iterations stopped. Try lowering the learning rate.",
                    SurefitWarning,
                )
                break
            weight = _held_up(found.after / total)
        return learned()

    def _refuse(self, base: Any) -> None:
        """Refuse a base model that cannot be boosted."""

    def _learned(
        self,
        members: list[Any],
        answers: list[Any],
        rounds: list[Round],
        seed: int,
        batch: Batch,
        source: Source,
        evidence: dict[str, Any],
    ) -> Learned:
        votes, errors = np.zeros(self.n_estimators), np.ones(self.n_estimators)
        votes[: len(rounds)] = [found.vote for found in rounds]
        errors[: len(rounds)] = [found.error for found in rounds]
        common = {
            "estimator_weights": votes,
            "estimator_errors": errors,
            "estimators": list(members),
            "seed": seed,
        }
        proof = self._proof(answers, rounds, batch)
        self._schema = source.schema
        return Learned(self._parameters(common, source), proof, evidence)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Weigh the rows again by what each member missed, and prove the members that can be."""
        batch = gathered(source)
        weight = _shares(batch)
        every = whole_rows(batch.X)
        answers = [self._answers_of(member, every) for member in self.estimators_]
        rounds: list[Round] = []
        for number, member in enumerate(self.estimators_):
            if isinstance(member, Estimator):
                draws = stream(self.seed_, number)
                seeded(self._base(), draws)
                X, y, given = self._given(batch, weight, draws)
                proof = proof_of(member, whole_rows(X), y, given)
                if not proof.holds and member.certificate_.holds:
                    return proof
            found = self._judge(answers[number], batch, weight)
            if found is None:
                break
            rounds.append(found)
            if found.after is not None:
                weight = _held_up(found.after / found.after.sum())
        votes, errors = np.zeros(len(self.estimator_weights_)), np.ones(len(self.estimator_errors_))
        votes[: len(rounds)] = [found.vote for found in rounds]
        errors[: len(rounds)] = [found.error for found in rounds]
        gaps = {
            "weights of members": relative_change(
                self.estimator_weights_, votes, float(np.abs(votes).max(initial=1.0))
            ),
            "errors of members": relative_change(self.estimator_errors_, errors, 1.0),
        }
        worst = max(gaps, key=lambda name: gaps[name])
        if not gaps[worst] <= STATED:
            return Certificate("measured", f"relative change of the {worst}", gaps[worst], STATED)
        return self._proof(answers, rounds, batch)

    @property
    def feature_importances_(self) -> Vector:
        """The importances of the members, averaged by their votes."""
        check_is_fitted(self)
        if not all(hasattr(member, "feature_importances_") for member in self.estimators_):
            raise AttributeError(
                "Unable to compute feature importances since estimator does not have a feature_importances_ "
                "attribute."
            )
        votes = self.estimator_weights_[: len(self.estimators_)]
        shares = np.array([member.feature_importances_ for member in self.estimators_])
        if not votes.any():  # one member, or members that are no better than chance
            return np.asarray(shares.mean(axis=0))
        return np.asarray(votes @ shares / votes.sum())

    @abstractmethod
    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predictions after each member."""


def _shares(batch: Batch) -> Vector:
    weight = np.ones(len(batch)) if batch.weight is None else batch.weight
    return _held_up(weight / weight.sum())


def _held_up(weight: Vector) -> Vector:
    """Weights no smaller than rounding, where there are any."""
    return np.where(weight > 0, np.maximum(weight, TINY), 0.0)
