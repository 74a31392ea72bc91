"""What a stationary point is: minimum, maximum, saddle, or undecided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from surefit.core.arrays import Matrix, Vector
from surefit.solvers.conditions.differences import Function, numerical_gradient, numerical_hessian

Kind = Literal["minimum", "maximum", "saddle", "degenerate", "not stationary"]


@dataclass(frozen=True, slots=True)
class StationaryPoint:
    """What the Hessian says of a point, with its eigenvalues and eigenvectors in rising order."""

    kind: Kind
    slope: float  # the largest entry of the gradient
    eigenvalues: Vector
    directions: Matrix

    @property
    def statement(self) -> str:
        """One English sentence."""
        low, high = self.eigenvalues[0], self.eigenvalues[-1]
        return {
            "minimum": f"A strict local minimum: the smallest Hessian eigenvalue is positive, {low:.4g}.",
            "maximum": f"A strict local maximum: the largest Hessian eigenvalue is negative, {high:.4g}.",
            "saddle": f"A saddle point: Hessian eigenvalues range from {low:.4g} to {high:.4g}.",
            "degenerate": "Undecided: the Hessian has a zero eigenvalue, so second derivatives do not tell.",
            "not stationary": f"Not stationary: the largest entry of the gradient is {self.slope:.4g}.",
        }[self.kind]

    def __str__(self) -> str:
        return self.statement


def classify_stationary(
    f: Function,
    x: ArrayLike,
    gradient: Function | None = None,
    hessian: Function | None = None,
    tolerance: float = 1e-6,
) -> StationaryPoint:
    """Classify a point by gradient and Hessian; curvatures below tolerance times the largest count as zero.

    >>> classify_stationary(lambda x: x[0] ** 2 - x[1] ** 2, [0.0, 0.0]).kind
    'saddle'
    """
    point = np.atleast_1d(np.array(x, dtype=np.float64))
    slope = (
        numerical_gradient(f, point) if gradient is None else np.asarray(gradient(point), dtype=np.float64)
    )
    curved = (
        numerical_hessian(f, point, gradient)
        if hessian is None
        else np.asarray(hessian(point), dtype=np.float64)
    )
    values, vectors = np.linalg.eigh(0.5 * (curved + curved.T))
    size = float(np.abs(values).max())
    steepest = float(np.abs(slope).max())
    # A gradient counts as zero where a step of this relative length would undo it.
    length = max(1.0, float(np.abs(point).max()))
    zero = tolerance * size
    kind: Kind
    if steepest > tolerance * max(
        size * length, abs(float(np.asarray(f(point)).sum())) if size == 0 else 0.0, 1e-300
    ):
        kind = "not stationary"
    elif size == 0 or np.any(np.abs(values) <= zero):
        mixed = values[0] < -zero and values[-1] > zero
        kind = "saddle" if mixed else "degenerate"
    else:
        kind = "minimum" if values[0] > 0 else "maximum" if values[-1] < 0 else "saddle"
    return StationaryPoint(kind, steepest, values, vectors)
