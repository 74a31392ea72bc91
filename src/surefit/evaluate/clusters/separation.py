"""The Good Clustering Principle: every pair within a cluster is closer than every pair between clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from surefit.core.errors import DataError
from surefit.core.public import public


@dataclass(frozen=True, slots=True)
class GoodClustering:
    """The largest distance within a cluster and the smallest between two, and the rows that they are of."""

    inside: float
    between: float
    inside_rows: tuple[int, int]
    between_rows: tuple[int, int]

    @property
    def holds(self) -> bool:
        """Whether every pair within a cluster is closer than every pair between clusters."""
        return self.inside < self.between

    def __str__(self) -> str:
        word = "holds" if self.holds else "does not hold"
        return (
            f"The principle {word}: rows {self.inside_rows} of one cluster are {self.inside:.3g} apart, rows "
            f"{self.between_rows} of two {self.between:.3g}."
        )


@public
def good_clustering(X: Any, labels: Any, *, metric: Any = "euclidean") -> GoodClustering:
    """Hold clusters to the Good Clustering Principle; metric: one of scipy's, a function, or
    ``"precomputed"``.

    >>> import surefit
    >>> found = surefit.good_clustering([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1])
    >>> found.holds, found.inside, found.between
    (True, 1.0, 8.0)
    """
    rows, codes = np.asarray(X, dtype=np.float64), np.asarray(labels)
    if rows.ndim != 2 or len(rows) != len(codes) or len(np.unique(codes)) < 2:
        raise DataError("good_clustering: X must be a table with one label a row, and two labels or more.")
    inside, between = (0.0, (0, 0)), (np.inf, (0, 0))
    step = max(1, 2_000_000 // len(rows))
    for start in range(0, len(rows), step):
        some = slice(start, start + step)
        apart = (
            rows[some]
            if isinstance(metric, str) and metric == "precomputed"
            else cdist(rows[some], rows, metric)
        )
        same = codes[some][:, None] == codes
        inside = max(inside, _extreme(np.where(same, apart, -np.inf), start, largest=True))
        between = min(between, _extreme(np.where(same, np.inf, apart), start, largest=False))
    return GoodClustering(float(inside[0]), float(between[0]), inside[1], between[1])


def _extreme(apart: NDArray[Any], start: int, *, largest: bool) -> tuple[float, tuple[int, int]]:
    place = int(apart.argmax() if largest else apart.argmin())
    row, other = divmod(place, apart.shape[1])
    return float(apart[row, other]), (row + start, other)
