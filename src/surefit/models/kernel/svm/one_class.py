"""The outline of where rows lie, for telling what is unlike them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin

from surefit.core.native.kernel.smo import DualProblem, DualSolution
from surefit.core.parameters import Positive, Tolerance, WholeNumber
from surefit.data.door import Accepts
from surefit.models.kernel.svm.duality import Machine
from surefit.models.kernel.svm.machine import (
    Degree,
    KernelLike,
    MachineParameters,
    Steps,
    Width,
    solved_intercept,
)
from surefit.models.kernel.svm.nu_svr import Share, filled
from surefit.models.kernel.svm.numbers import SingleMachine

Floats = NDArray[np.float64]
ROUNDING = 1e-9  # of a score, beside the threshold that is taken off


@dataclass(frozen=True, slots=True)
class OneClassParameters(MachineParameters):
    """The same, and the threshold of the sums."""

    offset: float


class OneClassSVM(OutlierMixin, SingleMachine):
    r"""Minimise :math:`\tfrac12 |w|^2 - \nu W \rho + \sum_i s_i (\rho - w'\phi(x_i))_+` over w and rho.

    nu: at most this share of the weight W is told outliers, and at least this share are support vectors. The
    other parameters are those of :class:`~surefit.SVR`. A score that rounding alone tells from 0 is 0, and
    such a row lies inside.

    >>> from surefit import OneClassSVM
    >>> X = [[0.0], [0.44], [0.45], [0.46], [1.0]]
    >>> OneClassSVM(gamma="auto").fit(X).predict(X).tolist()
    [-1, 1, 1, 1, -1]
    """

    accepts = Accepts()
    learns = OneClassParameters

    offset_: float

    def __init__(
        self,
        *,
        kernel: KernelLike = "rbf",
        degree: Degree = 3,
        gamma: Width = "scale",
        coef0: float = 0.0,
        tol: Tolerance = 1e-3,
        nu: Share = 0.5,
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
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    def _machine(self, y: Floats, weight: Floats, beta: Floats, f: Floats, intercept: float) -> Machine:
        size = float(self.nu * weight.sum())
        return Machine("one class", beta, f, np.ones(len(f)), weight, intercept, size=size)

    def _solved(
        self, points: Any, y: Floats, weight: Floats
    ) -> tuple[DualProblem, DualSolution, Floats, float]:
        zero = np.zeros(len(weight))
        problem = DualProblem(zero, zero, zero, weight)
        first = filled(weight, float(self.nu * weight.sum()))
        solution = self._solve(points, problem, first, self._sums_of(points, first))
        slope, _, _ = solved_intercept(problem, solution)
        return problem, solution, solution.beta, -slope

    def _more(self, intercept: float) -> dict[str, Any]:
        return {"offset": -intercept}

    def decision_function(self, X: Any, *, to: str | Path | None = None) -> Any:
        """Return the scores of the rows, positive inside, or write them ``to`` a file."""
        return self._answer(self._decide, X, to, ["score"])

    def score_samples(self, X: Any, *, to: str | Path | None = None) -> Any:
        """Return the scores before the threshold ``offset_`` is taken off."""
        return self._answer(lambda rows: self._decide(rows) + self.offset_, X, to, ["score"])

    def predict(self, X: Any, *, to: str | Path | None = None) -> Any:
        """Return 1 for rows inside and -1 for outliers, or write them ``to`` a file."""
        return self._answer(lambda rows: np.where(self._decide(rows) >= 0, 1, -1), X, to, ["prediction"])

    def _decide(self, X: Any) -> Floats:
        scores = super()._decide(X)
        scores[np.abs(scores) <= ROUNDING * max(1.0, abs(self.offset_))] = 0.0
        return scores
