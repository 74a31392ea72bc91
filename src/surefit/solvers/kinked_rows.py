r"""Rows whose loss is made of straight pieces, with absolute and squared penalties, as plain arrays.

.. math:: \min_w \sum_i \sum_k \max(low_{ki}\, r_{ki},\, high_{ki}\, r_{ki})
          + \sum_j l_{1j} |w_j| + \tfrac12 \sum_j l_{2j} w_j^2, \qquad r_{ki} = x_i'w - at_{ki}

An absolute penalty is one more kink, of a row with a single entry: *flat* arrays hold the kinks of all rows,
one k after the other, and then those of the coefficients in ``kinked``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.native.gram import sandwich
from surefit.stats.products import pulled, scores

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class KinkedRows:
    """Rows X, a column of ones behind them if there is an intercept, and their kinks (k, n).

    l1, l2: one number a coefficient, the intercept's last. tie: squares that are added to l2, too small to
    matter but among coefficients that are equally good, of which they choose the shortest.
    """

    X: Any
    fit_intercept: bool
    at: Array
    low: Array
    high: Array
    l1: Array
    l2: Array
    tie: Array

    @property
    def squares(self) -> Array:
        """All squares."""
        return np.asarray(self.l2 + self.tie)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.at.shape[1])

    @property
    def kinked(self) -> NDArray[np.intp]:
        """The coefficients with an absolute penalty."""
        return np.flatnonzero(self.l1 > 0)

    @property
    def weight(self) -> Array:
        """How much each row counts: the range of its slopes."""
        return np.asarray((self.high - self.low).sum(axis=0))

    def scores(self, w: Array) -> Array:
        """Return one score a row."""
        return scores(self.X, w[:-1]) + w[-1] if self.fit_intercept else scores(self.X, w)

    def pulled(self, v: Array) -> Array:
        """Return the product of numbers, one a row or a matrix of such columns, with the rows."""
        found = pulled(self.X, v)
        return np.concatenate([found, v.sum(axis=0)[None]]) if self.fit_intercept else found

    def gram(self, weight: Array, v: Array) -> tuple[Array, Array]:
        """Return the weighted squares of the rows, and ``pulled`` of v, in one pass."""
        found = sandwich(self.X, weight, v)
        if not self.fit_intercept:
            return found.gram, found.cross[:, 0]
        side = found.sums[:, None]
        square = np.block([[found.gram, side], [side.T, np.full((1, 1), weight.sum())]])
        return square, np.append(found.cross[:, 0], v.sum())

    def squared(self) -> Array:
        """Return the sum of squares of each column."""
        X: Any = self.X
        if hasattr(X, "tocsr"):
            found = np.asarray(X.multiply(X).sum(axis=0), dtype=np.float64).ravel()
        else:
            found = np.einsum("ij,ij->j", X, X, dtype=np.float64)
        return np.append(found, float(self.rows)) if self.fit_intercept else found

    def flat(self, z: Array, w: Array) -> Array:
        """Return scores and coefficients where their kinks are."""
        return np.concatenate([np.tile(z, len(self.at)), w[self.kinked]])

    def folded(self, flat: Array) -> tuple[Array, Array]:
        """Return what flat numbers add up to for each row, and those of the coefficients, zeros elsewhere."""
        k, n = self.at.shape
        of_rows = flat[: k * n].reshape(k, n)
        of_coefficients = np.zeros(len(self.l1))
        of_coefficients[self.kinked] = flat[k * n :]
        return of_rows[0] if k == 1 else of_rows.sum(axis=0), of_coefficients

    def flat_kinks(self) -> tuple[Array, Array, Array]:
        """Return where the kinks are, and their slopes on both sides."""
        l1 = self.l1[self.kinked]
        return (
            np.concatenate([self.at.ravel(), np.zeros(len(l1))]),
            np.concatenate([self.low.ravel(), -l1]),
            np.concatenate([self.high.ravel(), l1]),
        )

    def flat_rows(self, which: NDArray[np.intp]) -> Array:
        """Return some rows of the flat kinds, as a dense matrix."""
        k, n = self.at.shape
        found = np.zeros((len(which), len(self.l1)))
        of_rows = which < k * n
        some: Any = self.X[which[of_rows] % n]
        wide = slice(None, -1) if self.fit_intercept else slice(None)
        found[of_rows, wide] = some.toarray() if hasattr(some, "toarray") else some
        if self.fit_intercept:
            found[of_rows, -1] = 1.0
        found[~of_rows, self.kinked[which[~of_rows] - k * n]] = 1.0
        return found

    def some(self, which: NDArray[np.intp], times: Array) -> KinkedRows:
        """Return the problem of some rows alone, each counted so many times."""
        return replace(
            self,
            X=self.X[which],
            at=self.at[:, which],
            low=times * self.low[:, which],
            high=times * self.high[:, which],
        )

    def value(self, z: Array, w: Array) -> float:
        """Return the objective."""
        r = z - self.at
        return float(
            np.maximum(self.low * r, self.high * r).sum()
            + self.l1 @ np.abs(w)
            + 0.5 * float(self.l2 @ (w * w))
        )
