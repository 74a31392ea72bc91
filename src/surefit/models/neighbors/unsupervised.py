"""Who is near, without a target."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from surefit.core.arrays import Vector
from surefit.core.parameters import Count, NonNegative, Positive
from surefit.data.door import Accepts
from surefit.models.neighbors.base import Algorithm, Metric, NearestMixin, RadiusMixin, nearest_with_places


class NearestNeighbors(NearestMixin, RadiusMixin):
    r"""Hold rows and answer which are nearest to a row, or within a radius of it, exactly.

    n_neighbors, radius: what is asked for where a call does not say. algorithm: "kd_tree" (boxes),
    "ball_tree" (balls, or vantage points where a distance does not go by columns), "brute" (all pairs), or
    "auto", which counts how much a tree would leave out; ``print(model)`` tells what was chosen and why.
    metric: a name, a distance of ``surefit.distances``, a kernel, or a function of two rows. leaf_size: rows
    of a leaf, in groups of 16. n_jobs: without effect (see ``surefit.config``). hold: whether the rows are
    held in "memory" or stay in their "source", to be compared as they pass; "auto" by their size.

    Of equal distances the row with the lower number comes first. ``partial_fit`` takes in rows and ``forget``
    drops them, without a rebuild.

    >>> from surefit import NearestNeighbors
    >>> model = NearestNeighbors(n_neighbors=2).fit([[0.0], [1.0], [3.0]])
    >>> model.kneighbors([[2.0]])
    (array([[1., 1.]]), array([[1, 2]]))
    >>> print(model)
    NearestNeighbors(n_neighbors=2) (3 rows, brute, Euclidean(): 3 rows are few enough to compare all pairs)
    """

    accepts = Accepts()

    def __init__(
        self,
        *,
        n_neighbors: Count = 5,
        radius: NonNegative = 1.0,
        algorithm: Algorithm = "auto",
        leaf_size: Count = 30,
        metric: Metric = "minkowski",
        p: Positive = 2,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        hold: Literal["auto", "memory", "source"] = "auto",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.hold = hold

    def score_samples(self, X: Any, *, to: str | Path | None = None) -> Vector:
        """Return the distance of the farthest of the k nearest rows, negative: low for outliers."""
        return self._answer(self._score, X, to, ["score"])

    def _score(self, X: Any) -> Vector:
        k = min(self.n_neighbors, self.n_samples_fit_) if self.row_weights_ is None else self.n_neighbors
        found, places = nearest_with_places(self, X, k)
        if places is None:
            return -found.distance[:, -1]
        last = (places > 0).sum(axis=1) - 1
        return -found.distance[range(len(last)), last]
