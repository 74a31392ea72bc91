"""Map each column's range onto a given one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.certificate import Certificate
from surefit.core.errors import ParameterError
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.prepare.recompute import change, plain_moments, relative_change, seen
from surefit.models.prepare.scalers.affine import (
    AffineScaler,
    FiniteByMoments,
    finite_spread,
    standardised,
    stretched,
)
from surefit.stats.spread import Spread


@dataclass(frozen=True, slots=True)
class MinMaxScalerParameters:
    """The range of each column, the map from it, and the weight of the rows seen."""

    scale: NDArray[np.float64]
    min: NDArray[np.float64]
    data_min: NDArray[np.float64]
    data_max: NDArray[np.float64]
    data_range: NDArray[np.float64]
    n_samples_seen: Any


class MinMaxScaler(FiniteByMoments, AffineScaler):
    r"""Map each column's range onto ``feature_range``: :math:`a + (b - a)(x - \min) / (\max - \min)`.

    feature_range: a and b. copy: False may overwrite X. clip: hold new rows to the range. A constant column
    goes to a. Missing cells are left out and stay missing.

    >>> from surefit import MinMaxScaler
    >>> MinMaxScaler().fit_transform([[1.0], [2.0], [5.0]]).ravel()
    array([0.  , 0.25, 1.  ])
    """

    accepts = Accepts(missing=True, sparse=False)
    learns = MinMaxScalerParameters

    scale_: NDArray[np.float64]
    min_: NDArray[np.float64]
    data_min_: NDArray[np.float64]
    data_max_: NDArray[np.float64]
    n_samples_seen_: Any

    def __init__(
        self, feature_range: tuple[Any, ...] = (0, 1), *, copy: bool = True, clip: bool = False
    ) -> None:
        self.feature_range = feature_range
        self.copy = copy
        self.clip = clip

    def _of(self, schema: Schema) -> Callable[[Batch], Spread]:
        low, high = self._range()
        if not low < high:
            raise ParameterError(
                f"MinMaxScaler: feature_range={self.feature_range} needs a minimum smaller than its maximum."
            )
        return finite_spread

    def _range(self) -> tuple[float, float]:
        if len(self.feature_range) != 2:
            raise ParameterError(f"MinMaxScaler: feature_range={self.feature_range} must be two numbers.")
        return self.feature_range[0], self.feature_range[1]

    def _finish(self, statistic: Spread, schema: Schema) -> Learned:
        empty = statistic.weight == 0
        low, high = (np.where(empty, np.nan, end) for end in (statistic.minimum, statistic.maximum))
        parameters = self._map(low, high, statistic.weight + statistic.missing)
        evidence = {"column_moments": statistic.moments, "rows": statistic.rows}
        return Learned(parameters, self._certificate(0.0), evidence)

    def _map(
        self, low: NDArray[np.float64], high: NDArray[np.float64], weight: NDArray[np.float64]
    ) -> MinMaxScalerParameters:
        start, end = self._range()
        width = high - low
        # A range of a few roundings is no range: it would blow up rounding errors.
        scale = (end - start) / np.where(width < 10 * np.finfo(float).eps, 1.0, width)
        total = float(weight.max(initial=0.0))
        return MinMaxScalerParameters(scale, start - low * scale, low, high, width, seen(total))

    @staticmethod
    def _certificate(value: float) -> Certificate:
        return Certificate("exact", "largest relative change of a range or count", value, 1e-8)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Find the ranges again by plain minima and maxima."""
        plain = plain_moments(source, engine)
        empty = plain.weight == 0
        low, high = (np.where(empty, np.nan, end) for end in (plain.minimum, plain.maximum))
        start, end = self._range()
        onto = np.stack([low * self.scale_ + self.min_, high * self.scale_ + self.min_])
        width = np.where(high > low, high - low, np.inf)
        expected = np.stack([np.full(len(low), start), start + (end - start) * (high - low) / width])
        # At a large offset the map itself rounds: allow for that where the range is far from zero.
        unit = (end - start) * (1 + 1e-6 * np.nan_to_num(plain.largest * self.scale_) / (end - start))
        tiny = high - low < 10 * np.finfo(float).eps
        steps = [
            change(self.data_min_, low, np.nan_to_num(plain.largest)),
            change(self.data_max_, high, np.nan_to_num(plain.largest)),
            change(np.where(empty | tiny, 0, onto), np.where(empty | tiny, 0, expected), unit),
            relative_change(self.n_samples_seen_, plain.rows),
        ]
        return self._certificate(max(steps))

    def _mapped(self, X: NDArray[Any]) -> tuple[NDArray[Any], bool]:
        out, finite = stretched(X, self.scale_, self.min_, copy=self.copy)
        return np.clip(out, *self._range(), out=out) if self.clip else out, finite

    def _inverse_transform(self, X: NDArray[Any]) -> NDArray[Any]:
        return standardised(X, self.min_, self.scale_, copy=self.copy)[0]
