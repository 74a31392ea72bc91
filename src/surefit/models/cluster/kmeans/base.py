"""The face of models that put a row to its nearest centre, and the certificate that centres are means."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate, CertificateWarning
from surefit.core.errors import FormatError, ParameterError, warn
from surefit.core.native.centres.cluster_sums import cluster_cost
from surefit.data.batches.batch import Batch
from surefit.data.checks.cells import check_weights
from surefit.data.door import Accepts, admit_rows, is_streamed
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Estimator
from surefit.models.cluster.kmeans.lloyd import Scale
from surefit.models.cluster.kmeans.passes import nearest_of
from surefit.models.rows_in_memory import gathered
from surefit.models.transformer import MapRows, mapped
from surefit.stats.cluster_sums import dense_blocks
from surefit.stats.spread import Spread

EXACT = 1e-9  # of the scatter of the table, or of its standard deviation: what rounding may change


@dataclass(frozen=True, slots=True)
class CentreParameters:
    """Centres, the cluster of each row, the weighted sum of squared distances, iterations, and the weight of
    each cluster.
    """

    cluster_centers: Matrix
    labels: NDArray[np.int32]
    inertia: float
    n_iter: int
    cluster_weights: Vector


class CentreModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Estimator, abstract=True):
    """A model whose clusters are the rows nearest to each of ``cluster_centers_``."""

    accepts = Accepts()
    learns: ClassVar[type] = CentreParameters

    cluster_centers_: Matrix
    labels_: NDArray[np.int32]
    inertia_: float
    n_iter_: int
    cluster_weights_: Vector
    tol: float

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[np.int32]:
        """Return the number of the nearest centre of each row, the first of equals, or write it ``to`` a
        file.
        """
        found: NDArray[np.int32] = self._answer(self._nearest, X, to, ["cluster"])
        return found

    def _nearest(self, X: Any) -> NDArray[np.int32]:
        return nearest_of(self.cluster_centers_, self._seen(X))

    def _seen(self, X: Any) -> Any:
        """What of the rows is put to centres: all of it."""
        return X

    def transform(self, X: Any) -> Any:
        """Return the distance of each row to each centre; a source stays one, mapped as it is read."""
        if is_streamed(X):
            rows = admit_rows(self, self._accepted(), X)
            names = [str(name) for name in self.get_feature_names_out()]
            return mapped(rows, names, MapRows(self._distances))
        return self._answer(self._distances, X)

    def _distances(self, X: Any) -> Matrix:
        found = np.empty((X.shape[0], len(self.cluster_centers_)), dtype=X.dtype)
        for rows, block in dense_blocks(self._seen(X)):
            found[rows] = cdist(block, self.cluster_centers_)
        return found

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, then return the distances of the same rows to the centres."""
        return self.fit(X, y, sample_weight=sample_weight).transform(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the weighted sum of squared distances to the nearest centres."""
        squares = self._answer(self._squares, X)
        weight = check_weights(sample_weight, len(squares))
        return -float(squares.sum() if weight is None else weight @ squares)

    def _squares(self, X: Any) -> Vector:
        found = np.empty(X.shape[0])
        for rows, block in dense_blocks(self._seen(X)):
            labels = nearest_of(self.cluster_centers_, block)
            cluster_cost(block, None, self.cluster_centers_, labels, found[rows])
        return found

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Both half steps again, by products instead of the kernel, and the cost and weights of the
        clusters.
        """
        of = partial(HalfSteps.of, centres=self.cluster_centers_, labels=self.labels_)
        steps = engine.accumulate(of, source)
        return self._certificate_of(steps, engine.accumulate(Spread.of, source))

    def _certificate_of(self, steps: HalfSteps, spread: Spread) -> Certificate:
        return recomputed(self, steps, scale_of(spread), self.tol)

    def check_loaded(self) -> None:
        """Labels are numbers of centres."""
        centres, labels = self.cluster_centers_, self.labels_
        if centres.ndim != 2 or not len(centres) or not np.isfinite(centres).all():
            raise FormatError("the file's centres are no table of finite numbers.")
        if labels.dtype != np.int32 or labels.ndim != 1:
            raise FormatError("the file's labels are not one whole number a row.")
        if len(labels) and not (labels.min() >= 0 and labels.max() < len(centres)):
            raise FormatError("a label of the file is no number of a cluster.")
        if self.cluster_weights_.shape != (len(centres),):
            raise FormatError("the file has not one weight for each cluster.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@dataclass(frozen=True, slots=True)
class HalfSteps:
    """What both half steps would do to fitted clusters: sums by label, and the cost by label and by nearest
    centre.
    """

    columns: Matrix
    weight: Vector
    cost: float
    least: float
    rows: int

    @classmethod
    def of(cls, batch: Batch, *, centres: Matrix, labels: NDArray[np.int32]) -> HalfSteps:
        """Those of some rows, by products of matrices and differences to the centres found."""
        count, origin = len(centres), centres.mean(axis=0)
        given = labels[batch.start : batch.start + len(batch)]
        columns, total, cost, least = np.zeros_like(centres), np.zeros(count), 0.0, 0.0
        if len(given) < len(batch):  # other rows than those of the fit
            return cls(columns, total, np.inf, 0.0, len(batch))
        about = centres - origin
        half = np.square(about).sum(axis=1) / 2
        step = max(1, 2**22 // max(1, max(centres.shape)))
        for start in range(0, len(batch), step):
            rows = slice(start, start + step)
            block: Any = batch.X[rows]  # type: ignore[index]
            X = np.asarray(block.toarray() if sparse.issparse(block) else block, dtype=np.float64)
            s = np.ones(len(X)) if batch.weight is None else batch.weight[rows]
            best = (half - (X - origin) @ about.T).argmin(axis=1)
            own = given[rows]
            by_label = sparse.csr_array((s, (own, np.arange(len(X)))), shape=(count, len(X)))
            columns += by_label @ (X - centres[own])
            total += np.bincount(own, s, count)
            square = np.square(X - centres[own]).sum(axis=1)
            other = np.square(X - centres[best]).sum(axis=1)
            cost += float(s @ square)
            least += float(s @ np.minimum(square, other))
        return cls(columns, total, cost, least, len(batch))

    def __add__(self, other: HalfSteps) -> HalfSteps:
        return HalfSteps(
            self.columns + other.columns,
            self.weight + other.weight,
            self.cost + other.cost,
            self.least + other.least,
            self.rows + other.rows,
        )


def scale_of(spread: Spread) -> Scale:
    """What costs and movements of a table are measured by."""
    variance = float(spread.variance.mean())
    return Scale(spread.mean, float(spread.scatter.sum()), variance if variance > 0 else 1.0)


def fixed_point(shift: float, tol: float, **changes: float) -> Certificate:
    """The certificate of centres: another movement of them, in deviations, and what else may have changed."""
    parts = {"movement of the centres": shift, **{n.replace("_", " "): c for n, c in changes.items()}}
    value = float(np.max([shift / (np.sqrt(tol) + EXACT), *(change / EXACT for change in changes.values())]))
    measure = "the largest change of a centre, label, cost or weight over what is allowed for it"
    return Certificate("fixed point", measure, value, 1.0, parts)


def recomputed(model: CentreModel, steps: HalfSteps, scale: Scale, tol: float) -> Certificate:
    """The same from sums over the rows of the fit; it cannot hold for more or fewer rows."""
    if len(model.labels_) != steps.rows:
        return fixed_point(np.inf, tol)
    drift = steps.columns / np.where(steps.weight > 0, steps.weight, 1.0)[:, None]
    size = max(scale.scatter, steps.cost, 1e-300)
    change = np.abs(model.cluster_weights_ - steps.weight).max() / max(float(steps.weight.sum()), 1e-300)
    return fixed_point(
        float(np.linalg.norm(drift)) / np.sqrt(scale.variance),
        tol,
        cost_of_rows_nearer_to_another_centre=(steps.cost - steps.least) / size,
        change_of_the_cost=abs(model.inertia_ - steps.cost) / size,
        change_of_a_weight=float(change),
    )


def check_count(who: str, rows: int, clusters: int) -> None:
    """Refuse fewer rows than clusters."""
    if rows < clusters:
        raise ParameterError(f"{who}: n_samples={rows} should be >= n_clusters={clusters}.")


def warn_of_duplicates(who: str, weight: Vector) -> None:
    """Say where clusters are without rows, as there are too few different ones."""
    filled = int((weight > 0).sum())
    if filled < len(weight):
        warn(
            f"{who}: Number of distinct clusters ({filled}) found smaller than n_clusters ({len(weight)}). "
            "Possibly due to duplicate points in X: ask for fewer clusters.",
            CertificateWarning,
        )


def rows_and_weights(source: Source) -> tuple[Matrix, Vector]:
    """All rows of a source, dense, in memory, and their weights."""
    batch = gathered(source)
    X = np.concatenate([block for _, block in dense_blocks(batch.X)]).astype(np.float64)
    return X, np.ones(len(X)) if batch.weight is None else batch.weight


def weights_by(labels: NDArray[Any], weight: Vector, count: int) -> Vector:
    """The sum of the weights of each cluster."""
    return np.bincount(labels.ravel(), weight, count).astype(np.float64)
