"""Ordinary least squares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from sklearn.base import RegressorMixin

from surefit.core.arrays import Matrix
from surefit.core.certificate import Certificate
from surefit.core.errors import RefusalError
from surefit.core.native.sums.moments import ColumnMoments
from surefit.core.parameters import Tolerance
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.candidate import Candidate
from surefit.models.linear.common.base import LinearPrediction, shaped
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.common.fold_moments import taken
from surefit.models.linear.common.leverage import leverage
from surefit.models.linear.common.normal_equations import normal_equations
from surefit.models.linear.inference.least_squares_report import Inference
from surefit.models.linear.squares.centred_rows import CentredRows
from surefit.models.linear.squares.constrained_squares import (
    NOTHING_KEPT,
    ConstrainedSquares,
    squared_penalty,
)
from surefit.models.linear.squares.orthogonality import orthogonality, recomputed
from surefit.models.rows_in_memory import gathered
from surefit.models.updating import OneStatistic
from surefit.solvers.linalg.conjugate_gradient import conjugate_gradients
from surefit.solvers.linalg.least_squares import (
    LeastSquares,
    from_factor,
    from_gram,
    from_singular_gram,
    wide,
)
from surefit.solvers.linalg.nonnegative_least_squares import nonnegative_least_squares
from surefit.stats.moments import Moments
from surefit.stats.residuals import Residuals
from surefit.stats.triangular import TriangularFactor

LARGEST_GRAM = 5000  # columns; beyond it no p x p matrix is formed
CONSTRAINED_GAP = 1e-3  # of tol: the duality gap allowed under constraints
MOST_INFLATED = 200  # columns whose variances are compared with what they would be alone


@dataclass(frozen=True, slots=True)
class LinearRegressionParameters:
    """Coefficients and intercept; the rank of the columns, their condition number, and the method used.

    root and residual_squares are kept for inference where the normal equations would be too coarse for it.
    """

    coef: Matrix
    intercept: Any
    rank: int
    condition: float
    method: str
    root: Matrix | None
    residual_squares: NDArray[np.float64] | None


class LinearRegression(Inference, LinearPrediction, RegressorMixin, OneStatistic):
    r"""Minimise :math:`\sum_i s_i (y_i - w'x_i - b)^2`; of several minimisers, the one with the shortest w.

    fit_intercept: whether b is free, or 0. positive: whether w must not be negative. tol: for conjugate
    gradients, which take over for sparse X with more than 5000 columns. constraints: as in
    :class:`~surefit.LinearModel`. copy_X, n_jobs: without effect (X is never changed, and threads are a
    setting).

    The normal equations are solved by Cholesky when the condition of the scaled columns allows it, else from
    the triangular factor of the data with one step of refinement; ``method_`` says which. The certificate is
    a backward error: the answer is exact for data that differ by no more than that.

    >>> from surefit import LinearRegression
    >>> model = LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 2.0])
    >>> model.coef_.round(6), round(model.intercept_, 6)
    (array([0.5]), 1.166667)
    >>> model.method_, model.certificate_.holds
    ('cholesky', True)
    """

    accepts = Accepts(target="number", several_targets=True, sums_first=True)
    learns = LinearRegressionParameters
    candidate = Candidate("Linear regression", 10, streams=True)

    rank_: int
    condition_: float
    method_: str
    root_: Matrix | None
    residual_squares_: NDArray[np.float64] | None

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: Tolerance = 1e-6,
        n_jobs: int | None = None,
        positive: bool = False,
        constraints: Constraints = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive
        self.constraints = constraints

    def _of(self, schema: Schema) -> Callable[[Batch], Moments]:
        if self.constraints is not None:
            raise RefusalError(f"LinearRegression: {NOTHING_KEPT}; fit all rows at once.")
        if schema.width > LARGEST_GRAM:
            raise RefusalError(
                f"LinearRegression keeps no statistic of {schema.width} columns, as it would hold their Gram "
                f"matrix; partial_fit, merge and forget work up to {LARGEST_GRAM} columns. Fit all rows at "
                "once."
            )
        return Moments.of

    def _why_nothing_kept(self) -> str:
        if self.constraints is not None:
            return NOTHING_KEPT
        if self.n_features_in_ > LARGEST_GRAM:
            return (
                f"the Gram matrix is kept up to {LARGEST_GRAM} columns, and there are {self.n_features_in_}"
            )
        return "it had fewer rows than columns, and was solved from the rows"

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        schema = self._schema = source.schema
        self.__dict__.pop("statistic_", None)
        if self.constraints is not None:
            return self._learn_constrained(source, engine, trace)
        short = schema.rows is not None and schema.rows < schema.width and not self.positive
        if short or schema.width > LARGEST_GRAM:
            return self._learn_whole(gathered(source), schema)
        self.statistic_ = moments = engine.accumulate(Moments.of, source)
        if self.positive:
            return self._finish(moments, schema)
        solution = from_gram(*normal_equations(moments, self.fit_intercept))
        if solution is None:
            solution = self._by_factor(source, engine, moments)
        learned = self._learned(solution, moments, schema)
        rows_evidence = leverage(source, engine, moments, solution.root, self.fit_intercept)
        return replace(learned, evidence={**learned.evidence, **rows_evidence})

    def _finish(self, moments: Moments, schema: Schema) -> Learned:
        gram, cross = normal_equations(moments, self.fit_intercept)
        if self.positive:
            solution = _nonnegative(gram, cross)
        else:
            solution = from_gram(gram, cross) or from_singular_gram(gram, cross)
        return self._learned(solution, moments, schema)

    def _by_factor(self, source: Source, engine: Engine, moments: Moments) -> LeastSquares:
        """Solve from the triangular factor of the data, and refine once with the residuals of a new pass."""
        p = len(moments.mean_x)
        shift = np.concatenate([moments.mean_x, moments.mean_y]) if self.fit_intercept else None
        factor = engine.accumulate(partial(TriangularFactor.of, ones=self.fit_intercept, shift=shift), source)
        R = factor.centred
        solution = from_factor(R[:p, :p], R[:p, p:])
        at = {
            "coef": solution.coef,
            "intercept": self._intercept(solution.coef, moments.mean_x, moments.mean_y),
        }
        centre = moments.mean_x if self.fit_intercept else np.zeros(p)
        found = engine.accumulate(partial(Residuals.of, centre=centre, **at), source)
        refined = solution.coef + solution.root @ (solution.root.T @ found.cross)
        return replace(solution, coef=refined, residual_squares=found.squares)

    def _intercept(self, coef: Matrix, mean_x: NDArray[np.float64], mean_y: NDArray[np.float64]) -> Any:
        return mean_y - mean_x @ coef if self.fit_intercept else np.zeros_like(mean_y)

    def _learned(self, solution: LeastSquares, moments: Moments, schema: Schema) -> Learned:
        gram, cross = normal_equations(moments, self.fit_intercept)
        target = np.diagonal(moments.target_scatter)
        if not self.fit_intercept:
            target = target + moments.weight * moments.mean_y**2
        left = cross - gram @ solution.coef
        if self.positive:  # at a bound, the gradient may point outwards
            left = np.where(solution.coef > 0, left, np.maximum(left, 0.0))
        certificate = orthogonality(left, solution.coef, np.diagonal(gram), target, _parts(solution))
        unknown = np.full_like(moments.mean_x, np.nan)  # the sums do not know the range
        evidence = {
            "null_space": solution.null,
            "condition": solution.condition,
            "correlation": moments.correlation(),
            "column_moments": ColumnMoments(
                moments.weight, moments.mean_x, np.diagonal(moments.gram), unknown, unknown
            ),
            "rows": moments.rows,
        }
        if self.fit_intercept and solution.null.shape[1] == 0 and 1 < len(gram) <= MOST_INFLATED:
            deviations = np.sqrt(np.diagonal(gram))
            root = deviations[:, None] * solution.root
            evidence |= {"inverse_correlation": root @ root.T, "deviations": deviations}
        intercept = self._intercept(solution.coef, moments.mean_x, moments.mean_y)
        return Learned(self._parameters(solution, intercept, schema), certificate, evidence)

    def _parameters(
        self, solution: LeastSquares, intercept: Any, schema: Schema
    ) -> LinearRegressionParameters:
        coef, offset = shaped(solution.coef, intercept, schema.target_is_flat)
        if not self.fit_intercept:
            offset = 0.0  # as in scikit-learn, for any number of outputs
        fine = solution.residual_squares is not None
        return LinearRegressionParameters(
            coef,
            offset,
            solution.rank,
            solution.condition,
            solution.method,
            solution.root if fine else None,
            solution.residual_squares,
        )

    def _learn_whole(self, batch: Batch, schema: Schema) -> Learned:
        """Fewer rows than columns, or too many columns for their Gram matrix."""
        if batch.weight is not None and not batch.weight.all():
            batch = taken(batch, np.flatnonzero(batch.weight))
        X: Any = batch.X
        Y = np.asarray(batch.y, dtype=np.float64).reshape(len(batch), -1)
        s = np.ones(len(batch)) if batch.weight is None else batch.weight
        mean_x = np.asarray(s @ X).ravel() / s.sum() if self.fit_intercept else np.zeros(X.shape[1])
        mean_y = s @ Y / s.sum() if self.fit_intercept else np.zeros(Y.shape[1])
        rows = CentredRows(X, batch.weight, mean_x)
        A_y = rows.weighted(Y - mean_y)
        if sparse.issparse(X):
            found = conjugate_gradients(
                rows.forward,
                rows.backward,
                A_y,
                np.zeros(Y.shape[1]),
                tolerance=self.tol * 1e-3,
                limit=10 * X.shape[1],
            )
            none = np.empty((X.shape[1], 0))
            solution = LeastSquares(found.coef, -1, np.nan, "conjugate gradients", none, none)
        else:
            solution = wide(rows.dense(), A_y, np.sqrt(s) if self.fit_intercept else None)
        r = A_y - rows.forward(solution.coef)
        squared_penalty = rows.column_squares()
        certificate = orthogonality(
            rows.backward(r), solution.coef, squared_penalty, (A_y * A_y).sum(axis=0), _parts(solution)
        )
        intercept = self._intercept(solution.coef, mean_x, mean_y)
        evidence: dict[str, Any] = {"condition": solution.condition, "rows": len(batch)}
        if self.fit_intercept:
            unknown = np.full_like(mean_x, np.nan)
            evidence["column_moments"] = ColumnMoments(
                float(s.sum()), mean_x, squared_penalty, unknown, unknown
            )
        return Learned(self._parameters(solution, intercept, schema), certificate, evidence)

    def _constrained(self) -> ConstrainedSquares:
        return ConstrainedSquares(
            "LinearRegression",
            self.constraints,
            lambda target, weight: squared_penalty(0.0),
            self.fit_intercept,
            self.positive,
            CONSTRAINED_GAP * self.tol,
        )

    def _learn_constrained(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        found = self._constrained().fit(source, engine, trace)
        none, rank = np.empty((len(found.coef), 0)), int((found.coef != 0).any(axis=1).sum())
        method: Any = found.solver
        solution = LeastSquares(found.coef, rank, np.nan, method, none, none)
        parameters = self._parameters(solution, found.intercept, source.schema)
        return Learned(parameters, found.certificate, found.evidence)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        coef = np.atleast_2d(self.coef_).T
        if self.constraints is not None:
            return self._constrained().certify(source, engine, coef, self.intercept_)
        intercept = np.broadcast_to(np.atleast_1d(self.intercept_), coef.shape[1])
        parts = {"condition number": self.condition_}
        return recomputed(
            source,
            engine,
            coef,
            intercept,
            fit_intercept=self.fit_intercept,
            positive=self.positive,
            parts=parts,
        )

    @property
    def singular_(self) -> NDArray[np.float64]:
        """The singular values of the (centred) columns, largest first; from the kept statistic."""
        gram, _ = normal_equations(self._kept_statistic(), self.fit_intercept)
        values = linalg.eigvalsh(gram)[::-1]
        return np.sqrt(np.maximum(values, 0.0))

    def _kept_statistic(self) -> Moments:
        if "statistic_" not in self.__dict__:
            raise AttributeError(
                "this fit kept no statistic: it had fewer rows than columns, or too many columns."
            )
        return self.statistic_  # type: ignore[return-value]


def _nonnegative(gram: Matrix, cross: Matrix) -> LeastSquares:
    coef = np.stack([nonnegative_least_squares(gram, column).coef for column in cross.T], axis=1)
    none = np.empty((len(coef), 0))
    return LeastSquares(coef, int((coef > 0).any(axis=1).sum()), np.nan, "active set", none, none)


def _parts(solution: LeastSquares) -> dict[str, float]:
    return {"condition number": solution.condition, "rank": float(solution.rank)}
