"""Classify by the votes of neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix
from surefit.core.errors import DataError, warn
from surefit.core.errors import SurefitWarning as NoNeighborsWarning
from surefit.core.parameters import Count, NonNegative, Positive
from surefit.core.trace import Trace
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.candidate import Candidate
from surefit.models.neighbors.base import Algorithm, Metric, RadiusMixin
from surefit.models.neighbors.votes import ClassNeighborParameters, ClassVotes, KNeighborsVotes, Votes
from surefit.models.neighbors.weights import Weights, counting, weights_of


@dataclass(frozen=True, slots=True)
class KNeighborsClassParameters(ClassNeighborParameters):
    """The same, and how many neighbours vote."""

    n_neighbors: int


class KNeighborsClassifier(ClassVotes, KNeighborsVotes):
    r"""Tell the class that most of the k nearest rows have.

    .. math:: P(c \mid x) = \frac{\sum_{i \in N_k(x)} w_i [y_i = c]}{\sum_{i \in N_k(x)} w_i}

    n_neighbors: k; ``"loo"`` takes the k up to ``most_neighbors`` whose error of leaving each row out is
    least, the largest of equals (``n_neighbors_``). weights: "uniform", "distance" (one over it; rows at
    distance 0 alone count where there are any), a function of distances, or a kernel: "triangular",
    "epanechnikov", "quartic", "tricube", "cosine" or "gaussian" of the distance over that of the next
    neighbour. algorithm, leaf_size, metric, p, metric_params, n_jobs, hold: as for NearestNeighbors.

    Of equal distances the row with the lower number is the nearer, of classes with equal votes the first
    wins. A row of weight w, in a table with weights, takes w of the k places.

    >>> from surefit import KNeighborsClassifier
    >>> model = KNeighborsClassifier(3).fit([[0.0], [1.0], [2.0], [10.0]], [0, 0, 1, 1])
    >>> model.predict([[1.2]]), model.predict_proba([[1.2]]).round(4)
    (array([0]), array([[0.6667, 0.3333]]))
    """

    learns = KNeighborsClassParameters
    candidate = Candidate(
        "k nearest neighbours",
        15,
        purpose="distance",
        given={"n_neighbors": "loo"},
        most_rows=20_000,
    )
    n_neighbors_: int

    def __init__(
        self,
        n_neighbors: Count | Literal["loo"] = 5,
        *,
        weights: Weights = "uniform",
        algorithm: Algorithm = "auto",
        leaf_size: Count = 30,
        p: Positive = 2,
        metric: Metric = "minkowski",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        most_neighbors: Count = 30,
        hold: Literal["auto", "memory", "source"] = "auto",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.most_neighbors = most_neighbors
        self.hold = hold

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        self.n_neighbors_ = self.n_neighbors if isinstance(self.n_neighbors, int) else 1
        learned = super()._learn(source, engine, trace)
        base = learned.parameters
        values = {name: getattr(base, name) for name in base.__dataclass_fields__}
        return Learned(
            KNeighborsClassParameters(**values, n_neighbors=self._chosen_count()),
            learned.certificate,
            learned.evidence,
        )

    def _shares(self, X: Any) -> Any:
        return self._vote(self._votes(X))

    def _error(self, votes: Votes) -> float:
        wrong = [votes.shares(codes, len(labels)).argmax(axis=1) != codes for codes, labels in self._labels()]
        return float(np.mean(wrong))

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[Any]:
        """Return the class with most votes for each row, or write it ``to`` a file."""
        return self._free(self._predict, X, to, ["prediction"])

    def _predict(self, X: Any) -> NDArray[Any]:
        return self._winners(self._shares(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows told right; without X, of the rows held, each left out in turn."""
        if X is None:
            from sklearn.metrics import accuracy_score

            return float(accuracy_score(y, self._winners(self._shares(None)), sample_weight=sample_weight))
        return float(super().score(X, y, sample_weight))


