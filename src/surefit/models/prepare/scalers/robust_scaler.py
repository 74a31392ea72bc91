"""Subtract the median and divide by a range of quantiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtri

from surefit.core.certificate import Certificate
from surefit.core.errors import ParameterError
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.prepare.imputers.missing_indicator import missing_cells
from surefit.models.prepare.quantiles import ExactInMemory, ExactQuantiles, quantile_change
from surefit.models.prepare.recompute import change, relative_change, seen, total_weight
from surefit.models.prepare.scalers.affine import AffineScaler, scaled_rows, standardised, stretched
from surefit.models.prepare.scalers.standard_scaler import refuse_centring
from surefit.stats.base import Joint
from surefit.stats.sketch import Sketch


@dataclass(frozen=True, slots=True)
class RobustScalerParameters:
    """Median and scale, the quantiles behind them, how far their ranks can be off, the weight of the rows."""

    center: NDArray[np.float64] | None
    scale: NDArray[np.float64] | None
    quantiles: NDArray[np.float64]
    rank_error: NDArray[np.float64]
    n_samples_seen: Any


class RobustScaler(ExactInMemory, AffineScaler):
    r"""Standardise columns by quantiles: :math:`(x - q_{1/2}) / (q_b - q_a)`, which outliers hardly move.

    with_centering: subtract the median (not for sparse X). with_scaling: divide by the range. quantile_range:
    a and b in percent. copy: False may overwrite X. unit_variance: make the scale of normal data 1. Rows in
    memory get exact quantiles; a source is read once into a sketch, exact for up to 4096 distinct values a
    column, and ``rank_error_`` says how far ranks can be off beyond that.

    >>> from surefit import RobustScaler
    >>> RobustScaler().fit_transform([[1.0], [2.0], [3.0], [4.0], [500.0]]).ravel()
    array([ -1. ,  -0.5,   0. ,   0.5, 248.5])
    """

    accepts = Accepts(missing=True)
    learns = RobustScalerParameters

    center_: NDArray[np.float64] | None
    scale_: NDArray[np.float64] | None
    quantiles_: NDArray[np.float64]
    rank_error_: NDArray[np.float64]
    n_samples_seen_: Any

    def __init__(
        self,
        *,
        with_centering: bool = True,
        with_scaling: bool = True,
        quantile_range: tuple[Any, ...] = (25.0, 75.0),
        copy: bool = True,
        unit_variance: bool = False,
    ) -> None:
        self.with_centering = with_centering
        self.with_scaling = with_scaling
        self.quantile_range = quantile_range
        self.copy = copy
        self.unit_variance = unit_variance

    def _shares(self) -> list[float]:
        low, high = self.quantile_range
        if not 0 <= low <= high <= 100:
            raise ParameterError(
                f"Invalid quantile range: {self.quantile_range} must be two percentages, the lower one first."
            )
        return [low / 100, 0.5, high / 100]

    def _of(self, schema: Schema) -> Callable[[Batch], Joint]:
        self._shares()
        return partial(_sketched, centre=self.with_centering, sketch=Sketch.of)

    def _of_memory(self, batch: Batch, schema: Schema) -> Joint:
        return _sketched(batch, self.with_centering, partial(ExactQuantiles.of, shares=self._shares()))

    def _finish(self, statistic: Joint, schema: Schema) -> Learned:
        sketch: Any = statistic["values"]
        found = sketch.quantile(self._shares())
        parameters = RobustScalerParameters(
            found[1].copy() if self.with_centering else None,
            self._scale(found) if self.with_scaling else None,
            found,
            sketch.error,
            seen(statistic["rows"].weight),
        )
        return Learned(parameters, self._certificate(0.0, sketch.error))

    def _scale(self, quantiles: NDArray[np.float64]) -> NDArray[np.float64]:
        scale = quantiles[2] - quantiles[0]
        # A range of a few roundings is no range: it would blow up rounding errors.
        scale = np.where(scale < 10 * np.finfo(float).eps, 1.0, scale)
        if self.unit_variance:
            low, _, high = self._shares()
            scale = scale / (ndtri(high) - ndtri(low))
        return scale

    @staticmethod
    def _certificate(value: float, error: NDArray[np.float64]) -> Certificate:
        worst = float(np.max(error, initial=0.0))
        way = "exact quantiles" if worst == 0 else f"quantiles from a sketch, ranks within {worst:.2g}"
        measure = f"largest change of a quantile, in ranges of its column; {way}"
        return Certificate("exact", measure, value, 1e-8, {"rank error": worst})

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Sort the columns again; of columns from a sketch, count the ranks of what it gave."""
        steps = [
            quantile_change(source, engine, self._shares(), self.quantiles_, self.rank_error_),
            relative_change(self.n_samples_seen_, total_weight(source, engine)),
        ]
        if self.center_ is not None:
            steps.append(change(self.center_, self.quantiles_[1]))
        if self.scale_ is not None:
            steps.append(change(self.scale_, self._scale(self.quantiles_)))
        return self._certificate(max(steps), self.rank_error_)

    def _mapped(self, X: Any) -> tuple[Any, bool]:
        if sparse.issparse(X):
            refuse_centring(self.with_centering, "with_centering")
            return scaled_rows(X, None if self.scale_ is None else 1 / self.scale_), True
        return standardised(X, self.center_, self.scale_, copy=self.copy)

    def _inverse_transform(self, X: Any) -> Any:
        if sparse.issparse(X):
            refuse_centring(self.with_centering, "with_centering")
            return scaled_rows(X, self.scale_)
        return stretched(X, self.scale_, self.center_, copy=self.copy)[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.with_centering
        return tags


def _sketched(batch: Batch, centre: bool, sketch: Callable[[Batch], Any]) -> Joint:
    if centre:
        refuse_centring(sparse.issparse(batch.X), "with_centering")
    return Joint({"values": sketch(batch), "rows": missing_cells(batch, np.nan)})
