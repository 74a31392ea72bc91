"""What embeddings of neighbourhoods share: different rows, their nearest ones, and where new rows go."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, FormatError
from surefit.core.trace import Trace
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.factor.rows_of_source import rows_of_source
from surefit.models.transformer import RowMap
from surefit.solvers.linalg.principal_axes import signed
from surefit.stats.spread import Spread

SAME = 1e-8  # what recomputing may change of the objective, relative to its size
BLOCK = 2**22  # cells of distances at a time


@dataclass(frozen=True, slots=True)
class EmbeddingParameters:
    """Where the rows are, the objective there, how many iterations it took; the different rows and places."""

    embedding: Matrix
    objective: float
    n_iter: int
    rows: Matrix
    places: Matrix


@dataclass(frozen=True, slots=True)
class Distinct:
    """The different rows in order, their weights, and which of them each row is."""

    rows: Matrix
    weight: Vector
    which: NDArray[np.intp]


class NeighbourEmbedding(ClassNamePrefixFeaturesOutMixin, RowMap, abstract=True):
    """Rows as points of a plane, near each other where the rows are.

    Equal rows are one point with their weights added up, and points are taken in an order that depends on
    their values alone: so the picture is the same for rows in any order. New rows go to the weighted mean of
    the places of their nearest rows.
    """

    accepts = Accepts(sparse=False)
    learns = EmbeddingParameters
    near: ClassVar[int] = 5  # rows that place a new one

    n_components: int
    embedding_: Matrix
    objective_: float
    n_iter_: int
    rows_: Matrix
    places_: Matrix

    def _iteration_limit(self) -> int | None:
        return None

    @property
    def _n_features_out(self) -> int:
        return self.places_.shape[1]

    @abstractmethod
    def _place(self, distinct: Distinct, trace: Trace) -> tuple[Matrix, int]:
        """Find a place for each of the different rows."""

    @abstractmethod
    def _objective(self, distinct: Distinct, places: Matrix) -> float:
        """What the places are judged by, for all pairs."""

    def _check_rows(self, count: int) -> None:
        """Refuse parameters that do not suit so many rows."""

    def _distinct(self, source: Source) -> Distinct:
        X, s = rows_of_source(source, type(self).__name__)
        X = np.ascontiguousarray(X, dtype=np.float64) + 0.0
        rows, which = np.unique(X, axis=0, return_inverse=True)
        which = np.asarray(which).ravel()
        return Distinct(rows, np.bincount(which, s, len(rows)).astype(np.float64), which)

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        columns = engine.accumulate(Spread.of, source)
        found = self._distinct(source)
        if len(found.which) < 2:
            raise DataError("n_samples = 1 is too few: neighbours need more than one sample.")
        self._check_rows(len(found.which))
        places, count = self._place(found, trace)
        objective = self._objective(found, places)
        parameters = EmbeddingParameters(places[found.which], objective, count, found.rows, places)
        evidence = {"column_moments": columns.moments, "rows": columns.rows}
        return Learned(parameters, self._proof(0.0, objective), evidence)

    def _proof(self, changed: float, objective: float) -> Certificate:
        measure = "change of the objective, relative to its size"
        return Certificate("measured", measure, changed, SAME, {"objective": objective})

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Judge the places again, and hold the rows to them."""
        found = self._distinct(source)
        if found.rows.shape != self.rows_.shape or len(found.which) != len(self.embedding_):
            return self._proof(np.inf, np.inf)
        size = max(float(np.abs(self.places_).max(initial=0.0)), np.finfo(float).tiny)
        apart = float(np.abs(self.embedding_ - self.places_[found.which]).max(initial=0.0)) / size
        scale = max(float(np.abs(found.rows).max(initial=0.0)), np.finfo(float).tiny)
        other = float(np.abs(found.rows - self.rows_).max(initial=0.0)) / scale
        objective = self._objective(found, np.asarray(self.places_))
        changed = abs(objective - self.objective_) / max(abs(self.objective_), 1e-3)
        return self._proof(max(changed, apart, other), objective)

    def _transform(self, X: Any) -> Any:
        X = np.asarray(X, dtype=np.float64)
        count = min(self.near, len(self.rows_))
        index, far = nearest(X, self.rows_, count)
        # A row that was there goes where it was.
        exact = far[:, 0] <= 1e-12 * (1 + (X**2).sum(axis=1))
        unit = np.where(exact, 1.0, np.maximum(far[:, 0], np.finfo(np.float64).tiny))[:, None]
        weight = np.exp(-np.minimum(far / unit - 1, 700.0))
        weight[exact, 1:] = 0.0
        weight /= weight.sum(axis=1, keepdims=True)
        return np.einsum("ij,ijk->ik", weight, self.places_[index])

    def check_loaded(self) -> None:
        """Refuse rows and places that do not belong together."""
        super().check_loaded()
        fits = (
            self.rows_.ndim == 2
            and self.places_.ndim == 2
            and self.rows_.shape == (len(self.places_), self.n_features_in_)
            and len(self.rows_) > 0
        )
        if not fits:
            raise FormatError("the file's rows and places do not fit together: it is damaged.")


