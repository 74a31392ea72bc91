r"""Least squares in a ball, by its secular equation.

Minimise :math:`\|y - Xw\|^2` subject to :math:`\|w\| \le r`. With :math:`X = U D V'` and :math:`z = U'y`, the
minimisers of :math:`\|y - Xw\|^2 + \lambda \|w\|^2` have the squared length :math:`\sum_i (d_i z_i / (d_i^2 +
\lambda))^2`, which falls in :math:`\lambda`: either the shortest least-squares answer is in the ball, or one
:math:`\lambda` makes the length r.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from surefit.core.arrays import Matrix, Vector

_STEPS = 200  # Newton's steps need a handful, unless the scales of the columns are far apart


@dataclass(frozen=True, slots=True)
class LeastSquaresInBall:
    """Coefficients in the ball, and the strength of the squared penalty that has the same minimiser."""

    coef: Vector
    strength: float


def least_squares_in_ball(X: Matrix, y: Vector, radius: float) -> LeastSquaresInBall:
    """Solve by Newton's method on the inverse of the length, which is nearly linear in the strength.

    >>> least_squares_in_ball(np.eye(2), np.array([6.0, 8.0]), radius=5.0)
    LeastSquaresInBall(coef=array([3., 4.]), strength=1.0)
    >>> least_squares_in_ball(np.eye(2), np.array([3.0, 4.0]), radius=6.0).strength
    0.0
    """
    U, d, Vt = linalg.svd(X, full_matrices=False, check_finite=False)
    kept = d > max(X.shape) * np.finfo(float).eps * d[:1].max(initial=0.0)
    d, z, V = d[kept], (U.T @ y)[kept], Vt[kept].T
    strength = 0.0
    if np.linalg.norm(z / d) > radius:
        strength = _root(d**2, d * z, radius)
    coef = V @ (d * z / (d**2 + strength))
    length = float(np.linalg.norm(coef))
    return LeastSquaresInBall(coef * (radius / length) if strength > 0 or length > radius else coef, strength)


def _root(squares: Vector, products: Vector, radius: float) -> float:
    """Return the strength at which the length is the radius.

    The inverse of the length is concave and grows, so that Newton's steps from below never go beyond.
    """
    # With the largest square in place of each, the length would be less: a strength that is not too large.
    strength = max(0.0, float(np.linalg.norm(products)) / radius - float(squares.max()))
    for _ in range(_STEPS):
        below = squares + strength
        parts = products / below
        length = float(np.linalg.norm(parts))
        step = (length / radius - 1) * length**2 / float(np.sum(parts**2 / below))
        if not step > np.finfo(float).eps * strength:
            break
        strength += step
    return strength
