"""Logistic regression: two classes by the logit, more by the softmax."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClassifierMixin, clone

from surefit.core.arrays import Matrix
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, ParameterError
from surefit.core.parameters import (
    Count,
    Fraction,
    Interval,
    Positive,
    RandomState,
    Scale,
    Tolerance,
    validate,
)
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import ArraySource, Source, in_memory
from surefit.engine.base import Engine
from surefit.losses.base import Loss
from surefit.losses.logistic import Logistic
from surefit.losses.softmax import Softmax
from surefit.models.base import has_callbacks
from surefit.models.class_weight import ClassWeight, with_class_weight
from surefit.models.linear.common.class_scores import LinearClassification
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.common.mean_loss import MeanLossModel
from surefit.models.linear.common.penalised_intercept import with_constant_column
from surefit.models.linear.common.sparse_coefficients import SparseCoefficients
from surefit.models.linear.inference.class_likelihood import LogisticInference
from surefit.penalties.base import Penalty
from surefit.penalties.elastic_net import ElasticNet
from surefit.penalties.l1 import L1
from surefit.penalties.l2 import L2
from surefit.penalties.no_penalty import NoPenalty
from surefit.solvers.likelihood.firth import Firth
from surefit.solvers.likelihood.many_logits import ManyLogits, Targets
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import SECOND_ORDER_LARGEST, Solution, Solver

InverseStrength = Annotated[float, Interval(0, None, open_low=True), Scale("log")]
SolverName = Literal["lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga", "auto"]
OldPenalty = Literal["l1", "l2", "elasticnet", "deprecated"] | None

# scikit-learn stops at a slope, which is about the root of what is left to gain: a gap of tol / 100 is never
# looser than what its default leaves.
GAP = 0.01
# The algorithm behind each name of scikit-learn's; the others are chosen by cost.
LOOKED_AT = 200_000  # cells in memory, up to which each row is looked at: beyond, it takes longer than a fit
# Whoever filters scikit-learn's warnings looks for its words.
NOT_ENDED = {
    "liblinear": "Liblinear failed to converge, increase the number of iterations.",
    "sag": "The max_iter was reached which means the coef_ did not converge.",
    "saga": "The max_iter was reached which means the coef_ did not converge.",
    "newton-cholesky": "Newton solver did not converge after {} iterations.",
}
ALGORITHMS = {"newton-cholesky": "newton"}


@dataclass(frozen=True, slots=True)
class LogisticParameters:
    """Coefficients and intercepts, one row a class or one for two classes, and how they were found."""

    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    n_iter: NDArray[np.int32]
    classes: NDArray[Any]
    solver: str


class LogisticBase(SparseCoefficients, LinearClassification, ClassifierMixin, MeanLossModel, abstract=True):
    """What all logistic regressions share: probabilities, shapes, and the objective for one C."""

    accepts = Accepts(target="class", by_columns=True)

    n_iter_: NDArray[np.int32]
    solver_: str

    class_weight: Any
    intercept_scaling: float
    solver: str

    @abstractmethod
    def _strength(self) -> tuple[float, float]:
        """Return C and the share of the absolute value."""

    def _loss(self, schema: Schema) -> Loss:
        assert schema.classes is not None
        two = len(schema.classes) <= 2
        if not two and self.solver == "liblinear":
            raise ParameterError(
                "The 'liblinear' solver does not support multiclass classification (n_classes >= 3): choose "
                "another solver, or wrap the model in a OneVsRestClassifier."
            )
        return Logistic() if two else Softmax()

    def _penalty(self, objective: Objective) -> Penalty:
        C, ratio = self._strength()
        if np.isinf(C):
            return NoPenalty()
        strength = 1.0 / (C * objective.targets.weight)
        if ratio == 0:
            return L2(strength)
        return L1(strength) if ratio == 1 else ElasticNet(strength, l1_ratio=ratio)

    def _rows_of(self, source: Source, engine: Engine) -> Source:
        source = with_class_weight(source, engine, self.class_weight)
        by_rows = self._strength()[1] == 0 or source.schema.width <= SECOND_ORDER_LARGEST
        if by_rows and isinstance(source, ArraySource):
            X: Any = source.batch.X
            few = X.shape[0] < X.shape[1] > SECOND_ORDER_LARGEST
            if getattr(X, "format", "") == "csc" and not few:
                source = replace(source, batch=replace(source.batch, X=X.tocsr()))
        return with_constant_column(source, self.intercept_scaling) if self._penalises_intercept() else source

    def _penalises_intercept(self) -> bool:
        return self.solver == "liblinear" and self.fit_intercept

    def _intercept_is_free(self) -> bool:
        return self.fit_intercept and not self._penalises_intercept()

    def _solver(self, objective: Objective) -> Solver:
        name = ALGORITHMS.get(self.solver, "auto")
        if name == "newton" and objective.penalty.quadratic(objective.columns) is None:
            name = "proximal_newton"
        return self._solver_called(name, objective, tolerance=GAP * self.tol)

    def _unproved(self, certificate: Certificate) -> str:
        ended = NOT_ENDED.get(
            self.solver, f"{self.solver} failed to converge. Increase the number of iterations."
        )
        return f"{super()._unproved(certificate)} {ended.format(self.max_iter)}"

    def _objective(self, source: Source, engine: Engine) -> Objective:
        objective = super()._objective(source, engine)
        rows = objective.rows
        if rows is not None and rows.weight is not None:
            y = np.asarray(rows.y)[rows.weight > 0]
            if len(y) and (y == y[0]).all():
                raise DataError(
                    "all rows of positive weight are of one class, and a classifier needs at least two: "
                    "give rows of another class a weight."
                )
        return objective

    def _evidence(self, objective: Objective, solution: Solution) -> Mapping[str, Any]:
        found = dict(super()._evidence(objective, solution))
        if not isinstance(objective.penalty, NoPenalty):  # there is a finite best answer then
            found.pop("separation", None)
        return found

    def _shaped(
        self, objective: Objective, solution: Solution
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return coefficients and intercepts in scikit-learn's shapes."""
        coef, intercept = objective.split(solution.x)
        if self._penalises_intercept():
            coef, intercept = coef[:-1], self.intercept_scaling * coef[-1]
        if coef.ndim == 1:
            return coef[None].copy(), np.atleast_1d(0.0 if intercept is None else intercept).astype(float)
        # Scores of all classes may move together: the intercepts, and free coefficients, add up to zero.
        if isinstance(objective.penalty, NoPenalty):
            coef = coef - coef.mean(axis=1, keepdims=True)
        intercept = np.zeros(coef.shape[1]) if intercept is None else intercept - intercept.mean()
        return np.ascontiguousarray(coef.T), np.asarray(intercept)

    def _packed(self) -> NDArray[np.float64]:
        coef, intercept = self._dense_coef(), np.asarray(self.intercept_)
        if self._penalises_intercept():
            return np.append(coef[0], intercept[0] / self.intercept_scaling)
        packed = np.vstack([coef.T, intercept]) if self.fit_intercept else coef.T
        return packed[:, 0] if len(coef) == 1 else packed

    def _linear(self, X: Any) -> Any:
        coef = self.coef_
        if sparse.issparse(coef):
            scores = self._sparse_scores(X)
            return scores[:, 0] if scores.shape[1] == 1 else scores
        if len(coef) == 1:
            return X @ coef[0] + self.intercept_[0]
        return X @ coef.T + self.intercept_

    def predict_proba(self, X: Any, *, to: str | Path | None = None) -> NDArray[np.float64]:
        """Return the probability of each class, or write them ``to`` a file."""
        return self._answer(self._chances, X, to, self._class_names())

    def predict_log_proba(self, X: Any, *, to: str | Path | None = None) -> NDArray[np.float64]:
        """Return the logarithms of the probabilities, all their digits far out too."""
        return self._answer(self._log_chances, X, to, self._class_names(), infinite=True)

    def _chances(self, X: Any) -> NDArray[np.float64]:
        z = self._linear(X)
        if z.ndim == 2:
            return np.asarray(Softmax.link.inverse(z))
        return np.column_stack([Logistic.link.inverse(-z), Logistic.link.inverse(z)])

    def _log_chances(self, X: Any) -> NDArray[np.float64]:
        z = np.asarray(self._linear(X), dtype=np.float64)
        if z.ndim == 1:
            return -np.logaddexp(0.0, np.column_stack([z, -z]))
        z = z - z.max(axis=1, keepdims=True)
        return z - np.log(np.exp(z).sum(axis=1, keepdims=True))


