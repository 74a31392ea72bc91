"""The lasso by its exact path, and least angle regression."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from surefit.core.certificate import Certificate
from surefit.core.errors import ParameterError, RefusalError
from surefit.core.parameters import Count, NonNegative, RandomState, Strength
from surefit.core.trace import Trace
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Estimator, Learned
from surefit.models.linear.common.base import LinearPrediction
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.sparse import lars_fit
from surefit.models.linear.sparse.lars_fit import ConstrainedPath
from surefit.models.linear.squares.ridge import NoInference
from surefit.solvers.squares.homotopy import LassoPath, Method, lasso_homotopy

Precompute = bool | Literal["auto"] | np.ndarray | list | None
EPS = np.finfo(float).eps


@dataclass(frozen=True, slots=True)
class LarsParameters:
    """Coefficients and intercept at the end of the path, its knots, and the columns that are active there.

    With several targets, alphas, active, coef_path and n_iter are lists with one entry a target. coef_path:
    (p, knots), or None where it was not asked for.
    """

    coef: NDArray[np.float64]
    intercept: Any
    alphas: Any
    active: Any
    coef_path: Any
    n_iter: Any


class PathRegression(NoInference, LinearPrediction, RegressorMixin, Estimator, abstract=True):
    """What the fits share that follow a path down from where all coefficients are zero."""

    accepts = Accepts(target="number", several_targets=True)
    learns: ClassVar[type] = LarsParameters
    method: Method = "lasso"
    positive: bool
    constraints: Any = None

    fit_intercept: bool
    fit_path: bool
    coef_: NDArray[np.float64]
    intercept_: Any
    alphas_: Any
    active_: Any
    coef_path_: Any
    n_iter_: Any

    @abstractmethod
    def _steps(self) -> int:
        """How many steps the path may take."""

    def _end(self) -> float:
        """The strength to which the path goes."""
        return 0.0

    def _iteration_limit(self) -> None:
        return None  # each target has a path of its own

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        problems, evidence = self._problems(source, engine)
        paths = [self._follow(problem, trace) for problem in problems]
        coef = np.column_stack([path.at(float(path.alphas[-1])) for path in paths])
        pairs = zip(problems, paths, coef.T, strict=True)
        intercept = np.array([problem.mean_y - path.centre @ w for problem, path, w in pairs])
        parameters = self._parameters(source.schema, coef, intercept, paths)
        return Learned(parameters, self._proof(source, engine, coef, intercept, parameters), evidence)

    def _problems(self, source: Source, engine: Engine) -> tuple[list[Any], dict[str, Any]]:
        """Return one problem a target, and what was learnt of the columns."""
        if self.constraints is None:
            return lars_fit.path_problems(source, engine, self.fit_intercept)
        problems, evidence = self._within().problems(source, engine)
        return list(problems), evidence

    def _within(self) -> ConstrainedPath:
        return ConstrainedPath(type(self).__name__, self.constraints, self.positive, self.fit_intercept)

    def _follow(self, problem: Any, trace: Trace | None = None) -> LassoPath:
        """Follow the path of a problem to its end."""
        if self.constraints is not None:
            return self._within().follow(problem, alpha_min=self._end(), max_iter=self._steps(), trace=trace)
        return lasso_homotopy(
            problem,
            method=self.method,
            alpha_min=self._end(),
            max_iter=self._steps(),
            positive=self.positive,
            trace=trace,
        )

    def _parameters(
        self, schema: Schema, coef: Any, intercept: NDArray[np.float64], paths: list[LassoPath]
    ) -> LarsParameters:
        alphas: Any = [path.alphas for path in paths]
        active: Any = [[int(column) for column in path.active] for path in paths]
        whole: Any = [path.coefs.toarray() for path in paths] if self.fit_path else None
        steps: Any = [path.steps for path in paths]
        if len(paths) == 1:
            alphas, active, steps = alphas[0], active[0], steps[0]
            whole = whole[0] if self.fit_path else None
        shown = coef[:, 0] if len(paths) == 1 else coef.T
        offset: Any = 0.0
        if self.fit_intercept:
            offset = intercept[0] if schema.target_is_flat else intercept
        return LarsParameters(np.ascontiguousarray(shown), offset, alphas, active, whole, steps)

    def _proof(
        self, source: Source, engine: Engine, coef: Any, intercept: Any, found: LarsParameters
    ) -> Certificate:
        if self.constraints is not None:
            alphas = [self._end()] * coef.shape[1]
            return self._within().proof(source, engine, coef, intercept, alphas)
        return lars_fit.proof(
            source,
            engine,
            coef,
            intercept,
            self._end(),
            fit_intercept=self.fit_intercept,
            positive=self.positive,
        )

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        coef = np.atleast_2d(self.coef_).T
        intercept = np.broadcast_to(np.asarray(self.intercept_, dtype=np.float64), coef.shape[1])
        names = LarsParameters.__dataclass_fields__
        found = LarsParameters(**{name: getattr(self, f"{name}_") for name in names})
        return self._proof(source, engine, coef, intercept, found)

    def coef_at(self, alpha: float) -> NDArray[np.float64]:
        """Return the coefficients at a strength between the first knot and the last, exactly.

        They are linear between knots, and zero above the first.
        """
        if self.coef_path_ is None:
            raise RefusalError("this fit kept no path: fit with fit_path=True to ask for other strengths.")
        if isinstance(self.alphas_, list):
            pairs = zip(self.alphas_, self.coef_path_, strict=True)
            return np.array([_between(knots, coefs, alpha) for knots, coefs in pairs])
        return _between(self.alphas_, self.coef_path_, alpha)


def _between(knots: NDArray[np.float64], coefs: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    if not alpha >= knots[-1]:
        raise ParameterError(
            f"alpha={alpha!r} is below {knots[-1]:.6g}, where the path ends: fit to a smaller strength."
        )
    below = min(int(np.searchsorted(-knots, -alpha)), len(knots) - 1)
    if below == 0:
        return np.array(coefs[:, 0])
    share = (knots[below - 1] - alpha) / (knots[below - 1] - knots[below])
    return np.asarray((1 - share) * coefs[:, below - 1] + share * coefs[:, below])


class LassoLars(PathRegression):
    r"""Minimise :math:`\frac{1}{2W} \sum_i s_i (y_i - w'x_i - b)^2 + \alpha \|w\|_1`, by the whole path.

    Between knots the coefficients are linear in :math:`\alpha`, so that the answer is exact for every
    strength from ``alphas_[0]``, at which the first column joins, to ``alpha``: see ``coef_at``. alpha: the
    strength. max_iter: steps at the most. positive: whether w must not be negative. fit_path: whether to keep
    ``coef_path_``. eps, jitter, precompute, copy_X, verbose, random_state: without effect (ties are broken by
    the number of the column, sums are taken where that is cheaper, X is never changed). constraints: as in
    :class:`~surefit.LinearModel`; the path within them is exact as well, and begins at the bounds next to
    zero where zero is not allowed.

    >>> import numpy as np
    >>> from surefit import LassoLars
    >>> model = LassoLars(alpha=0.5, fit_intercept=False).fit(np.eye(2), [4.0, 2.0])
    >>> model.alphas_, model.coef_
    (array([2. , 1. , 0.5]), array([3., 1.]))
    >>> model.coef_at(1.5), model.certificate_.holds
    (array([1., 0.]), True)
    """

    def __init__(
        self,
        alpha: Strength = 1.0,
        *,
        fit_intercept: bool = True,
        verbose: bool | int = False,
        precompute: Precompute = "auto",
        max_iter: Count = 500,
        eps: NonNegative = EPS,
        copy_X: bool = True,
        fit_path: bool = True,
        positive: bool = False,
        jitter: NonNegative | None = None,
        random_state: RandomState = None,
        constraints: Constraints = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.verbose = verbose
        self.precompute = precompute
        self.max_iter = max_iter
        self.eps = eps
        self.copy_X = copy_X
        self.fit_path = fit_path
        self.positive = positive
        self.jitter = jitter
        self.random_state = random_state
        self.constraints = constraints

    def _steps(self) -> int:
        return self.max_iter

    def _end(self) -> float:
        return float(self.alpha)


class Lars(PathRegression):
    """Least angle regression: follow the columns that are most correlated with the residual, all alike.

    n_nonzero_coefs: how many columns to let in at the most; with all of them it ends at least squares. The
    other parameters are those of :class:`~surefit.LassoLars`. Columns keep the sign of their correlation for
    good, also when a coefficient passes through zero, where scikit-learn turns it around and leaves the path.

    The certificate says that the active columns have slopes of one size, which none of the others exceeds.

    constraints: as in :class:`~surefit.LinearModel`. Within them, slopes are of one size where nothing holds
    a coefficient, and one that comes back to zero leaves, as a path that goes on without a second look would
    not stay in the set: it is that of :class:`~surefit.LassoLars`. It ends at least squares within the
    constraints, or before more than n_nonzero_coefs coefficients differ from zero, with a duality gap.

    >>> import numpy as np
    >>> from surefit import Lars
    >>> model = Lars(n_nonzero_coefs=1, fit_intercept=False).fit(np.eye(2), [4.0, 2.0])
    >>> model.coef_, model.active_, model.certificate_.holds
    (array([2., 0.]), [0], True)
    """

    method: Method = "lar"
    positive = False

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        verbose: bool | int = False,
        precompute: Precompute = "auto",
        n_nonzero_coefs: Count = 500,
        eps: NonNegative = EPS,
        copy_X: bool = True,
        fit_path: bool = True,
        jitter: NonNegative | None = None,
        random_state: RandomState = None,
        constraints: Constraints = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.verbose = verbose
        self.precompute = precompute
        self.n_nonzero_coefs = n_nonzero_coefs
        self.eps = eps
        self.copy_X = copy_X
        self.fit_path = fit_path
        self.jitter = jitter
        self.random_state = random_state
        self.constraints = constraints

    def _steps(self) -> int:
        return self.n_nonzero_coefs

    def _follow(self, problem: Any, trace: Trace | None = None) -> LassoPath:
        if self.constraints is None:
            return super()._follow(problem, trace)
        limit = 16 * problem.columns + 1000  # columns may come and go
        within, most = self._within(), self.n_nonzero_coefs
        return within.follow(problem, max_iter=limit, most_active=most, trace=trace)

    def _proof(
        self, source: Source, engine: Engine, coef: Any, intercept: Any, found: LarsParameters
    ) -> Certificate:
        several = isinstance(found.alphas, list)
        alphas = found.alphas if several else [found.alphas]
        active = found.active if several else [found.active]
        if self.constraints is not None:
            last = [float(row[-1]) for row in alphas]
            return self._within().proof(source, engine, coef, intercept, last)
        ends = {
            k: (float(row[-1]), np.asarray(some))
            for k, (row, some) in enumerate(zip(alphas, active, strict=True))
        }
        return lars_fit.equal_angles(source, engine, coef, intercept, ends, self.fit_intercept)
