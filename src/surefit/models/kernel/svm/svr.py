"""Support vector regression with kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from surefit.core.errors import RefusalError
from surefit.core.native.kernel.smo import DualProblem, DualSolution
from surefit.core.parameters import NonNegative, Positive, Tolerance, WholeNumber
from surefit.data.door import Accepts
from surefit.models.candidate import Candidate
from surefit.models.kernel.svm.duality import Machine
from surefit.models.kernel.svm.machine import Degree, KernelLike, Steps, Width, solved_intercept
from surefit.models.kernel.svm.numbers import NumberMachine

Floats = NDArray[np.float64]


class SVR(RegressorMixin, NumberMachine):
    r"""Minimise :math:`\tfrac12 |w|^2 + C \sum_i s_i (|y_i - w'\phi(x_i) - b| - \epsilon)_+`.

    kernel: "linear", "poly", "rbf", "sigmoid", "precomputed" for X of kernel values, one of
    :mod:`surefit.kernels`, or a function that gives the kernel matrix of two tables. degree, gamma, coef0: of
    named kernels; gamma="scale" is one over the number of columns times the variance of the cells, "auto" one
    over the columns. C: what an error costs. epsilon: errors up to it cost nothing. tol: the largest slope of
    a pair of multipliers, which bounds the duality gap a unit of C. cache_size: megabytes of kernel rows.
    max_iter: pairs moved at the most; -1 sets a bound that is never reached but by problems that have no end.
    verbose: without effect. Rows that are read piece by piece are held in memory.

    >>> from surefit import SVR
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0.0, 1.0, 2.0, 3.0, 4.0]
    >>> model = SVR(kernel="linear", C=10.0, epsilon=0.5).fit(X, y)
    >>> model.dual_coef_.round(4), model.coef_.round(4)
    (array([[-0.1875,  0.1875]]), array([[0.75]]))
    """

    accepts = Accepts(target="number")
    candidate = Candidate(
        "Support vector regression", 40, "distance", settings={"C": (1.0, 10.0)}, most_rows=2000
    )

    def __init__(
        self,
        *,
        kernel: KernelLike = "rbf",
        degree: Degree = 3,
        gamma: Width = "scale",
        coef0: float = 0.0,
        tol: Tolerance = 1e-3,
        C: Positive = 1.0,
        epsilon: NonNegative = 0.1,
        shrinking: bool = True,
        cache_size: Positive = 200,
        verbose: WholeNumber | bool = False,
        max_iter: Steps = -1,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    def _machine(self, y: Floats, weight: Floats, beta: Floats, f: Floats, intercept: float) -> Machine:
        return Machine("numbers", beta, f, y, self.C * weight, intercept, float(self.epsilon))

    def _solved(
        self, points: Any, y: Floats, weight: Floats
    ) -> tuple[DualProblem, DualSolution, Floats, float]:
        if np.isinf(self.C):
            raise RefusalError(
                "SVR: C=inf asks for a tube that holds every row, which most tables have not: choose a "
                "large number."
            )
        bound = self.C * weight
        problem = DualProblem(self.epsilon - y, -self.epsilon - y, -bound, bound)
        solution = self._solve(points, problem)
        slope, _, _ = solved_intercept(problem, solution)
        return problem, solution, solution.beta, -slope