def nearest(X: Matrix, rows: Matrix, count: int) -> tuple[NDArray[np.intp], Matrix]:
    """The nearest rows of each row of X, and their squared distances; of equals, the first."""
    centre = rows.mean(axis=0)
    A, B = X - centre, rows - centre
    norms = (B * B).sum(axis=1)
    index = np.empty((len(X), count), dtype=np.intp)
    far = np.empty((len(X), count))
    step = max(1, BLOCK // max(1, len(rows)))
    for start in range(0, len(X), step):
        some = slice(start, start + step)
        square = norms - 2 * (A[some] @ B.T)
        more = min(count + 5, len(rows))
        picked = (
            np.argpartition(square, more - 1, axis=1)[:, :more]
            if more < len(rows)
            else np.tile(np.arange(len(rows)), (len(square), 1))
        )
        picked.sort(axis=1)
        exact = ((A[some, None] - B[picked]) ** 2).sum(axis=2)  # what products cancel is found again
        order = np.argsort(exact, axis=1, kind="stable")[:, :count]
        index[some] = np.take_along_axis(picked, order, axis=1)
        far[some] = np.take_along_axis(exact, order, axis=1)
    return index, far


def neighbours(rows: Matrix, count: int) -> tuple[NDArray[np.intp], Matrix]:
    """The nearest other rows of each, and their squared distances."""
    index, far = nearest(rows, rows, min(count + 1, len(rows)))
    own = index == np.arange(len(rows))[:, None]
    own[~own.any(axis=1), -1] = True
    keep = ~own
    shape = (len(rows), index.shape[1] - 1)
    return index[keep].reshape(shape), far[keep].reshape(shape)


def principal_places(distinct: Distinct, count: int, size: float) -> Matrix:
    """Scores on the first principal axes, the first with standard deviation ``size``."""
    X, s = distinct.rows, distinct.weight
    centred = X - s @ X / s.sum()
    unit = float(np.abs(centred).max(initial=0.0)) or 1.0
    centred = centred / unit
    _, vectors = np.linalg.eigh(centred.T @ (s[:, None] * centred))
    axes = signed(np.ascontiguousarray(vectors[:, ::-1][:, :count].T))
    scores = centred @ axes.T
    deviation = np.sqrt(s @ scores[:, 0] ** 2 / s.sum()) if scores.shape[1] else 0.0
    places = np.zeros((len(X), count))
    places[:, : scores.shape[1]] = scores * (size / deviation if deviation > 0 else 0.0)
    return places


def symmetric(index: NDArray[np.intp], weight: Matrix) -> sparse.csr_array:
    """A graph from each row's neighbours and their weights."""
    n, k = index.shape
    starts = np.arange(0, n * k + 1, k)
    graph = sparse.csr_array((weight.ravel(), index.ravel(), starts), shape=(n, n))
    graph.sort_indices()
    return graph
