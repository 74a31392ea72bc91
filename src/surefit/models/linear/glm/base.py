"""What generalised linear models share: a family, a link, offsets, and the share of deviance explained."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.callback import with_callbacks

from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts, is_streamed
from surefit.data.schema import Schema
from surefit.data.source import MappedSource, Source
from surefit.engine.base import Engine, choose_engine
from surefit.losses import families
from surefit.losses.base import Loss
from surefit.losses.families import Family
from surefit.losses.family_loss import FamilyLoss
from surefit.losses.gamma import Gamma
from surefit.losses.links import Link
from surefit.losses.logistic import Logistic
from surefit.losses.negative_binomial import NegativeBinomial
from surefit.losses.poisson import Poisson
from surefit.losses.squared import Squared
from surefit.losses.tweedie import Tweedie
from surefit.models.linear.common.mean_loss import MeanLossModel, plain_intercept
from surefit.models.linear.common.offset import (
    OffsetColumns,
    SubtractedOffset,
    added,
    column_called,
    refuse_far_offsets,
    with_offset,
)
from surefit.models.linear.common.separation import unattained_evidence
from surefit.models.linear.inference.generalised_linear import GlmInference
from surefit.penalties.base import Penalty
from surefit.penalties.l2 import L2
from surefit.penalties.no_penalty import NoPenalty
from surefit.solvers.likelihood.fisher_scoring import FisherScoring
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import SECOND_ORDER_LARGEST, Solution, Solver, choose
from surefit.stats.deviance import Deviance


@dataclass(frozen=True, slots=True)
class ScoresOfTargets:
    """Replace each target by its own score, moved a little way inside of what the link takes."""

    loss: FamilyLoss

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with such a target."""
        y: Any = np.asarray(batch.y, dtype=np.float64)
        low, high = self.loss.family.means.low, self.loss.family.means.high
        if high is not None:
            y = (y + 0.5) / 2.0  # half an observation of either kind
        elif low is not None:
            y = np.maximum(y, 0.1 * float(np.mean(y)) + np.finfo(float).tiny)
        z = np.asarray(self.loss.link.forward(y), dtype=np.float64)
        return replace(batch, y=z if batch.offset is None else z - batch.offset, offset=None)


def feasible_start(objective: Objective) -> NDArray[np.float64] | None:
    """Return a packed point with a finite loss; None where the objective's own start has one."""
    loss = objective.loss
    if not isinstance(loss, FamilyLoss) or np.isfinite(objective.at(objective.null, 0).value):
        return None
    source = MappedSource(objective.source, objective.source.schema, ScoresOfTargets(loss))
    near = Objective(source, objective.engine, Squared(), NoPenalty(), fit_intercept=objective.fit_intercept)
    found: NDArray[np.float64] = choose(near).solve(near).x
    if np.isfinite(objective.at(found, 0).value):
        return found
    raise RefusalError(
        f"no starting point was found whose scores are in the domain of the inverse {loss.link.name} link: "
        "fit with an intercept, or choose a link that is defined for every score, such as 'log'."
    )


UNATTAINED = ", towards an infimum that no coefficients attain"


@dataclass(frozen=True, slots=True)
class GlmParameters:
    """Coefficients and intercept, how they were found, and which columns are offset and exposure."""

    coef: NDArray[np.float64]
    intercept: float
    n_iter: int
    solver_used: str
    offset_column: int | None
    exposure_column: int | None


