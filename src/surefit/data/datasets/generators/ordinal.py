"""Ordered levels: a hidden score cut at thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from scipy.special import expit, logit

from surefit.core.arrays import Matrix, Vector
from surefit.core.parameters import Count, Interval, NonNegative, RandomState
from surefit.data.datasets.generators import surprise
from surefit.data.datasets.generators.base import Codes, Generated, checked, stream


@dataclass(frozen=True, eq=False)
class Ordinal(Generated):
    """Proportional odds: ``P(y <= k | x) = σ(cut_k - x·w)``, levels counted from 0.

    >>> drawn = Ordinal.draw(rows=100, levels=4, random_state=0)
    >>> drawn.cuts.shape, np.unique(drawn.y).tolist(), bool((np.diff(drawn.cuts) > 0).all())
    ((3,), [0, 1, 2, 3], True)
    """

    name = "ordinal"
    X: Matrix
    y: Codes
    coefficients: Vector
    cuts: Vector

    def posterior(self, X: Matrix) -> Matrix:
        """Return the true probability of every level at some rows."""
        below = expit(self.cuts - (X @ self.coefficients)[:, None])
        edges = np.column_stack([np.zeros(len(X)), below, np.ones(len(X))])
        return np.diff(edges, axis=1)

    @classmethod
    @checked
    def draw(
        cls,
        rows: Count = 500,
        columns: Count = 4,
        *,
        levels: Annotated[int, Interval(2, None)] = 4,
        signal: NonNegative = 2.0,
        random_state: RandomState = 0,
    ) -> Self:
        """Cut so that the levels are equally likely at the mean of X; the score has deviation ``signal``."""
        random = stream(random_state)
        X = random.standard_normal((rows, columns))
        coefficients = random.standard_normal(columns)
        coefficients *= signal / np.linalg.norm(coefficients)
        cuts = logit(np.arange(1, levels) / levels)
        hidden = X @ coefficients + random.logistic(size=rows)
        return cls(X, np.searchsorted(cuts, hidden).astype(np.int64), coefficients, cuts)

    def surprise(self) -> dict[str, float]:
        """Levels as probable as the truth says."""
        return {"levels": surprise.labels(self.y, self.posterior(self.X))}
