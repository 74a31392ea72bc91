"""Regression on one number or a few boxes: a wave for smoothers and kernels, steps for trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.parameters import Count, Positive, RandomState
from surefit.data.datasets.generators import surprise
from surefit.data.datasets.generators.base import Codes, Generated, checked, stream


@dataclass(frozen=True, eq=False)
class Wave(Generated):
    """A noisy sine: ``y = sin(2π · periods · x) + e`` with x uniform on [0, 1].

    >>> drawn = Wave.draw(rows=5, random_state=0)
    >>> bool(np.allclose(drawn.mean(np.array([[0.25 / drawn.periods]])), 1.0))
    True
    """

    name = "wave"
    X: Matrix
    y: Vector
    periods: float
    noise: float

    @property
    def optimal_risk(self) -> float:
        """Expected squared error of the truth itself."""
        return self.noise**2

    def mean(self, X: Matrix) -> Vector:
        """Return the true curve at some rows."""
        return np.asarray(np.sin(2.0 * np.pi * self.periods * X[:, 0]))

    @classmethod
    @checked
    def draw(
        cls,
        rows: Count = 100,
        *,
        periods: Positive = 2.0,
        noise: Positive = 0.2,
        random_state: RandomState = 0,
    ) -> Self:
        """Draw the places, then the noise."""
        random = stream(random_state)
        X = random.random((rows, 1))
        clean = np.sin(2.0 * np.pi * periods * X[:, 0])
        return cls(X, clean + noise * random.standard_normal(rows), float(periods), float(noise))

    def surprise(self) -> dict[str, float]:
        """Noise of the right size, unrelated to the curve."""
        residual = self.y - self.mean(self.X)
        return {
            "noise": surprise.noise(residual, self.noise),
            "curve": surprise.score(np.column_stack([self.X, self.mean(self.X)]), residual, self.noise),
        }


@dataclass(frozen=True, eq=False)
class Steps(Generated):
    """A planted tree: y is one value on each box of the unit cube, plus noise.

    The tree is complete, in heap order: node k asks whether ``X[:, feature[k]] < threshold[k]``, goes to node
    2k+1 if so and to 2k+2 if not; the ``2 ** depth`` leaves have the ``values`` from left to right.

    >>> drawn = Steps.draw(rows=50, columns=3, depth=2, noise=0.1, random_state=0)
    >>> drawn.values.shape, drawn.threshold.shape, bool(np.abs(drawn.y - drawn.mean(drawn.X)).max() < 0.5)
    ((4,), (3,), True)
    """

    name = "steps"
    X: Matrix
    y: Vector
    feature: Codes
    threshold: Vector
    values: Vector
    noise: float

    @property
    def optimal_risk(self) -> float:
        """Expected squared error of the truth itself."""
        return self.noise**2

    def leaf(self, X: Matrix) -> Codes:
        """Return the leaf that each row falls into, counted from the left."""
        node = np.zeros(len(X), dtype=np.int64)
        rows = np.arange(len(X))
        for _ in range(len(self.values).bit_length() - 1):
            node = 2 * node + np.where(X[rows, self.feature[node]] < self.threshold[node], 1, 2)
        return node - len(self.feature)

    def mean(self, X: Matrix) -> Vector:
        """Return the true value at some rows."""
        return self.values[self.leaf(X)]

    @classmethod
    @checked
    def draw(
        cls,
        rows: Count = 500,
        columns: Count = 5,
        depth: Count = 3,
        *,
        noise: Positive = 0.5,
        random_state: RandomState = 0,
    ) -> Self:
        """Cut each box somewhere in its middle part, so that no leaf is a sliver; neighbours differ by 1 or
        more.
        """
        random = stream(random_state)
        inner = 2**depth - 1
        feature = random.integers(columns, size=inner)
        share = random.uniform(0.3, 0.7, inner)
        low, high = np.zeros((2 * inner + 1, columns)), np.ones((2 * inner + 1, columns))
        threshold = np.empty(inner)
        for node in range(inner):
            left, right, column = 2 * node + 1, 2 * node + 2, feature[node]
            start, end = low[node, column], high[node, column]
            threshold[node] = start + share[node] * (end - start)
            low[[left, right]], high[[left, right]] = low[node], high[node]
            high[left, column] = low[right, column] = threshold[node]
        values = random.permutation(inner + 1) * 1.0 + random.random()
        X = random.random((rows, columns))
        planted = cls(X, np.zeros(rows), feature, threshold, values, float(noise))
        y = planted.mean(X) + noise * random.standard_normal(rows)
        return cls(X, y, feature, threshold, values, float(noise))

    def surprise(self) -> dict[str, float]:
        """Noise of the right size, with mean zero in every leaf."""
        residual = self.y - self.mean(self.X)
        inside = self.leaf(self.X)[:, None] == np.arange(len(self.values))
        inside = inside[:, inside.any(axis=0)]
        return {
            "noise": surprise.noise(residual, self.noise),
            "values": surprise.score(inside.astype(np.float64), residual, self.noise),
        }
