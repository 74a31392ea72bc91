"""What both kinds of bagging share: how members are fitted, what they are worth, and their proof."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import closing
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, ParameterError, SurefitWarning, warn
from surefit.core.parameters import Interval, validate
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.engine.thread_map import in_turn
from surefit.models.base import Estimator, Learned
from surefit.models.baseline.majority import MajorityClassifier
from surefit.models.ensemble import (
    STATED,
    EncodedTarget,
    all_rows,
    fit_member,
    is_own,
    jobs_for,
    proof_of,
    relative_change,
    seeded,
    takes_weights,
)
from surefit.models.rows_in_memory import gathered
from surefit.models.tree.ensembles.bagging.draws import (
    Drawn,
    Draws,
    Places,
    columns_of,
    columns_to_draw,
    rows_to_draw,
)
from surefit.models.tree.ensembles.bagging.errors import MemberErrors
from surefit.models.tree.ensembles.framed import FramedEnsemble
from surefit.resample.streams import seed_of

RowsDrawn = Annotated[int, Interval(1, None)] | Annotated[float, Interval(0, 1, open_low=True)] | None
ColumnsDrawn = Annotated[int, Interval(1, None)] | Annotated[float, Interval(0, 1, open_low=True)]


@dataclass(frozen=True, slots=True)
class BaggingParameters:
    """The members and what they are worth.

    loss_curve: the mean loss after each member. member_error: the mean squared error of one;
    member_correlation: that of the errors of two. estimators_features: the columns of each. seed: of what was
    drawn; rows: how many there were; row_weight: their weights, empty without. oob_answers: the mean answer
    for each row by the members that have not seen it, and oob_value its score; kept where they are asked for.
    """

    loss_curve: Vector
    member_error: float
    member_correlation: float
    estimators: list[Any]
    estimators_features: list[Places]
    seed: int
    rows: int
    row_weight: Vector
    oob_answers: Matrix
    oob_value: float


class Bagging(FramedEnsemble, abstract=True):
    """Members fitted to rows drawn with replacement, and averaged."""

    n_estimators: int
    max_samples: Any
    max_features: Any
    bootstrap: bool
    bootstrap_features: bool
    oob_score: bool
    warm_start: bool
    n_jobs: int | None
    random_state: Any
    verbose: int

    loss_name: ClassVar[str]
    loss_curve_: Vector
    member_error_: float
    member_correlation_: float
    estimators_features_: list[Places]
    seed_: int
    rows_: int
    row_weight_: Vector
    oob_answers_: Matrix
    oob_value_: float

    @abstractmethod
    def _truth(self, batch: Batch) -> Matrix:
        """The target as answers would be if they were right, (n, k)."""

    @abstractmethod
    def _answers_of(self, member: Any, X: Any) -> Matrix:
        """What a member answers for rows, (n, k)."""

    @abstractmethod
    def _parameters(self, common: dict[str, Any], source: Source) -> Any:
        """What is learnt, with what is the class's own."""

    @abstractmethod
    def _score_of(self, errors: MemberErrors) -> float:
        """The score of the answers for rows out of bag, as scikit-learn has it."""

    def _iteration_limit(self) -> int:
        return self.n_estimators

    def _fit(self, X: Any, y: Any, sample_weight: Any, **also: Any) -> None:
        validate(self)
        if self.oob_score and not self.bootstrap:
            raise ParameterError(
                "Out of bag estimation only available if bootstrap=True: "
                "set bootstrap=True or oob_score=False."
            )
        if self._continues():
            more = self.n_estimators - len(self.estimators_)
            if more < 0:
                raise ParameterError(
                    f"n_estimators={self.n_estimators} must be larger or equal to "
                    f"len(estimators_)={len(self.estimators_)} when warm_start==True."
                )
            if more == 0:
                warn(
                    "Warm-start fitting without increasing n_estimators does not fit new trees.",
                    SurefitWarning,
                )
                return
        super()._fit(X, y, sample_weight, **also)

    def _continues(self) -> bool:
        return self.warm_start and "estimators_" in self.__dict__

    def _draws(self, batch: Batch, seed: int) -> Draws:
        rows, width = batch.X.shape
        return Draws(
            seed,
            rows,
            rows_to_draw(self.max_samples, rows, batch.weight, self.bootstrap),
            width,
            columns_to_draw(self.max_features, width),
            self.bootstrap,
            self.bootstrap_features,
        )

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        batch, evidence = all_rows(source, engine)
        base = self._checked_base()
        goes_on = self._continues()
        seed = self.seed_ if goes_on else 0 if self.random_state is None else seed_of(self.random_state)
        draws = self._draws(batch, seed)
        self._refuse(base, batch)
        members = list(self.estimators_) if goes_on else []
        features = list(self.estimators_features_) if goes_on else []
        errors = self._errors(batch)
        for number, member in enumerate(members):
            self._judge(errors, draws, number, member, batch)
        started = len(members)

        def one(number: int) -> tuple[Any, Places, Any, Any]:
            drawn = draws.of(number, batch.weight)
            member = self._member(drawn, base, batch)
            return member, drawn.features, *self._said(drawn, member, batch)

        numbers = range(started, self.n_estimators)
        with closing(in_turn(one, numbers, min(jobs_for(self.n_jobs), len(numbers)))) as found:
            for _ in trace.iterations(len(numbers)):
                member, chosen, rows, answers = next(found)
                members.append(member)
                features.append(chosen)
                loss = errors.add(rows, answers)
                trace.record(
                    objective=loss if np.isfinite(loss) else None,
                    learned=lambda: self._learned(errors, members, features, draws, batch, source, evidence),
                )
        return self._learned(errors, members, features, draws, batch, source, evidence)

    def _refuse(self, base: Any, batch: Batch) -> None:
        if batch.weight is not None and not self.bootstrap and not takes_weights(base):
            raise DataError(
                f"{type(self).__name__}: {type(base).__name__} doesn't support sample_weight, so weights "
                "only affect which rows are drawn: use bootstrap=True."
            )

    def _member(self, drawn: Drawn, base: Any, batch: Batch) -> Any:
        X, y, weight = self._given(drawn, base, batch)
        member = seeded(base, drawn.generator)
        if self._is_constant(base, y):
            constant = MajorityClassifier()
            steps = getattr(base, "steps", ())  # all but the last of a pipeline make numbers of cells
            member = member.set_params(**{steps[-1][0]: constant}) if steps else constant
        return fit_member(member, X, y, weight, self._coded(y, batch))

    def _coded(self, y: NDArray[Any], batch: Batch) -> EncodedTarget | None:
        """The target of a member that sees all classes, whose codes are its labels; None for others."""
        return None

    def _is_constant(self, base: Any, y: NDArray[Any]) -> bool:
        """Whether a bag holds one class only, of which most classifiers cannot learn."""
        return self.accepts.target == "class" and is_own(base) and bool((y == y[0]).all())

    def _given(self, drawn: Drawn, base: Any, batch: Batch) -> tuple[Any, NDArray[Any], Vector | None]:
        """The rows of a member: all with how often each was drawn, or those drawn."""
        X: Any = batch.X
        y, rows = np.asarray(batch.y), drawn.rows
        kept = None if self.bootstrap or batch.weight is None else batch.weight
        if not self.bootstrap and len(rows) == len(batch):
            return columns_of(X, drawn.features), y, kept
        counts = np.bincount(rows, minlength=len(batch)).astype(np.float64)
        if kept is not None:
            counts *= kept
        if takes_weights(base) and not self._lacks_a_class(base, y, counts):
            return columns_of(X, drawn.features), y, counts
        return columns_of(X[rows], drawn.features), y[rows], None if kept is None else kept[rows]

    def _lacks_a_class(self, base: Any, y: NDArray[Any], counts: Vector) -> bool:
        """Whether a class has no row in the bag: a member of surefit then sees the other classes only."""
        if self.accepts.target != "class" or not is_own(base):
            return False
        return bool((np.bincount(y, counts) == 0).any())

    def _errors(self, batch: Batch) -> MemberErrors:
        weight = np.ones(len(batch)) if batch.weight is None else batch.weight
        return MemberErrors(self._truth(batch), weight, self.accepts.target == "class")

    def _said(self, drawn: Drawn, member: Any, batch: Batch) -> tuple[NDArray[np.bool_], Matrix | None]:
        """The rows that a member was not given, or all where members leave none out; and its answers.

        None for those of a member that cannot predict.
        """
        rows = np.ones(len(batch), dtype=bool)
        if self.bootstrap or len(drawn.rows) < len(batch):
            rows[drawn.rows] = False
        if not rows.any():
            return rows, np.empty((0, self._truth(batch).shape[1]))
        X: Any = batch.X
        try:
            return rows, self._answers_of(member, columns_of(X if rows.all() else X[rows], drawn.features))
        except (NotImplementedError, NotFittedError) as error:
            if not self.oob_score:
                return rows, None
            raise ParameterError(
                f"{type(self).__name__}: oob_score=True needs members that predict, but a "
                f"{type(member).__name__} cannot predict: give another estimator, or oob_score=False."
            ) from error

    def _judge(self, errors: MemberErrors, draws: Draws, number: int, member: Any, batch: Batch) -> None:
        errors.add(*self._said(draws.of(number, batch.weight), member, batch))

    def _learned(
        self,
        errors: MemberErrors,
        members: list[Any],
        features: list[Places],
        draws: Draws,
        batch: Batch,
        source: Source,
        evidence: dict[str, Any],
    ) -> Learned:
        alone, correlation = errors.decomposition()
        if self.oob_score and not errors.counts.all():
            warn(
                "Some inputs do not have OOB scores. This probably means too few estimators were used "
                "to compute any reliable oob estimates.",
                SurefitWarning,
            )
        common = {
            "loss_curve": np.array(errors.curve),
            "member_error": alone,
            "member_correlation": correlation,
            "estimators": list(members),
            "estimators_features": list(features),
            "seed": draws.seed,
            "rows": draws.rows,
            "row_weight": np.empty(0) if batch.weight is None else batch.weight,
            "oob_answers": errors.averages() if self.oob_score else np.empty((0, 0)),
            "oob_value": self._score_of(errors) if self.oob_score else float("nan"),
        }
        if np.isfinite(correlation) and alone > 0:
            about = (correlation, len(members), type(self._base()).__name__)
            evidence = {**evidence, "member_errors": about}
        return Learned(self._parameters(common, source), self._estimate(errors, draws), evidence)

    def _estimate(self, errors: MemberErrors, draws: Draws) -> Certificate:
        loss, error = errors.loss()
        parts = {
            "loss": loss,
            "standard error": error,
            "rows": float(errors.seen.sum()),
            "loss of a constant": errors.constant_loss(),
        }
        if not np.isfinite(loss):
            words = "relative change of what members state, no row being out of bag"
            if errors.unanswered:
                words = "no error could be estimated, because the members cannot predict"
            return Certificate("measured", words, 0.0, STATED, parts)
        if self.bootstrap or draws.size < draws.rows:
            words = f"{self.loss_name} of rows out of bag, with a standard error of {error:.2g},"
            return Certificate("estimated", words, loss, float("inf"), parts)
        words = f"relative change of the {self.loss_name} of training rows, none being out of bag"
        return Certificate("measured", words, 0.0, STATED, parts)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Ask all members again for the rows that they were not given, and prove those that can be."""
        batch = gathered(source)
        if len(batch) != self.rows_:
            raise DataError(f"the members drew from {self.rows_} rows, but {len(batch)} were given.")
        draws = self._draws(batch, self.seed_)
        errors = self._errors(batch)
        for number, member in enumerate(self.estimators_):
            self._judge(errors, draws, number, member, batch)
        again = self._estimate(errors, draws)
        alone, correlation = errors.decomposition()
        scale = max(float(np.nanmax(self.loss_curve_, initial=0.0)), again.parts["loss of a constant"])
        gaps = {
            "loss after each member": relative_change(self.loss_curve_, errors.curve, scale),
            "error of one member": relative_change(self.member_error_, alone, max(self.member_error_, scale)),
            "correlation of two members": relative_change(self.member_correlation_, correlation, 1.0),
        }
        worst = max(gaps, key=lambda name: gaps[name])
        if not gaps[worst] <= STATED:
            return Certificate(
                "measured", f"relative change of the {worst}", gaps[worst], STATED, again.parts
            )
        return self._member_unproved(draws, batch) or again

    def _member_unproved(self, draws: Draws, batch: Batch) -> Certificate | None:
        """The certificate of the first member that does not hold."""
        base = self._base()

        def proof(number: int) -> Certificate | None:
            member = self.estimators_[number]
            if not isinstance(member, Estimator) or not member.__sklearn_is_fitted__():
                return None  # a model of others, or a subclass of ours that learns in its own way
            return proof_of(member, *self._given(draws.of(number, batch.weight), base, batch))

        found = in_turn(proof, range(len(self.estimators_)), jobs_for(self.n_jobs))
        with closing(found):
            for number, certificate in enumerate(found):
                unproved = certificate is not None and not certificate.holds
                if unproved and self.estimators_[number].certificate_.holds:
                    return certificate
        return None

    @property
    def estimators_samples_(self) -> list[Places]:
        """The rows that each member was given, drawn again."""
        check_is_fitted(self)
        weight = self.row_weight_ if len(self.row_weight_) else None
        draws = Draws(
            self.seed_,
            self.rows_,
            rows_to_draw(self.max_samples, self.rows_, weight, self.bootstrap),
            self.n_features_in_,
            columns_to_draw(self.max_features, self.n_features_in_),
            self.bootstrap,
            self.bootstrap_features,
        )
        return [draws.of(number, weight)[1] for number in range(len(self.estimators_))]

    @property
    def oob_score_(self) -> float:
        """The score of the answers for rows out of bag; there where ``oob_score=True`` asked for it."""
        if not np.size(self.__dict__.get("oob_answers_", ())):
            raise AttributeError(f"{type(self).__name__} has no oob_score_: fit it with oob_score=True.")
        return self.oob_value_

    def averaged_error(self, members: int) -> float:
        r"""The squared error of an average of so many members: :math:`\rho s^2 + (1 - \rho) s^2 / B`.

        Of an average of infinitely many it is :math:`\rho s^2`, with the correlation of two members' errors.
        """
        check_is_fitted(self)
        if members < 1:
            raise ParameterError(f"members={members!r} must be at least 1.")
        rho = self.member_correlation_
        return self.member_error_ * (rho + (1.0 - rho) / members)

    def _mean_answer(self, X: Any) -> Matrix:
        total: Any = 0.0
        for member, features in zip(self.estimators_, self.estimators_features_, strict=True):
            total = total + self._answers_of(member, columns_of(X, features))
        return np.asarray(total / len(self.estimators_))
