"""Classes along curves in the plane, with normal noise around them: moons, rings, spirals."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Annotated, Self

import numpy as np
from scipy.special import i0e

from surefit.core.arrays import Matrix, Vector
from surefit.core.parameters import Count, Interval, Positive, RandomState
from surefit.data.datasets.generators import surprise
from surefit.data.datasets.generators.base import Codes, Generated, checked, stream


def _moon(y: Codes, place: Vector) -> Matrix:
    """Two half circles that reach into each other."""
    angle = np.pi * place
    side = np.where(y == 0, 1.0, -1.0)
    return np.column_stack([side * np.cos(angle) + (y == 1), side * np.sin(angle) + 0.5 * (y == 1)])


def _spiral(y: Codes, place: Vector, arms: int, turns: float) -> Matrix:
    """Arms from near the centre to the unit circle."""
    radius = 0.1 + 0.9 * place
    angle = 2.0 * np.pi * (turns * place + y / arms)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def _along(X: Matrix, curves: list[Matrix], noise: float) -> Matrix:
    """Posterior of equally likely classes, each spread evenly over its curve, given as points along it."""
    posterior = np.empty((len(X), len(curves)))
    for start in range(0, len(X), 1024):  # blocks, so that memory does not grow with the number of rows
        block = X[start : start + 1024]
        logs = [-((block[:, None, :] - curve) ** 2).sum(axis=2) / (2.0 * noise**2) for curve in curves]
        top = np.max([log.max(axis=1) for log in logs], axis=0)
        likelihood = np.column_stack([np.exp(log - top[:, None]).mean(axis=1) for log in logs])
        posterior[start : start + 1024] = likelihood / likelihood.sum(axis=1, keepdims=True)
    return posterior


def _places(length: float, noise: float) -> Vector:
    """Midpoints along a curve, close enough for the noise to blur them into a line."""
    count = max(64, ceil(4.0 * length / noise))
    return (np.arange(count) + 0.5) / count


@dataclass(frozen=True, eq=False)
class Moons(Generated):
    """Two interleaved half circles of radius 1, with normal noise.

    >>> drawn = Moons.draw(rows=100, noise=0.1, random_state=0)
    >>> bool((drawn.posterior(drawn.X).argmax(axis=1) == drawn.y).mean() > 0.97)
    True
    """

    name = "moons"
    X: Matrix
    y: Codes
    clean: Matrix
    noise: float

    def posterior(self, X: Matrix) -> Matrix:
        """Return the true probability of class 0 and of class 1 at some rows."""
        places = _places(np.pi, self.noise)
        return _along(X, [_moon(np.full(len(places), c), places) for c in range(2)], self.noise)

    @classmethod
    @checked
    def draw(cls, rows: Count = 200, *, noise: Positive = 0.1, random_state: RandomState = 0) -> Self:
        """Draw the class, then the place on its half circle, then the noise."""
        random = stream(random_state)
        y = random.integers(2, size=rows)
        clean = _moon(y, random.random(rows))
        return cls(clean + noise * random.standard_normal((rows, 2)), y, clean, float(noise))

    def surprise(self) -> dict[str, float]:
        """Noise of the right size, labels as probable as the truth says."""
        return {
            "noise": surprise.noise(self.X - self.clean, self.noise),
            "labels": surprise.labels(self.y, self.posterior(self.X)),
        }


@dataclass(frozen=True, eq=False)
class Spirals(Generated):
    """Spiral arms from the centre to the unit circle, one a class, with normal noise.

    >>> drawn = Spirals.draw(rows=100, arms=3, random_state=0)
    >>> drawn.X.shape, np.unique(drawn.y).tolist()
    ((100, 2), [0, 1, 2])
    """

    name = "spirals"
    X: Matrix
    y: Codes
    clean: Matrix
    arms: int
    turns: float
    noise: float

    def posterior(self, X: Matrix) -> Matrix:
        """Return the true probability of every class at some rows."""
        places = _places(0.9 + 2.0 * np.pi * self.turns, self.noise)
        curves = [_spiral(np.full(len(places), c), places, self.arms, self.turns) for c in range(self.arms)]
        return _along(X, curves, self.noise)

    @classmethod
    @checked
    def draw(
        cls,
        rows: Count = 300,
        *,
        arms: Annotated[int, Interval(2, None)] = 2,
        turns: Positive = 1.5,
        noise: Positive = 0.03,
        random_state: RandomState = 0,
    ) -> Self:
        """Draw the arm, then the place along it, then the noise."""
        random = stream(random_state)
        y = random.integers(arms, size=rows)
        clean = _spiral(y, random.random(rows), arms, turns)
        X = clean + noise * random.standard_normal((rows, 2))
        return cls(X, y, clean, int(arms), float(turns), float(noise))

    def surprise(self) -> dict[str, float]:
        """Noise of the right size, labels as probable as the truth says."""
        return {
            "noise": surprise.noise(self.X - self.clean, self.noise),
            "labels": surprise.labels(self.y, self.posterior(self.X)),
        }


@dataclass(frozen=True, eq=False)
class Rings(Generated):
    """Circles around one centre, one a class, at radius 1, 2, and so on, with normal noise.

    The distance to the centre follows Rice's density, so posterior and Bayes error are known.

    >>> drawn = Rings.draw(rows=100, rings=2, noise=0.2, random_state=0)
    >>> round(drawn.bayes_error, 4)
    0.0064
    """

    name = "rings"
    X: Matrix
    y: Codes
    clean: Matrix
    radii: Vector
    noise: float

    def _density(self, radius: Vector) -> Matrix:
        """Joint density of class and distance, a column a class."""
        scaled = np.outer(radius, self.radii) / self.noise**2
        bell = np.exp(-((radius[:, None] - self.radii) ** 2) / (2.0 * self.noise**2)) * i0e(scaled)
        return np.asarray(radius[:, None] / self.noise**2 * bell / len(self.radii))

    def posterior(self, X: Matrix) -> Matrix:
        """Return the true probability of every class at some rows."""
        radius = np.hypot(X[:, 0], X[:, 1])
        scaled = np.outer(radius, self.radii) / self.noise**2
        logs = np.log(i0e(scaled)) - (radius[:, None] - self.radii) ** 2 / (2.0 * self.noise**2)
        likelihood = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(likelihood / likelihood.sum(axis=1, keepdims=True))

    @property
    def bayes_error(self) -> float:
        """Error of the best classifier, the integral over the distance of all but the largest density."""
        edge = self.radii[-1] + 10.0 * self.noise
        radius = np.linspace(0.0, edge, 20_001)
        joint = self._density(radius)
        return float(np.trapezoid(joint.sum(axis=1) - joint.max(axis=1), radius))

    @classmethod
    @checked
    def draw(
        cls,
        rows: Count = 300,
        *,
        rings: Annotated[int, Interval(2, None)] = 2,
        noise: Positive = 0.15,
        random_state: RandomState = 0,
    ) -> Self:
        """Draw the ring, then the angle, then the noise."""
        random = stream(random_state)
        radii = np.arange(1.0, rings + 1.0)
        y = random.integers(rings, size=rows)
        angle = random.uniform(0.0, 2.0 * np.pi, rows)
        clean = radii[y, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        return cls(clean + noise * random.standard_normal((rows, 2)), y, clean, radii, float(noise))

    def surprise(self) -> dict[str, float]:
        """Noise of the right size, labels as probable as the truth says."""
        return {
            "noise": surprise.noise(self.X - self.clean, self.noise),
            "labels": surprise.labels(self.y, self.posterior(self.X)),
        }
