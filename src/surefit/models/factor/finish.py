"""From principal axes to what a model keeps of them: variances, shares, noise and the error left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.certificate import Certificate
from surefit.core.errors import DataError
from surefit.core.native.moments import ColumnMoments
from surefit.models.factor.dimension import axes_kept, axes_needed
from surefit.models.factor.optimality import of_scatter, proof
from surefit.solvers.principal_axes import EPS, PrincipalAxes, completed, from_rows, from_scatter
from surefit.stats.moments import Moments
from surefit.stats.overflow import SQUARED_TWICE, refuse_overflow
from surefit.stats.spread import Spread

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Components:
    """Axes, what varies along each, and the mean squared distance that they leave of the rows."""

    components: Matrix
    explained_variance: Vector
    explained_variance_ratio: Vector
    singular_values: Vector
    mean: Vector
    n_components: int
    noise_variance: float
    reconstruction_error: float


@dataclass(frozen=True, slots=True)
class Rows:
    """What the axes are of: the weight of all rows, and the means of their columns.

    samples is the number of rows, where a weight of 2 is two of them.
    """

    counted: int
    weight: float
    mean: Vector

    def __post_init__(self) -> None:
        if self.weight <= 1:
            raise DataError(
                f"n_samples={self.weight:g} is too few for a variance: give more than one sample "
                "(sample_weight counts how often a row occurs)."
            )

    @property
    def samples(self) -> int:
        """How many rows there are at the most."""
        return max(self.counted, int(self.weight))

    @property
    def rank(self) -> int:
        """How many axes there can be."""
        return min(self.samples, len(self.mean))


def rows_of(statistic: Moments | Spread) -> Rows:
    """Read weight and means off a statistic of the columns, whose scatter must bear being squared."""
    scatter = np.diagonal(statistic.scatter[0]) if isinstance(statistic, Moments) else statistic.scatter
    refuse_overflow(scatter, len(scatter), statistic.weight, SQUARED_TWICE)
    if isinstance(statistic, Moments):
        return Rows(statistic.rows, statistic.weight, statistic.mean_x)
    return Rows(statistic.rows, float(statistic.weight.max(initial=0.0)), statistic.mean)


def finished(rows: Rows, found: PrincipalAxes, count: int) -> Components:
    """Keep the first ``count`` axes; those that nothing varies along are chosen by a rule."""
    found = completed(found, count)
    along, free = found.scatter[:count], rows.weight - 1
    if len(found.scatter) == rows.rank:
        left = float(found.scatter[count:].sum())
    else:
        left = found.total - float(along.sum())
        left = left if left > 8 * len(rows.mean) * EPS * found.total else 0.0
    others = rows.rank - count
    share = np.divide(along, found.total, out=np.zeros_like(along), where=found.total > 0)
    return Components(
        components=np.array(found.axes[:count]),
        explained_variance=along / free,
        explained_variance_ratio=share,
        singular_values=np.sqrt(along),
        mean=rows.mean,
        n_components=count,
        noise_variance=left / free / others if others > 0 else 0.0,
        reconstruction_error=left / rows.weight,
    )


def from_moments(moments: Moments, n_components: Any, solver: str) -> tuple[Components, Certificate]:
    """Find the axes of a scatter matrix, as many as asked for, and certify them."""
    rows, M = rows_of(moments), moments.gram
    needed = axes_needed(n_components, rows.samples, len(M), solver)
    found = completed(from_scatter(M, needed), needed)
    count = axes_kept(n_components, found.scatter / (rows.weight - 1), rows.weight)
    kept = finished(rows, found, count)
    return kept, of_scatter(M, kept.components, found.scatter[:count])


def from_whole_rows(A: Matrix, rows: Rows, n_components: Any, solver: str) -> tuple[Components, Certificate]:
    """Find the axes of centred, weighted rows, or of their triangular factor, and certify them."""
    needed = axes_needed(n_components, rows.samples, len(rows.mean), solver)
    found = completed(from_rows(A, min(A.shape)), needed)
    count = axes_kept(n_components, found.scatter[:needed] / (rows.weight - 1), rows.weight)
    kept = finished(rows, found, count)
    along = found.scatter[:count]
    # All squared singular values add up to all squared entries, so no direction has been left out.
    squares = float((A * A).sum())
    unaccounted = abs(squares - found.total) / squares if squares > 0 else 0.0
    image = A.T @ (A @ kept.components.T)
    return kept, proof(image, kept.components, along, float(np.linalg.norm(found.scatter)), unaccounted)


def evidence_of(found: Components, statistic: Moments | Spread) -> Mapping[str, Any]:
    """What the rules of diagnosis look at."""
    if isinstance(statistic, Spread):
        moments, more = statistic.moments, {}
    else:
        mean, scatter = statistic.mean_x, np.diagonal(statistic.gram)
        moments = ColumnMoments(statistic.weight, mean, scatter, mean, mean)
        more = {"correlation": statistic.correlation()}
    return {"column_moments": moments, "rows": statistic.rows, "principal_axes": found.components, **more}
