"""Classify by the nearest centre of a class."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, FormatError, ParameterError, SurefitWarning, warn
from surefit.core.parameters import Positive
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.distances import as_distance
from surefit.engine.base import Engine
from surefit.models.base import Estimator, Learned
from surefit.models.candidate import Candidate
from surefit.models.rows_in_memory import gathered
from surefit.stats.spread import Spread


@dataclass(frozen=True, slots=True)
class CentroidParameters:
    """The centre of each class, what is known of the spread within, and the priors."""

    centroids: NDArray[np.float64]
    deviations: NDArray[np.float64]
    within_class_std_dev: NDArray[np.float64]
    class_prior: NDArray[np.float64]
    classes: NDArray[Any]


def _is_euclidean(model: Any) -> bool:
    return bool(model.metric == "euclidean")


class NearestCentroid(ClassifierMixin, Estimator):
    r"""Tell the class whose centre is nearest.

    metric: "euclidean", with means as centres, or "manhattan", with medians. shrink_threshold: how far, in
    units of the spread within classes, each centre is drawn to that of all rows, column by column, which
    leaves out columns that tell little. priors: "uniform", "empirical" (shares of the classes), or one a
    class; by Euclidean distance they move the boundary as in a linear discriminant.

    >>> from surefit import NearestCentroid
    >>> model = NearestCentroid().fit([[0.0], [1.0], [8.0], [10.0]], ["a", "a", "b", "b"])
    >>> model.centroids_.ravel().tolist(), model.predict([[4.0]]).tolist()
    ([0.5, 9.0], ['a'])
    """

    accepts = Accepts(target="class")
    learns = CentroidParameters
    candidate = Candidate("Nearest centre", 5, purpose="distance")
    centroids_: Matrix
    deviations_: Matrix
    within_class_std_dev_: Vector
    class_prior_: Vector
    classes_: NDArray[Any]

    def __init__(
        self,
        metric: Literal["euclidean", "manhattan"] = "euclidean",
        *,
        shrink_threshold: Positive | None = None,
        priors: Literal["uniform", "empirical"] | NDArray[Any] | list[Any] | tuple[Any, ...] = "uniform",
    ) -> None:
        self.metric = metric
        self.shrink_threshold = shrink_threshold
        self.priors = priors

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        spread = engine.accumulate(Spread.of, source)
        parameters = self._parameters(gathered(source), source.schema.classes)
        evidence = {"column_moments": spread.moments, "rows": spread.rows}
        return Learned(parameters, self._exact(0.0), evidence)

    def _parameters(self, batch: Batch, classes: Any) -> CentroidParameters:
        X: Any = batch.X
        X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        codes, weight = np.asarray(batch.y), np.ones(len(X)) if batch.weight is None else batch.weight
        counts = np.bincount(codes, weight, len(classes))
        if (counts > 0).sum() < 2:
            raise DataError(
                "The number of classes has to be greater than one; got 1 class: "
                "NearestCentroid tells classes apart, so give rows of two."
            )
        centre = _means(X, weight)
        centroids = np.array(
            [
                _medians(X[codes == c], weight[codes == c])
                if self.metric == "manhattan"
                else _means(X[codes == c], weight[codes == c])
                for c in range(len(classes))
            ]
        )
        total = weight.sum()
        scatter = weight @ (X - centroids[codes]) ** 2
        deviation = np.sqrt(scatter / max(total - len(classes), 1e-12 * total))
        if not (deviation > 0).any() and not np.ptp(X, axis=0).any():
            raise DataError("All features have zero variance. Division by zero: give columns that vary.")
        moved = centroids - centre
        scale = np.sqrt(np.maximum(1 / counts - 1 / total, 0.0))[:, None]
        size = scale * (deviation + np.median(deviation))
        deviations = np.divide(moved, size, out=np.zeros_like(moved), where=size > 0)
        if self.shrink_threshold is not None:
            deviations = np.sign(deviations) * np.maximum(np.abs(deviations) - self.shrink_threshold, 0.0)
            centroids = centre + deviations * size
        return CentroidParameters(centroids, deviations, deviation, self._prior(counts / total), classes)

    def _prior(self, shares: Vector) -> Vector:
        if isinstance(self.priors, str):
            return np.full(len(shares), 1 / len(shares)) if self.priors == "uniform" else shares
        given = np.asarray(self.priors, dtype=np.float64)
        if given.shape != shares.shape:
            raise ParameterError(
                f"NearestCentroid: priors must hold one number a class, {len(shares)} in all."
            )
        if (given < 0).any():
            raise ParameterError("priors must be non-negative")
        if not np.isclose(given.sum(), 1.0):
            warn("The priors do not sum to 1. Normalizing such that it sums to one.", SurefitWarning)
        return np.asarray(given / given.sum())

    def _exact(self, value: float) -> Certificate:
        return Certificate(
            claim="exact",
            measure="largest difference of centres, spreads and priors, relative to the spread",
            value=value,
            tolerance=1e-7,
        )

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        again = self._parameters(gathered(source), self.classes_)
        worst = 0.0
        for name in ("centroids", "deviations", "within_class_std_dev", "class_prior"):
            one, two = getattr(again, name), getattr(self, f"{name}_")
            size = max(float(np.abs(one).max(initial=0.0)), 1e-300)
            worst = max(worst, float(np.abs(one - two).max(initial=0.0)) / size)
        return self._exact(worst)

    def check_loaded(self) -> None:
        """The arrays must have one row a class and one column a column."""
        classes, width = len(self.classes_), self.n_features_in_
        shapes = [self.centroids_.shape, self.deviations_.shape]
        if shapes != [(classes, width)] * 2 or self.class_prior_.shape != (classes,):
            raise FormatError("a NearestCentroid must have one centre and one prior a class.")

    def _distances(self, X: Any) -> Matrix:
        rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        return as_distance(self.metric)(rows, self.centroids_)

    def _scores(self, X: Any) -> Matrix:
        """Discriminants: less the squared distance in units of the spread, plus twice the log of the
        prior.
        """
        rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        unit = np.where(self.within_class_std_dev_ > 0, self.within_class_std_dev_, 1.0)
        with np.errstate(divide="ignore"):
            prior = np.log(self.class_prior_)
        return np.asarray(2 * prior - as_distance(self.metric)(rows / unit, self.centroids_ / unit) ** 2)

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[Any]:
        """Return the class of the nearest centre for each row, or write it ``to`` a file."""
        return self._answer(self._predict, X, to, ["prediction"])

    def _predict(self, X: Any) -> NDArray[Any]:
        if np.isclose(self.class_prior_, 1 / len(self.classes_)).all():
            return np.asarray(self.classes_[self._distances(X).argmin(axis=1)])
        return np.asarray(self.classes_[self._scores(X).argmax(axis=1)])

    @available_if(_is_euclidean)
    def decision_function(self, X: Any, *, to: str | Path | None = None) -> Matrix:
        """Return the discriminant of each class; with two classes, that of the second less the first."""
        return self._answer(self._decide, X, to, self._class_names())

    def _decide(self, X: Any) -> Matrix:
        scores = self._scores(X)
        return scores if scores.shape[1] > 2 else scores[:, 1] - scores[:, 0]

    @available_if(_is_euclidean)
    def predict_proba(self, X: Any, *, to: str | Path | None = None) -> Matrix:
        """Return the probability of each class, by normal distributions of one spread."""
        return self._answer(lambda rows: np.exp(self._log_shares(rows)), X, to, self._class_names())

    @available_if(_is_euclidean)
    def predict_log_proba(self, X: Any, *, to: str | Path | None = None) -> Matrix:
        """Return the logarithms of the probabilities."""
        return self._answer(self._log_shares, X, to, self._class_names(), infinite=True)

    def _log_shares(self, X: Any) -> Matrix:
        scores = self._scores(X)
        scores = scores - scores.max(axis=1, keepdims=True)
        return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))


def _means(X: Matrix, weight: Vector) -> Vector:
    total = weight.sum()
    with np.errstate(over="ignore"):
        rough = weight / total @ X if total > 0 else np.zeros(X.shape[1])
    return np.asarray(rough + (weight / total @ (X - rough) if total > 0 else 0.0))


def _medians(X: Matrix, weight: Vector) -> Vector:
    """The weighted median of each column, the mean of the middle two where there are two."""
    found = np.zeros(X.shape[1])
    for j in range(X.shape[1]):
        order = np.argsort(X[:, j], kind="stable")
        below = np.cumsum(weight[order])
        half = below[-1] / 2
        low = int(np.searchsorted(below, half * (1 - 1e-15)))
        high = int(np.searchsorted(below, half * (1 + 1e-15), side="right"))
        found[j] = (X[order[low], j] + X[order[min(high, len(order) - 1)], j]) / 2
    return found
