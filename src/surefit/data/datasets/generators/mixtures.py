"""Clusters: round blobs of equal size, and Gaussian mixtures with weights and covariances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtr

from surefit.core.arrays import Matrix, Vector
from surefit.core.parameters import Count, Interval, Positive, RandomState
from surefit.data.datasets.generators import surprise
from surefit.data.datasets.generators.base import Codes, Generated, checked, stream


@dataclass(frozen=True, eq=False)
class Blobs(Generated):
    """Round clusters of equal size: ``x | class k ~ N(center_k, spread² I)``.

    >>> drawn = Blobs.draw(rows=90, clusters=3, random_state=0)
    >>> np.bincount(drawn.y).tolist()
    [30, 30, 30]
    """

    name = "blobs"
    X: Matrix
    y: Codes
    centers: Matrix
    spread: float

    @property
    def bayes_error(self) -> float | None:
        """Error of the best classifier, ``Φ(-distance / (2 spread))`` for two clusters; None for more."""
        if len(self.centers) != 2:
            return None
        return float(ndtr(-np.linalg.norm(self.centers[0] - self.centers[1]) / (2.0 * self.spread)))

    def posterior(self, X: Matrix) -> Matrix:
        """Return the true probability of every cluster at some rows."""
        logs = -((X[:, None, :] - self.centers) ** 2).sum(axis=2) / (2.0 * self.spread**2)
        return np.asarray(np.exp(logs - logsumexp(logs, axis=1, keepdims=True)))

    @classmethod
    @checked
    def draw(
        cls,
        rows: Count = 300,
        columns: Count = 2,
        clusters: Count = 3,
        *,
        spread: Positive = 1.0,
        box: Positive = 10.0,
        random_state: RandomState = 0,
    ) -> Self:
        """Draw the centres evenly between ``-box`` and ``box``, then the points, in random order."""
        random = stream(random_state)
        centers = random.uniform(-box, box, (clusters, columns))
        y = random.permutation(np.arange(rows) % clusters)
        X = centers[y] + spread * random.standard_normal((rows, columns))
        return cls(X, y, centers, float(spread))

    def surprise(self) -> dict[str, float]:
        """Deviations from the centre of the right size, with mean zero in every cluster."""
        residual = self.X - self.centers[self.y]
        inside = (self.y[:, None] == np.arange(len(self.centers))).astype(np.float64)
        inside = inside[:, inside.any(axis=0)]
        return {
            "spread": surprise.noise(residual, self.spread),
            "centers": max(surprise.score(inside, column, self.spread) for column in residual.T),
        }


@dataclass(frozen=True, eq=False)
class GaussianMixture(Generated):
    """Ellipses of any shape and weight, y the component: ``p(x) = Σ_k weight_k N(x | mean_k, covariance_k)``.

    >>> drawn = GaussianMixture.draw(rows=200, components=3, random_state=0)
    >>> drawn.covariances.shape, bool(np.allclose(drawn.posterior(drawn.X).sum(axis=1), 1))
    ((3, 2, 2), True)
    """

    name = "gaussian_mixture"
    X: Matrix
    y: Codes
    weights: Vector
    means: Matrix
    covariances: NDArray[np.float64]

    def _joint(self, X: Matrix) -> Matrix:
        """Log of weight times density, a column a component."""
        logs = np.empty((len(X), len(self.weights)))
        for k, (weight, mean, covariance) in enumerate(
            zip(self.weights, self.means, self.covariances, strict=True)
        ):
            factor = np.linalg.cholesky(covariance)
            scaled = np.linalg.solve(factor, (X - mean).T)
            constant = np.log(weight) - np.log(np.diag(factor)).sum() - 0.5 * X.shape[1] * np.log(2.0 * np.pi)
            logs[:, k] = constant - 0.5 * (scaled**2).sum(axis=0)
        return logs

    def log_density(self, X: Matrix) -> Vector:
        """Return the logarithm of the true density at some rows."""
        return np.asarray(logsumexp(self._joint(X), axis=1))

    def posterior(self, X: Matrix) -> Matrix:
        """Return the true probability of every component at some rows."""
        logs = self._joint(X)
        return np.asarray(np.exp(logs - logsumexp(logs, axis=1, keepdims=True)))

    @classmethod
    @checked
    def draw(
        cls,
        rows: Count = 500,
        columns: Count = 2,
        components: Count = 3,
        *,
        separation: Positive = 4.0,
        elongation: Annotated[float, Interval(1, None)] = 3.0,
        random_state: RandomState = 0,
    ) -> Self:
        """Draw means of deviation ``separation`` and covariances whose axes reach from 1 / ``elongation`` to
        1; no weight is below half of its equal share.
        """
        random = stream(random_state)
        weights = 0.5 / components + 0.5 * random.dirichlet(np.ones(components))
        means = separation * random.standard_normal((components, columns))
        axes, _ = np.linalg.qr(random.standard_normal((components, columns, columns)))
        lengths = float(elongation) ** -random.random((components, columns))
        factors = axes * lengths[:, None, :]
        y = random.choice(components, size=rows, p=weights)
        X = means[y] + np.einsum("nij,nj->ni", factors[y], random.standard_normal((rows, columns)))
        return cls(X, y, weights, means, factors @ factors.transpose(0, 2, 1))

    def surprise(self) -> dict[str, float]:
        """Components as frequent as their weights, and as the posterior says row by row; every component
        of its own shape.
        """
        scaled, inside = np.empty_like(self.X), []
        for k, (mean, covariance) in enumerate(zip(self.means, self.covariances, strict=True)):
            own = self.y == k
            scaled[own] = np.linalg.solve(np.linalg.cholesky(covariance), (self.X[own] - mean).T).T
            inside += [own] if own.any() else []
        members = np.column_stack(inside).astype(np.float64)
        prior = np.broadcast_to(self.weights, (len(self.y), len(self.weights)))
        return {
            "weights": surprise.labels(self.y, prior),
            "posterior": surprise.labels(self.y, self.posterior(self.X)),
            "means": max(surprise.score(members, column, 1.0) for column in scaled.T),
            "covariances": surprise.noise(scaled, 1.0),
        }
