"""Support vector classification by the share of rows that may err."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.core.native.kernel.smo import DualProblem
from surefit.core.parameters import Positive, RandomState, Tolerance, WholeNumber
from surefit.data.door import Accepts
from surefit.models.class_weight import ClassWeight
from surefit.models.kernel.svm.duality import Machine
from surefit.models.kernel.svm.machine import Degree, KernelLike, Steps, Width, solved_intercept
from surefit.models.kernel.svm.nu_svr import Share, filled
from surefit.models.kernel.svm.pairs import PairFit, PairMachine

Floats = NDArray[np.float64]


class NuSVC(PairMachine):
    r"""Minimise :math:`\tfrac12 |w|^2 - \nu W \rho + \sum_i s_i (\rho - y_i (w'\phi(x_i) + b))_+`, a machine
    a pair, and divide by :math:`\rho`.

    nu: at most this share of the weight W of a pair lies inside the margin, and at least this share are
    support vectors; where weights leave a class less than nu / 2 of W, nu is taken for what it has. What
    comes out is the answer of :class:`~surefit.SVC` with
    :math:`C = \sum |\alpha| / (\nu W)`. The other parameters are those of SVC.

    >>> from surefit import NuSVC
    >>> X, y = [[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]], [1, 1, 2, 2]
    >>> NuSVC().fit(X, y).predict([[-0.8, -1.0]])
    array([1])
    """

    accepts = Accepts(target="class")

    def __init__(
        self,
        *,
        nu: Share = 0.5,
        kernel: KernelLike = "rbf",
        degree: Degree = 3,
        gamma: Width = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: Literal["deprecated"] | bool = "deprecated",
        tol: Tolerance = 1e-3,
        cache_size: Positive = 200,
        class_weight: ClassWeight = None,
        verbose: WholeNumber | bool = False,
        max_iter: Steps = -1,
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        break_ties: bool = False,
        random_state: RandomState = None,
        tie: Literal["second", "first"] = "second",
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.tie = tie

    def _pair_machine(self, y: Floats, weight: Floats, beta: Floats, f: Floats, intercept: float) -> Machine:
        positive = y > 0
        smaller = min(float(weight[positive].sum()), float(weight[~positive].sum()))
        cost = float(np.abs(beta).sum()) / min(float(self.nu * weight.sum()), 2 * smaller)  # one over rho
        return Machine("classes", beta, f, y, cost * weight, intercept, unit_scale=cost)

    def _two(self, points: Any, y: Floats, weight: Floats, names: NDArray[Any]) -> PairFit:
        half, positive = 0.5 * float(self.nu * weight.sum()), y > 0
        smaller = min(float(weight[positive].sum()), float(weight[~positive].sum()))
        cut = half > smaller * (1 + 1e-12) and not (weight == weight[0]).all()
        if cut:
            half = smaller
        elif half > smaller * (1 + 1e-12):
            raise DataError(
                "specified nu is infeasible: the smaller class of a pair has less than nu / 2 of the weight "
                f"of both, so choose nu of at most {2 * smaller / weight.sum():.3g}."
            )
        start = np.zeros(len(y))
        start[positive], start[~positive] = filled(weight[positive], half), -filled(weight[~positive], half)
        zero = np.zeros(len(y))
        problem = DualProblem(
            zero,
            zero,
            np.where(positive, 0.0, -weight),
            np.where(positive, weight, 0.0),
            group=positive.astype(np.uint8),
        )
        solution = self._solve(points, problem, start, self._sums_of(points, start))
        above, _, highest = solved_intercept(problem, solution, np.flatnonzero(positive))
        below, lowest, _ = solved_intercept(problem, solution, np.flatnonzero(~positive))
        rho, f = 0.5 * (above - below), solution.gradient
        if (cut or not rho > 0) and not np.isfinite(highest - lowest):
            # Every row of the smaller class is at its bound, which allows any larger margin as well.
            wide = 2 * float(f.max() - f.min()) + 2 * abs(rho) + np.finfo(np.float64).tiny
            above, below = (above + wide, below) if np.isinf(highest) else (above, below - wide)
            rho = 0.5 * (above - below)
        if not rho > 0:
            raise DataError(
                "specified nu leaves no margin: no boundary of this kernel has the classes on its two sides "
                "for so large a nu; choose a smaller one."
            )
        beta, f, intercept = solution.beta / rho, f / rho, -0.5 * (above + below) / rho
        return PairFit(
            np.arange(len(y)), beta, intercept, self._pair_machine(y, weight, beta, f, intercept), solution
        )
