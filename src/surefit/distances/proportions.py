"""Differences relative to size, and rows with gaps."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.arrays import Matrix
from surefit.distances.base import Distance


class Canberra(Distance):
    r"""Differences relative to sizes: :math:`d(x, y) = \sum_j |x_j - y_j| / (|x_j| + |y_j|)`, 0/0 = 0.

    >>> Canberra()([[1.0, 0.0]], [[3.0, 0.0]])
    array([[0.5]])
    """

    name = "canberra"

    def _between(self, X: Any, Y: Any) -> Matrix:
        from scipy.spatial.distance import cdist

        return np.asarray(cdist(_dense(X), _dense(Y), "canberra"))


class BrayCurtis(Distance):
    r"""The sum of differences over the sum of sums; 0/0 = 0. It is no metric.

    .. math:: d(x, y) = \sum_j |x_j - y_j| \Big/ \sum_j |x_j + y_j|

    >>> BrayCurtis()([[1.0, 1.0]], [[3.0, 1.0]]).round(4)
    array([[0.3333]])
    """

    name = "braycurtis"
    metric = False

    def _between(self, X: Any, Y: Any) -> Matrix:
        left, right = _dense(X), _dense(Y)
        part, whole = np.zeros((len(left), len(right))), np.zeros((len(left), len(right)))
        for j in range(left.shape[1]):
            part += np.abs(left[:, j, None] - right[None, :, j])
            whole += np.abs(left[:, j, None] + right[None, :, j])
        return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)

    def examples(self, rng: np.random.Generator, n: int) -> Any:
        """Make counts."""
        return rng.uniform(0.1, 3.0, size=(n, 3))


class NanEuclidean(Distance):
    """The Euclidean distance of the columns that both rows have, scaled up to all columns.

    Two rows that share no column are infinitely far apart.

    >>> NanEuclidean()([[3.0, np.nan]], [[0.0, 1.0]]).round(4)
    array([[4.2426]])
    """

    name = "nan_euclidean"
    metric = False
    missing = True

    def _between(self, X: Any, Y: Any) -> Matrix:
        left, right = _dense(X), _dense(Y)
        total, shared = np.zeros((len(left), len(right))), np.zeros((len(left), len(right)))
        for j in range(left.shape[1]):
            gap = left[:, j, None] - right[None, :, j]
            there = ~np.isnan(gap)
            total += np.where(there, gap, 0.0) ** 2
            shared += there
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(shared > 0, np.sqrt(total * left.shape[1] / shared), np.inf)


def _dense(X: Any) -> Matrix:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
