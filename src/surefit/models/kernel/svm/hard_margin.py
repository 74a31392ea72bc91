r"""The hard margin, C = inf: the nearest points of the hulls of two classes.

The widest street between two classes stands upright in the middle of the shortest line between their convex
hulls. With weights a of each class that add up to 1, minimise :math:`|\sum y_i a_i \phi(x_i)|^2`; twice the
weights over that square are the multipliers. The problem always has an answer: a distance of 0 is a point
that both hulls hold, so that no street exists, and its weights name the rows in conflict.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.core.native.kernel.smo import DualProblem, DualSolution

Floats = NDArray[np.float64]
TOUCHING = 1e-12  # square of the distance of the hulls, of the largest k(x, x): the root of rounding
SHOWN = 10  # rows in conflict that an error names
ROUNDS = 60

Solve = Callable[[Any, DualProblem, Floats, Floats, float], DualSolution]


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
