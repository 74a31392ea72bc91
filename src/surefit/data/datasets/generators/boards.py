"""Classes that no straight line tells apart, with labels flipped at a known rate: boards and parity.

And one that a line does tell apart, with a known margin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.parameters import Count, Interval, Positive, RandomState, WholeNumber
from surefit.data.datasets.generators import surprise
from surefit.data.datasets.generators.base import Codes, Generated, checked, stream

Flip = Annotated[float, Interval(0, 0.5, open_high=True)]


def _flipped(clean: Codes, flip: float, random: np.random.Generator) -> Codes:
    return np.where(random.random(len(clean)) < flip, 1 - clean, clean)


def _posterior(clean: Codes, flip: float) -> Matrix:
    one = np.where(clean == 1, 1.0 - flip, flip)
    return np.column_stack([1.0 - one, one])


@dataclass(frozen=True, eq=False)
class Checkerboard(Generated):
    """The black and white squares of a board with ``cells`` squares a side; the Bayes error is ``flip``.

    >>> drawn = Checkerboard.draw(rows=100, cells=4, flip=0.0, random_state=0)
    >>> bool((drawn.y == np.floor(drawn.X).sum(axis=1) % 2).all()), drawn.bayes_error
    (True, 0.0)
    """

    name = "checkerboard"
    X: Matrix
    y: Codes
    cells: int
    flip: float

    @property
    def bayes_error(self) -> float:
        """Error of the best classifier."""
        return self.flip

    def posterior(self, X: Matrix) -> Matrix:
        """Return the true probability of class 0 and of class 1 at some rows."""
        return _posterior(np.floor(X).sum(axis=1).astype(np.int64) % 2, self.flip)

    @classmethod
    @checked
    def draw(
        cls, rows: Count = 400, *, cells: Count = 4, flip: Flip = 0.05, random_state: RandomState = 0
    ) -> Self:
        """Draw uniform points on the board."""
        random = stream(random_state)
        X = random.uniform(0.0, cells, (rows, 2))
        clean = np.floor(X).sum(axis=1).astype(np.int64) % 2
        return cls(X, _flipped(clean, flip, random), int(cells), float(flip))

    def surprise(self) -> dict[str, float]:
        """Points spread evenly, labels as the squares say."""
        return {
            "labels": surprise.labels(self.y, self.posterior(self.X)),
            "points": surprise.total(self.X, self.cells / 2, self.cells**2 / 12),
        }


@dataclass(frozen=True, eq=False)
class Parity(Generated):
    """XOR and its kin: class 1 if an odd number of the first ``order`` columns is positive.

    No single column tells anything of the class. The Bayes error is ``flip``.

    >>> drawn = Parity.draw(rows=100, order=2, irrelevant=1, flip=0.0, random_state=0)
    >>> bool((drawn.y == (drawn.X[:, 0] * drawn.X[:, 1] < 0)).all()), drawn.X.shape
    (True, (100, 3))
    """

    name = "xor"
    X: Matrix
    y: Codes
    order: int
    flip: float

    @property
    def bayes_error(self) -> float:
        """Error of the best classifier."""
        return self.flip

    def posterior(self, X: Matrix) -> Matrix:
        """Return the true probability of class 0 and of class 1 at some rows."""
        return _posterior((X[:, : self.order] > 0).sum(axis=1) % 2, self.flip)

    @classmethod
    @checked
    def draw(
        cls,
        rows: Count = 400,
        order: Count = 2,
        *,
        irrelevant: WholeNumber = 0,
        flip: Flip = 0.05,
        random_state: RandomState = 0,
    ) -> Self:
        """Draw uniform points of the cube from -1 to 1."""
        random = stream(random_state)
        X = random.uniform(-1.0, 1.0, (rows, order + irrelevant))
        clean = (X[:, :order] > 0).sum(axis=1) % 2
        return cls(X, _flipped(clean, flip, random), int(order), float(flip))

    def surprise(self) -> dict[str, float]:
        """Points spread evenly, labels as the signs say."""
        return {
            "labels": surprise.labels(self.y, self.posterior(self.X)),
            "points": surprise.total(self.X, 0.0, 1.0 / 3.0),
        }


@dataclass(frozen=True, eq=False)
class Separable(Generated):
    """Two classes beside a hyperplane ``normal·x + offset = 0``, no row nearer to it than ``margin``.

    The normal has length 1. The widest margin of the rows drawn is at least this one.

    >>> drawn = Separable.draw(rows=100, margin=0.5, random_state=0)
    >>> bool(np.abs(drawn.X @ drawn.normal + drawn.offset).min() >= 0.5 - 1e-12), drawn.bayes_error
    (True, 0.0)
    """

    name = "separable"
    X: Matrix
    y: Codes
    normal: Vector
    offset: float
    margin: float

    @property
    def bayes_error(self) -> float:
        """Error of the best classifier."""
        return 0.0

    @classmethod
    @checked
    def draw(
        cls,
        rows: Count = 200,
        columns: Count = 2,
        *,
        margin: Positive = 0.5,
        random_state: RandomState = 0,
    ) -> Self:
        """Draw normal points and move each away from the hyperplane, to its own side, by the margin."""
        random = stream(random_state)
        normal = random.standard_normal(columns)
        normal /= np.linalg.norm(normal)
        offset = float(random.uniform(-0.5, 0.5))
        X = random.standard_normal((rows, columns))
        height = X @ normal  # normal with mean 0: half of the rows on each side
        X += np.outer(np.where(height > 0, margin, -margin) - offset, normal)
        return cls(X, (height > 0).astype(np.int64), normal, offset, float(margin))

    def surprise(self) -> dict[str, float]:
        """Both sides equally often, every row beyond the margin on the side of its class."""
        height = (self.X @ self.normal + self.offset) * np.where(self.y == 1, 1.0, -1.0)
        return {
            "sides": surprise.total(self.y, 0.5, 0.25),
            "margin": surprise.exact(np.minimum(height, self.margin), self.margin, 1e-12),
        }
