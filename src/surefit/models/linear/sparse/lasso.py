"""Least squares with an absolute penalty, which sets coefficients to zero."""

from __future__ import annotations

from surefit.core.parameters import Count, RandomState, Strength, Tolerance
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.sparse.elastic_net import Precompute, Selection, SparseRegression
from surefit.models.linear.sparse.regularisation_path import lasso_path


class Lasso(SparseRegression):
    r"""Minimise :math:`\frac{1}{2W} \sum_i s_i (y_i - w'x_i - b)^2 + \alpha \|w\|_1`, with
    :math:`W = \sum_i s_i`.

    alpha: the strength; from the largest slope at zero on, every coefficient is zero. The other parameters
    are those of :class:`~surefit.ElasticNet`.

    >>> from surefit import Lasso
    >>> model = Lasso(alpha=0.1).fit([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]], [0.0, 1.0, 2.0])
    >>> model.coef_.round(3), model.certificate_.holds
    (array([0.85, 0.  ]), True)
    """

    l1_ratio = 1.0

    path = staticmethod(lasso_path)

    def __init__(
        self,
        alpha: Strength = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: Precompute = False,
        copy_X: bool = True,
        max_iter: Count = 1000,
        tol: Tolerance = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: RandomState = None,
        selection: Selection = "cyclic",
        constraints: Constraints = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.constraints = constraints