class RadiusNeighborsClassifier(ClassVotes, RadiusMixin):
    r"""Tell the class that most rows within a radius have.

    radius: how far votes are asked for. outlier_label: what is told where nobody is near: a label,
    "most_frequent", or None, which makes that an error. weights: as for KNeighborsClassifier; the bandwidth
    of a kernel is the radius. algorithm, leaf_size, metric, p, metric_params, n_jobs, hold: as for
    NearestNeighbors.

    >>> from surefit import RadiusNeighborsClassifier
    >>> model = RadiusNeighborsClassifier(1.0).fit([[0.0], [1.0], [2.0], [10.0]], [0, 0, 1, 1])
    >>> model.predict([[1.2]])
    array([0])
    """

    n_neighbors = 5

    def __init__(
        self,
        radius: NonNegative = 1.0,
        *,
        weights: Weights = "uniform",
        algorithm: Algorithm = "auto",
        leaf_size: Count = 30,
        p: Positive = 2,
        metric: Metric = "minkowski",
        outlier_label: Any = None,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        hold: Literal["auto", "memory", "source"] = "auto",
    ) -> None:
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.outlier_label = outlier_label
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.hold = hold

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        learned = super()._learn(source, engine, trace)
        self.classes_ = learned.parameters.classes
        self._outliers()
        return learned

    def _outliers(self) -> list[Any] | None:
        """The label of each output for rows that nobody is near."""
        given, labels = self.outlier_label, self._labels()
        if given is None:
            return None
        if isinstance(given, str) and given == "most_frequent":
            weight = self.row_weights_
            return [own[np.bincount(codes, weight, len(own)).argmax()] for codes, own in labels]
        each = list(given) if np.ndim(given) == 1 and not isinstance(given, str) else [given] * len(labels)
        if len(each) != len(labels):
            raise DataError(
                f"The length of outlier_label: {each} is inconsistent with the output length: {len(labels)}"
            )
        for label, (_, own) in zip(each, labels, strict=True):
            if np.ndim(label) > 0:
                raise TypeError(
                    f"The outlier_label of classes {own} is supposed to be a scalar, got {label}."
                )
            if np.append(own, label).dtype != own.dtype:
                raise TypeError(
                    f"The dtype of outlier_label {label} is inconsistent with classes {own} in y."
                )
        return each

    @property
    def outlier_label_(self) -> Any:
        """What is told where nobody is near: one label an output, or None."""
        return self._outliers()

    def _shares(self, X: Any) -> Any:
        return self._shares_and_alone(X)[0]

    def _shares_and_alone(self, X: Any) -> tuple[Any, NDArray[np.bool_]]:
        limit = float(self.radius)
        lists = self._ready().within(X, limit, False)
        weight = list_weights(self.weights, lists, limit)
        if self.row_weights_ is not None:
            weight = weight * self.row_weights_[lists.index]
        shares = self._vote(Votes.of_lists(lists, weight))
        alone = lists.counts() == 0
        if alone.any():
            labels = self._outliers()
            if labels is None:
                raise DataError(
                    f"No neighbors found for test samples {np.flatnonzero(alone)[:10]}, you can try using "
                    "larger radius, giving a label for outliers, or considering removing them from your "
                    "dataset."
                )
            each = shares if isinstance(shares, list) else [shares]
            for one, label, (_, own) in zip(each, labels, self._labels(), strict=True):
                place = np.flatnonzero(own == label)
                if len(place):
                    one[alone, place[0]] = 1.0
                else:
                    warn(
                        f"Outlier label {label} is not in training classes. All class probabilities of "
                        "outliers will be assigned with 0.",
                        NoNeighborsWarning,
                    )
        return shares, alone

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[Any]:
        """Return the class with most votes for each row, or write it ``to`` a file."""
        return self._free(self._predict, X, to, ["prediction"])

    def _predict(self, X: Any) -> NDArray[Any]:
        shares, alone = self._shares_and_alone(X)
        found = self._winners(shares)
        labels = self._outliers()
        if labels is not None and alone.any():
            found = found.copy()
            if found.ndim == 1:
                found[alone] = labels[0]
            else:
                found[alone] = labels
        return found

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows told right; without X, of the rows held, each left out in turn."""
        if X is None:
            from sklearn.metrics import accuracy_score

            return float(accuracy_score(y, self._predict(None), sample_weight=sample_weight))
        return float(super().score(X, y, sample_weight))

    def _asked(self) -> int:
        return min(5, self.n_samples_fit_)


def list_weights(weights: Any, lists: Any, limit: float) -> Matrix:
    """The weights of lists of neighbours; a function is called with one list at a time, as in
    scikit-learn.
    """
    if callable(weights):
        distance, _ = lists.split()
        found = weights(distance)
        lists_of = [counting(np.asarray(one, dtype=np.float64)[None])[0] for one in found]
        return np.concatenate([np.empty(0), *lists_of])
    if isinstance(weights, str) and weights == "distance":
        zero = lists.distance == 0
        query = np.repeat(np.arange(len(lists.start) - 1), lists.counts())
        has = np.bincount(query, zero, len(lists.start) - 1) > 0
        with np.errstate(divide="ignore"):
            return np.where(has[query], zero.astype(np.float64), 1 / lists.distance)
    return weights_of(weights, lists.distance[:, None], np.full(len(lists.distance), limit))[:, 0]
