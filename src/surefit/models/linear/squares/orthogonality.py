r"""The certificate of least squares: residuals that are orthogonal to the columns.

With centred columns :math:`x_j`, residuals :math:`r` and prediction :math:`Xw`, the normal equations say
:math:`x_j'r = 0`. What rounding leaves is measured in the units in which rounding comes:

.. math:: \max_j \frac{|x_j'r + \text{penalty}_j|}{\|x_j\| \, (\|y\| + \sum_i \|x_i\| |w_i|)}

which is the relative change of the data that would make the answer exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.certificate import Certificate
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.stats.base import Joint
from surefit.stats.residuals import Residuals
from surefit.stats.spread import Spread

TOLERANCE = 1e-9


def orthogonality(
    cross: NDArray[np.float64],
    coef: NDArray[np.float64],
    column_squares: NDArray[np.float64],
    target_squares: NDArray[np.float64],
    parts: dict[str, float],
    tolerance: float = TOLERANCE,
) -> Certificate:
    """Certify coefficients (p, k) from X'r (plus the penalty's gradient) and the squared lengths of columns
    and targets.
    """
    lengths = np.sqrt(np.maximum(column_squares, 0.0))
    scale = np.sqrt(np.maximum(target_squares, 0.0)) + lengths @ np.abs(coef)
    bound = lengths[:, None] * scale
    value = np.divide(np.abs(cross), bound, out=np.zeros_like(cross), where=bound > 0)
    # What overflowed cannot be told to be orthogonal.
    worst = float(value.max(initial=0.0)) if np.isfinite(bound).all() and np.isfinite(cross).all() else np.inf
    return Certificate("backward stable", "residuals' largest cosine with a column", worst, tolerance, parts)


def recomputed(
    source: Source,
    engine: Engine,
    coef: NDArray[np.float64],
    intercept: NDArray[np.float64],
    *,
    fit_intercept: bool,
    positive: bool = False,
    strength: Any = 0.0,
    parts: dict[str, float],
    tolerance: float = TOLERANCE,
) -> Certificate:
    """Certify coefficients from the data: two passes that share nothing with a solver."""
    spreads = engine.accumulate(_Spreads(), source)
    columns: Spread = spreads["columns"]
    target: Spread = spreads["target"]
    centre = columns.mean if fit_intercept else np.zeros_like(columns.mean)
    found = engine.accumulate(_ResidualsAt(coef, intercept, centre), source)
    squares = columns.scatter + (0.0 if fit_intercept else columns.weight * columns.mean**2)
    target_squares = target.scatter + (0.0 if fit_intercept else target.weight * target.mean**2)
    left = found.cross - strength * coef
    if positive:  # at its bound a coefficient need only not want to grow; below it, it is wrong
        left = np.where(coef > 0, left, np.maximum(left, 0.0)) + np.where(coef < 0, np.inf, 0.0)
    certificate = orthogonality(left, coef, squares, target_squares, parts, tolerance)
    if not fit_intercept:
        return certificate
    # A free intercept makes the residuals add up to zero, but for what its own rounding moves them by.
    rounding = 8 * np.finfo(float).eps * (np.abs(centre) @ np.abs(coef) + np.abs(intercept))
    left = np.maximum(np.abs(found.sums) - found.weight * rounding, 0.0)
    size = np.sqrt(found.weight * np.maximum(found.squares, target_squares))
    drift = float(np.divide(left, size, out=np.zeros_like(size), where=size > 0).max(initial=0.0))
    return Certificate(
        certificate.claim, certificate.measure, max(certificate.value, drift), tolerance, certificate.parts
    )


class _Spreads:
    def __call__(self, batch: Any) -> Joint:
        return Joint({"columns": Spread.of(batch), "target": Spread.of(batch, part="y")})


class _ResidualsAt:
    def __init__(self, coef: Any, intercept: Any, centre: Any) -> None:
        self._context = {"coef": coef, "intercept": intercept, "centre": centre}

    def __call__(self, batch: Any) -> Residuals:
        return Residuals.of(batch, **self._context)
