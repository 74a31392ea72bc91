"""What models share that compare all rows: rows in memory, weights, and rows that come later."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import ClusterMixin

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError
from surefit.core.native.clusters.linkage import nearest_row
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.models.base import Estimator
from surefit.models.rows_in_memory import gathered

EUCLIDEAN = ("euclidean", "l2")
_BLOCK = 2**24  # distances that are held at once


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a fit that count (weight above 0), their weights (None: 1 each), and which they are."""

    X: Any
    weight: Vector | None
    kept: NDArray[np.intp] | None  # their numbers among all rows; None for all
    total: int

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def weights(self) -> Vector:
        """A weight for each."""
        return np.ones(len(self)) if self.weight is None else self.weight


def distances(A: Any, B: Any, metric: Any, parameters: Any = None) -> Matrix:
    """How far rows of A are from rows of B, Euclidean ones from differences rather than products."""
    if metric in EUCLIDEAN and not sparse.issparse(A) and not sparse.issparse(B):
        return np.asarray(cdist(A, B), dtype=np.float64)
    from sklearn.metrics import pairwise_distances

    parameters = dict(parameters or {})
    if sparse.issparse(A) and metric == "minkowski" and (p := parameters.get("p", 2)) in (1, 2):
        parameters.pop("p", None)
        metric = "euclidean" if p == 2 else "manhattan"
    found = pairwise_distances(A, B, metric=metric, **parameters)
    return np.asarray(found, dtype=np.float64)


def rows_of_source(model: Any, source: Source, least: int, *, pairwise: bool) -> Rows:
    """Gather the rows of a source that count."""
    batch, who = gathered(source), type(model).__name__
    X: Any = batch.X
    weight, total = batch.weight, int(X.shape[0])
    kept: NDArray[np.intp] | None = None
    if weight is not None:
        if (weight < 0).any():
            raise DataError(f"{who}: weights must not be negative.")
        if not (weight > 0).all():
            kept = np.flatnonzero(weight > 0)
            X = X[kept][:, kept] if pairwise else X[kept]
            weight = weight[kept]
        if (weight == 1).all():
            weight = None
    if X.shape[0] < least:
        raise DataError(
            f"Found array with {X.shape[0]} sample(s) (shape={X.shape}) while a minimum of {least} is "
            f"required by {who}."
        )
    return Rows(X, weight, kept, total)


class RowsCompared(ClusterMixin, Estimator, abstract=True):
    """A clusterer that looks at all rows together; a source is gathered in memory first.

    A new row joins the cluster of the fitted row that is nearest to it, the first of equal ones, in the
    metric of the fit; with ``metric="precomputed"`` predict takes distances to the fitted rows. Rows with
    weight 0 are left out of the fit and get their labels in this way.
    """

    least_rows: ClassVar[int] = 1
    labels_: NDArray[np.int64]
    rows_: Any

    def _pairwise(self) -> bool:
        """Whether X holds what pairs of rows are to each other."""
        return getattr(self, "metric", None) == "precomputed"

    def _accepted(self) -> Accepts:
        return replace(self.accepts, pairwise=True) if self._pairwise() else self.accepts

    def _rows(self, source: Source) -> Rows:
        return rows_of_source(self, source, self.least_rows, pairwise=self._pairwise())

    def _for_all(self, rows: Rows, labels: NDArray[np.int64], source_rows: Callable[[], Any]) -> Any:
        """Labels of all rows, those without weight included, which join their nearest."""
        if rows.kept is None:
            return labels
        every = np.empty(rows.total, dtype=np.int64)
        every[rows.kept] = labels
        left_out = np.setdiff1d(np.arange(rows.total), rows.kept)
        every[left_out] = labels[self._nearest(source_rows()[left_out], rows)]
        return every

    def _nearest(self, Q: Any, rows: Rows) -> NDArray[np.int64]:
        """For each row, the nearest of the fitted ones."""
        if self._pairwise():
            return np.asarray(Q if rows.kept is None else Q[:, rows.kept]).argmin(axis=1)
        plain = not sparse.issparse(Q) and not sparse.issparse(rows.X)
        if plain and getattr(self, "metric", "euclidean") in EUCLIDEAN:
            return nearest_row(rows.X, Q)[0]
        found = []
        step = max(1, _BLOCK // max(len(rows), 1))
        for start in range(0, Q.shape[0], step):
            block = distances(Q[start : start + step], rows.X, getattr(self, "metric", "euclidean"))
            found.append(block.argmin(axis=1))
        return np.concatenate(found)

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[np.int64]:
        """Return the cluster of each row by the rule of the class, or write it ``to`` a file."""
        labels: NDArray[np.int64] = self._answer(self._predict, X, to, ["cluster"])
        return labels

    @abstractmethod
    def _predict(self, X: Any) -> NDArray[np.int64]:
        """The clusters of checked rows."""
