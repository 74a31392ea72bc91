"""Distances that a function makes: how far it lies above its tangents and below its chords."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from surefit.core.errors import ParameterError
from surefit.solvers.conditions.differences import Function, numerical_gradient


def bregman_divergence(f: Function, u: ArrayLike, v: ArrayLike, gradient: Function | None = None) -> float:
    r"""Return :math:`f(u) - f(v) - \langle \nabla f(v), u - v \rangle`: never negative for a convex f.

    >>> bregman_divergence(lambda x: 0.5 * x @ x, [3.0, 0.0], [0.0, 4.0], lambda x: x)
    12.5
    """
    one, other = np.asarray(u, dtype=np.float64), np.asarray(v, dtype=np.float64)
    slope = (
        numerical_gradient(f, other) if gradient is None else np.asarray(gradient(other), dtype=np.float64)
    )
    return float(f(one) - f(other) - np.sum(slope * (one - other)))


def jensen_shannon_distance(f: Function, u: ArrayLike, v: ArrayLike, share: float = 0.5) -> float:
    r"""Return :math:`\lambda f(u) + (1 - \lambda) f(v) - f(\lambda u + (1 - \lambda) v)`, λ being the share.

    It is the mixture of the Bregman divergences of u and v from the point between them; at one half, the
    distance of Burbea and Rao. Only of negative entropy is it the divergence of information theory.

    >>> jensen_shannon_distance(lambda x: 0.5 * x @ x, [2.0], [0.0])
    0.5
    """
    if not 0 <= share <= 1:
        raise ParameterError(f"jensen_shannon_distance: share={share!r} is not allowed; keep it in [0, 1].")
    one, other = np.asarray(u, dtype=np.float64), np.asarray(v, dtype=np.float64)
    return float(share * f(one) + (1 - share) * f(other) - f(share * one + (1 - share) * other))
