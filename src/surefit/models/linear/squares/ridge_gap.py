r"""The certificate of ridge: how far the objective can be from its minimum.

Primal and dual of :math:`P(w, b) = \sum_i s_i r_i^2 + \alpha \|w\|^2` with :math:`r = y - Xw - b` are

.. math:: P(w, b) \ge \min P = \max_{\sum s_i \theta_i = 0} D(\theta), \qquad
          D(\theta) = \sum_i s_i (2 y_i \theta_i - \theta_i^2) - \|X'S\theta\|^2 / \alpha .

At :math:`\theta = r - \bar r` most of it cancels, and with centred columns the gap is

.. math:: P(w, b) - D(r - \bar r) = \Big(\sum_i s_i r_i\Big)^2 / W + \|X'Sr - \alpha w\|^2 / \alpha ,

a sum of squares: never negative. With :math:`w \ge 0` only the positive part of :math:`X'S\theta` counts. The
value is relative to the objective of the best constant. Where :math:`\alpha` is so small beside the columns
that rounding alone could fill the gap, or zero, the answer is certified as least squares are: by the cosine
of the residuals with the columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.linear.squares.orthogonality import orthogonality
from surefit.stats.base import Joint
from surefit.stats.moments import Moments
from surefit.stats.residuals import Residuals
from surefit.stats.spread import Spread

ROUNDING = 1e3 * np.finfo(float).eps  # what sums over many rows may round, relative to the lengths that go in


@dataclass(frozen=True, slots=True)
class Scales:
    """What a fit is measured by: the weight of the rows, and the squared lengths of columns and targets.

    With an intercept, of what is left when the mean is taken out. ``noise`` is what rounding a target of its
    size may leave of the squares, for one that is constant.
    """

    weight: float
    columns: Vector
    targets: Vector
    noise: Vector

    @classmethod
    def of_moments(cls, moments: Moments, fit_intercept: bool) -> Scales:
        """From the diagonal of the moments."""
        return cls.of(
            moments.weight,
            (moments.mean_x, np.diagonal(moments.gram)),
            (moments.mean_y, np.diagonal(moments.target_scatter)),
            fit_intercept,
        )

    @classmethod
    def of(
        cls,
        weight: float,
        columns: tuple[Vector, Vector],
        targets: tuple[Vector, Vector],
        fit_intercept: bool,
    ) -> Scales:
        """From mean and scatter of columns and targets."""
        squares = [
            scatter + (0.0 if fit_intercept else weight * mean**2) for mean, scatter in (columns, targets)
        ]
        return cls(weight, squares[0], squares[1], weight * (ROUNDING * targets[0]) ** 2)


def gaps(
    left: Matrix, sums: Vector, coef: Matrix, strength: Vector, scales: Scales, positive: bool = False
) -> Vector:
    """The duality gap of each target, relative to the objective of the best constant.

    ``left`` is X'Sr - alpha w for centred columns (p, k), ``sums`` the weighted residuals added up.
    """
    if positive:
        pull = left + strength * coef
        squares = left**2 - np.minimum(pull, 0.0) ** 2
        squares = np.where(coef < 0, np.inf, np.maximum(squares, 0.0))
    else:
        squares = left**2
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = squares.sum(axis=0) / strength + sums**2 / scales.weight
        relative = gap / (scales.targets + scales.noise)
    found: Vector = np.where(gap == 0, 0.0, relative)
    return found


def certify(
    left: Matrix,
    sums: Vector,
    coef: Matrix,
    strength: Vector,
    scales: Scales,
    *,
    positive: bool,
    tolerance: float,
    parts: Mapping[str, float],
) -> Certificate:
    """Certify coefficients (p, k) by their duality gap, or by orthogonality where rounding would fill it."""
    reach = np.sqrt(scales.targets) + np.sqrt(scales.columns) @ np.abs(coef)
    with np.errstate(divide="ignore", invalid="ignore"):
        floor = (ROUNDING * reach) ** 2 * scales.columns.sum() / (strength * (scales.targets + scales.noise))
    if (np.where(reach == 0, 0.0, floor) > tolerance).any() or (strength == 0).any():
        if positive:
            left = np.where(coef > 0, left, np.maximum(left, 0.0)) + np.where(coef < 0, np.inf, 0.0)
        found = orthogonality(left, coef, scales.columns, scales.targets, dict(parts))
        size = np.sqrt(scales.weight * (scales.targets + scales.noise))
        drift = np.divide(np.abs(sums), size, out=np.zeros_like(size), where=size > 0).max(initial=0.0)
        return Certificate(
            found.claim, found.measure, max(found.value, float(drift)), found.tolerance, found.parts
        )
    values = gaps(left, sums, coef, strength, scales, positive)
    measure = "duality gap, relative to the objective of the best constant"
    return Certificate("optimal", measure, float(values.max(initial=0.0)), tolerance, dict(parts))


def recomputed(
    source: Source,
    engine: Engine,
    coef: Matrix,
    intercept: Vector,
    strength: Vector,
    *,
    fit_intercept: bool,
    positive: bool,
    tolerance: float,
    parts: Mapping[str, float],
) -> Certificate:
    """Certify coefficients from the data: two passes that share nothing with a solver."""
    spreads: Any = engine.accumulate(spread_of_both, source)
    columns, targets = spreads["columns"], spreads["target"]
    weight = float(targets.weight.max(initial=0.0))
    scales = Scales.of(
        weight, (columns.mean, columns.scatter), (targets.mean, targets.scatter), fit_intercept
    )
    centre = columns.mean if fit_intercept else np.zeros_like(columns.mean)
    found = engine.accumulate(partial(Residuals.of, coef=coef, intercept=intercept, centre=centre), source)
    sums = found.sums if fit_intercept else np.zeros_like(found.sums)
    return certify(
        found.cross - strength * coef,
        sums,
        coef,
        strength,
        scales,
        positive=positive,
        tolerance=tolerance,
        parts=parts,
    )


def spread_of_both(batch: Any) -> Joint:
    """Column-wise moments of columns and targets, in one pass."""
    return Joint({"columns": Spread.of(batch), "target": Spread.of(batch, part="y")})
