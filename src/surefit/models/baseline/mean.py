"""Predict the mean of the target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from surefit.core.certificate import Certificate
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.candidate import Candidate
from surefit.models.updating import OneStatistic
from surefit.stats.base import Joint
from surefit.stats.spread import Spread


@dataclass(frozen=True, slots=True)
class MeanParameters:
    """The mean of each output, and its standard error."""

    mean: NDArray[np.float64]
    standard_error: NDArray[np.float64]


class MeanRegressor(RegressorMixin, OneStatistic):
    r"""Predict the weighted mean of the target, whatever the columns say.

    The mean is the constant :math:`c` that minimises :math:`\sum_i s_i (y_i - c)^2`, so its certificate is
    an optimality gap: no other constant has a mean squared error lower by more than the gap, relative to
    the variance of the target.

    >>> from surefit import MeanRegressor
    >>> model = MeanRegressor().fit([[0], [1], [2]], [1.0, 2.0, 6.0])
    >>> model.predict([[5]])
    array([3.])
    >>> model.certificate_.holds
    True
    """

    accepts = Accepts(target="number", several_targets=True)
    learns = MeanParameters
    candidate = Candidate("Mean of the target", 0, streams=True)

    mean_: NDArray[np.float64]
    standard_error_: NDArray[np.float64]

    def __init__(self) -> None:
        pass

    def _of(self, schema: Schema) -> Callable[[Batch], Joint]:
        return partial(Joint.of, target=partial(Spread.of, part="y"), columns=Spread.of)

    def _finish(self, statistic: Joint, schema: Schema) -> Learned:
        target: Spread = statistic["target"]
        # Rounding moves a mean by a few units in the last place of the largest target, and not at all when
        # all are equal.
        largest = np.maximum(np.abs(target.minimum), np.abs(target.maximum))
        error = np.where(target.minimum == target.maximum, 0.0, 8 * np.finfo(float).eps * largest)
        freedom = target.weight - 1
        with np.errstate(divide="ignore", invalid="ignore"):
            standard_error = np.where(freedom > 0, np.sqrt(target.variance / freedom), np.nan)
        evidence = {
            "target_moments": target.moments,
            "column_moments": statistic["columns"].moments,
            "rows": target.rows,
        }
        certificate = self._gap_certificate(error, target.variance, target.mean)
        return Learned(MeanParameters(target.mean, standard_error), certificate, evidence)

    @staticmethod
    def _gap_certificate(
        error: NDArray[np.float64], variance: NDArray[np.float64], mean: NDArray[np.float64]
    ) -> Certificate:
        """The objective at c exceeds its minimum by exactly (c - mean)^2."""
        # Where targets lie a few units in their last place apart, floats are too coarse for a better
        # constant: a mean off by what rounding may do to a sum, twice over, is as good as there is.
        coarse = (16 * np.finfo(float).eps * mean) ** 2
        with np.errstate(divide="ignore", invalid="ignore"):
            gaps = np.where(error == 0, 0.0, error**2 / variance)
            tolerances = np.fmax(1e-12, np.where(variance > 0, coarse / variance, 0.0))
        worst = int(np.argmax(gaps / tolerances))
        parts = {
            "distance from the mean": float(error[worst]),
            "variance of the target": float(variance[worst]),
        }
        return Certificate(
            "optimal",
            "gap of the mean squared error, relative to the variance",
            float(gaps[worst]),
            float(tolerances[worst]),
            parts,
        )

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Recompute mean and variance with exactly rounded sums, which share no code with the kernel."""
        total, sums = _exact_sums(source, engine, np.zeros_like(self.mean_), power=1)
        means = sums / total
        _, squares = _exact_sums(source, engine, means, power=2)
        return self._gap_certificate(np.abs(self.mean_ - means), squares / total, means)

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[np.float64]:
        """Return the mean for each row, or write it ``to`` a file."""
        return self._answer(self._predict, X, to, self._names())

    def _names(self) -> list[str]:
        outputs = len(getattr(self, "mean_", ()))
        return ["prediction"] if outputs == 1 else [f"prediction{k}" for k in range(outputs)]

    def _predict(self, X: Any) -> NDArray[np.float64]:
        rows = X.shape[0]
        if self._schema.target_is_flat:
            return np.full(rows, self.mean_[0])
        return np.tile(self.mean_, (rows, 1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags


def _exact_sums(
    source: Source, engine: Engine, centre: NDArray[np.float64], power: int
) -> tuple[float, NDArray[np.float64]]:
    """The sum of weights, and of s (y - centre)^power for each output."""
    totals, sums = zip(*engine.map(partial(_exact_sum, centre=centre, power=power), source), strict=True)
    return fsum(totals), np.array([fsum(column) for column in zip(*sums, strict=True)])


def _exact_sum(batch: Batch, centre: NDArray[np.float64], power: int) -> tuple[float, list[float]]:
    y = np.asarray(batch.y).reshape(len(batch), -1)
    weight = np.ones(len(batch)) if batch.weight is None else batch.weight
    return fsum(weight), [fsum(column) for column in (weight[:, None] * (y - centre) ** power).T]
