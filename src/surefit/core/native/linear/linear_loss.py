"""Losses of one linear score a row in one pass: value, gradient, gap sums, Hessian, Fenchel's excess."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from surefit.core.arrays import Vector
from surefit.core.config import threads
from surefit.core.native import compiled
from surefit.core.native.inputs import float64_rows, row_weights

Wanted = Literal["value", "gradient", "gap"]

KINDS = ("logistic", "poisson", "gamma", "squared_hinge", "huber")  # by their number in linear_rows.h


class GapSums(NamedTuple):
    """What a duality gap is made of, weighted: X'h and the sum of h, X's, (X*X)'s, and what slopes add up to.

    bends: (p + 1,), or (p + 1, m) with a column for each pair of classes, the first no later than the second.
    signs: the sums of the negative slopes, of the positive ones, and of the squares of all.
    """

    bends: Vector
    sums: Vector
    squares: Vector
    signs: Vector

    @classmethod
    def empty(cls, columns: int, pairs: int | None = None) -> GapSums:
        """Return room for the sums."""
        bends = np.empty(columns + 1 if pairs is None else (columns + 1) * pairs)
        return cls(bends, np.empty(columns), np.empty(columns), np.empty(3))


class LossSums(NamedTuple):
    """Sums over the rows: the loss, and what was wanted beyond; the intercept's entries are the last ones."""

    value: float
    gradient: Vector | None = None
    hessian: Vector | None = None
    gap: GapSums | None = None


def takes(X: Any) -> bool:
    """Whether the kernels are there, and X is dense rows, or columns that lie apart, that they read."""
    if not hasattr(compiled(), "linear_loss"):
        return False
    if getattr(X, "format", None) == "columns":
        return True
    dense = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype in (np.float32, np.float64)
    return dense and bool(X.flags.c_contiguous or X.flags.f_contiguous)


def linear_loss(
    kind: str,
    X: Any,
    y: Any,
    coef: Any,
    intercept: float | None = None,
    weight: Any = None,
    offset: Any = None,
    *,
    options: tuple[float, ...] = (),
    want: Wanted = "gradient",
    _threads: int | None = None,
) -> LossSums:
    """Return the loss of z = X coef + intercept + offset summed over the rows, and what is wanted with it.

    options: the numbers that a Huber loss has: threshold, width, height and constant. Rows of weight 0 may
    hold anything.

    >>> linear_loss("poisson", np.array([[1.0], [3.0]]), [1.0, 2.0], [0.0])
    LossSums(value=2.0, gradient=array([-3., -1.]), hessian=None, gap=None)
    """
    native = compiled()
    if native is None:
        return linear_loss_twin(kind, X, y, coef, intercept, weight, offset, options=options, want=want)
    about = _arguments(kind, options, X, y, coef, intercept, weight, offset)
    gradient = np.empty(X.shape[1] + 1) if want != "value" else None
    gap = GapSums.empty(X.shape[1]) if want == "gap" else None
    value = native.linear_loss(*about, gradient, *(gap or (None,) * 4), _threads or threads())
    return LossSums(value, gradient, None, gap)


def linear_hessian(
    kind: str, X: Any, *beside: Any, options: tuple[float, ...] = (), _threads: int | None = None
) -> LossSums:
    """Return the same with the second derivatives, X being read once; ``beside`` is as above.

    >>> linear_hessian("poisson", np.array([[1.0], [3.0]]), [1.0, 2.0], [0.0]).hessian
    array([[10.,  4.],
           [ 4.,  2.]])
    """
    native = compiled()
    if native is None:
        return linear_hessian_twin(kind, X, *beside, options=options)
    n, p = X.shape
    value, slope, bend = np.empty(n), np.empty(n), np.empty(n)
    gram, cross, sums = np.empty((p, p)), np.empty(p), np.empty(p)
    about = _arguments(kind, options, X, *beside)
    native.linear_hessian(*about, value, slope, bend, gram, cross, sums, _threads or threads())
    hessian = _bordered(gram, sums, float(bend.sum()))
    return LossSums(float(value.sum()), np.append(cross, slope.sum()), hessian)


def linear_excess(
    kind: str,
    X: Any,
    *beside: Any,
    change: tuple[float, float, float, float] = (1.0, 0.0, 1.0, 1.0),
    options: tuple[float, ...] = (),
    _threads: int | None = None,
) -> tuple[float, float]:
    """Return the sums of f + f* - uz, for slopes u that were changed, and of u squared; ``beside`` as above.

    change: a factor of all slopes, how many curvatures are taken from them before, and factors of the
    negative and of the positive ones.

    >>> linear_excess("poisson", np.array([[1.0], [3.0]]), [1.0, 2.0], [0.0])
    (0.0, 1.0)
    """
    native = compiled()
    if native is None:
        return linear_excess_twin(kind, X, *beside, change=change, options=options)
    about = _arguments(kind, options, X, *beside)
    total, energy = native.linear_excess(*about, np.array(change, dtype=np.float64), _threads or threads())
    return total, energy


def _arguments(
    kind: str,
    options: tuple[float, ...],
    X: Any,
    y: Any,
    coef: Any,
    intercept: float | None = None,
    weight: Any = None,
    offset: Any = None,
) -> tuple[Any, ...]:
    return (
        rows_argument(X),
        KINDS.index(kind),
        np.array(options, dtype=np.float64),
        np.ascontiguousarray(coef, dtype=np.float64),
        0.0 if intercept is None else float(intercept),
        np.ascontiguousarray(y, dtype=np.float64),
        row_weights(weight),
        row_weights(offset),
    )


