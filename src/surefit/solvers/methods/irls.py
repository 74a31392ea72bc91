r"""Iteratively reweighted least squares: each step solves for the response that the loss's parabola asks for.

.. math:: w^+ = \arg\min_w \tfrac1{2W} \sum_i s_i c_i (z_i - u_i / c_i - x_i'w)^2 + \tfrac12 w'Aw

with z the scores, u the slopes and c the curvatures of the loss there. For a loss with a link, these are
Fisher's scores; for a robust loss, c are the weights that take outliers down.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import numpy as np

from surefit.core.arrays import Vector
from surefit.solvers.methods.base import Method, Move, whole
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Needs

LEAST = 1e-10  # of a curvature, relative to the largest: flat rows ask for a response at infinity
HALVINGS = 40


class Irls(Method):
    """Iteratively reweighted least squares, on a table in memory.

    >>> from surefit.losses import Logistic
    >>> from surefit.penalties import L2
    >>> objective = Objective.of_arrays([[-1.0], [0.0], [1.0], [2.0]], [0, 0, 1, 1], Logistic(), L2(0.1))
    >>> Irls().solve(objective).x.round(4)
    array([ 1.5077, -0.7538])
    """

    name = "irls"
    needs: ClassVar[Needs] = Needs(loss=("smooth",), penalty=("quadratic",), rows=True)
    accuracy: ClassVar[Literal["exact", "second order", "first order"]] = "second order"
    functions: ClassVar[bool] = False

    def _refusal(self, objective: Objective) -> str | None:
        if objective.outputs is not None:
            return f"solver {self.name!r} supports a single output."
        return None

    def _steps(self, objective: Objective, x: Vector) -> Iterator[Move]:
        batch = objective.need_rows(f"solver {self.name!r}")
        X: Any = batch.X
        X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        X = np.column_stack([X, np.ones(len(X))]) if objective.fit_intercept else X
        s = np.ones(len(X)) if batch.weight is None else np.asarray(batch.weight, dtype=np.float64)
        root = _root(objective)
        while True:
            z = X @ x
            u, c = objective.loss.gradient(batch.y, z), objective.loss.curvature(batch.y, z)
            c = np.maximum(c, LEAST * float(np.max(c, initial=0.0)))
            half = np.sqrt(s * c / s.sum())[:, None]
            response = np.divide(u, c, out=np.zeros_like(z), where=c > 0)
            rows = np.vstack([half * X, root])
            right = np.concatenate([half[:, 0] * (z - response), np.zeros(len(root))])
            target = np.linalg.lstsq(rows, right, rcond=None)[0]
            value, step = whole(objective, x, 0).value, 1.0
            for _ in range(HALVINGS):  # a parabola that does not lie above the loss may lead too far
                if whole(objective, x + step * (target - x), 0).value <= value:
                    break
                step *= 0.5
            x = x + step * (target - x)
            yield x, step


def _root(objective: Objective) -> Vector:
    """Return G with G'G the penalty's matrix, an intercept free."""
    squares = objective.penalty.quadratic(objective.columns)
    assert squares is not None
    if squares.ndim == 1:
        G = np.diag(np.sqrt(squares))
    else:
        values, vectors = np.linalg.eigh(squares)
        G = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    return np.pad(G, ((0, 0), (0, int(objective.fit_intercept))))
