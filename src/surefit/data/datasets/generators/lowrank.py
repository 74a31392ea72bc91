"""A matrix of low rank, seen through noise and with entries missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np

from surefit.core.arrays import Matrix
from surefit.core.parameters import Count, Interval, Positive, RandomState
from surefit.data.datasets.generators import surprise
from surefit.data.datasets.generators.base import Generated, Mask, checked, stream

Share = Annotated[float, Interval(0, 1, open_low=True)]


@dataclass(frozen=True, eq=False)
class LowRank(Generated):
    """``X = left · right' + e`` where observed, NaN elsewhere; which entries are observed is pure chance.

    The best mean squared error on a missing entry is that of the factors themselves: ``noise²`` against a
    noisy entry, 0 against the ``clean`` one.

    >>> drawn = LowRank.draw(rows=30, columns=40, rank=2, observed=0.5, random_state=0)
    >>> int(np.linalg.matrix_rank(drawn.clean)), bool((np.isnan(drawn.X) == ~drawn.observed).all())
    (2, True)
    """

    name = "low_rank"
    X: Matrix
    left: Matrix
    right: Matrix
    observed: Mask
    share: float
    noise: float

    @property
    def clean(self) -> Matrix:
        """The whole matrix without noise."""
        return np.asarray(self.left @ self.right.T)

    @property
    def optimal_risk(self) -> float:
        """Expected squared error of the truth on a noisy entry."""
        return self.noise**2

    @classmethod
    @checked
    def draw(
        cls,
        rows: Count = 100,
        columns: Count = 80,
        rank: Count = 3,
        *,
        observed: Share = 0.5,
        noise: Positive = 0.1,
        random_state: RandomState = 0,
    ) -> Self:
        """Draw normal factors whose product has entries of variance 1."""
        random = stream(random_state)
        left = random.standard_normal((rows, rank)) / np.sqrt(rank)
        right = random.standard_normal((columns, rank))
        seen = random.random((rows, columns)) < observed
        X = left @ right.T + noise * random.standard_normal((rows, columns))
        X[~seen] = np.nan
        return cls(X, left, right, seen, float(observed), float(noise))

    def surprise(self) -> dict[str, float]:
        """The share of entries observed, and noise of the right size on them."""
        seen = self.observed.ravel()
        residual = (self.X - self.clean)[self.observed]
        return {
            "observed": surprise.total(seen, self.share, self.share * (1.0 - self.share)),
            "noise": surprise.noise(residual, self.noise) if residual.size else 0.0,
        }
