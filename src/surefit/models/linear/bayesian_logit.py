"""Logistic regression with a normal prior, its posterior a normal distribution at the mode."""

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

from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.core.parameters import Count, Positive, Tolerance
from surefit.core.trace import Trace
from surefit.data.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.distributions.multivariate_normal import MultivariateNormal
from surefit.engine.base import Engine
from surefit.losses.base import Loss
from surefit.losses.logistic import Logistic
from surefit.models.base import Learned
from surefit.models.linear.bayesian_prediction import ends, plane_spread, raw_root
from surefit.models.linear.classification import LinearClassification
from surefit.models.linear.gaussian_posterior import inverse_root
from surefit.models.linear.mean_loss import MeanLossModel, plain_intercept
from surefit.models.linear.ridge_fit import LARGEST_GRAM
from surefit.penalties.base import Penalty
from surefit.penalties.l2 import L2
from surefit.solvers.base import Solution, Solver
from surefit.solvers.objective import Objective
from surefit.stats.curvature import Curvature

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Way = Literal["probit", "sample", "mode"]

FAINT = (
    1e-6  # shape and rate of the gamma prior on a precision that the evidence chooses, as in BayesianRidge
)
SETTLED = 1e-7  # of a change of the chosen log-precision
ROUNDS = 100  # of choosing it
PROVED = 1e-6  # what may be left of a covariance times its inverse, and of that change


@dataclass(frozen=True, slots=True)
class BayesianLogisticRegressionParameters:
    """The mode; R with RR' the covariance of w and of the score at ``center``; the prior; the evidence."""

    coef: Vector
    intercept: float
    center: Vector
    root: Matrix
    precision: Any
    log_evidence: float
    n_iter: int
    classes: NDArray[Any]