def rows_argument(X: Any) -> Any:
    """Return X as the kernels of losses take it: a matrix, or the list of columns that lie apart."""
    return X.stored if getattr(X, "format", None) == "columns" else X


def linear_loss_twin(
    kind: str, X: Any, *beside: Any, options: tuple[float, ...] = (), want: Wanted = "gradient"
) -> LossSums:
    """Do the same by plain products over a float64 copy."""
    A, y, s, z = rows_that_count(X, *beside)
    value, u, h = (s * each for each in _derivatives(kind, options, y, z))
    if want == "value":
        return LossSums(float(value.sum()))
    gap = None
    if want == "gap":
        signs = np.array([u[u < 0].sum(), u[u > 0].sum(), (u * u / s).sum()])
        gap = GapSums(np.append(A.T @ h, h.sum()), A.T @ s, (A * A).T @ s, signs)
    return LossSums(float(value.sum()), np.append(A.T @ u, u.sum()), None, gap)


def linear_hessian_twin(kind: str, X: Any, *beside: Any, options: tuple[float, ...] = ()) -> LossSums:
    """Do the same by plain products over a float64 copy."""
    A, y, s, z = rows_that_count(X, *beside)
    value, u, h = (s * each for each in _derivatives(kind, options, y, z))
    hessian = _bordered((A * h[:, None]).T @ A, A.T @ h, float(h.sum()))
    return LossSums(float(value.sum()), np.append(A.T @ u, u.sum()), hessian)


def linear_excess_twin(
    kind: str,
    X: Any,
    *beside: Any,
    change: tuple[float, float, float, float] = (1.0, 0.0, 1.0, 1.0),
    options: tuple[float, ...] = (),
) -> tuple[float, float]:
    """Do the same by the conjugates, over a float64 copy."""
    _, y, s, z = rows_that_count(X, *beside)
    factor, shift, negative, positive = change
    value, own, bend = _derivatives(kind, options, y, z)
    u = factor * (own * np.where(own < 0, negative, positive) - shift * bend)
    left = np.maximum(value + _conjugate(kind, options, y, u) - u * z, 0.0)
    return float(s @ left), float(s @ (u * u))


def _bordered(gram: Vector, sums: Vector, total: float) -> Vector:
    """Return the second derivatives with the intercept's row and column."""
    whole = np.empty((len(gram) + 1, len(gram) + 1))
    whole[:-1, :-1], whole[:-1, -1], whole[-1, :-1], whole[-1, -1] = gram, sums, sums, total
    return whole


def rows_that_count(
    X: Any, y: Any, coef: Any, intercept: Any = None, weight: Any = None, offset: Any = None
) -> tuple[Vector, Vector, Vector, Vector]:
    """Return the rows of positive weight, their targets, weights and scores, for the twins."""
    A, y = float64_rows(X), np.asarray(y, dtype=np.float64)
    s = np.ones(len(A)) if weight is None else np.asarray(weight, dtype=np.float64)
    shift = np.zeros(len(A)) if offset is None else np.asarray(offset, dtype=np.float64)
    A, y, s, shift = A[s > 0], y[s > 0], s[s > 0], shift[s > 0]
    z = A @ np.asarray(coef, dtype=np.float64) + (0.0 if intercept is None else intercept)
    return A, y, s, z + (shift if z.ndim == 1 else shift[:, None])


def _derivatives(
    kind: str, options: tuple[float, ...], y: Vector, z: Vector
) -> tuple[Vector, Vector, Vector]:
    with np.errstate(over="ignore"):
        if kind == "logistic":
            share, p = np.maximum(y, 0.0), 0.5 * (1.0 + np.tanh(0.5 * z))
            return np.logaddexp(0.0, z) - share * z, p - share, p * (1.0 - p)
        if kind == "poisson":
            mean = np.exp(z)
            return mean - y * z, mean - y, mean
        if kind == "gamma":
            ratio = y * np.exp(-z)
            return z + ratio, 1.0 - ratio, ratio
        if kind == "huber":
            threshold, width, height, constant = options
            r = (z - y) / width
            near = np.clip(r, -threshold, threshold)
            bend = np.where(np.abs(r) <= threshold, height / width, 0.0)
            return height * width * near * (r - 0.5 * near) + constant, height * near, bend
        side = np.where(y > 0, 1.0, -1.0)
        missing = np.maximum(1.0 - side * z, 0.0)
        return missing**2, -2.0 * side * missing, np.where(side * z <= 1.0, 2.0, 0.0)


def _conjugate(kind: str, options: tuple[float, ...], y: Vector, u: Vector) -> Vector:
    """Return the supremum of uz - f over z, inf where there is none."""
    from scipy.special import entr

    if kind == "logistic":
        share = np.maximum(y, 0.0) + u
        return np.asarray(-entr(share) - entr(1.0 - share))
    if kind == "poisson":
        return np.asarray(-entr(y + u) - (y + u))
    if kind == "gamma":
        ratio = 1.0 - u
        return np.asarray(-entr(ratio) - ratio * (1.0 + np.log(y)))
    if kind == "huber":
        threshold, width, height, constant = options
        inside = np.abs(u) <= height * threshold
        return np.where(inside, u * (y + 0.5 * u * width / height) - constant, np.inf)
    v = np.where(y > 0, u, -u)
    return np.where(v <= 0, v + 0.25 * v * v, np.inf)
