"""Sums over the rows of each component of a mixture, weighted by their share in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.data.batches.batch import Batch
from surefit.stats.base import Statistic
from surefit.stats.cases import Trial


@dataclass(frozen=True, slots=True)
class SharedSums(Statistic):
    r"""With shares r of the rows: :math:`\sum_i s_i r_{ik}` and :math:`\sum_i s_i r_{ik} f(x_i)`.

    likelihood is :math:`\sum_i s_i \log p(x_i)` of the mixture that gave the shares.
    """

    name = "shared-sums"

    rows: int
    likelihood: float
    weight: Vector
    sums: Matrix

    @classmethod
    def of(cls, batch: Batch, **context: Any) -> SharedSums:
        """Share out each row by ``joint``, the log of share times density; sum ``features`` of it."""
        joint: Callable[[Any], Matrix] = context["joint"]
        features: Callable[[Any], Any] = context["features"]
        shares, likelihood = shares_of(joint(batch.X), batch.weight)
        return cls(len(batch), likelihood, shares.sum(axis=0), np.asarray(shares.T @ features(batch.X)))

    def __add__(self, other: SharedSums) -> SharedSums:
        return SharedSums(
            self.rows + other.rows,
            self.likelihood + other.likelihood,
            self.weight + other.weight,
            self.sums + other.sums,
        )

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """Two components told apart by the first columns."""
        yield Trial("numbers", {"joint": partial(_leaning, 2), "features": np.abs})


def _leaning(count: int, X: Any) -> Matrix:
    found: Matrix = -np.abs(X[:, :count])
    return found


def shares_of(joint: Matrix, weight: Vector | None) -> tuple[Matrix, float]:
    """The shares of each row in the components, times its weight, and the weighted sum of log densities."""
    high = joint.max(axis=1, keepdims=True)
    base = np.where(np.isfinite(high), high, 0.0)
    shares = np.exp(joint - base)
    total = shares.sum(axis=1)
    s = np.ones(len(joint)) if weight is None else weight
    with np.errstate(divide="ignore"):
        logs = base[:, 0] + np.log(total)
    shares *= np.divide(s, total, out=np.zeros_like(total), where=total > 0)[:, None]
    return shares, float(s[s > 0] @ logs[s > 0])
