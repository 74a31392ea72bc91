"""How far targets are from the means of a generalised linear model: deviance and Pearson's sum."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core.arrays import Vector
from surefit.data.batches.batch import Batch
from surefit.stats.base import Statistic
from surefit.stats.cases import Trial
from surefit.stats.products import scores_of


@dataclass(frozen=True, slots=True)
class Deviance(Statistic):
    r"""Sums of unit deviances :math:`s_i d(y_i, \mu_i)` and of Pearson's :math:`s_i (y_i-\mu_i)^2/V(\mu_i)`.

    null_deviance: at the means of ``constant``. target: the weighted sum of y. rows: those that count.

    >>> Deviance.mean_of(Batch(np.zeros((2, 1)), np.array([1.0, 4.0]))).constant
    2.5
    """

    name = "deviance"

    weight: float
    rows: int
    target: float
    deviance: float = 0.0
    null_deviance: float = 0.0
    pearson: float = 0.0

    @property
    def constant(self) -> float:
        """The mean target."""
        return self.target / self.weight

    @classmethod
    def mean_of(cls, batch: Batch) -> Deviance:
        """Sum the targets alone."""
        y, s, _ = _counted(batch)
        return cls(float(s.sum()), len(s), float(s @ y))

    @classmethod
    def of(
        cls,
        batch: Batch,
        *,
        loss: Any = None,
        w: Vector | None = None,
        intercept: Any = None,
        constant: float = 0.0,
        **context: Any,
    ) -> Deviance:
        """Compare the targets with the means at w and ``intercept``, and with the mean ``constant``.

        loss: half the deviance of a score, with the ``family`` and the ``link`` that it is of.
        """
        if loss is None or w is None:
            raise ValueError("a Deviance needs loss= and w=.")
        family = loss.family
        y, s, kept = _counted(batch)
        z = scores_of(batch, w, intercept)[kept]
        mean = np.asarray(loss.link.inverse(z), dtype=np.float64)
        with np.errstate(divide="ignore", over="ignore"):
            own = 2.0 * loss.value(y, z)  # a mean that rounds to an end of its range still has one
            null = family.deviance(y, np.full_like(y, constant))
            pearson = pearson_of(y, mean, family)
        return cls(float(s.sum()), len(s), float(s @ y), float(s @ own), float(s @ null), float(s @ pearson))

    def __add__(self, other: Deviance) -> Deviance:
        return Deviance(
            self.weight + other.weight,
            self.rows + other.rows,
            self.target + other.target,
            self.deviance + other.deviance,
            self.null_deviance + other.null_deviance,
            self.pearson + other.pearson,
        )

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """Normal targets with means on a line."""
        at = {"loss": _Squares(), "w": np.ones(4) / 7, "constant": 0.5}
        return (Trial("numbers", {**at, "intercept": 0.25}), Trial("sparse", at))


class _Squares:
    def value(self, y: Vector, z: Vector) -> Vector:
        return 0.5 * (y - z) ** 2

    def deviance(self, y: Vector, mean: Vector) -> Vector:
        return (y - mean) ** 2

    def variance(self, mean: Vector) -> Vector:
        return np.ones_like(mean)

    def inverse(self, z: Vector) -> Vector:
        return z

    @property
    def family(self) -> _Squares:
        return self

    link = family


def _counted(batch: Batch) -> tuple[Vector, Vector, Any]:
    y = np.asarray(batch.y, dtype=np.float64)
    if batch.weight is None:
        return y, np.ones(len(y)), slice(None)
    kept = batch.weight > 0
    return y[kept], np.asarray(batch.weight, dtype=np.float64)[kept], kept


def pearson_of(y: Vector, mean: Vector, family: Any) -> Vector:
    r"""Return :math:`(y - \mu)^2 / V(\mu)`; a mean with no variance, as of a sure class, is met or it is not.

    >>> from types import SimpleNamespace
    >>> counts = SimpleNamespace(variance=lambda mean: mean)
    >>> pearson_of(np.array([0.0, 3.0, 1.0]), np.array([0.0, 2.0, 0.0]), counts)
    array([0. , 0.5, inf])
    """
    squares = np.asarray((y - mean) ** 2, dtype=np.float64)
    variance = np.broadcast_to(np.asarray(family.variance(mean), dtype=np.float64), squares.shape)
    with np.errstate(over="ignore"):
        return np.divide(squares, variance, out=np.where(squares > 0, np.inf, 0.0), where=variance > 0)
