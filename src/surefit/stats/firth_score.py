"""What Firth's correction adds to the score: the leverage of each row times its distance from even odds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core.arrays import Vector
from surefit.data.batches.batch import Batch
from surefit.stats.base import Statistic, seal
from surefit.stats.cases import Trial
from surefit.stats.products import pulled, scores

BLOCK = 4096  # rows whose products with the root stay in the cache


@dataclass(frozen=True, slots=True)
class FirthScore(Statistic):
    r""":math:`X'h(\tfrac12 - p)` of a logistic fit, with :math:`h_i = s_i p_i (1 - p_i) \|R'x_i\|^2`.

    R is a root of the inverse information; rows have a last 1 where there is an intercept. total: the sum of
    h, which is the number of coefficients.

    >>> batch = Batch(np.array([[1.0], [-1.0]]), np.array([0.0, 1.0]))
    >>> FirthScore.of(batch, w=np.zeros(1), root=np.array([[2.0]])).total
    2.0
    """

    name = "firth_score"

    score: Vector
    total: float

    def __post_init__(self) -> None:
        seal(self)

    @classmethod
    def of(
        cls,
        batch: Batch,
        *,
        w: Vector | None = None,
        intercept: Any = None,
        root: Vector | None = None,
        **context: Any,
    ) -> FirthScore:
        """Evaluate at w and ``intercept``, None for no intercept."""
        if w is None or root is None:
            raise ValueError("a FirthScore needs w= and root=.")
        X: Any = batch.X
        z = scores(X, w) + (0.0 if intercept is None else intercept)
        away = 0.5 * np.tanh(0.5 * z)  # p - 1/2, all of its digits
        hat = (0.25 - away**2) * (1.0 if batch.weight is None else batch.weight)
        rest = root if intercept is None else root[:-1]
        for first in range(0, len(z), BLOCK):
            some = slice(first, first + BLOCK)
            along = scores(X[some], rest) + (0.0 if intercept is None else root[-1])
            hat[some] *= np.einsum("ij,ij->i", along, along)
        slope = -hat * away
        score = pulled(X, slope)
        return cls(score if intercept is None else np.append(score, slope.sum()), float(hat.sum()))

    def __add__(self, other: FirthScore) -> FirthScore:
        return FirthScore(self.score + other.score, self.total + other.total)

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """A point that is not the optimum, with and without an intercept."""
        w = np.array([0.3, -0.2, 0.1, 0.05])
        return (
            Trial("numbers", {"w": w, "intercept": 0.25, "root": np.eye(5) / 9}),
            Trial("sparse", {"w": w, "root": np.eye(4)[:, :3] / 5}),
        )
