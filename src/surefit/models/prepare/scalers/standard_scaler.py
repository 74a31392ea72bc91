"""Subtract the mean and divide by the standard deviation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.core.certificate import Certificate
from surefit.core.errors import DataError
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.prepare.recompute import change, plain_moments, relative_change, seen
from surefit.models.prepare.scalers.affine import (
    AffineScaler,
    CopyAsAsked,
    FiniteByMoments,
    finite_spread,
    scaled_rows,
    standardised,
    stretched,
)
from surefit.stats.overflow import refuse_overflow
from surefit.stats.spread import Spread


@dataclass(frozen=True, slots=True)
class StandardScalerParameters:
    """Mean, variance and scale of each column, and the weight of the rows seen."""

    mean: NDArray[np.float64] | None
    var: NDArray[np.float64] | None
    scale: NDArray[np.float64] | None
    n_samples_seen: Any


class StandardScaler(CopyAsAsked, FiniteByMoments, AffineScaler):
    r"""Standardise columns: :math:`z = (x - m) / s` with mean :math:`m` and deviation :math:`s` (divisor n).

    copy: False may overwrite X. with_mean: subtract the mean (not for sparse X). with_std: divide by the
    deviation. A constant column is only centred. Missing cells are left out of the moments and stay missing.

    >>> from surefit import StandardScaler
    >>> StandardScaler().fit_transform([[1.0], [2.0], [3.0]]).round(3).ravel()
    array([-1.225,  0.   ,  1.225])
    """

    accepts = Accepts(missing=True)
    learns = StandardScalerParameters

    mean_: NDArray[np.float64] | None
    var_: NDArray[np.float64] | None
    scale_: NDArray[np.float64] | None
    n_samples_seen_: Any

    def __init__(self, *, copy: bool = True, with_mean: bool = True, with_std: bool = True) -> None:
        self.copy = copy
        self.with_mean = with_mean
        self.with_std = with_std

    def _of(self, schema: Schema) -> Callable[[Batch], Spread]:
        return _spread_to_centre if self.with_mean else finite_spread

    def _finish(self, statistic: Spread, schema: Schema) -> Learned:
        used = self.with_mean or self.with_std
        if self.with_std:
            refuse_overflow(statistic.scatter, schema.width, statistic.weight)
        parameters = StandardScalerParameters(
            statistic.mean if used else None,
            statistic.variance if self.with_std else None,
            deviation(statistic) if self.with_std else None,
            seen(one_if_equal(statistic.weight)),
        )
        evidence = {"column_moments": statistic.moments, "rows": statistic.rows}
        # One rounding of the largest value, in the unit of the certificate.
        largest = np.where(
            statistic.weight > 0, np.abs([statistic.minimum, statistic.maximum]).max(axis=0), 0
        )
        error = change(largest * np.finfo(float).eps, 0 * largest, _unit(statistic.variance, largest))
        return Learned(parameters, self._certificate(error), evidence)

    @staticmethod
    def _certificate(value: float) -> Certificate:
        measure = "largest change of a mean, deviation or count, in deviations plus 1e-6 of the largest value"
        return Certificate("exact", measure, value, 1e-8)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Recompute mean and deviation by two plain passes in extended precision."""
        plain = plain_moments(source, engine)
        unit = _unit(plain.variance, plain.largest)
        steps = [relative_change(self.n_samples_seen_, one_if_equal(plain.weight))]
        if self.mean_ is not None:
            steps.append(change(self.mean_, plain.mean, unit))
        if self.var_ is not None and self.scale_ is not None:
            constant = plain.minimum >= plain.maximum
            steps.append(change(np.sqrt(self.var_), np.sqrt(plain.variance), unit))
            expected = np.where(constant, 1.0, np.sqrt(plain.variance))
            close = (self.scale_ == 1.0) & (plain.variance <= (1e-15 * plain.largest) ** 2)
            steps.append(
                change(np.where(close, expected, self.scale_), expected, np.where(constant, 1, unit))
            )
        return self._certificate(max(steps))

    def _mapped(self, X: Any) -> tuple[Any, bool]:
        if sparse.issparse(X):
            refuse_centring(self.with_mean)
            return scaled_rows(X, None if self.scale_ is None else 1 / self.scale_), True
        return standardised(X, self.mean_ if self.with_mean else None, self.scale_, copy=self.copy)

    def _inverse_transform(self, X: Any) -> Any:
        if sparse.issparse(X):
            refuse_centring(self.with_mean)
            return scaled_rows(X, self.scale_)
        return stretched(X, self.scale_, self.mean_ if self.with_mean else None, copy=self.copy)[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.with_mean
        return tags


def _spread_to_centre(batch: Batch) -> Spread:
    refuse_centring(sparse.issparse(batch.X))
    return finite_spread(batch)


def refuse_centring(centre: bool, parameter: str = "with_mean") -> None:
    """Refuse to centre a sparse matrix, which would fill it."""
    if centre:
        raise DataError(
            f"cannot center sparse matrices, since that would fill every cell: pass {parameter}=False."
        )


def one_if_equal(weight: NDArray[np.float64]) -> Any:
    """One number where all columns agree, as scikit-learn shows the samples seen."""
    return weight[0] if len(weight) and weight.min() == weight.max() else weight


def _unit(variance: NDArray[np.float64], largest: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a change is measured in: at a large offset, sums round off more than a part of the deviation."""
    return np.sqrt(variance) + 1e-6 * largest


def deviation(spread: Spread) -> NDArray[np.float64]:
    """The standard deviation of each column, 1 for a column that is constant up to rounding."""
    eps = np.finfo(np.float64).eps
    largest = np.maximum(np.abs(spread.minimum), np.abs(spread.maximum))
    constant = (spread.minimum == spread.maximum) | (spread.variance <= (eps * largest) ** 2)
    return np.where(constant | (spread.weight == 0), 1.0, np.sqrt(spread.variance))
