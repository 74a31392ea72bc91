"""Newton's method for smooth losses with a squared penalty."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.solvers.newton.quadratic_model import Factor
from surefit.solvers.newton.second_order import Model, SecondOrder
from surefit.solvers.objective.solver import Needs


class Newton(SecondOrder):
    r"""Step to the minimiser of the quadratic model, :math:`w - (H + A)^{-1} (g + Aw)`, by Cholesky.

    A is the matrix of the penalty w'Aw/2. H is the loss's second derivative, or a majorant of it where the
    loss declares one.

    >>> from surefit.losses import Logistic
    >>> from surefit.penalties import L2
    >>> from surefit.solvers.objective.base import Objective
    >>> objective = Objective.of_arrays([[-1.0], [0.0], [1.0], [2.0]], [0, 0, 1, 1], Logistic(), L2(0.1))
    >>> Newton().solve(objective).x.round(4)
    array([ 1.5077, -0.7538])
    """

    name = "newton"
    needs: ClassVar[Needs] = Needs(loss=("smooth", "convex"), penalty=("convex", "quadratic"))

    def minimise_model(self, model: Model) -> Vector | None:
        """Solve the linear system of the model."""
        return newton_point(model)


def newton_point(model: Model) -> Vector | None:
    """Return the minimiser of a model and a squared penalty; None where the matrix does not determine it."""
    objective = model.objective
    squares = objective.penalty.quadratic(objective.columns)
    assert squares is not None
    A = model.repeated(squares, 0.0) if squares.ndim == 1 else _whole(model, squares)
    found = []
    for H, g, w in zip(model.hessians, model.gradients, model.parts(model.point), strict=True):
        whole, right = _penalised(H, g, w, A)
        factor = Factor.of(whole)
        if factor is None:
            return None
        step = factor.solve(right)
        found.append(w - step - factor.solve(right - whole @ step))  # refined once
    return model.joined(found)


def _penalised(H: Matrix, g: Vector, w: Vector, A: Matrix) -> tuple[Vector, Vector]:
    """Return the matrix and the slopes with those of w'Aw/2, A being a matrix or its diagonal."""
    if A.ndim == 2:
        return H + A, g + A @ w
    whole = H.copy()
    whole.flat[:: len(whole) + 1] += A
    return whole, g + A * w


def _whole(model: Model, squares: Vector) -> Vector:
    """Return the penalty's matrix for all coordinates of a block."""
    size, one = len(model.gradients[0]), model.objective.shape[0]
    whole = np.zeros((size, size))
    for first in range(0, size, one):
        some = slice(first, first + len(squares))
        whole[some, some] = squares
    return whole
