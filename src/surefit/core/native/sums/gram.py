"""Gram matrices in one pass over dense or CSR data: the centred scatter of [X|Y], and X'HX beside X'G."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.config import threads
from surefit.core.native import compiled
from surefit.core.native.inputs import float64_rows, matrix_arguments, row_weights, side_matrix


@dataclass(frozen=True, slots=True)
class CentredGram:
    r"""Of Z = [X|Y]: :math:`W = \sum s_i`, :math:`m = \sum s_i z_i / W`, :math:`\sum s_i (z_i-m)(z_i-m)'`.

    low is the part of m that rounding left out of ``mean``: means far from zero need it to be joined.
    """

    weight: float
    mean: NDArray[np.float64]
    scatter: NDArray[np.float64]
    low: NDArray[np.float64] = field(compare=False)  # the rounding differs with the order of adding


@dataclass(frozen=True, slots=True)
class Sandwich:
    """X' diag(h) X (p, p), X'G (p, k), X'h (p,) and the sum of h."""

    gram: NDArray[np.float64]
    cross: NDArray[np.float64]
    sums: NDArray[np.float64]
    weight: float


def centred_gram(X: Any, Y: Any = None, weight: Any = None, *, _threads: int | None = None) -> CentredGram:
    """Return weight, mean and scatter of [X|Y], with row weights as frequencies; no offset cancels.

    Rows of weight 0 are not looked at: they may hold NaN. No rows, or no weight, give zeros.

    >>> centred_gram(np.array([[1.0], [3.0]])).scatter
    array([[2.]])
    """
    native = compiled()
    if native is None:
        return centred_gram_twin(X, Y, weight)
    suffix, arguments = matrix_arguments(X)
    Y, weight = side_matrix(Y), row_weights(weight)
    d = X.shape[1] + (0 if Y is None else Y.shape[1])
    means, scatter = np.empty(2 * d), np.empty((d, d))
    count = threads() if _threads is None else _threads
    total = getattr(native, f"centred_gram{suffix}")(*arguments, Y, weight, means, scatter, count)
    return CentredGram(total, means[:d], scatter, means[d:])


def centred_gram_twin(X: Any, Y: Any = None, weight: Any = None) -> CentredGram:
    """Do the same in two passes over a float64 copy."""
    Z, Y = float64_rows(X), side_matrix(Y)
    Z = Z if Y is None else np.hstack([Z, Y])
    s = np.ones(len(Z)) if weight is None else np.asarray(weight, dtype=np.float64)
    Z, s = Z[s > 0], s[s > 0]
    total = float(s.sum())
    share = s / total if total > 0 else s
    pivot = Z[0] if len(Z) else np.zeros(Z.shape[1])
    mean = pivot + share @ (Z - pivot)
    low = share @ (Z - mean)
    mean, rounded = mean + low, mean
    low -= mean - rounded
    D = (Z - mean) - low
    return CentredGram(total, mean, (D * s[:, None]).T @ D, low)


def sandwich(X: Any, weight: Any = None, G: Any = None, *, _threads: int | None = None) -> Sandwich:
    """Return X' diag(h) X, X'G and X'h for weights h of either sign (1 each when None); G is not weighted.

    >>> sandwich(np.array([[1.0], [3.0]]), weight=[2.0, 1.0]).gram
    array([[11.]])
    """
    native = compiled()
    if native is None:
        return sandwich_twin(X, weight, G)
    suffix, arguments = matrix_arguments(X)
    G, weight = side_matrix(G), row_weights(weight)
    (n, p), k = X.shape, 0 if G is None else G.shape[1]
    gram, cross, sums = np.empty((p, p)), np.empty((p, k)), np.empty(p)
    count = threads() if _threads is None else _threads
    getattr(native, f"sandwich{suffix}")(*arguments, G, weight, gram, cross, sums, count)
    return Sandwich(gram, cross, sums, float(n) if weight is None else float(weight.sum()))


def sandwich_twin(X: Any, weight: Any = None, G: Any = None) -> Sandwich:
    """Do the same by plain products over a float64 copy."""
    Z, G = float64_rows(X), side_matrix(G)
    h = np.ones(len(Z)) if weight is None else np.asarray(weight, dtype=np.float64)
    cross = np.zeros((Z.shape[1], 0)) if G is None else Z.T @ G
    return Sandwich((Z * h[:, None]).T @ Z, cross, Z.T @ h, float(h.sum()))
