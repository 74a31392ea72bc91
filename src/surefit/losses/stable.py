"""The logistic function and entropies, without overflow and without losing digits at either end.

Everything is said in terms of e = exp(-|z|) and q = e / (1 + e), the smaller of the two probabilities: both
are exact to the last digits for every z, where 1 - q is not computed from a rounded 1.
"""

from __future__ import annotations

import numpy as np

from surefit.losses.arrays import Array


def decay(z: Array) -> Array:
    """Return exp(-|z|), which never overflows."""
    e = np.atleast_1d(np.abs(z))
    np.negative(e, out=e)
    np.exp(e, out=e)
    return e.reshape(z.shape)


def sigmoid(z: Array) -> Array:
    """Return 1 / (1 + exp(-z)), accurate in its relative error."""
    e = decay(z)
    return np.where(z > 0, 1.0, e) / (1.0 + e)


def sigmoid_slope(z: Array) -> Array:
    """Return sigmoid(z) sigmoid(-z)."""
    e = decay(z)
    return e / (1.0 + e) ** 2


def softplus(z: Array) -> Array:
    """Return log(1 + exp(z))."""
    return np.maximum(z, 0.0) + np.log1p(decay(z))


def x_log_x(x: Array) -> Array:
    """Return x log x, which is 0 at 0; a negative x counts as 0."""
    positive = x > 0
    return np.where(positive, x * np.log(np.where(positive, x, 1.0)), 0.0)


def binary_entropy(v: Array, rest: Array) -> Array:
    """Return v log v + (1 - v) log(1 - v), given also rest = 1 - v with all its digits."""
    small = np.maximum(np.minimum(v, rest), 0.0)
    return x_log_x(small) + (1.0 - small) * np.log1p(-np.minimum(small, 0.5))


def wright_omega(x: Array) -> Array:
    """Return the w > 0 with w + log w = x: it solves equations that mix a number and its exponential."""
    from scipy.special import wrightomega

    return np.asarray(wrightomega(np.asarray(x, dtype=np.float64)))


def exponential_balance(total: Array, rate: Array) -> Array:
    """Return the z with z + rate exp(z) = total, for rate > 0."""
    shift = np.log(rate)
    w = wright_omega(total + shift)
    # Both forms are the same number; each loses digits where the other keeps them.
    return np.where(w > 1.0, np.log(np.maximum(w, 1.0)) - shift, total - w)
