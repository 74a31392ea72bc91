"""Support vector regression whose tube is as wide as a share of the rows allows."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from surefit.core.errors import RefusalError
from surefit.core.native.kernel.smo import DualProblem, DualSolution
from surefit.core.parameters import Interval, Positive, Tolerance, WholeNumber
from surefit.data.door import Accepts
from surefit.models.kernel.svm.duality import Machine
from surefit.models.kernel.svm.machine import Degree, KernelLike, Steps, Width, solved_intercept
from surefit.models.kernel.svm.numbers import NumberMachine

Floats = NDArray[np.float64]
Share = Annotated[float, Interval(0, 1, open_low=True)]


def filled(bound: Floats, total: float) -> Floats:
    """Return multipliers that add up to ``total``, each at its bound until it is reached."""
    reached = np.cumsum(bound)
    if len(bound) and total >= float(reached[-1]) * (1 - 1e-12):  # which rounding must not keep any from
        return bound.copy()
    return np.clip(total - (reached - bound), 0.0, bound)


class NuSVR(RegressorMixin, NumberMachine):
    r"""Minimise :math:`\tfrac12 |w|^2 + C \left( \nu W \epsilon + \sum_i s_i (|y_i - f(x_i)| - \epsilon)_+
    \right)`, over the half width :math:`\epsilon` of the tube as well.

    nu: at most this share of the weight W lies outside the tube, and at least this share are support vectors.
    The other parameters are those of :class:`~surefit.SVR`.

    >>> from surefit import NuSVR
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0.0, 1.2, 1.9, 3.4, 8.0]
    >>> model = NuSVR(kernel="linear", nu=0.4).fit(X, y)
    >>> model.certificate_.holds, len(model.support_) >= 2
    (True, True)
    """

    accepts = Accepts(target="number")

    def __init__(
        self,
        *,
        nu: Share = 0.5,
        C: Positive = 1.0,
        kernel: KernelLike = "rbf",
        degree: Degree = 3,
        gamma: Width = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: Tolerance = 1e-3,
        cache_size: Positive = 200,
        verbose: WholeNumber | bool = False,
        max_iter: Steps = -1,
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    def _machine(self, y: Floats, weight: Floats, beta: Floats, f: Floats, intercept: float) -> Machine:
        bound = self.C * weight
        return Machine("nu numbers", beta, f, y, bound, intercept, size=float(self.nu * bound.sum()))

    def _solved(
        self, points: Any, y: Floats, weight: Floats
    ) -> tuple[DualProblem, DualSolution, Floats, float]:
        if np.isinf(self.C):
            raise RefusalError("NuSVR: C=inf asks for a tube that holds every row: choose a large number.")
        n, bound = len(y), self.C * weight
        first = filled(bound, 0.5 * float(self.nu * bound.sum()))
        zero, twice = np.zeros(n), np.concatenate([-y, -y])
        problem = DualProblem(
            twice,
            twice,
            np.concatenate([zero, -bound]),
            np.concatenate([bound, zero]),
            row=np.tile(np.arange(n, dtype=np.int64), 2),
            group=np.repeat(np.array([0, 1], dtype=np.uint8), n),
        )
        start = np.concatenate([first, -first])  # whose sums cancel
        solution = self._solve(points, problem, start)
        above, _, _ = solved_intercept(problem, solution, slice(0, n))
        below, _, _ = solved_intercept(problem, solution, slice(n, None))
        return problem, solution, solution.beta[:n] + solution.beta[n:], -0.5 * (above + below)