class LogisticRegression(LogisticInference, LogisticBase):
    r"""Minimise :math:`C \sum_i s_i f(y_i, w'x_i + b) + \rho \|w\|_1 + \frac{1 - \rho}{2} \|w\|^2`.

    f is the logistic loss for two classes and the softmax's cross-entropy for more; C=inf leaves the penalty
    out, l1_ratio is :math:`\rho`. correction="firth" maximises Firth's bias-reduced likelihood of two classes
    instead, which has a finite maximum for separable classes. class_weight: what the weight of a row is
    multiplied by, one number a class; "balanced" gives all classes the same weight in total. tol: 100 times
    the duality gap, relative to the loss of a constant, at which to stop. solver: the guide says what each
    name runs; "auto", and all that name no algorithm, are chosen by cost. "liblinear" penalises the
    intercept, that of a column of intercept_scaling. penalty is scikit-learn's old way to say l1_ratio.
    constraints: as in :class:`~surefit.LinearModel`. dual, random_state, verbose, n_jobs: without effect.

    >>> from surefit import LogisticRegression
    >>> X, y = [[-1.0], [0.0], [1.0], [2.0]], ["no", "no", "yes", "yes"]
    >>> model = LogisticRegression().fit(X, y)
    >>> model.coef_.round(3), model.predict_proba([[0.5]]).round(3)
    (array([[0.958]]), array([[0.5, 0.5]]))
    >>> model.certificate_.holds
    True
    >>> LogisticRegression(correction="firth").fit(X, y).coef_.round(3)
    array([[1.31]])
    """

    learns = LogisticParameters

    def __init__(
        self,
        penalty: OldPenalty = "deprecated",
        *,
        C: InverseStrength = 1.0,
        l1_ratio: Fraction | None = 0.0,
        dual: bool = False,
        tol: Tolerance = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: Positive = 1,
        class_weight: ClassWeight = None,
        random_state: RandomState = None,
        solver: SolverName = "lbfgs",
        max_iter: Count = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        correction: Literal["firth"] | None = None,
        constraints: Constraints = None,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.correction = correction
        self.constraints = constraints

    def _strength(self) -> tuple[float, float]:
        if self.correction == "firth":
            changed = self.C not in (1.0, np.inf) or self.l1_ratio or self.constraints is not None
            if changed or self.solver == "liblinear":
                raise ParameterError(
                    "LogisticRegression: correction='firth' does not support penalties, constraints or "
                    "solver='liblinear': leave C, l1_ratio, constraints and solver at their defaults."
                )
            return np.inf, 0.0
        return old_penalty(self.penalty, self.C, self.l1_ratio)

    def _loss(self, schema: Schema) -> Loss:
        assert schema.classes is not None
        if self.correction == "firth" and len(schema.classes) > 2:
            raise ParameterError(
                f"LogisticRegression: correction='firth' is for two classes, and y holds "
                f"{len(schema.classes)}: wrap the model in a OneVsRestClassifier."
            )
        return super()._loss(schema)

    def _solver(self, objective: Objective) -> Solver:
        if self.correction == "firth":
            return Firth(tolerance=GAP * self.tol, max_iter=self.max_iter)
        return super()._solver(objective)

    def _parameters(self, objective: Objective, solution: Solution, solver: Solver) -> LogisticParameters:
        coef, intercept = self._shaped(objective, solution)
        classes = objective.source.schema.classes
        assert classes is not None
        steps = np.array([max(solution.iterations, 1)], dtype=np.int32)
        return LogisticParameters(coef, intercept, steps, classes, solver.name)

    def _evidence(self, objective: Objective, solution: Solution) -> Mapping[str, Any]:
        found = dict(super()._evidence(objective, solution))
        if self.correction == "firth":
            found.pop("separation", None)
        elif isinstance(objective.penalty, NoPenalty) and objective.loss.task == "binary":
            found |= self._influence(objective, solution)
        return found

    def _influence(self, objective: Objective, solution: Solution) -> dict[str, Any]:
        """Return what the rules on influence and link look at, of two classes without a penalty."""
        rows, freedom = objective.rows, objective.targets.weight - len(solution.x)
        if rows is None or rows.X.shape[0] * rows.X.shape[1] > LOOKED_AT or freedom <= 0:
            return {}
        from surefit.losses.families import FAMILIES
        from surefit.losses.links import link_named
        from surefit.models.linear.inference.influence import influence_evidence

        return influence_evidence(
            rows, FAMILIES["binomial"](), link_named("logit"), solution.x, self.fit_intercept, freedom
        )

    def _targets_at_once(self, X: Any, y: Any, weight: Any) -> Any:
        """Return what learns many targets of these rows together; None where each is learnt alone."""
        if type(self) is not LogisticRegression:
            return None
        model = clone(self)
        validate(model)
        plain = model.penalty == "deprecated" and not model.l1_ratio and np.isfinite(model.C)
        usual = model.correction is None and model.constraints is None and model.class_weight is None
        if not (plain and usual) or model.solver == "liblinear" or model.warm_start or has_callbacks(model):
            return None
        return model._prepare_targets(X, y, weight)

    def _prepare_targets(self, X: Any, y: Any, weight: Any) -> TargetsAtOnce | None:
        source = self._source(X, y, weight)
        batch, classes = in_memory(source), source.schema.classes
        if batch is None or type(batch.X) is not np.ndarray or classes is None or len(classes) != 2:
            return None
        rows = np.asarray(batch.X, dtype=np.float64)
        if len(rows) < ROWS_A_COLUMN * rows.shape[1]:
            return None
        given = np.ones(len(rows)) if batch.weight is None else batch.weight
        codes = np.asarray(batch.y)
        share = float(given @ codes / given.sum())
        if not 0 < share < 1:
            return None
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                learner = ManyLogits.of(rows, given, C=self.C, share=share, intercept=self.fit_intercept)
        except (ArithmeticError, ValueError, np.linalg.LinAlgError):  # numbers out of range: a fit says which
            return None
        return TargetsAtOnce(learner, classes, codes, GAP * self.tol)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        if self.correction != "firth":
            return super()._certify(source, engine)
        objective = self._objective(source, engine)
        return Firth.certificate(objective, self._packed(), self.certificate_.tolerance)


def old_penalty(penalty: str | None, C: float, l1_ratio: float | None) -> tuple[float, float]:
    """Return C and the share of the absolute value, from the parameter that scikit-learn is giving up."""
    ratio = 0.0 if l1_ratio is None else float(l1_ratio)
    if penalty == "deprecated":
        return float(C), ratio
    warnings.warn(
        "'penalty' was deprecated in version 1.8 of scikit-learn: use l1_ratio=0 instead of penalty='l2', "
        "l1_ratio=1 instead of penalty='l1', and C=np.inf instead of penalty=None.",
        FutureWarning,
        stacklevel=2,
    )
    if penalty is None:
        if C != 1.0:
            _ignored(f"Setting penalty=None will ignore the C={C:g} given: leave one of them out.")
        return np.inf, 0.0
    asked = {"l2": 0.0, "l1": 1.0}.get(penalty, ratio)
    # The default of l1_ratio is 0, which nobody may have asked for.
    if asked != ratio and not (asked == 1.0 and l1_ratio is None):
        _ignored(f"Inconsistent values: penalty={penalty} with l1_ratio={l1_ratio}: leave penalty out.")
    return float(C), asked


def _ignored(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=3)


ROWS_A_COLUMN = 4  # with fewer, shuffled classes come apart too, and every target is a hard one


@dataclass(frozen=True, slots=True, eq=False)
class TargetsAtOnce:
    """What a logistic regression learns of many targets: one score a row each, and whether it is proved."""

    learner: ManyLogits
    classes: NDArray[Any]
    codes: NDArray[Any]  # of the target that was given
    tolerance: float

    def __call__(self, targets: Targets, weights: Matrix) -> tuple[Matrix, NDArray[np.bool_]]:
        """Scores and proofs; a row of both arguments is a target: which rows are of the second class."""
        found = self.learner(targets, weights)
        return found.scores, found.gap <= self.tolerance

    def answer(self, scores: Matrix, method: str) -> NDArray[Any]:
        """What the model would say to rows of these scores, asked by ``method``."""
        if method == "predict":
            return self.classes[(scores > 0).astype(np.intp)]
        if method == "predict_proba":
            return np.column_stack([Logistic.link.inverse(-scores), Logistic.link.inverse(scores)])
        return scores
