"""Turn rows into the sparse graph of their neighbours."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.parameters import Count, NonNegative, Positive
from surefit.data.door import Accepts
from surefit.models.float_range import refuse_endless_answers
from surefit.models.neighbors.base import Algorithm, Metric, NearestMixin, RadiusMixin


class _Graph(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """What both share: each row of the fit is a column of the answer."""

    n_samples_fit_: int

    @property
    def _n_features_out(self) -> int:
        return self.n_samples_fit_

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, then return the graph of the same rows."""
        return self.fit(X, y).transform(X)


def _finite(model: Any, graph: Any) -> Any:
    refuse_endless_answers(type(model).__name__, np.zeros(1), graph)
    return graph


class KNeighborsTransformer(_Graph, NearestMixin):
    """Turn rows into the sparse graph of their nearest rows of the fit.

    mode: "distance", with one neighbour more, since a row of the fit is its own; or "connectivity", ones.
    n_neighbors and the rest: as for NearestNeighbors. Models that take precomputed distances take the graph.

    >>> from surefit import KNeighborsTransformer
    >>> KNeighborsTransformer(n_neighbors=1).fit_transform([[0.0], [1.0], [3.0]]).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 2., 0.]])
    """

    accepts = Accepts()
    radius = 1.0

    def __init__(
        self,
        *,
        mode: Literal["distance", "connectivity"] = "distance",
        n_neighbors: Count = 5,
        algorithm: Algorithm = "auto",
        leaf_size: Count = 30,
        metric: Metric = "minkowski",
        p: Positive = 2,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.mode = mode
        self.n_neighbors = n_neighbors
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Hold the rows of a table and make them ready to be searched."""
        return super().fit(X, y)

    def transform(self, X: Any) -> Any:
        """Return the graph (rows of X, rows of the fit)."""
        check_is_fitted(self)
        return _finite(
            self, self.kneighbors_graph(X, self.n_neighbors + (self.mode == "distance"), self.mode)
        )


class RadiusNeighborsTransformer(_Graph, RadiusMixin):
    """Turn rows into the sparse graph of all rows of the fit within a radius.

    mode: "distance", or "connectivity", ones. radius and the rest: as for NearestNeighbors.

    >>> from surefit import RadiusNeighborsTransformer
    >>> RadiusNeighborsTransformer(radius=1.5).fit_transform([[0.0], [1.0], [3.0]]).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """

    accepts = Accepts()
    n_neighbors = 5

    def __init__(
        self,
        *,
        mode: Literal["distance", "connectivity"] = "distance",
        radius: NonNegative = 1.0,
        algorithm: Algorithm = "auto",
        leaf_size: Count = 30,
        metric: Metric = "minkowski",
        p: Positive = 2,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.mode = mode
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Hold the rows of a table and make them ready to be searched."""
        return super().fit(X, y)

    def transform(self, X: Any) -> Any:
        """Return the graph (rows of X, rows of the fit); distances in order."""
        check_is_fitted(self)
        return _finite(self, self.radius_neighbors_graph(X, self.radius, self.mode, sort_results=True))

    def _asked(self) -> int:
        return min(5, self.n_samples_fit_)
