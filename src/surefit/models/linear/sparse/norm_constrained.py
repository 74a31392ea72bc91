"""Least squares whose coefficients have a bounded size: the constrained forms of lasso and ridge."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np
from sklearn.base import RegressorMixin

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import RefusalError
from surefit.core.parameters import Interval, Scale
from surefit.core.trace import Trace
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Estimator, Learned
from surefit.models.linear.common.base import LinearPrediction
from surefit.models.linear.sparse import lars_fit
from surefit.models.linear.squares import orthogonality
from surefit.models.linear.squares.centred_rows import DenseRows
from surefit.models.linear.squares.ridge import NoInference
from surefit.models.linear.squares.ridge_fit import DENSE_ENTRIES, LARGEST_GRAM
from surefit.models.rows_in_memory import gathered
from surefit.penalties.base import Penalty
from surefit.penalties.l1_ball import L1Ball
from surefit.penalties.l2_ball import L2Ball
from surefit.solvers.linalg.secular_equation import least_squares_in_ball
from surefit.solvers.squares.homotopy import lasso_homotopy
from surefit.stats.moments import Moments
from surefit.stats.triangular import TriangularFactor

Radius = Annotated[float, Interval(0, np.inf, open_low=True, open_high=True), Scale("log")]


@dataclass(frozen=True, slots=True)
class ConstrainedParameters:
    """Coefficients and intercept, the strength of the penalty that has the same answer, and the multiplier.

    multiplier: what a little more radius takes off half the mean squared residual, per unit; 0 where the
    constraint does not bind.
    """

    coef: Vector
    intercept: float
    alpha: float
    multiplier: float
    n_iter: int


class ConstrainedRegression(NoInference, LinearPrediction, RegressorMixin, Estimator, abstract=True):
    """What the constrained forms share: the proof by the duality gap of the ball."""

    accepts = Accepts(target="number")
    learns = ConstrainedParameters

    radius: float
    fit_intercept: bool
    coef_: Vector
    intercept_: float
    alpha_: float
    multiplier_: float
    n_iter_: int

    @abstractmethod
    def _ball(self) -> Penalty:
        """The set that the coefficients must lie in."""

    def _proof(
        self, source: Source, engine: Engine, coef: Vector, intercept: float, alpha: float
    ) -> Certificate:
        ball, at = self._ball(), (coef[:, None], np.array([intercept]))
        if alpha > 0 or not ball.feasible(coef):
            return lars_fit.by_gap(source, engine, ball, *at, self.fit_intercept, float(self.radius))
        return orthogonality.recomputed(source, engine, *at, fit_intercept=self.fit_intercept, parts={})

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        return self._proof(source, engine, self.coef_, self.intercept_, self.alpha_)


class ConstrainedLasso(ConstrainedRegression):
    r"""Minimise :math:`\frac{1}{2W} \sum_i s_i (y_i - w'x_i - b)^2` subject to :math:`\|w\|_1 \le` radius.

    The answer is read off the exact path of the lasso, along which :math:`\|w\|_1` is linear between knots.
    ``alpha_`` is the strength at which :class:`~surefit.Lasso` has the same answer, and equals
    ``multiplier_``; where the constraint does not bind both are 0, and the answer is that of least squares.

    >>> import numpy as np
    >>> from surefit import ConstrainedLasso
    >>> model = ConstrainedLasso(radius=4.0, fit_intercept=False).fit(np.eye(2), [4.0, 2.0])
    >>> model.coef_, model.alpha_, model.certificate_.holds
    (array([3., 1.]), 0.5, True)
    """

    def __init__(self, radius: Radius = 1.0, *, fit_intercept: bool = True) -> None:
        self.radius = radius
        self.fit_intercept = fit_intercept

    def _ball(self) -> Penalty:
        return L1Ball(float(self.radius))

    def _iteration_limit(self) -> None:
        return None  # as many steps as the path takes

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        (problem,), evidence = lars_fit.path_problems(source, engine, self.fit_intercept)
        path = lasso_homotopy(problem, radius=float(self.radius), trace=trace)
        alpha, coef = path.of_norm(float(self.radius))
        intercept = problem.mean_y - float(path.centre @ coef)
        parameters = ConstrainedParameters(coef, intercept, alpha, alpha, path.steps)
        return Learned(parameters, self._proof(source, engine, coef, intercept, alpha), evidence)


class ConstrainedRidge(ConstrainedRegression):
    r"""Minimise :math:`\frac{1}{2W} \sum_i s_i (y_i - w'x_i - b)^2` subject to :math:`\|w\|_2 \le` radius.

    ``alpha_`` is the strength at which :class:`~surefit.Ridge` has the same answer; ``multiplier_`` is that
    of the constraint, alpha_ radius / W. Where the constraint does not bind both are 0, and the answer is
    that of least squares.

    >>> import numpy as np
    >>> from surefit import ConstrainedRidge
    >>> model = ConstrainedRidge(radius=5.0, fit_intercept=False).fit(np.eye(2), [6.0, 8.0])
    >>> model.coef_.round(6), round(model.alpha_, 6), round(model.multiplier_, 6)
    (array([3., 4.]), 1.0, 2.5)
    """

    def __init__(self, radius: Radius = 1.0, *, fit_intercept: bool = True) -> None:
        self.radius = radius
        self.fit_intercept = fit_intercept

    def _ball(self) -> Penalty:
        return L2Ball(float(self.radius))

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        rows, columns = source.schema.rows, source.schema.width
        short = rows is not None and rows < columns
        if short and rows is not None and rows * columns <= DENSE_ENTRIES:
            few = DenseRows.of(gathered(source), self.fit_intercept)
            A, b, mean_x, mean_y = few.A, few.B[:, 0], few.mean_x, float(few.mean_y[0])
            weight, evidence = float(few.weight.sum()), {"rows": rows}
        elif columns <= LARGEST_GRAM:
            A, b, moments = self._factor(source, engine)
            mean_x, mean_y = moments.mean_x, float(moments.mean_y[0])
            weight, evidence = moments.weight, lars_fit.evidence_of(moments)
        else:
            raise RefusalError(
                f"ConstrainedRidge decomposes all columns at once, up to {LARGEST_GRAM} of them or "
                f"{DENSE_ENTRIES:.0e} cells of fewer rows, and there are {columns}: use Ridge, or leave "
                "columns out."
            )
        found = least_squares_in_ball(A, b, float(self.radius))
        intercept = mean_y - float(mean_x @ found.coef) if self.fit_intercept else 0.0
        multiplier = found.strength * float(self.radius) / weight
        parameters = ConstrainedParameters(found.coef, intercept, found.strength, multiplier, 1)
        certificate = self._proof(source, engine, found.coef, intercept, found.strength)
        return Learned(parameters, certificate, evidence)

    def _factor(self, source: Source, engine: Engine) -> tuple[Any, Any, Moments]:
        """Return the triangular factor of the columns, and what becomes of the target."""
        moments = engine.accumulate(Moments.of, source)
        shift = np.concatenate([moments.mean_x, moments.mean_y]) if self.fit_intercept else None
        of = partial(TriangularFactor.of, ones=self.fit_intercept, shift=shift)
        R = engine.accumulate(of, source).centred
        p = len(moments.mean_x)
        return R[:p, :p], R[:p, p], moments
