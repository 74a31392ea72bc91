"""Rows that are plainly on one side of their kinks, lumped into their mean.

By Jensen's inequality the mean row costs no more than its rows, and just as much where they all keep to their
side: the small problem bounds the large one from below and, if no row changes sides, has its solution. The
slope of a lump, handed to its rows, is a dual point of the large problem.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.solvers.kinked_rows import KinkedRows

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Lumped:
    """The rows ``kept`` one by one, the others in lumps: ``group`` is the lump of a row, -1 for none."""

    whole: KinkedRows
    small: KinkedRows
    kept: NDArray[np.intp]
    group: NDArray[np.intp]
    share: Array

    @classmethod
    def of(cls, whole: KinkedRows, residuals: Array, kept: NDArray[np.bool_]) -> Lumped:
        """Lump the rows that are not kept by their side, and by the kind of their kinks."""
        side = (residuals > 0).sum(axis=0) * 2 + (whole.high[0] + whole.low[0] > 0)
        side[kept] = -1
        sides, group = np.unique(side, return_inverse=True)
        group = group - int(sides[0] == -1)
        lumps = int(group.max(initial=-1)) + 1
        weight = whole.weight
        totals = np.bincount(group[~kept], weight[~kept], minlength=lumps)
        share = np.where(kept, 1.0, weight / np.where(kept, 1.0, totals[group]))
        each = np.zeros((whole.rows, lumps))
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
            low=np.hstack([whole.low[:, rows], _sums(whole.low, group, lumps, kept)]),
            high=np.hstack([whole.high[:, rows], _sums(whole.high, group, lumps, kept)]),
        )
        return cls(whole, small, rows, np.where(kept, -1, group), share)

    def slopes(self, u: Array) -> Array:
        """Return the flat slopes of the whole problem for those of the small one."""
        k, n = self.whole.at.shape
        m = self.small.rows
        given = u[: k * m].reshape(k, m)
        found = np.empty((k, n))
        found[:, self.kept] = given[:, : len(self.kept)]
        lumped = self.group >= 0
        found[:, lumped] = given[:, len(self.kept) :][:, self.group[lumped]] * self.share[lumped]
        return np.concatenate([found.ravel(), u[k * m :]])

    def changed(self, before: Array, after: Array) -> NDArray[np.bool_]:
        """Return which lumped rows have changed sides."""
        moved = ((before > 0) != (after > 0)).any(axis=0)
        return np.asarray(moved & (self.group >= 0))


def _sums(each: Array, group: NDArray[np.intp], lumps: int, kept: NDArray[np.bool_]) -> Array:
    return np.array([np.bincount(group[~kept], row[~kept], minlength=lumps) for row in each])
