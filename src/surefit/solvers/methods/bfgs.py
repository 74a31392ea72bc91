r"""BFGS: a matrix that learns the curvature from steps s and the changes y of the gradient along them.

.. math:: H^+ = H + \frac{yy'}{y's} - \frac{Hss'H}{s'Hs}, \qquad
          B^+ = (I - \rho sy') B (I - \rho ys') + \rho ss', \quad \rho = \frac{1}{y's}

H stands for the Hessian and B for its inverse; both meet the secant condition H s = y and stay positive
definite as long as y's > 0. A step that met no curvature is not learnt from.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import linalg

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import ParameterError
from surefit.solvers.methods.base import EPS, Method, Move, whole
from surefit.solvers.methods.line import Line
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Needs


def direct_update(H: Matrix, s: Vector, y: Vector) -> Matrix:
    """Return the matrix nearest to H that maps s to y.

    >>> direct_update(np.eye(2), np.array([1.0, 0.0]), np.array([4.0, 0.0]))
    array([[4., 0.],
           [0., 1.]])
    """
    Hs = H @ s
    updated: Vector = H + np.outer(y, y) / (y @ s) - np.outer(Hs, Hs) / (s @ Hs)
    return updated


def inverse_update(B: Matrix, s: Vector, y: Vector) -> Matrix:
    """Return the inverse of what :func:`direct_update` returns, from the inverse before.

    >>> inverse_update(np.eye(2), np.array([1.0, 0.0]), np.array([4.0, 0.0]))
    array([[0.25, 0.  ],
           [0.  , 1.  ]])
    """
    rho = 1.0 / (y @ s)
    left = np.eye(len(s)) - rho * np.outer(s, y)
    updated: Vector = left @ B @ left.T + rho * np.outer(s, s)
    return updated


class Bfgs(Method):
    """Steps along -Bg that meet the strong Wolfe conditions; ``update`` is ``inverse`` or ``direct``.

    >>> from surefit.solvers.objective.function import FunctionObjective
    >>> rosenbrock = lambda x: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2
    >>> Bfgs(tolerance=1e-9).solve(FunctionObjective(rosenbrock, [-1.2, 1.0])).x.round(6)
    array([1., 1.])
    """

    name = "bfgs"
    needs: ClassVar[Needs] = Needs(loss=("smooth",), penalty=("quadratic",))
    accuracy: ClassVar[Literal["exact", "second order", "first order"]] = "second order"

    def __init__(self, *, update: Literal["inverse", "direct"] = "inverse", **options: Any) -> None:
        super().__init__(**options)
        if update not in ("inverse", "direct"):
            raise ParameterError(f"update is {update!r}: give 'inverse' or 'direct'.")
        self.update = update

    def _refusal(self, objective: Objective) -> str | None:
        return None if objective.outputs is None else f"solver {self.name!r} supports a single output."

    def _steps(self, objective: Objective, x: Vector) -> Iterator[Move]:
        matrix, fresh = np.eye(len(x)), True
        here = whole(objective, x)
        while True:
            line = Line(objective, x, self._direction(matrix, here.gradient), here)
            found = line.strong_wolfe(_first(here.gradient) if fresh else 1.0)
            if found is None:
                if fresh:
                    return
                matrix, fresh = np.eye(len(x)), True  # once more, along the gradient alone
                continue
            s, new = found.step * line.direction, line.at(found.step)
            y = new.gradient - here.gradient
            if y @ s > EPS * np.linalg.norm(y) * np.linalg.norm(s):
                matrix = self._scaled(matrix, s, y) if fresh else matrix
                update = inverse_update if self.update == "inverse" else direct_update
                matrix, fresh = update(matrix, s, y), False
            x, here = x + s, new
            yield x, found.step

    def _direction(self, matrix: Matrix, gradient: Vector) -> Vector:
        if self.update == "inverse":
            return -matrix @ gradient
        return -np.asarray(linalg.solve(matrix, gradient, assume_a="sym", check_finite=False))

    def _scaled(self, matrix: Matrix, s: Vector, y: Vector) -> Matrix:
        """Give the first matrix the curvature that the first step met."""
        size = (s @ y) / (y @ y)
        return matrix * size if self.update == "inverse" else matrix / size


def _first(gradient: Vector) -> float:
    """A first step of unit length at most."""
    return 1.0 / max(float(np.linalg.norm(gradient)), 1.0)
