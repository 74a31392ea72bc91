"""Generalised linear regression of positive amounts."""

from __future__ import annotations

from typing import Literal

from surefit.core.parameters import Count, Strength, Tolerance
from surefit.losses.families import Gamma
from surefit.losses.links import Link, Log
from surefit.models.candidate import Candidate
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.glm.base import GlmModel

Solver = Literal["lbfgs", "newton-cholesky"]


class GammaRegressor(GlmModel):
    r"""Minimise :math:`\frac1W \sum_i s_i (z_i + y_i e^{-z_i}) + \frac\alpha2 |w|^2` with :math:`z = Xw + b`.

    alpha: how strong the squared penalty is; it leaves the intercept b free, or b is 0 with
    fit_intercept=False. solver: scikit-learn's names, both of which run what suits the table best. tol: the
    duality gap, relative to the loss of a constant, at which to stop. warm_start: go on from the last fit.
    constraints: as in :class:`~surefit.LinearModel`. verbose: without effect (progress is a setting).

    >>> from surefit import GammaRegressor
    >>> model = GammaRegressor(alpha=0.0).fit([[0.0], [0.0], [1.0], [1.0]], [1.0, 3.0, 4.0, 12.0])
    >>> model.coef_.round(4), round(model.intercept_, 4)  # log(8 / 2) and log(2)
    (array([1.3863]), 0.6931)
    """

    candidate = Candidate(
        "Gamma regression", 12, settings={"alpha": (1e-4, 1e-2, 1.0)}, target="positive", most_rows=500_000
    )

    def __init__(
        self,
        *,
        alpha: Strength = 1.0,
        fit_intercept: bool = True,
        solver: Solver = "lbfgs",
        max_iter: Count = 100,
        tol: Tolerance = 1e-4,
        warm_start: bool = False,
        verbose: int = 0,
        constraints: Constraints = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose
        self.constraints = constraints

    def _family(self) -> Gamma:
        return Gamma()

    def _link(self) -> Link:
        return Log()
