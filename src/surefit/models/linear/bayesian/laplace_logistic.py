"""Logistic regression with a normal prior, its posterior a normal distribution at the mode.

Laplace's method looks at second derivatives there; they also give the precision that makes the classes most
likely.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from math import log, pi
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.core.parameters import Count, Positive, RandomState, Tolerance
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.distributions.multivariate_normal import MultivariateNormal
from surefit.engine.base import Engine
from surefit.losses.base import Loss
from surefit.losses.logistic import Logistic
from surefit.models.base import Learned
from surefit.models.linear.bayesian.constrained_mode import Quadratic
from surefit.models.linear.bayesian.gaussian_posterior import inverse_root
from surefit.models.linear.bayesian.prediction import ends, plane_spread, raw_root
from surefit.models.linear.bayesian.truncated_normal import TruncatedNormal
from surefit.models.linear.bayesian.truncated_posterior import TruncatedPosterior, TruncatedPosteriorMixin
from surefit.models.linear.common.class_scores import LinearClassification
from surefit.models.linear.common.constraints import Constraints, constrained
from surefit.models.linear.common.mean_loss import MeanLossModel, plain_intercept
from surefit.models.linear.squares.ridge_fit import LARGEST_GRAM
from surefit.penalties.base import Penalty
from surefit.penalties.l2 import L2
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Solution, Solver
from surefit.solvers.squares.level_limits import LevelLimits
from surefit.stats.curvature import Curvature

GAMMA_PRIOR = 1e-6  # shape and rate of the gamma prior on the precision, as in BayesianRidge
SETTLED = 1e-7  # of a change of the chosen log-precision
ROUNDS = 100  # of choosing it


def precision_update(coef: Vector, root: Matrix, precision: float) -> float:
    """The precision of another step; the same where the evidence is greatest."""
    spread = np.einsum("ij,ij->i", root[: len(coef)], root[: len(coef)])
    explained = float((1.0 - precision * spread).sum())
    return (explained + 2 * GAMMA_PRIOR) / (float(coef @ coef) + 2 * GAMMA_PRIOR)


class PrecisionSearch:
    """The way to the most likely precision: by another step each, or to where the last two point."""

    def __init__(self) -> None:
        self._before: tuple[float, float] | None = None
        self._rounds = 0

    def following(self, coef: Vector, root: Matrix, precision: float) -> float | None:
        """Return the next precision to try; None at the end."""
        place = log(precision)
        move = log(precision_update(coef, root, precision)) - place
        self._rounds += 1
        if abs(move) <= SETTLED or self._rounds > ROUNDS:
            return None
        step = move
        if self._before is not None and self._before[1] != move:
            secant = -move * (place - self._before[0]) / (move - self._before[1])
            step = secant if abs(secant) <= 3.0 else move
        self._before = place, move
        return float(np.exp(place + step))


def second_derivatives(
    objective: Objective, coef: Vector, intercept: float, center: Vector, fit_intercept: bool
) -> Matrix:
    """Those of the loss, added up, by w and by the score at ``center``."""
    of = partial(_centred_curvature, objective.loss, coef, intercept, center, fit_intercept)
    found: Matrix = objective.accumulate(of).hessian
    return np.array(found)


def _centred_curvature(
    loss: Loss, coef: Vector, intercept: float, center: Vector, fit_intercept: bool, batch: Batch
) -> Curvature:
    X: Any = batch.X
    if not center.any():
        return Curvature.of(batch, loss=loss, w=coef, intercept=intercept if fit_intercept else None)
    moved = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64) - center
    height = intercept + float(center @ coef)
    return Curvature.of(replace(batch, X=moved), loss=loss, w=coef, intercept=height)


Way = Literal["probit", "sample", "mode"]

PROVED = 1e-6  # what may be left of a covariance times its inverse, and of that change


@dataclass(frozen=True, slots=True)
class BayesianLogisticRegressionParameters:
    """The mode; R with RR' the covariance of w and of the score at ``center``; the prior; the evidence.

    free_mean: under constraints, the mean of the normal distribution before truncation. free_mode: the mode
    without them, packed, where the evidence of that chose the precision.
    """

    coef: Vector
    intercept: float
    center: Vector
    root: Matrix
    precision: Any
    log_evidence: float
    n_iter: int
    classes: NDArray[Any]
    free_mean: Any = None
    free_mode: Any = None
    log_evidence_error: float = 0.0


class BayesianLogisticRegression(
    TruncatedPosteriorMixin, LinearClassification, ClassifierMixin, MeanLossModel
):
    r"""Approximate :math:`p(w, b | X, y) \propto e^{-\sum_i s_i \log(1 + e^{-y_i z_i}) - w'\Lambda w / 2}`.

    By Laplace's method: a normal distribution at the mode, with the inverse of the second derivatives there
    as covariance. prior_precision: Lambda: a number, one per column, or "evidence", which chooses the number
    that makes the classes most likely. The prior of the intercept is flat. tol: the relative duality gap of
    the mode. max_iter: of the solver. warm_start: whether to go on from the last fit.

    ``coef_`` is the mode, ``posterior_`` the distribution, ``log_evidence_`` Laplace's estimate of it.

    constraints: as in :class:`~surefit.LinearModel`. The prior is truncated to them; ``coef_`` is the
    constrained mode, and the posterior is the normal distribution with the gradient and Hessian there,
    truncated: ``posterior_mean_``, spreads and draws are by Gibbs sampling seeded by random_state. A
    precision by evidence is that of the model without constraints.

    >>> from surefit import BayesianLogisticRegression
    >>> X, y = [[-2.0], [-1.0], [1.0], [2.0]], ["no", "no", "yes", "yes"]
    >>> model = BayesianLogisticRegression(prior_precision=1.0).fit(X, y)
    >>> model.coef_.round(3), model.predict_proba([[1.0], [8.0]]).round(3)
    (array([1.007]), array([[0.322, 0.678],
           [0.096, 0.904]]))
    """

    accepts = Accepts(target="class")
    learns = BayesianLogisticRegressionParameters

    center_: Vector
    root_: Matrix
    precision_: Any
    log_evidence_: float
    log_evidence_error_: float
    free_mode_: Any
    n_iter_: int

    def __init__(
        self,
        prior_precision: Positive | Literal["evidence"] | np.ndarray | list | tuple = 1.0,
        *,
        fit_intercept: bool = True,
        tol: Tolerance = 1e-10,
        max_iter: Count = 1000,
        warm_start: bool = False,
        constraints: Constraints = None,
        random_state: RandomState = 0,
    ) -> None:
        self.prior_precision = prior_precision
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.constraints = constraints
        self.random_state = random_state

    def _loss(self, schema: Schema) -> Loss:
        return Logistic()

    def _penalty(self, objective: Objective) -> Penalty:
        p = objective.columns
        if p > LARGEST_GRAM:
            raise RefusalError(
                f"BayesianLogisticRegression holds the covariance of {p} coefficients, which works up to "
                f"{LARGEST_GRAM} columns: drop some, or take a penalised LinearModel for the mode alone."
            )
        given: Any = self.prior_precision
        precision = np.asarray(1.0 if isinstance(given, str) else given, dtype=np.float64)
        if precision.shape not in ((), (p,)) or not (np.isfinite(precision) & (precision > 0)).all():
            raise ParameterError(
                "BayesianLogisticRegression: prior_precision must be positive: a number, one for each of the "
                f"{p} columns, or 'evidence'."
            )
        return _penalty_of(precision, objective)

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        objective = self._objective(source, engine)
        share = float(objective.targets.total[0]) / float(objective.targets.weight)
        if not 0 < share < 1:
            raise DataError(
                "only rows of one class have positive weight, and a classifier needs at least two classes: "
                "give rows of another class a weight."
            )
        start, steps, free = self._start(objective), 0, None
        precision = _precision_of(self._penalty(objective), objective)
        if isinstance(self.prior_precision, str):
            free, precision, steps = self._maximise_evidence(objective, precision, start, trace)
        solution, free_mode = free, None
        if solution is None or self.constraints is not None:
            objective.penalty = self._held(precision, objective)
            solution = self._solved_from(objective, start if free is None else free.x, trace)
            steps += solution.iterations
            free_mode = None if free is None else free.x
        self._schema = source.schema
        found = self._laplace(objective, solution.x, precision)
        parameters = replace(found, n_iter=max(steps, 1), free_mode=free_mode)
        return Learned(parameters, self._proof(objective, solution), self._evidence(objective, solution))

    def _maximise_evidence(
        self, objective: Objective, precision: Any, start: Vector | None, trace: Trace
    ) -> tuple[Solution, float, int]:
        """Return the mode without constraints at the precision that the evidence chooses, and its steps."""
        steps, search = 0, PrecisionSearch()
        while True:
            objective.penalty = _penalty_of(precision, objective)
            solution = self._solved_from(objective, start, trace)
            steps += solution.iterations
            coef, _ = objective.split(solution.x)
            root = self._spread(objective, solution.x, precision)[1]
            following = search.following(coef, root, precision)
            if following is None or trace.asked_to_stop:
                return solution, precision, steps
            start, precision = solution.x, following

    def _solved_from(self, objective: Objective, start: Vector | None, trace: Trace) -> Solution:
        solver = self._solver(objective)
        solver.require(objective)
        return solver.solve(objective, start, trace)

    def _held(self, precision: Any, objective: Objective) -> Penalty:
        """The prior as a penalty, within the constraints."""
        penalty = _penalty_of(precision, objective)
        return constrained(type(self).__name__, penalty, self.constraints, objective.columns)

    def _evidence(self, objective: Objective, solution: Solution) -> dict[str, Any]:
        """Without what tells of separated classes: the prior gives them a mode all the same."""
        found = super()._evidence(objective, solution)
        return {name: value for name, value in found.items() if name != "separation"}

    def _parameters(self, objective: Objective, solution: Solution, solver: Solver) -> Any:
        precision = _precision_of(self._penalty(objective), objective)
        return self._laplace(objective, solution.x, precision)

    def _spread(self, objective: Objective, x: Vector, precision: Any) -> tuple[Vector, Matrix, float]:
        """Return the centre, R with RR' the inverse of the second derivatives, and their log-determinant."""
        coef, intercept = objective.split(x)
        b, p = plain_intercept(intercept), len(coef)
        center = np.zeros(p)
        if self.fit_intercept and (objective.rows is None or not sparse.issparse(objective.rows.X)):
            center = objective.spread.mean
        inner = second_derivatives(objective, coef, b, center, self.fit_intercept)
        least = np.zeros_like(inner)
        least[np.arange(p), np.arange(p)] = precision
        if not np.diagonal(inner + least).all():
            raise DataError(
                "BayesianLogisticRegression: all probabilities at the constrained mode are 0 or 1 to "
                "machine precision, so the posterior of the intercept is improper: widen the bounds."
            )
        return center, *inverse_root(inner + least, least)

    def _laplace(
        self, objective: Objective, x: Vector, precision: Any
    ) -> BayesianLogisticRegressionParameters:
        coef, intercept = objective.split(x)
        b, p = plain_intercept(intercept), len(coef)
        center, root, log_determinant = self._spread(objective, x, precision)
        weight = float(objective.targets.weight)
        priors = 0.5 * float(np.log(np.broadcast_to(precision, p)).sum() - (precision * coef**2).sum())
        flat = 0.5 * log(2 * pi) * float(self.fit_intercept)
        evidence = priors + flat - weight * objective.at(x, 0).value - 0.5 * log_determinant
        classes = objective.source.schema.classes
        assert classes is not None
        found = BayesianLogisticRegressionParameters(
            np.array(coef), b, center, root, precision, float(evidence), 1, classes
        )
        return found if self.constraints is None else self._within(objective, x, found)

    def _within(
        self, objective: Objective, x: Vector, found: BayesianLogisticRegressionParameters
    ) -> BayesianLogisticRegressionParameters:
        """Truncate to the constraints the normal distribution with the gradient and Hessian at the mode."""
        slope = self._slope(objective, x, found.precision, found.center)
        step = found.root.T @ slope
        mean = self._plane(found.coef, found.intercept, found.center) - found.root @ step
        limits, p = self._limits(len(found.coef)), len(found.coef)
        deviation = np.diag(1.0 / np.sqrt(np.broadcast_to(found.precision, p)))
        before = TruncatedNormal(np.zeros(p), deviation, limits).log_probability()
        after = TruncatedNormal(mean, found.root, limits).log_probability()
        evidence = found.log_evidence + 0.5 * float(step @ step) + after[0] - before[0]
        error = float(np.hypot(after[1], before[1]))
        return replace(found, free_mean=mean, log_evidence=evidence, log_evidence_error=error)

    def _plane(self, coef: Vector, intercept: float, center: Vector) -> Vector:
        """Return (w, score at the centre)."""
        return np.append(coef, intercept + float(center @ coef)) if self.fit_intercept else np.array(coef)

    def _slope(self, objective: Objective, x: Vector, precision: Any, center: Vector) -> Vector:
        """Return the slope of minus the log-posterior, by w and by the score at the centre."""
        slope = float(objective.targets.weight) * objective.at(x, 1).gradient
        coef, intercept = objective.split(slope)
        own = precision * objective.split(x)[0]
        if intercept is None:
            return np.asarray(coef + own)
        return np.append(coef + own - center * intercept, intercept)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """The gap of the mode; and the covariance times the second derivatives, which must be one."""
        objective = self._objective(source, engine)
        objective.penalty = self._held(self.precision_, objective)
        gap = objective.certificate(self._packed(), self.certificate_.tolerance)
        inner = second_derivatives(objective, self.coef_, self.intercept_, self.center_, self.fit_intercept)
        p = len(self.coef_)
        inner[np.arange(p), np.arange(p)] += self.precision_
        slope = self._slope(objective, self._packed(), self.precision_, self.center_)
        here = self._plane(self.coef_, self.intercept_, self.center_)
        mean = here if self.free_mean_ is None else self.free_mean_
        parts = {**gap.parts, "covariance": Quadratic(mean, inner, self.root_, 1.0).misfit(inner @ mean)}
        if self.free_mean_ is not None:
            size = np.sqrt(np.diagonal(inner))
            reach = float(size @ (np.abs(here) + np.abs(mean)))
            left = np.abs(inner @ (here - mean) - slope) / size
            parts["mean before truncation"] = float(left.max()) / reach
        if isinstance(self.prior_precision, str):
            coef, root = self.coef_, self.root_
            if self.free_mode_ is not None:
                objective.penalty = _penalty_of(self.precision_, objective)
                free = objective.certificate(self.free_mode_, self.certificate_.tolerance)
                parts["gap without constraints, over what is allowed"] = PROVED * free.value / free.tolerance
                coef, _ = objective.split(self.free_mode_)
                root = self._spread(objective, self.free_mode_, self.precision_)[1]
            moved = precision_update(coef, root, self.precision_) / self.precision_
            parts["change of the log-precision"] = abs(float(np.log(moved)))
        proved = max(value for name, value in parts.items() if name not in gap.parts) <= PROVED
        value = gap.value if proved else np.inf
        return Certificate(gap.claim, gap.measure, value, gap.tolerance, parts, gap.witness)

    def _truncate(self, limits: LevelLimits) -> TruncatedPosterior:
        normal = TruncatedNormal(self.free_mean_, self.root_, limits)
        return TruncatedPosterior(
            normal, self.center_, seed=self.random_state, untruncated=self._untruncated()
        )

    def predict_proba(
        self,
        X: Any,
        *,
        by: Way = "probit",
        n_samples: int = 1000,
        random_state: Any = None,
        to: str | Path | None = None,
    ) -> Matrix:
        r"""Return the probability of both classes for each row, or write them ``to`` a file.

        by: "probit" averages over the posterior in closed form, :math:`\sigma(m / \sqrt{1 + \pi v / 8})` for
        the score m of the mode and variance v; "sample" averages over n_samples draws; "mode" takes the mode
        alone.
        """
        if by not in ("probit", "sample", "mode"):
            raise ParameterError(f"by={by!r} is not allowed; it must be 'probit', 'sample' or 'mode'.")
        labels = [str(label) for label in getattr(self, "classes_", ())]
        draws = None
        if by == "sample":
            check_is_fitted(self)
            draws = self._draws(n_samples, np.random.default_rng(random_state))
        return self._answer(partial(self._chances, by=by, draws=draws), X, to, labels)

    def _chances(self, X: Any, by: Way, draws: Matrix | None) -> Matrix:
        truncated = self._truncated()
        if draws is not None:
            p = len(self.coef_)
            moved = np.asarray(X @ draws[:, :p].T) - draws[:, :p] @ self.center_
            yes = expit(moved + draws[:, p] if self.fit_intercept else moved).mean(axis=1)
            return np.column_stack([1.0 - yes, yes])
        z = self._linear(X)
        if by == "probit":
            spread = plane_spread(X, self.center_, self.root_) if truncated is None else truncated.spreads(X)
            z = z / np.sqrt(1.0 + pi / 8.0 * spread)
        return np.column_stack([expit(-z), expit(z)])

    def _draws(self, n: int, rng: np.random.Generator) -> Matrix:
        """Draw (w, score at the centre)."""
        truncated = self._truncated()
        if truncated is not None:
            found = truncated.drawn(n, rng)
            return np.column_stack([found.coef, found.height]) if self.fit_intercept else found.coef
        mean = np.append(self.coef_, self.intercept_ + self.center_ @ self.coef_)
        mean = mean if self.fit_intercept else self.coef_
        return mean + rng.normal(size=(n, len(mean))) @ self.root_.T

    def sample_posterior(self, n_samples: int = 1, random_state: Any = None) -> Matrix:
        """Draw coefficients, (n_samples, p + 1), the intercept last."""
        check_is_fitted(self)
        draws = self._draws(n_samples, np.random.default_rng(random_state))
        if self.fit_intercept:
            draws[:, -1] -= draws[:, :-1] @ self.center_
        return draws

    def _untruncated(self) -> MultivariateNormal:
        """The distribution without truncation."""
        root, mean = raw_root(self.root_, self.center_), self.free_mean_
        mean = self._plane(self.coef_, self.intercept_, self.center_) if mean is None else np.array(mean)
        if self.fit_intercept:
            mean[-1] -= self.center_ @ mean[:-1]
        return MultivariateNormal(mean, root @ root.T)

    @property
    def posterior_(self) -> MultivariateNormal | TruncatedPosterior:
        """The normal distribution of the coefficients, and of the intercept behind them."""
        check_is_fitted(self)
        return self._truncated() or self._untruncated()

    def credible_interval(self, level: float = 0.95) -> Matrix:
        """Lower and upper bound for each coefficient, and for the intercept behind them."""
        check_is_fitted(self)
        truncated = self._truncated()
        if truncated is not None:
            return truncated.quantiles(level)
        root = raw_root(self.root_, self.center_)
        mean = np.append(self.coef_, self.intercept_) if self.fit_intercept else self.coef_
        return ends(stats.norm(loc=mean, scale=np.sqrt(np.einsum("ij,ij->i", root, root))), level)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _penalty_of(precision: Any, objective: Objective) -> L2:
    """The prior as a penalty of the mean loss."""
    weight = float(objective.targets.weight)
    if np.ndim(precision):
        return L2(1.0 / weight, weights=np.asarray(precision))
    return L2(float(precision) / weight)


def _precision_of(penalty: Any, objective: Objective) -> Any:
    if penalty.weights is not None:
        return np.asarray(penalty.weights, dtype=np.float64)
    return float(penalty.strength * objective.targets.weight)
