"""Generalised linear regression of any family and link, with dispersion and inference."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.certificate import Certificate
from surefit.core.errors import RefusalError
from surefit.core.parameters import Count, Fraction, Positive, Strength, Tolerance
from surefit.core.trace import Trace
from surefit.data.schema import Schema
from surefit.data.source import Source, in_memory
from surefit.engine.base import Engine
from surefit.losses.base import Loss
from surefit.losses.families import FAMILIES, Family, NegativeBinomial, Tweedie
from surefit.losses.joint import LogDispersion
from surefit.losses.links import Link, link_named
from surefit.losses.tweedie import Power
from surefit.models.base import Learned
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.glm.base import GlmModel, GlmParameters
from surefit.models.linear.glm.likelihood_constraints import (
    at_bounds,
    hold,
    newton_for,
    ordered_groups,
    proof_of,
)
from surefit.models.linear.inference.influence import influence_evidence
from surefit.penalties.base import Penalty
from surefit.penalties.elastic_net import ElasticNet
from surefit.solvers.likelihood.ancillary_parameters import JointObjective
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Solution, Solver
from surefit.stats.deviance import Deviance

LOOKED_AT = 2_000_000  # cells in memory, up to which each row is looked at

FamilyName = Literal[
    "gaussian", "binomial", "poisson", "gamma", "inverse_gaussian", "tweedie", "negative_binomial"
]
LinkName = Literal[
    "auto", "identity", "log", "logit", "probit", "cloglog", "inverse", "inverse_squared", "sqrt"
]


@dataclass(frozen=True, slots=True)
class GeneralParameters:
    """Coefficients and intercept; the estimates of theta and of the dispersion; the deviance."""

    coef: NDArray[np.float64]
    intercept: float
    n_iter: int
    solver_used: str
    offset_column: int | None
    exposure_column: int | None
    theta: float | None
    dispersion: float
    deviance: float
    null_deviance: float
    pearson: float
    rows: int
    weight: float


class GeneralizedLinearRegressor(GlmModel):
    r"""Minimise :math:`\frac1{2W} \sum_i s_i d(y_i, \mu_i) + \alpha \, pen(w)` with :math:`g(\mu) = Xw + b`.

    family: what y is; "binomial" takes 0 and 1, or shares of successes whose number of trials is the sample
    weight. link: g; "auto" is the identity, logit or log that is usual for the family; a number is a power of
    the mean. power: of the "tweedie" family. theta: of the "negative_binomial" family, whose variance is
    :math:`\mu + \mu^2 / \theta`; None estimates it by maximum likelihood. alpha: strength of the penalty
    :math:`\rho |w|_1 + (1 - \rho) |w|_2^2 / 2` with :math:`\rho` = l1_ratio; 0 by default, as inference is
    for unpenalised fits. solver: "auto" chooses. tol: the duality gap, relative to the loss of a constant;
    for pairs of family and link without one, how far from stationary the fit may be. constraints: as in
    :class:`~surefit.LinearModel`.

    ``dispersion_`` is Pearson's estimate, 1 for binomial and counts; ``deviance_``, ``theta_``.

    >>> from surefit import GeneralizedLinearRegressor
    >>> X, y = [[0.0], [0.0], [1.0], [1.0]], [1.0, 3.0, 4.0, 12.0]
    >>> model = GeneralizedLinearRegressor("gamma", "inverse").fit(X, y)
    >>> model.coef_.round(4), round(model.intercept_, 4)  # 1/8 - 1/2 and 1/2
    (array([-0.375]), 0.5)
    >>> model.certificate_.claim
    'stationary'
    """

    learns = GeneralParameters

    theta_: float | None
    dispersion_: float
    deviance_: float
    null_deviance_: float
    pearson_: float
    rows_: int
    weight_: float

    def __init__(
        self,
        family: FamilyName = "gaussian",
        link: LinkName | float = "auto",
        *,
        power: Power = 1.5,
        theta: Positive | None = None,
        alpha: Strength = 0.0,
        l1_ratio: Fraction = 0.0,
        fit_intercept: bool = True,
        solver: str = "auto",
        max_iter: Count = 100,
        tol: Tolerance = 1e-8,
        warm_start: bool = False,
        constraints: Constraints = None,
    ) -> None:
        self.family = family
        self.link = link
        self.power = power
        self.theta = theta
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.constraints = constraints

    def _family(self) -> Family:
        found = FAMILIES.get(self.family, FAMILIES["gaussian"])
        if found is Tweedie:
            return Tweedie(self.power)
        return NegativeBinomial(self.theta or 1.0) if found is NegativeBinomial else found()

    def _fitted_family(self) -> Family:
        family = self._family()
        theta = self.__dict__.get("theta_")
        return NegativeBinomial(theta) if isinstance(family, NegativeBinomial) and theta else family

    def _link(self) -> Link:
        return self._family().link() if self.link == "auto" else link_named(self.link)

    def _loss(self, schema: Schema) -> Loss:
        return super()._loss(schema)

    def _penalty(self, objective: Objective) -> Penalty:
        if self.alpha > 0 and self.l1_ratio > 0:
            return ElasticNet(self.alpha, l1_ratio=self.l1_ratio)
        return super()._penalty(objective)

    def _solver(self, objective: Objective) -> Solver:
        return (
            super()._solver(objective)
            if self.solver == "auto"
            else self._solver_called(self.solver, objective)
        )

    def _estimates_theta(self) -> bool:
        return self.family == "negative_binomial" and self.theta is None

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        learned = (
            self._jointly(source, engine, trace)
            if self._estimates_theta()
            else super()._learn(source, engine, trace)
        )
        self.__dict__.update(self._attributes(learned))  # what the means are made of
        found = self._deviances(source, engine)
        family, parameters = self._fitted_family(), learned.parameters
        freedom = found.weight - np.count_nonzero(parameters.coef) - self.fit_intercept
        scaled = family.scaled and freedom > 0
        finished = replace(
            parameters,
            dispersion=found.pearson / freedom if scaled else np.nan if family.scaled else 1.0,
            deviance=found.deviance,
            null_deviance=found.null_deviance,
            pearson=found.pearson,
            rows=found.rows,
            weight=found.weight,
        )
        evidence = {**learned.evidence, **self._fit_evidence(source, engine, found, finished)}
        return replace(learned, parameters=finished, evidence=evidence)

    def _fit_evidence(
        self, source: Source, engine: Engine, found: Deviance, parameters: GeneralParameters
    ) -> dict[str, Any]:
        """Return what the rules on dispersion, influence and link look at."""
        family = self._fitted_family()
        freedom = found.weight - len(self._packed())
        seen: dict[str, Any] = {}
        if not family.scaled and family.name != "binomial":
            seen["pearson"] = (found.pearson, freedom, family.name.replace("_", " "))
        rows = in_memory(self._taken_out().source(source))
        if rows is None or self.alpha > 0 or freedom <= 0 or rows.X.shape[0] * rows.X.shape[1] > LOOKED_AT:
            return seen
        return seen | influence_evidence(
            rows, family, self._link(), self._packed(), self.fit_intercept, freedom
        )

    def _parameters(self, objective: Objective, solution: Solution, solver: Solver) -> GeneralParameters:
        plain: GlmParameters = super()._parameters(objective, solution, solver)
        kept = {entry.name: getattr(plain, entry.name) for entry in fields(plain)}
        theta = self.theta if self.family == "negative_binomial" else None
        return GeneralParameters(
            **kept,
            theta=theta,
            dispersion=1.0,
            deviance=0.0,
            null_deviance=0.0,
            pearson=0.0,
            rows=0,
            weight=0.0,
        )

    # With theta to estimate, coefficients and log(1 / theta) are found together.

    def _joint_objective(self, source: Source, engine: Engine) -> JointObjective:
        if self.alpha > 0 and self.l1_ratio > 0:
            raise RefusalError(
                "theta is not estimated together with an l1 penalty: give theta, or leave it out."
            )
        if self._link().name != "log":
            raise RefusalError("theta is estimated with the log link alone: give theta, or link='log'.")
        plain = self._objective(source, engine)
        shifted = "intercept" if self.fit_intercept else None
        start = np.zeros(1)
        joint = JointObjective(
            plain.source,
            engine,
            LogDispersion(),
            start,
            fit_intercept=self.fit_intercept,
            shifted=shifted,
            alpha=self.alpha,
            alike=ordered_groups(self.constraints),
        )
        if self.fit_intercept:
            joint.null[joint.columns] = plain.null[-1]
        return joint if self.constraints is None else hold(joint, type(self).__name__, self.constraints)

    def _jointly(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        objective = self._joint_objective(source, engine)
        start = None
        if self.warm_start and "certificate_" in self.__dict__ and self.theta_ is not None:
            packed = self._packed_jointly()
            start = objective.inner(packed) if packed.shape == objective.shape else None
        # What is left to gain is the square of the distance: a step more costs little.
        solver = newton_for(self.constraints, tolerance=1e-2 * self.tol, max_iter=self.max_iter)
        solution = solver.solve(objective, start, trace)
        self._schema = source.schema
        packed = objective.outer(solution.x)
        packed[: objective.columns] = at_bounds(packed[: objective.columns], self.constraints)
        plain = self._objective(source, engine)
        parameters = self._parameters(plain, replace(solution, x=packed[:-1]), solver)
        parameters = replace(parameters, theta=float(np.exp(-packed[-1])), solver_used="joint newton")
        spread = plain.spread
        evidence = {
            "column_moments": spread.moments,
            "rows": spread.rows,
            "column_names": plain.source.schema.names,
        }
        return Learned(parameters, proof_of(objective, solution, self.constraints), evidence)

    def _packed_jointly(self) -> NDArray[np.float64]:
        assert self.theta_ is not None
        return np.append(self._packed(), -np.log(self.theta_))

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        if not self._estimates_theta():
            return super()._certify(source, engine)
        objective = self._joint_objective(source, engine)
        return objective.certificate(objective.inner(self._packed_jointly()), self.certificate_.tolerance)
