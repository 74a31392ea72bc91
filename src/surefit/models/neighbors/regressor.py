"""Tell numbers by the mean of neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import SurefitWarning, warn
from surefit.core.parameters import Count, NonNegative, Positive
from surefit.core.trace import Trace
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.candidate import Candidate
from surefit.models.neighbors.base import Algorithm, Metric, NeighborParameters, RadiusMixin
from surefit.models.neighbors.classifier import list_weights
from surefit.models.neighbors.votes import KNeighborsVotes, NumberMeans, Votes
from surefit.models.neighbors.weights import Weights


@dataclass(frozen=True, slots=True)
class KNeighborsNumberParameters(NeighborParameters):
    """The same, and of how many neighbours the mean is."""

    n_neighbors: int


class KNeighborsRegressor(NumberMeans, KNeighborsVotes):
    r"""Tell the mean of the targets of the k nearest rows.

    .. math:: f(x) = \sum_{i \in N_k(x)} w_i y_i \Big/ \sum_{i \in N_k(x)} w_i

    n_neighbors: k; ``"loo"`` takes the k up to ``most_neighbors`` whose squared error of leaving each row
    out is least (``n_neighbors_``). weights: "uniform", "distance" (one over it; rows at distance 0 alone
    count where there are any), a function, or a kernel, as for KNeighborsClassifier. algorithm, leaf_size,
    metric, p, metric_params, n_jobs, hold: as for NearestNeighbors.

    >>> from surefit import KNeighborsRegressor
    >>> model = KNeighborsRegressor(2).fit([[0.0], [1.0], [3.0]], [0.0, 2.0, 8.0])
    >>> model.predict([[1.8]])
    array([5.])
    """

    learns = KNeighborsNumberParameters
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
            KNeighborsNumberParameters(**values, n_neighbors=self._chosen_count()),
            learned.certificate,
            learned.evidence,
        )

    def _error(self, votes: Votes) -> float:
        return float(np.mean((votes.means(self.targets_) - self.targets_) ** 2))

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[Any]:
        """Return the mean of the neighbours of each row, or write it ``to`` a file."""
        return self._free(lambda rows: self._votes(rows).means(self.targets_), X, to, ["prediction"])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R squared; without X, of the rows held, each left out in turn."""
        if X is None:
            from sklearn.metrics import r2_score

            return float(r2_score(y, self._votes(None).means(self.targets_), sample_weight=sample_weight))
        return float(super().score(X, y, sample_weight))


class RadiusNeighborsRegressor(NumberMeans, RadiusMixin):
    """Tell the mean of the targets of all rows within a radius; NaN, with a warning, where there are none.

    radius: how far. weights: as for KNeighborsRegressor; the bandwidth of a kernel is the radius. algorithm,
    leaf_size, metric, p, metric_params, n_jobs, hold: as for NearestNeighbors.

    >>> from surefit import RadiusNeighborsRegressor
    >>> model = RadiusNeighborsRegressor(1.5).fit([[0.0], [1.0], [3.0]], [0.0, 2.0, 8.0])
    >>> model.predict([[1.8]])
    array([5.])
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
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.hold = hold

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[Any]:
        """Return the mean of the rows near each row, or write it ``to`` a file."""
        return self._free(self._predict, X, to, ["prediction"])

    def _predict(self, X: Any) -> NDArray[Any]:
        lists = self._ready().within(X, float(self.radius), False)
        weight = list_weights(self.weights, lists, float(self.radius))
        if self.row_weights_ is not None:
            weight = weight * self.row_weights_[lists.index]
        found = Votes.of_lists(lists, weight).means(self.targets_)
        if (lists.counts() == 0).any():
            warn(
                "One or more samples have no neighbors within specified radius; predicting NaN.",
                SurefitWarning,
            )
        return found

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R squared; without X, of the rows held, each left out in turn."""
        if X is None:
            from sklearn.metrics import r2_score

            return float(r2_score(y, self._predict(None), sample_weight=sample_weight))
        return float(super().score(X, y, sample_weight))

    def _asked(self) -> int:
        return min(5, self.n_samples_fit_)
