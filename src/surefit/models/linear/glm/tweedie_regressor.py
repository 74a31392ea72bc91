"""Generalised linear regression of amounts whose variance is a power of their mean."""

from __future__ import annotations

from typing import Literal

from surefit.core.parameters import Count, Strength, Tolerance
from surefit.losses.families import Tweedie
from surefit.losses.links import Link, link_named
from surefit.losses.tweedie import Power
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.glm.base import GlmModel

Solver = Literal["lbfgs", "newton-cholesky"]


class TweedieRegressor(GlmModel):
    r"""Minimise :math:`\frac1{2W} \sum_i s_i d(y_i, \mu_i) + \frac\alpha2 |w|^2`, d a Tweedie deviance.

    power: the variance is that power of the mean: 0 normal, 1 Poisson, 2 gamma, 3 inverse Gaussian; between
    1 and 2, amounts that are often 0. link: "auto" is the identity for powers of 0 and less, else the log.
    alpha: how strong the squared penalty is; it leaves the intercept b free, or b is 0 with
    fit_intercept=False. solver: scikit-learn's names, both of which run what suits the table best. tol: the
    duality gap, relative to the loss of a constant, at which to stop. warm_start: go on from the last fit.
    constraints: as in :class:`~surefit.LinearModel`. verbose: without effect (progress is a setting).

    >>> from surefit import TweedieRegressor
    >>> X, y = [[0.0], [0.0], [1.0], [1.0]], [0.0, 4.0, 4.0, 12.0]
    >>> model = TweedieRegressor(power=1.5, alpha=0.0).fit(X, y)
    >>> model.coef_.round(4), round(model.intercept_, 4)  # log(8 / 2) and log(2)
    (array([1.3863]), 0.6931)
    """

    def __init__(
        self,
        *,
        power: Power = 0.0,
        alpha: Strength = 1.0,
        fit_intercept: bool = True,
        link: Literal["auto", "identity", "log"] = "auto",
        solver: Solver = "lbfgs",
        max_iter: Count = 100,
        tol: Tolerance = 1e-4,
        warm_start: bool = False,
        verbose: int = 0,
        constraints: Constraints = None,
    ) -> None:
        self.power = power
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.link = link
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose
        self.constraints = constraints

    def _family(self) -> Tweedie:
        return Tweedie(self.power)

    def _link(self) -> Link:
        if self.link == "auto":
            return link_named("identity" if self.power <= 0 else "log")
        return link_named(self.link)
