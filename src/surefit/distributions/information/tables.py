"""Information in tables of probabilities or of counts, in nats."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.core.errors import DataError, ParameterError
from surefit.losses.arrays import Array, weights_of


def nats_in(base: float) -> float:
    """Return how many nats the unit of a base has."""
    if not (isinstance(base, int | float) and base > 0 and base != 1 and math.isfinite(base)):
        raise ParameterError(f"base={base!r} is not allowed; it must be a positive number other than 1.")
    return math.log(base)


def shares(counts: Any, axis: int | None = -1, name: str = "p") -> Array:
    """Return non-negative numbers divided by their sum along an axis, or by their whole sum."""
    counts = np.asarray(counts, dtype=np.float64)
    if counts.ndim == 0 or not (np.isfinite(counts).all() and (counts >= 0).all()):
        raise DataError(
            f"{name} must be an array of finite, nonnegative numbers: give probabilities or counts."
        )
    top = counts.max(axis=axis, keepdims=True, initial=0.0)
    if not (top > 0).all():
        raise DataError(f"{name} sums to zero: give probabilities or counts.")
    scaled = counts / top  # so that no sum overflows
    return np.asarray(scaled / scaled.sum(axis=axis, keepdims=True))


def pair(p: Any, q: Any, axis: int = -1) -> tuple[Array, Array]:
    """Return two such arrays of one shape."""
    p, q = shares(p, axis), shares(q, axis, "q")
    if p.shape[axis] != q.shape[axis]:
        raise DataError(
            f"p has {p.shape[axis]} outcomes and q has {q.shape[axis]}: give both a number for each outcome."
        )
    return p, q


def entropy(p: Any, axis: int = -1) -> Any:
    """Return the entropy of probabilities or counts."""
    from scipy.special import entr

    return entr(shares(p, axis)).sum(axis=axis)


def cross_entropy(p: Any, q: Any, axis: int = -1) -> Any:
    """Return the cross-entropy of two tables."""
    from scipy.special import xlogy

    p, q = pair(p, q, axis)
    return -xlogy(p, q).sum(axis=axis)


def divergence(p: Any, q: Any, axis: int = -1) -> Any:
    """Return the Kullback-Leibler divergence of two tables."""
    from scipy.special import rel_entr

    p, q = pair(p, q, axis)
    return np.maximum(rel_entr(p, q).sum(axis=axis), 0.0)  # rounding can leave a trace below 0


def jensen_shannon(p: Any, q: Any, share: float, axis: int = -1) -> Any:
    """Return the Jensen-Shannon divergence of two tables."""
    p, q = pair(p, q, axis)
    # A share of the least float is zero, and would make an endless ratio of what hardly counts.
    middle = np.maximum(share * p + (1.0 - share) * q, np.where((p > 0) | (q > 0), 5e-324, 0.0))
    return share * divergence(p, middle, axis) + (1.0 - share) * divergence(q, middle, axis)


def information_content(p: Any, *, base: float = math.e) -> Any:
    r"""Return :math:`-\log p`, what is learnt when an outcome of this probability comes.

    >>> information_content([0.5, 0.25], base=2)
    array([1., 2.])
    """
    p = np.asarray(p, dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise DataError("p must hold probabilities, numbers from 0 to 1: divide counts by their sum first.")
    with np.errstate(divide="ignore"):
        return 0.0 - np.log(p) / nats_in(base)


def mutual_information(joint: Any, *, base: float = math.e) -> float:
    r"""Return :math:`\sum p(x, y) \log \frac{p(x, y)}{p(x) p(y)}` of a table of probabilities or counts.

    >>> round(mutual_information([[3, 1], [1, 3]]), 10)
    0.1308120359
    """
    p = _table(joint)
    product = np.multiply.outer(p.sum(axis=1), p.sum(axis=0))
    return float(divergence(p.ravel(), product.ravel())) / nats_in(base)


def conditional_entropy(joint: Any, *, base: float = math.e) -> float:
    r"""Return :math:`H(X | Y) = H(X, Y) - H(Y)` of a table whose rows are x and whose columns are y.

    >>> conditional_entropy([[0.5, 0.0], [0.0, 0.5]])
    0.0
    """
    p = _table(joint)
    seen = p.sum(axis=0)
    seen = seen[seen > 0]
    columns = entropy(p[:, p.sum(axis=0) > 0], axis=0)
    return float(seen @ columns) / nats_in(base)


def _table(joint: Any) -> Array:
    if np.ndim(joint) != 2:
        raise DataError("the joint table must have rows and columns: label_counts(x, y) makes one.")
    return shares(joint, None, "the joint table")


def label_counts(x: Any, y: Any = None, sample_weight: Any = None) -> Array:
    """Return how often each label comes, or each pair of labels; in sorted order, weights as frequencies.

    >>> label_counts(["a", "b", "b"], [0, 0, 1])
    array([[1., 0.],
           [1., 1.]])
    """
    x = np.asarray(x)
    weight = weights_of(sample_weight, len(x))
    levels, row = np.unique(x, return_inverse=True)
    if y is None:
        return np.asarray(np.bincount(row, weight, len(levels)), dtype=np.float64)
    y = np.asarray(y)
    if x.ndim != 1 or x.shape != y.shape:
        raise DataError(f"x has shape {x.shape} and y has shape {y.shape}: give two columns of equal length.")
    others, column = np.unique(y, return_inverse=True)
    flat = np.bincount(row * len(others) + column, weight, len(levels) * len(others))
    return np.asarray(flat, dtype=np.float64).reshape(len(levels), len(others))
