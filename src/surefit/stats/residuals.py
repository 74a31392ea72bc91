"""What the residuals of a linear model add up to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.data.batches.batch import Batch
from surefit.stats.base import Statistic


@dataclass(frozen=True, slots=True)
class Residuals(Statistic):
    r"""Of :math:`r = y - Xw - b`: :math:`\sum s_i`, :math:`\sum s_i r_i`, :math:`\sum s_i r_i^2` and
    :math:`X'Sr`.

    One column of each an output. X is shifted by ``centre`` first, so that a large offset does not cancel
    in X'Sr.
    """

    name = "residuals"

    weight: float
    sums: NDArray[np.float64]
    squares: NDArray[np.float64]
    cross: NDArray[np.float64]

    @classmethod
    def of(
        cls, batch: Batch, *, coef: Any = None, intercept: Any = 0.0, centre: Any = None, **context: Any
    ) -> Residuals:
        """Compute them for coefficients (p, k) and intercepts (k,)."""
        X: Any = batch.X
        y = np.asarray(batch.y, dtype=np.float64)
        y = y[:, None] if y.ndim == 1 else y
        w = np.zeros((X.shape[1], y.shape[1])) if coef is None else coef
        m = np.zeros(X.shape[1]) if centre is None else centre
        k = y.shape[1]
        sums, squares, cross = np.zeros(k), np.zeros(k), np.zeros((X.shape[1], k))
        for rows in _blocks(X):
            # Centred first, so that neither the prediction nor X'Sr cancels when the columns lie far from
            # zero.
            part = X[rows] - m if isinstance(X, np.ndarray) else X[rows]
            moved = intercept + m @ w if isinstance(X, np.ndarray) else intercept
            r = y[rows] - np.asarray(part @ w) - moved
            weighted = r if batch.weight is None else batch.weight[rows, None] * r
            sums += weighted.sum(axis=0)
            squares += (weighted * r).sum(axis=0)
            cross += np.asarray(part.T @ weighted)
        if not isinstance(X, np.ndarray):
            cross -= np.outer(m, sums)
        total = float(len(batch)) if batch.weight is None else float(batch.weight.sum())
        return cls(total, sums, squares, cross)

    def __add__(self, other: Residuals) -> Residuals:
        return Residuals(
            self.weight + other.weight,
            self.sums + other.sums,
            self.squares + other.squares,
            self.cross + other.cross,
        )


def _blocks(X: Any, size: int = 8192) -> Iterator[slice]:
    """Row blocks that stay in cache; a sparse matrix in one piece."""
    step = size if isinstance(X, np.ndarray) else max(1, X.shape[0])
    return (slice(start, start + step) for start in range(0, X.shape[0], step))
