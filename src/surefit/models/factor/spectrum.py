"""From principal axes to what a model keeps of them: variances, shares, noise and the error left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, ParameterError
from surefit.core.native.sums.moments import ColumnMoments
from surefit.models.factor.optimality import of_scatter, proof
from surefit.solvers.linalg.principal_axes import EPS, PrincipalAxes, completed, from_rows, from_scatter
from surefit.stats.moments import Moments
from surefit.stats.overflow import SQUARED_TWICE, refuse_overflow
from surefit.stats.spread import Spread


def axes_needed(n_components: Any, rows: int, width: int, solver: str) -> int:
    """Return how many axes must be computed before the number to keep can be told."""
    most = min(rows, width)
    if n_components == "mle":
        if rows < width:
            raise ParameterError("n_components='mle' is only supported if n_samples >= n_features.")
        return most
    if n_components is None or 0 < n_components < 1:
        return most
    if n_components > most:
        raise ParameterError(
            f"n_components={n_components} must be between 0 and min(n_samples, n_features)={most} "
            f"with svd_solver={solver!r}."
        )
    return int(n_components)


def axes_kept(n_components: Any, variances: Vector, samples: float) -> int:
    """Return how many of the variances, all of them falling, are kept."""
    if n_components == "mle":
        return likeliest_dimension(variances, samples)
    if n_components is not None and 0 < n_components < 1:
        total = variances.sum()
        shares = np.cumsum(variances) / total if total > 0 else np.ones(len(variances))
        # The share kept is to exceed the one asked for, and rounding must not ask for an axis too many.
        return min(int(np.searchsorted(shares, n_components, side="right")) + 1, len(variances))
    return len(variances)


def likeliest_dimension(variances: Vector, samples: float) -> int:
    r"""Return the dimension with the largest evidence for normal data in normal noise (Minka, 2000).

    For dimension k: :math:`\log p(k) \approx \log p(U) - \frac n2 \sum_{j \le k} \log \lambda_j
    - \frac{n(p-k)}2 \log v + \frac{m+k}2 \log 2\pi - \frac12 \log|A| - \frac k2 \log n`, with v the mean of
    the other variances and m = pk - k(k+1)/2.

    >>> likeliest_dimension(np.array([9.0, 4.0, 0.11, 0.1, 0.09]), 100)
    2
    """
    p, tiny = len(variances), 1e-15
    evidence = np.full(p, -np.inf)  # a dimension is between 1 and p - 1
    safe = np.maximum(variances, tiny)
    logs = np.log(safe)
    # Equal variances would make their axes infinitely likely: they count as apart as chance would put them.
    chance = np.sqrt(2 / samples)  # the relative deviation of a sample variance
    apart = np.subtract.outer(variances, variances)
    apart = np.where(apart > 1e-12 * safe[:, None], apart, chance * safe[:, None])
    differences = np.triu(np.log(apart), k=1)
    # log((a - b)(1/b - 1/a)) = 2 log(a - b) - log a - log b
    within = 2 * differences - np.triu(np.add.outer(logs, logs), k=1)
    for k in range(1, p):
        if variances[k - 1] < tiny:
            break
        noise = max(tiny, float(variances[k:].sum()) / (p - k))
        degrees = p - np.arange(k)
        volume = -k * np.log(2.0) + (gammaln(degrees / 2) - np.log(np.pi) * degrees / 2).sum()
        m = p * k - k * (k + 1) / 2
        above = 1 / noise - 1 / safe[:k]
        flat = np.log(np.where(above * noise > 1e-12, above, chance / noise))
        curvature = (
            within[:k, :k].sum() + differences[:k, k:].sum() + (p - k) * flat.sum() + m * np.log(samples)
        )
        evidence[k] = (
            volume
            - samples / 2 * (logs[:k].sum() + (p - k) * np.log(noise))
            + (m + k) / 2 * np.log(2 * np.pi)
            - curvature / 2
            - k / 2 * np.log(samples)
        )
    return int(np.argmax(evidence))


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
