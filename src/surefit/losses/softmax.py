"""The cross-entropy of K classes, fused with the softmax."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from surefit.core.errors import DataError
from surefit.core.parameters import Interval
from surefit.losses.arrays import Array, inside, reals, weights_of
from surefit.losses.base import Loss
from surefit.losses.cases import FAR, ROWS, Case
from surefit.losses.links import MultinomialLogit
from surefit.losses.root_finding import increasing_root
from surefit.losses.stable import wright_omega, x_log_x

ROUNDING = 16 * np.finfo(np.float64).eps  # what the sum of K shares may be off by, for each of them
BLOCK = 4096  # rows whose exponentials stay in the cache


class Softmax(Loss):
    r""":math:`f = \log \sum_k e^{z_k} - z_y`, for z of (n, K) and y of codes 0 to K - 1, or (n, K) shares.

    The curvature is (n, K, K).

    >>> Softmax().value([0, 2], [[0.0, 0.0, 0.0], [800.0, 0.0, 0.0]])
    array([  1.09861229, 800.        ])
    """

    name = "softmax"
    task = "multiclass"
    link = MultinomialLogit()
    domain = Interval(0, None)
    smoothness = 0.5
    divergence = True
    kernel = "softmax"

    # The class with the highest score is left out of every sum, and 1 minus what is left is never formed.

    def value(self, y: Any, z: Any) -> Array:
        """Return -log p_y."""
        y, z = _paired(y, z)
        rows, top = np.arange(len(z)), z.argmax(axis=1)
        below = z[rows, top][:, None] - z
        e = np.exp(-below)
        e[rows, top] = 0.0
        missed = below[rows, y] if y.ndim == 1 else _row_sums(y * below)
        return missed + np.log1p(_row_sums(e))

    def gradient(self, y: Any, z: Any) -> Array:
        """Return p - e_y."""
        y, z = _paired(y, z)
        return self._slopes(y, *_chances(z))

    def value_and_gradient(self, y: Any, z: Any) -> tuple[Array, Array]:
        """Return both from the same exponentials, a block of rows at a time."""
        y, z = _paired(y, z)
        value, slope = np.empty(len(z), z.dtype), np.empty_like(z)
        for first in range(0, len(z), BLOCK):
            some = slice(first, first + BLOCK)
            value[some], slope[some] = self._both(y[some], z[some])
        return value, slope

    def _both(self, y: Any, z: Array) -> tuple[Array, Array]:
        rows, top = np.arange(len(z)), z.argmax(axis=1)
        below = z - z[rows, top][:, None]
        p = np.exp(below)
        p[rows, top] = 0.0
        rest = _row_sums(p)
        value = np.log1p(rest) - (below[rows, y] if y.ndim == 1 else _row_sums(y * below))
        p[rows, top] = 1.0
        p /= (1.0 + rest)[:, None]
        return value, self._slopes(y, p, rows, top, rest / (1.0 + rest))

    @staticmethod
    def _slopes(y: Any, p: Array, rows: Any, top: Any, rest: Array) -> Array:
        if y.ndim == 1:
            p[rows, y] -= 1.0
            p[rows, top] = (top != y) - rest
        else:
            p -= y
            p[rows, top] = (1.0 - y[rows, top]) - rest
        return p

    def curvature(self, y: Any, z: Any) -> Array:
        """Return diag(p) - p p'."""
        y, z = _paired(y, z)
        p, rows, top, rest = _chances(z)
        others = 1.0 - p
        others[rows, top] = rest
        bend = -p[:, :, None] * p[:, None, :]
        diagonal = np.arange(z.shape[1])
        bend[:, diagonal, diagonal] = p * others
        return bend

    def conjugate(self, y: Any, u: Any) -> Array:
        """Return the sum of v log v over shares v = u + e_y that are not negative and add up to 1."""
        y, u = _paired(y, u)
        v = u + (np.eye(u.shape[1])[y] if y.ndim == 1 else y)
        terms = x_log_x(v)
        if y.ndim == 1:  # near 1, the digits of v are those of u
            rows = np.arange(len(u))
            off = np.clip(u[rows, y], -0.5, 0.0)
            terms[rows, y] = np.where(off > -0.5, (1.0 + off) * np.log1p(off), terms[rows, y])
        whole = np.abs(u.sum(axis=1)) <= ROUNDING * u.shape[1]
        return inside(terms.sum(axis=1), whole & (v >= 0.0).all(axis=1))

    def least(self, y: Any) -> Array:
        """Return 0 for codes, and for shares their entropy."""
        y = np.asarray(y)
        return np.zeros(len(y)) if y.ndim == 1 else np.asarray(-x_log_x(reals(y)).sum(axis=1))

    def prox(self, y: Any, v: Any, step: float) -> Array:
        """Solve z + step p = v + step e_y: each p_k is a function of the log-sum alone, one unknown a row."""
        y, v = _paired(y, v)
        total = v + step * (np.eye(v.shape[1])[y] if y.ndim == 1 else y)
        level = total + np.log(step)

        def missing(c: Array) -> tuple[Array, Array]:
            w = wright_omega(level - c[:, None])
            return step - w.sum(axis=1), (w / (1.0 + w)).sum(axis=1)

        w = wright_omega(level - increasing_root(missing, total.max(axis=1))[:, None])
        return total - step * w / w.sum(axis=1, keepdims=True)

    def check(self, y: Any) -> None:
        """Raise an error that names the first row that is neither a code nor shares that add up to 1."""
        y = reals(y)
        if y.ndim == 1:
            self._refuse(y, ~((y >= 0) & (y == np.floor(y)) & np.isfinite(y)), "the codes 0, 1, 2 ...")
        else:
            sums = np.abs(y.sum(axis=1) - 1.0) <= 1e-8  # shares that were divided, or read from a file
            self._refuse(y, ~((y >= 0).all(axis=1) & sums), "codes, or rows of shares that add up to 1")

    def best_constant(self, y: Any, weight: Any = None) -> Array:
        """Return the logarithms of the classes' shares, less their mean; -inf for a class without rows."""
        y = np.asarray(y)
        s = weights_of(weight, len(y))
        shares = np.bincount(y.astype(np.intp), weights=s) if y.ndim == 1 else s @ y
        with np.errstate(divide="ignore"):
            z = np.log(shares)
        return z - z[np.isfinite(z)].mean()

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Yield codes and shares of two and four classes."""
        for classes in (2, 4):
            z = 2.0 * rng.normal(size=(ROWS, classes))
            z[: len(FAR), 0], z[: len(FAR), 1] = FAR, FAR[::-1]
            y = rng.integers(classes, size=ROWS)
            y[:classes] = np.arange(classes)
            yield Case(cls(), y, z)
            yield Case(cls(), rng.dirichlet(np.ones(classes), size=ROWS), z)


def _paired(y: Any, z: Any) -> tuple[Any, Array]:
    """Return codes as integers, or shares in the shape of z."""
    z, y = reals(z), np.asarray(y)
    if z.ndim != 2 or y.shape not in ((len(z),), z.shape):
        raise DataError(
            f"y has shape {y.shape} and z has shape {z.shape}: "
            "give z one column a class, and y one code a row or the shares of the classes."
        )
    return (y.astype(np.intp, copy=False) if y.ndim == 1 else y.astype(z.dtype, copy=False)), z


def _chances(z: Array) -> tuple[Array, Any, Any, Array]:
    """Return p, the rows, the class with the highest score of each, and 1 - p of that class."""
    rows, top = np.arange(len(z)), z.argmax(axis=1)
    p = np.exp(z - z[rows, top][:, None])
    p[rows, top] = 0.0
    rest = _row_sums(p)
    p[rows, top] = 1.0
    p /= (1.0 + rest)[:, None]
    return p, rows, top, rest / (1.0 + rest)


def _row_sums(each: Array) -> Array:
    """Add up rows of a few columns, which numpy's own sum does four times more slowly."""
    return np.einsum("ij->i", each)
