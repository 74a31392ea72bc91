"""Least squares with an absolute and a squared penalty: few columns, and correlated ones kept together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import RegressorMixin
from sklearn.callback import with_callbacks

from surefit.core.certificate import Certificate
from surefit.core.parameters import Count, Fraction, RandomState, Strength, Tolerance
from surefit.core.trace import Trace
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Estimator, Learned
from surefit.models.linear.common.base import LinearPrediction
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.sparse.regularisation_path import enet_path
from surefit.models.linear.squares import separable_penalty as sparse_fit
from surefit.models.linear.squares.constrained_squares import ConstrainedSquares
from surefit.models.linear.squares.ridge import NoInference
from surefit.models.linear.squares.separable_penalty import Fitted
from surefit.penalties.elastic_net import ElasticNet as ElasticNetPenalty
from surefit.solvers.objective.newton_step import NewtonStep, newton_step

Precompute = bool | Literal["auto"] | np.ndarray | list
Selection = Literal["cyclic", "random"]


@dataclass(frozen=True, slots=True)
class SparseParameters:
    """Coefficients and intercept, the duality gap of each target, and how many rounds it took."""

    coef: NDArray[np.float64]
    intercept: Any
    dual_gap: Any
    n_iter: Any


class SparseRegression(NoInference, LinearPrediction, RegressorMixin, Estimator, abstract=True):
    """What lasso and elastic net share; each target is a problem of its own."""

    accepts = Accepts(target="number", several_targets=True, by_columns=True)
    learns: ClassVar[type] = SparseParameters

    alpha: float
    l1_ratio: float
    fit_intercept: bool
    max_iter: int
    tol: float
    positive: bool
    warm_start: bool
    constraints: Any = None
    coef_: NDArray[np.float64]
    intercept_: Any
    dual_gap_: Any
    n_iter_: Any

    path = staticmethod(enet_path)

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Learn from a table; ``check_input`` is without effect: looking at it costs next to nothing."""
        return self._atomically(lambda: self._fit(X, y, sample_weight))

    @property
    def sparse_coef_(self) -> Any:
        """The coefficients as a sparse matrix with one row a target."""
        return sparse.csr_matrix(self.coef_)

    def _penalty(self) -> Any:
        return ElasticNetPenalty(self.alpha, l1_ratio=self.l1_ratio, positive=self.positive)

    def _iteration_limit(self) -> int:
        return self.max_iter

    def _unproved(self, certificate: Certificate) -> str:
        # Whoever filters scikit-learn's warnings looks for its words.
        ended = "Objective did not converge. You might want to increase the number of iterations."
        return f"{super()._unproved(certificate)} {ended}"

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        if self.constraints is not None:
            held = self._constrained().fit(source, engine, trace, self._start(source.schema))
            proof, evidence = held.certificate, held.evidence
            return self._learned(
                Fitted(held.coef, held.intercept, held.gap, held.iterations, proof, evidence), source.schema
            )
        found = sparse_fit.fit(
            source,
            engine,
            self._penalty(),
            fit_intercept=self.fit_intercept,
            tolerance=self.tol,
            max_iter=self.max_iter,
            start=self._start(source.schema),
            trace=trace,
        )
        return self._learned(found, source.schema)

    def _constrained(self) -> ConstrainedSquares:
        return ConstrainedSquares(
            type(self).__name__,
            self.constraints,
            lambda target, weight: self._penalty(),
            self.fit_intercept,
            self.positive,
            self.tol,
            self.max_iter,
        )

    def _start(self, schema: Schema) -> NDArray[np.float64] | None:
        """The coefficients of the fit before, (p, k), when ``warm_start`` asks for them and they match."""
        before = self.__dict__.get("coef_") if self.warm_start else None
        if before is None:
            return None
        coef: NDArray[np.float64] = np.atleast_2d(before).T
        return coef if coef.shape == (schema.width, schema.targets) else None

    def _learned(self, found: Fitted, schema: Schema) -> Learned:
        single = schema.targets == 1
        coef = found.coef[:, 0] if single else found.coef.T
        intercept: Any = 0.0
        if self.fit_intercept:
            intercept = float(found.intercept[0]) if schema.target_is_flat else found.intercept
        gap: Any = float(found.gap[0]) if single else found.gap
        rounds: Any = int(found.rounds[0]) if single else [int(count) for count in found.rounds]
        parameters = SparseParameters(np.ascontiguousarray(coef), intercept, gap, rounds)
        return Learned(parameters, found.certificate, found.evidence)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        if self.constraints is not None:
            coef = np.atleast_2d(self.coef_).T
            return self._constrained().certify(source, engine, coef, self.intercept_)
        return sparse_fit.recomputed(self._points(source, engine), self.tol)

    def _newton_steps(self, source: Source, engine: Engine) -> Sequence[NewtonStep] | None:
        if self.constraints is not None:
            return None
        steps = [newton_step(objective, packed) for objective, packed in self._points(source, engine)]
        return [step for step in steps if step is not None]

    def _points(self, source: Source, engine: Engine) -> sparse_fit.Points:
        """The objective of each target, and where its coefficients are."""
        coef = np.atleast_2d(self.coef_).T
        intercept = np.broadcast_to(np.asarray(self.intercept_, dtype=np.float64), coef.shape[1])
        return sparse_fit.points(source, engine, self._penalty(), coef, intercept, self.fit_intercept)


class ElasticNet(SparseRegression):
    r"""Minimise :math:`\frac{1}{2W} \sum_i s_i (y_i - w'x_i - b)^2 + \alpha \left( \rho \|w\|_1 +
    \tfrac{1 - \rho}{2} \|w\|^2 \right)`, with :math:`W = \sum_i s_i`.

    alpha: the strength. l1_ratio: :math:`\rho`, the share of the absolute value. positive: whether w must not
    be negative. tol: the duality gap allowed, relative to the loss of the best constant. max_iter: rounds of
    working sets at the most. warm_start: begin at the coefficients of the fit before. precompute, copy_X,
    selection, random_state: without effect (the Gram matrix is used where that is cheaper, X is never
    changed, nothing is drawn). constraints: as in :class:`~surefit.LinearModel`. A table that is not in
    memory is read once, into the Gram matrix.

    >>> import numpy as np
    >>> from surefit import ElasticNet
    >>> X = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 4.0]])
    >>> ElasticNet(alpha=0.1, l1_ratio=0.5).fit(X, [1.0, 2.0, 3.0, 4.0]).coef_.round(3)
    array([0.471, 0.471])
    """

    def __init__(
        self,
        alpha: Strength = 1.0,
        *,
        l1_ratio: Fraction = 0.5,
        fit_intercept: bool = True,
        precompute: Precompute = False,
        max_iter: Count = 1000,
        copy_X: bool = True,
        tol: Tolerance = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: RandomState = None,
        selection: Selection = "cyclic",
        constraints: Constraints = None,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.constraints = constraints