class BayesianLogisticRegression(LinearClassification, ClassifierMixin, MeanLossModel):
    r"""Approximate :math:`p(w, b | X, y) \propto e^{-\sum_i s_i \log(1 + e^{-y_i z_i}) - w'\Lambda w / 2}`.

    By Laplace's method: a normal distribution at the mode, with the inverse of the second derivatives there
    as covariance. prior_precision: Lambda: a number, one a column, or "evidence", which chooses the number
    that makes the classes most likely. The prior of the intercept is flat. tol: the relative duality gap of
    the mode. max_iter: of the solver. warm_start: whether to go on from the last fit.

    ``coef_`` is the mode, ``posterior_`` the distribution, ``log_evidence_`` Laplace's estimate of it.

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
    n_iter_: int

    def __init__(
        self,
        prior_precision: Positive | Literal["evidence"] | np.ndarray | list | tuple = 1.0,
        *,
        fit_intercept: bool = True,
        tol: Tolerance = 1e-10,
        max_iter: Count = 1000,
        warm_start: bool = False,
    ) -> None:
        self.prior_precision = prior_precision
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start

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
                "only rows of one class have weight, and a classifier needs at least two classes."
            )
        start, steps, search = self._start(objective), 0, _Search()
        while True:
            solver = self._solver(objective)
            solver.require(objective)
            solution = solver.solve(objective, start, trace)
            steps += solution.iterations
            found = self._parameters(objective, solution, solver)
            likelier = search.following(found) if isinstance(self.prior_precision, str) else None
            if likelier is None or trace.asked_to_stop:
                break
            start, objective.penalty = solution.x, _penalty_of(likelier, objective)
        self._schema = source.schema
        parameters = replace(found, n_iter=max(steps, 1))
        return Learned(parameters, solution.certificate, self._evidence(objective, solution))

    def _evidence(self, objective: Objective, solution: Solution) -> dict[str, Any]:
        """Without what tells of separated classes: the prior gives them a mode all the same."""
        found = super()._evidence(objective, solution)
        return {name: value for name, value in found.items() if name != "separation"}

    def _parameters(self, objective: Objective, solution: Solution, solver: Solver) -> Any:
        return self._laplace(objective, solution.x, _precision_of(objective))

    def _laplace(
        self, objective: Objective, x: Vector, precision: Any
    ) -> BayesianLogisticRegressionParameters:
        coef, intercept = objective.split(x)
        b, p = plain_intercept(intercept), len(coef)
        center = np.zeros(p)
        if self.fit_intercept and (objective.rows is None or not sparse.issparse(objective.rows.X)):
            center = objective.spread.mean
        inner = _second_derivatives(objective, coef, b, center, self.fit_intercept)
        least = np.zeros_like(inner)
        least[np.arange(p), np.arange(p)] = precision
        root, log_determinant = inverse_root(inner + least, least)
        weight = float(objective.targets.weight)
        priors = 0.5 * float(np.log(np.broadcast_to(precision, p)).sum() - (precision * coef**2).sum())
        flat = 0.5 * log(2 * pi) * float(self.fit_intercept)
        evidence = priors + flat - weight * objective.at(x, 0).value - 0.5 * log_determinant
        classes = objective.source.schema.classes
        assert classes is not None
        return BayesianLogisticRegressionParameters(
            np.array(coef), b, center, root, precision, float(evidence), 1, classes
        )

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """The gap of the mode; and the covariance times the second derivatives, which must be one."""
        objective = self._objective(source, engine)
        objective.penalty = _penalty_of(self.precision_, objective)
        gap = objective.certificate(self._packed(), self.certificate_.tolerance)
        inner = _second_derivatives(objective, self.coef_, self.intercept_, self.center_, self.fit_intercept)
        p = len(self.coef_)
        inner[np.arange(p), np.arange(p)] += self.precision_
        size = np.sqrt(np.diagonal(inner))
        whitened = (inner @ self.root_) / size[:, None]
        identity = whitened @ (self.root_.T * size) - np.eye(len(size))
        condition = np.linalg.norm(whitened) * np.linalg.norm(self.root_ * size[:, None])
        off = float(np.abs(identity).max()) / max(float(condition), 1.0)
        parts = {**gap.parts, "covariance": off}
        if isinstance(self.prior_precision, str):
            moved = _likelier(self.coef_, self.root_, self.precision_) / self.precision_
            parts["change of the log-precision"] = abs(float(np.log(moved)))
        value = gap.value if max(off, parts.get("change of the log-precision", 0.0)) <= PROVED else np.inf
        return Certificate(gap.claim, gap.measure, value, gap.tolerance, parts, gap.witness)

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
        a score of mean m and variance v; "sample" averages over n_samples draws; "mode" takes the mode alone.
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
        if draws is not None:
            p = len(self.coef_)
            moved = np.asarray(X @ draws[:, :p].T) - draws[:, :p] @ self.center_
            yes = expit(moved + draws[:, p] if self.fit_intercept else moved).mean(axis=1)
            return np.column_stack([1.0 - yes, yes])
        z = self._linear(X)
        if by == "probit":
            z = z / np.sqrt(1.0 + pi / 8.0 * plane_spread(X, self.center_, self.root_))
        return np.column_stack([expit(-z), expit(z)])

    def _draws(self, n: int, rng: np.random.Generator) -> Matrix:
        """Draw (w, score at the centre)."""
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

    @property
    def posterior_(self) -> MultivariateNormal:
        """The normal distribution of the coefficients, and of the intercept behind them."""
        check_is_fitted(self)
        root = raw_root(self.root_, self.center_)
        mean = np.append(self.coef_, self.intercept_) if self.fit_intercept else self.coef_
        return MultivariateNormal(mean, root @ root.T)

    def credible_interval(self, level: float = 0.95) -> Matrix:
        """Lower and upper bound for each coefficient, and for the intercept behind them."""
        check_is_fitted(self)
        root = raw_root(self.root_, self.center_)
        mean = np.append(self.coef_, self.intercept_) if self.fit_intercept else self.coef_
        return ends(stats.norm(loc=mean, scale=np.sqrt(np.einsum("ij,ij->i", root, root))), level)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _likelier(coef: Vector, root: Matrix, precision: float) -> float:
    """The precision of another step; the same where the evidence is greatest."""
    spread = np.einsum("ij,ij->i", root[: len(coef)], root[: len(coef)])
    explained = float((1.0 - precision * spread).sum())
    return (explained + 2 * FAINT) / (float(coef @ coef) + 2 * FAINT)


class _Search:
    """The way to the most likely precision: by another step each, or to where the last two point."""

    def __init__(self) -> None:
        self._before: tuple[float, float] | None = None
        self._rounds = 0

    def following(self, found: Any) -> float | None:
        """Return the next precision to try; None at the end."""
        place = log(found.precision)
        move = log(_likelier(found.coef, found.root, found.precision)) - place
        self._rounds += 1
        if abs(move) <= SETTLED or self._rounds > ROUNDS:
            return None
        step = move
        if self._before is not None and self._before[1] != move:
            secant = -move * (place - self._before[0]) / (move - self._before[1])
            step = secant if abs(secant) <= 3.0 else move
        self._before = place, move
        return float(np.exp(place + step))


def _penalty_of(precision: Any, objective: Objective) -> L2:
    """The prior as a penalty of the mean loss."""
    weight = float(objective.targets.weight)
    if np.ndim(precision):
        return L2(1.0 / weight, weights=np.asarray(precision))
    return L2(float(precision) / weight)


def _precision_of(objective: Objective) -> Any:
    penalty: Any = objective.penalty
    if penalty.weights is not None:
        return np.asarray(penalty.weights, dtype=np.float64)
    return float(penalty.strength * objective.targets.weight)


def _second_derivatives(
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
