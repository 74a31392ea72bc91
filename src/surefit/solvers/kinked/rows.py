r"""Rows whose loss is piecewise linear, with absolute and squared penalties, as plain arrays.

.. math:: \min_w \sum_i \sum_k \max(low_{ki}\, r_{ki},\, high_{ki}\, r_{ki})
          + \sum_j l_{1j} |w_j| + \tfrac12 \sum_j l_{2j} w_j^2, \qquad r_{ki} = x_i'w - at_{ki}

An absolute penalty is one more kink, of a row with a single entry: *flat* arrays hold the kinks of all rows,
one k after the other, and then those of the coefficients in ``kinked``.

Kinks far stronger than all that pulls at them, weakened until arithmetic can see the rest.

A row of weight 1e8 among rows of weight 1 is met by the answer, and its slope is what balances the others: a
hundred of a hundred million. Slopes that may be so large leave no digits for the rest. Weakened to a multiple
of all others together, the kink is met at the same coefficients by the same slope, which is within its old
ends as well: an answer that meets all weakened kinks, their slopes inside, is the answer. If one is not met,
the next cap is higher. A column's absolute penalty beyond all that rows can pull by holds its coefficient
at 0, and does so as well at twice that pull.

Rows that are plainly on one side of their kinks, aggregated into their mean.

By Jensen's inequality the mean row costs no more than its rows, and just as much where they all keep to their
side: the small problem bounds the large one from below and, if no row changes sides, has its solution. The
slope of an aggregate, handed to its rows, is a dual point of the large problem.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.core.arrays import Matrix, Vector
from surefit.core.native.sums.gram import sandwich
from surefit.stats.products import pulled, scores


@dataclass(frozen=True, slots=True)
class KinkedRows:
    """Rows X, a column of ones behind them if there is an intercept, and their kinks (k, n).

    l1, l2: one number a coefficient, the intercept's last. tie: squares that are added to l2, too small to
    matter but among coefficients that are equally good, of which they choose the shortest.
    """

    X: Any
    fit_intercept: bool
    at: Vector
    low: Vector
    high: Vector
    l1: Vector
    l2: Vector
    tie: Vector

    @property
    def squares(self) -> Vector:
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
    def weight(self) -> Vector:
        """How much each row counts: the range of its slopes."""
        return np.asarray((self.high - self.low).sum(axis=0))

    def scores(self, w: Vector) -> Vector:
        """Return one score a row."""
        return scores(self.X, w[:-1]) + w[-1] if self.fit_intercept else scores(self.X, w)

    def pulled(self, v: Vector) -> Vector:
        """Return the product of numbers, one a row or a matrix of such columns, with the rows."""
        found = pulled(self.X, v)
        return np.concatenate([found, v.sum(axis=0)[None]]) if self.fit_intercept else found

    def gram(self, weight: Vector, v: Vector) -> tuple[Matrix, Vector]:
        """Return the weighted squares of the rows, and ``pulled`` of v, in one pass."""
        found = sandwich(self.X, weight, v)
        if not self.fit_intercept:
            return found.gram, found.cross[:, 0]
        side = found.sums[:, None]
        square = np.block([[found.gram, side], [side.T, np.full((1, 1), weight.sum())]])
        return square, np.append(found.cross[:, 0], v.sum())

    def squared(self) -> Vector:
        """Return the sum of squares of each column."""
        X: Any = self.X
        if hasattr(X, "tocsr"):
            found = np.asarray(X.multiply(X).sum(axis=0), dtype=np.float64).ravel()
        else:
            found = np.einsum("ij,ij->j", X, X, dtype=np.float64)
        return np.append(found, float(self.rows)) if self.fit_intercept else found

    def flat(self, z: Vector, w: Vector) -> Vector:
        """Return scores and coefficients where their kinks are."""
        return np.concatenate([np.tile(z, len(self.at)), w[self.kinked]])

    def folded(self, flat: Vector) -> tuple[Vector, Vector]:
        """Return what flat numbers add up to for each row, and those of the coefficients, zeros elsewhere."""
        k, n = self.at.shape
        of_rows = flat[: k * n].reshape(k, n)
        of_coefficients = np.zeros(len(self.l1))
        of_coefficients[self.kinked] = flat[k * n :]
        return of_rows[0] if k == 1 else of_rows.sum(axis=0), of_coefficients

    def flat_kinks(self) -> tuple[Vector, Vector, Vector]:
        """Return where the kinks are, and their slopes on both sides."""
        l1 = self.l1[self.kinked]
        return (
            np.concatenate([self.at.ravel(), np.zeros(len(l1))]),
            np.concatenate([self.low.ravel(), -l1]),
            np.concatenate([self.high.ravel(), l1]),
        )

    def flat_rows(self, which: NDArray[np.intp]) -> Vector:
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

    def some(self, which: NDArray[np.intp], times: Vector) -> KinkedRows:
        """Return the problem of some rows alone, each counted so many times."""
        return replace(
            self,
            X=self.X[which],
            at=self.at[:, which],
            low=times * self.low[:, which],
            high=times * self.high[:, which],
        )

    def value(self, z: Vector, w: Vector) -> float:
        """Return the objective."""
        r = z - self.at
        return float(
            np.maximum(self.low * r, self.high * r).sum()
            + self.l1 @ np.abs(w)
            + 0.5 * float(self.l2 @ (w * w))
        )


BEYOND = 16.0  # times all lighter rows: a slope on the short side of a quantile has room to balance them
HIGHER = 1e3  # by which the next cap is above the last
ENOUGH = 2.0  # times the greatest pull: a slope that holds the coefficient is well inside


def cap_of(weight: Vector, coefficients: int) -> float:
    """Return the weight that a row need not exceed; infinity where none is far above the others.

    As many rows as there are coefficients can be met whatever they weigh, so these many are left out of what
    pulls at them.

    >>> cap_of(np.array([1.0, 2.0, 1.0, 1e8]), 1)
    64.0
    >>> cap_of(np.array([1.0, 2.0, 1.0, 8.0]), 1)
    inf
    """
    greatest, total = float(weight.max(initial=0.0)), float(weight.sum())
    if BEYOND * (total - coefficients * greatest) >= greatest or len(weight) <= coefficients:
        return np.inf  # plainly alike: nothing to sort
    light = float(np.sort(weight)[: len(weight) - coefficients].sum())
    return BEYOND * light if 0 < BEYOND * light < greatest else np.inf


def capped(rows: KinkedRows) -> Iterator[KinkedRows]:
    """Yield the problem with its strongest kinks weakened, ever less, and last with all rows as they are."""
    weight = rows.weight
    cap, greatest = cap_of(weight, len(rows.l1)), float(weight.max(initial=0.0))
    while cap < greatest:
        share = np.minimum(1.0, cap / weight)
        yield _held(replace(rows, low=share * rows.low, high=share * rows.high))
        cap *= HIGHER
    yield _held(rows)


def _held(rows: KinkedRows) -> KinkedRows:
    """Return the problem, no absolute penalty beyond twice what all rows together can pull by."""
    if not rows.l1.any():
        return rows
    each = np.maximum(-rows.low, rows.high).sum(axis=0)
    pull = np.sqrt(rows.squared()) * float(np.linalg.norm(each))  # Cauchy and Schwarz
    most = np.where((pull > 0) & np.isfinite(pull), ENOUGH * pull, np.inf)
    return replace(rows, l1=np.minimum(rows.l1, most)) if (rows.l1 > most).any() else rows


@dataclass(frozen=True, slots=True)
class AggregatedRows:
    """The rows ``kept`` one by one, the others as weighted means: ``group`` is that of a row, -1 for none."""

    whole: KinkedRows
    small: KinkedRows
    kept: NDArray[np.intp]
    group: NDArray[np.intp]
    share: Vector

    @classmethod
    def of(cls, whole: KinkedRows, residuals: Vector, kept: NDArray[np.bool_]) -> AggregatedRows:
        """Aggregate the rows that are not kept by their side, and by the kind of their kinks."""
        side = (residuals > 0).sum(axis=0) * 2 + (whole.high[0] + whole.low[0] > 0)
        side[kept] = -1
        sides, group = np.unique(side, return_inverse=True)
        group = group - int(sides[0] == -1)
        groups = int(group.max(initial=-1)) + 1
        weight = whole.weight
        totals = np.bincount(group[~kept], weight[~kept], minlength=groups)
        share = np.where(kept, 1.0, weight / np.where(kept, 1.0, totals[group]))
        each = np.zeros((whole.rows, groups))
        each[np.flatnonzero(~kept), group[~kept]] = share[~kept]
        means = whole.pulled(each).T
        X, rows = whole.X, np.flatnonzero(kept)
        means = means[:, :-1] if whole.fit_intercept else means
        if hasattr(X, "tocsr"):
            stacked: Any = sparse.vstack([X[rows], sparse.csr_array(means)], format="csr")
        else:
            stacked = np.vstack([X[rows], means.astype(X.dtype)])
        small = replace(
            whole,
            X=stacked,
            at=np.hstack([whole.at[:, rows], whole.at @ each]),
            low=np.hstack([whole.low[:, rows], _sums(whole.low, group, groups, kept)]),
            high=np.hstack([whole.high[:, rows], _sums(whole.high, group, groups, kept)]),
        )
        return cls(whole, small, rows, np.where(kept, -1, group), share)

    def slopes(self, u: Vector) -> Vector:
        """Return the flat slopes of the whole problem for those of the small one."""
        k, n = self.whole.at.shape
        m = self.small.rows
        given = u[: k * m].reshape(k, m)
        found = np.empty((k, n))
        found[:, self.kept] = given[:, : len(self.kept)]
        aggregated = self.group >= 0
        found[:, aggregated] = given[:, len(self.kept) :][:, self.group[aggregated]] * self.share[aggregated]
        return np.concatenate([found.ravel(), u[k * m :]])

    def changed(self, before: Vector, after: Vector) -> NDArray[np.bool_]:
        """Return which aggregated rows have changed sides."""
        moved = ((before > 0) != (after > 0)).any(axis=0)
        return np.asarray(moved & (self.group >= 0))


def _sums(each: Vector, group: NDArray[np.intp], groups: int, kept: NDArray[np.bool_]) -> Vector:
    return np.array([np.bincount(group[~kept], row[~kept], minlength=groups) for row in each])
