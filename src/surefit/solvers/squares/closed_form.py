r"""Least squares with a squared penalty, solved at once.

With centred columns, the minimiser of :math:`\frac{1}{2W} \sum_i s_i (y_i - x_i'w - b)^2 + \frac12 w'Aw`
solves :math:`(X'SX + WA) w = X'Sy`: from the moments where their condition allows it, from the triangular
factor of the rows where it does not, and from the rows themselves where these are few.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import linalg, sparse

from surefit.core.arrays import Vector
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.losses.squared import Squared
from surefit.solvers.linalg import least_squares, ridge
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Needs, Solution, Solver
from surefit.stats.moments import Moments
from surefit.stats.residuals import Residuals
from surefit.stats.triangular import TriangularFactor

LARGEST = 5000  # columns whose square is kept, or rows
DENSE_ENTRIES = 10**8  # of a centred copy of few rows


class ClosedForm(Solver):
    """Solve the normal equations; where columns depend on each other, take the shortest solution.

    >>> from surefit.penalties import L2
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 2.0, 5.0]
    >>> objective = Objective.of_arrays(X, y, Squared(), L2(0.25))
    >>> ClosedForm().solve(objective).x.round(6)
    array([1., 1.])
    """

    name = "closed_form"
    needs: ClassVar[Needs] = Needs(penalty=("convex", "quadratic"))
    accuracy: ClassVar[Literal["exact", "second order", "first order"]] = "exact"

    def _refusal(self, objective: Objective) -> str | None:
        if type(objective.loss) is not Squared:
            return f"solver {self.name!r} supports the squared loss only, not the {objective.loss.name} loss."
        if objective.columns > LARGEST and _few_rows(objective) is None:
            return (
                f"solver {self.name!r} forms a Gram matrix of at most {LARGEST} columns, "
                f"and there are {objective.columns}."
            )
        return None

    def solve(
        self, objective: Objective, start: Vector | None = None, trace: Trace | None = None
    ) -> Solution:
        """Minimise; no start is needed."""
        self.require(objective)
        trace = Trace() if trace is None else trace
        squares = objective.penalty.quadratic(objective.columns)
        assert squares is not None
        rows = _few_rows(objective)
        coef, intercept = (
            _by_moments(objective, squares) if rows is None else _by_rows(rows, objective, squares)
        )
        x = np.vstack([coef, intercept[None]]) if objective.fit_intercept else coef
        return self.finish(objective, x[:, 0] if objective.outputs is None else x, trace, "stalled")


def _few_rows(objective: Objective) -> Batch | None:
    """Return the rows where they are fewer than the columns and the dual can take them."""
    rows = objective.rows
    if rows is None or len(rows) >= objective.columns or len(rows) > LARGEST:
        return None
    squares = objective.penalty.quadratic(objective.columns)
    if squares is None or squares.ndim == 2 or len(rows) * objective.columns > DENSE_ENTRIES:
        return None
    return rows if (squares > 0).all() or not squares.any() else None


def _by_rows(batch: Batch, objective: Objective, squares: Vector) -> tuple[Vector, Vector]:
    """Solve by the dual, in columns divided by the root of their penalty."""
    X: Any = batch.X
    X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    Y = np.asarray(batch.y, dtype=np.float64).reshape(len(X), -1)
    s = np.ones(len(X)) if batch.weight is None else batch.weight
    mean_x, mean_y = np.zeros(X.shape[1]), np.zeros(Y.shape[1])
    if objective.fit_intercept:
        share = s / s.sum()
        mean_x = X[0] + share @ (X - X[0])
        mean_y = Y[0] + share @ (Y - Y[0])
    root = np.sqrt(s)[:, None]
    size = np.sqrt(squares) if squares.any() else np.ones(len(squares))
    strength = np.full(Y.shape[1], float(s.sum()) if squares.any() else 0.0)
    across = root[:, 0] if objective.fit_intercept else None
    found = ridge.from_rows(root * (X - mean_x) / size, root * (Y - mean_y), strength, across)
    coef = found.coef / size[:, None]
    return coef, mean_y - mean_x @ coef


def _by_moments(objective: Objective, squares: Vector) -> tuple[Vector, Vector]:
    """Solve from sums in one pass, or from the factor of the rows in another."""
    moments: Moments = objective.accumulate(Moments.of)
    centred = objective.fit_intercept
    gram, cross = moments.gram, moments.cross
    mean_x, mean_y = moments.mean_x, moments.mean_y
    if not centred:
        gram = gram + moments.weight * np.outer(mean_x, mean_x)
        cross = cross + moments.weight * np.outer(mean_x, mean_y)
        mean_x, mean_y = np.zeros_like(mean_x), np.zeros_like(mean_y)
    penalised = gram + moments.weight * (np.diag(squares) if squares.ndim == 1 else squares)
    solved = least_squares.from_gram(penalised, cross)
    if solved is not None:
        return solved.coef, mean_y - mean_x @ solved.coef
    shift = np.concatenate([mean_x, mean_y]) if centred else None
    factor = objective.accumulate(partial(TriangularFactor.of, ones=centred, shift=shift)).centred
    p = len(mean_x)
    stacked = np.vstack([factor[:p], np.hstack([_root(moments.weight * squares), np.zeros_like(cross)])])
    both = linalg.qr(stacked, mode="r", overwrite_a=True, check_finite=False)[0][:p]
    found = least_squares.from_factor(both[:, :p], both[:, p:])
    coef = found.coef
    of = partial(Residuals.of, coef=coef, intercept=mean_y - mean_x @ coef, centre=mean_x)
    pulled = squares[:, None] * coef if squares.ndim == 1 else squares @ coef
    left = objective.accumulate(of).cross - moments.weight * pulled
    coef = coef + found.root @ (found.root.T @ left)  # one step of refinement, against the rows
    return coef, mean_y - mean_x @ coef


def _root(squares: Vector) -> Vector:
    """Return G with G'G = A."""
    if squares.ndim == 1:
        return np.diag(np.sqrt(squares))
    values, vectors = linalg.eigh(squares, check_finite=False)
    found: Vector = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    return found