class GlmModel(GlmInference, RegressorMixin, MeanLossModel, abstract=True):
    """Base of the generalised linear models; a class below says which family and link."""

    accepts = Accepts(target="number")
    learns: ClassVar[type] = GlmParameters

    alpha: float
    solver: str
    n_iter_: int
    solver_used_: str
    offset_column_: int | None
    exposure_column_: int | None

    @abstractmethod
    def _family(self) -> Family:
        """Return the family, as far as its parameters are known."""

    @abstractmethod
    def _link(self) -> Link:
        """Return the link."""

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> Self:
        """Learn from a table.

        offset: what is added to the score of each row, one number a row, or the name of a column. exposure:
        how much each row had the chance of, such as time or area: its logarithm is added. A column that is
        named stays in the table, for ``predict`` too: its coefficient is held at 1, an exposure's at 0 and
        its logarithm added.
        """
        return self._atomically(lambda: self._fit(X, y, sample_weight, offset=offset, exposure=exposure))

    def _source(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        *,
        reset: bool = True,
        classes: Any = None,
        offset: Any = None,
        exposure: Any = None,
        **also: Any,
    ) -> Source:
        source = super()._source(X, y, sample_weight, reset=reset, classes=classes, **also)
        if reset:
            named = isinstance(offset, str), isinstance(exposure, str)
            self.offset_column_ = column_called(source.schema, offset, "offset") if named[0] else None
            self.exposure_column_ = column_called(source.schema, exposure, "exposure") if named[1] else None
        return with_offset(source, added(source.schema.rows, offset, exposure))

    def _taken_out(self) -> OffsetColumns:
        return OffsetColumns(self.__dict__.get("offset_column_"), self.__dict__.get("exposure_column_"))

    def _rows_of(self, source: Source, engine: Engine) -> Source:
        source = self._taken_out().source(source)
        refuse_far_offsets(source, engine, self._link(), self.fit_intercept)
        squares = isinstance(self._loss(source.schema), Squared)
        return SubtractedOffset().source(source) if squares else source

    def _loss(self, schema: Schema) -> Loss:
        return loss_for(self._family(), self._link())

    def _penalty(self, objective: Objective) -> Penalty:
        return L2(self.alpha) if self.alpha > 0 else NoPenalty()

    def _solver(self, objective: Objective) -> Solver:
        if isinstance(objective.loss, FamilyLoss) and objective.columns <= SECOND_ORDER_LARGEST:
            return FisherScoring(tolerance=self.tol, max_iter=self.max_iter)
        return self._solver_called("auto", objective)

    def _start(self, objective: Objective) -> NDArray[np.float64] | None:
        start = super()._start(objective)
        if start is not None and np.isfinite(objective.at(start, 0).value):
            return start
        return feasible_start(objective)

    def _parameters(self, objective: Objective, solution: Solution, solver: Solver) -> Any:
        coef, intercept = objective.split(solution.x)
        out = self._taken_out()
        full = np.zeros(objective.columns + len(out.columns))
        full[out.kept(len(full))] = coef
        if out.offset is not None:
            full[out.offset] = 1.0
        return GlmParameters(
            full,
            plain_intercept(intercept),
            max(solution.iterations, 1),
            solver.name,
            out.offset,
            out.exposure,
        )

    def _evidence(self, objective: Objective, solution: Solution) -> Any:
        return {
            **super()._evidence(objective, solution),
            **unattained_evidence(objective, solution),
            "column_names": objective.source.schema.names,
        }

    def _proof(self, objective: Objective, solution: Solution) -> Certificate:
        proof = super()._proof(objective, solution)
        if proof.claim != "optimal" or not unattained_evidence(objective, solution):
            return proof
        return replace(proof, measure=proof.measure + UNATTAINED)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        again = super()._certify(source, engine)
        told = self.certificate_.measure.endswith(UNATTAINED) and again.claim == "optimal"
        return replace(again, measure=again.measure + UNATTAINED) if told else again

    def _packed(self) -> NDArray[np.float64]:
        coef = self.coef_[self._taken_out().kept(len(self.coef_))]
        return np.append(coef, self.intercept_) if self.fit_intercept else coef

    def _linear(self, X: Any) -> Any:
        z = X @ self.coef_ + self.intercept_
        exposure = OffsetColumns(None, self.exposure_column_)
        return z if exposure.exposure is None else z + exposure.of(X)

    def predict(
        self, X: Any, *, offset: Any = None, exposure: Any = None, to: str | Path | None = None
    ) -> NDArray[np.float64]:
        """Return the mean of y for each row, or write it ``to`` a file.

        offset, exposure: as in ``fit``; without them, those of a named column, or else 0 and 1.
        """
        if offset is None and exposure is None:
            return self._answer(self._mean, X, to, ["prediction"])
        if is_streamed(X) or isinstance(offset, str) or isinstance(exposure, str):
            raise DataError(
                "predict takes offset and exposure as values beside rows in memory: a column that was named "
                "in fit is used automatically, so leave them out."
            )
        more: Any = added(None, offset, exposure)

        def mean(rows: Any) -> Any:
            if len(more) != rows.shape[0]:
                raise DataError(f"there are {len(more)} offsets for {rows.shape[0]} rows: give one per row.")
            return np.asarray(self._link().inverse(self._linear(rows) + more))

        return self._answer(mean, X, to, ["prediction"])

    def _mean(self, X: Any) -> NDArray[np.float64]:
        return np.asarray(self._link().inverse(self._linear(X)))

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> float:
        """Return the share of the deviance of a constant mean that is explained, 1 at best."""
        source = self._source(X, y, sample_weight, reset=False, offset=offset, exposure=exposure)
        found = self._deviances(source, choose_engine(source))
        return 1.0 - found.deviance / found.null_deviance

    def _deviances(self, source: Source, engine: Engine) -> Deviance:
        """Return deviance and Pearson's sum at the fitted means, in two passes."""
        loss = FamilyLoss(self._fitted_family(), self._link())
        source = self._taken_out().source(source)
        mean = engine.accumulate(Deviance.mean_of, source)
        packed = self._packed()
        coef, intercept = (packed[:-1], packed[-1]) if self.fit_intercept else (packed, None)
        at = {"loss": loss, "w": coef, "intercept": intercept, "constant": mean.constant}
        found: Deviance = engine.accumulate(_Of(at), source)
        return found

    def _fitted_family(self) -> Family:
        return self._family()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self._positive_only()
        return tags

    def _positive_only(self) -> bool:
        try:
            low = self._family().targets.low
        except ParameterError:
            return False
        return low is not None


@dataclass(frozen=True, slots=True)
class _Of:
    at: dict[str, Any]

    def __call__(self, batch: Any) -> Deviance:
        return Deviance.of(batch, **self.at)


def loss_for(family: Family, link: Link) -> Loss:
    """Return the loss of a family and a link: a fused one where there is one.

    >>> from surefit.losses.links import Identity, Log
    >>> loss_for(families.Poisson(), Log()), loss_for(families.Poisson(), Identity())
    (Poisson(), FamilyLoss(Poisson(), Identity()))
    """
    power = getattr(family, "power", None)
    if link.name == "identity" and (family.name == "gaussian" or power == 0):
        return Squared()
    if link.name == "logit" and family.name == "binomial":
        return Logistic()
    if link.name == "log":
        if family.name == "poisson" or power == 1:
            return Poisson()
        if family.name == "gamma" or power == 2:
            return Gamma()
        if power is not None and 1 < power < 2:
            return Tweedie(power)
        if isinstance(family, families.NegativeBinomial):
            return NegativeBinomial(1.0 / family.theta)
    return FamilyLoss(family, link)
