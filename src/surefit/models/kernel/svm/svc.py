r"""Support vector classification with kernels.

The hard margin, C = inf: the nearest points of the hulls of two classes.

The widest street between two classes stands upright in the middle of the shortest line between their convex
hulls. With weights a of each class that add up to 1, minimise :math:`|\sum y_i a_i \phi(x_i)|^2`; twice the
weights over that square are the multipliers. The problem always has an answer: a distance of 0 is a point
that both hulls hold, so that no street exists, and its weights name the rows in conflict.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.core.native.kernel.smo import DualProblem, DualSolution
from surefit.core.parameters import Positive, RandomState, Tolerance, WholeNumber
from surefit.data.door import Accepts
from surefit.models.candidate import Candidate
from surefit.models.class_weight import ClassWeight
from surefit.models.kernel.svm.duality import Machine
from surefit.models.kernel.svm.machine import Degree, KernelLike, Steps, Width, solved_intercept
from surefit.models.kernel.svm.pairs import PairFit, PairMachine

Floats = NDArray[np.float64]
TOUCHING = 1e-12  # square of the distance of the hulls, of the largest k(x, x): the root of rounding
SHOWN = 10  # rows in conflict that an error names
ROUNDS = 60

Solve = Callable[[Any, DualProblem, Floats, Floats, float], DualSolution]


class SVC(PairMachine):
    r"""Minimise :math:`\tfrac12 |w|^2 + C \sum_i s_i (1 - y_i (w'\phi(x_i) + b))_+`, a machine a pair.

    C: what an error costs; ``inf`` is the hard margin, and data that have none are refused with the rows in
    conflict. kernel: "linear", "poly", "rbf", "sigmoid", "precomputed" for X of kernel values, one of
    :mod:`surefit.kernels`, or a function that gives the kernel matrix of two tables. degree, gamma, coef0: of
    named kernels; gamma="scale" is one over the number of columns times the variance of the cells, "auto" one
    over the columns. probability: turn scores into probabilities, by sigmoids fitted to scores of rows that
    were held out; the predicted class always has the largest. tol: the largest slope of a pair of
    multipliers, which bounds the duality gap a unit of C. cache_size: megabytes of kernel rows kept.
    class_weight: what the weight of a row is multiplied by, one number a class, or "balanced". max_iter:
    pairs moved at the most; -1 sets a bound that only problems without an end reach.
    decision_function_shape: scores of classes, or of pairs. break_ties: of classes with as many votes take
    the one with the best score, not the first. random_state: deals rows to the parts held out. verbose:
    without effect. tie: which class of a pair a score of exactly 0 means, the "second" as in libsvm, or the
    "first".

    The intercept is the average of what the rows on the margin say, or the middle of what is allowed where
    there are none. Rows that are read piece by piece are held in memory.

    >>> from surefit import SVC
    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [3.0, 3.0], [4.0, 3.0]], ["no", "no", "yes", "yes"]
    >>> model = SVC(kernel="linear", C=float("inf")).fit(X, y)
    >>> (13 * model.coef_).round(6), (13 * model.intercept_).round(6)
    (array([[4., 6.]]), array([-17.]))
    >>> model.certificate_.holds
    True
    """

    accepts = Accepts(target="class")
    candidate = Candidate(
        "Support vector machine",
        40,
        "distance",
        given={"probability": True, "random_state": 0},
        settings={"C": (1.0, 10.0)},
        most_rows=2000,
    )

    def __init__(
        self,
        *,
        C: Positive = 1.0,
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
        self.C = C
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
        if np.isinf(self.C):
            return Machine("hard", beta, f, y, np.full(len(y), np.inf), intercept)
        return Machine("classes", beta, f, y, self.C * weight, intercept)

    def _two(self, points: Any, y: Floats, weight: Floats, names: NDArray[Any]) -> PairFit:
        every = np.arange(len(y))
        if np.isinf(self.C):
            beta, f, intercept, solution = hard_margin(
                points, y, self._solve, self._sums_of, self.tol, names, self._largest(points)
            )
            return PairFit(
                every, beta, intercept, self._pair_machine(y, weight, beta, f, intercept), solution
            )
        bound = self.C * weight
        problem = DualProblem(-y, -y, np.minimum(bound * y, 0.0), np.maximum(bound * y, 0.0))
        solution = self._solve(points, problem)
        slope, _, _ = solved_intercept(problem, solution)
        machine = self._pair_machine(y, weight, solution.beta, solution.gradient, -slope)
        return PairFit(every, solution.beta, -slope, machine, solution)

    @staticmethod
    def _largest(points: Any) -> float:
        """The largest k(x, x)."""
        kernel, X = points
        if kernel.kind == "gram":
            return float(np.abs(np.diagonal(X)).max())
        return float(max(np.abs(kernel.values(X[i : i + 1], X[i : i + 1])).max() for i in range(X.shape[0])))


def hard_margin(
    points: Any,
    y: Floats,
    solve: Solve,
    sums_of: Callable[[Any, Floats], Floats],
    tolerance: float,
    names: NDArray[Any],
    size: float,
) -> tuple[Floats, Floats, float, DualSolution]:
    """Return the signed multipliers, their kernel sums, the intercept and the solution of the hulls.

    y: signs. names: the number of each row, for the error where there is no margin. size: the largest
    k(x, x).
    """
    positive = y > 0
    start = np.where(positive, 1 / positive.sum(), -1 / (~positive).sum())
    zero = np.zeros(len(y))
    problem = DualProblem(
        zero,
        zero,
        np.where(positive, 0.0, -1.0),
        np.where(positive, 1.0, 0.0),
        group=positive.astype(np.uint8),
    )
    beta, f, steps = start, sums_of(points, start), 0
    for _ in range(ROUNDS):
        square = float(beta @ f)
        if square <= TOUCHING * size:
            break
        solution = solve(points, problem, beta, f, 0.2 * tolerance * square)
        beta, f, steps = solution.beta, solution.gradient, steps + solution.steps
        settled = float(beta @ f) >= 0.5 * square
        if settled or solution.ended != "tolerance":
            break
    square = float(beta @ f)
    if square <= TOUCHING * size:
        raise DataError(_conflict(beta, names))
    scale = 2.0 / square
    near, far = float(f[positive].min()), float(f[~positive].max())
    if near <= far:
        raise DataError(_conflict(beta, names))
    # On the margin are the rows with weight, and the intercept is the average of what each of them says.
    on = beta != 0
    intercept = float((y[on] - scale * f[on]).mean())
    found = DualSolution(beta, f, steps, solution.violation, solution.ended)
    return scale * beta, scale * f, intercept, found


def _conflict(beta: Floats, names: NDArray[Any]) -> str:
    order = np.argsort(-np.abs(beta), kind="stable")
    at = np.sort(names[order[: min(SHOWN, int((np.abs(beta) > 1e-6).sum()))]])
    more = int((np.abs(beta) > 1e-6).sum()) - len(at)
    rows = ", ".join(str(int(row)) for row in at) + (f" and {more} more" if more > 0 else "")
    return (
        "C=inf allows no error, and no boundary of this kernel separates the classes: a mixture of rows of "
        f"one class equals a mixture of rows of the other. The rows in conflict are {rows}: correct or leave "
        "out some of them, choose another kernel, or a finite C."
    )
