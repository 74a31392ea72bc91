r"""A likelihood with more parameters than coefficients, as one objective: thresholds, or a dispersion.

.. math:: P(w, b, v) = \frac1W \sum_i s_i f(y_i, x_i'w + b; v) + \tfrac\alpha2 |w|^2

Inside, columns have mean 0 and size 1, so that neither units nor offsets matter to a step or to the proof;
``inner`` and ``outer`` take a packed point (w, b, v) there and back. Columns of a group that is ``alike``
share their size. ``shifted`` says which parameters take up the offset of the columns: the "intercept", or all
"thresholds" alike; None for none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import linalg

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.data.batches.batch import Batch
from surefit.data.source import ArraySource, MappedSource, Source
from surefit.engine.base import Engine
from surefit.penalties.coordinate_table import CoordinateTable
from surefit.penalties.l2 import L2
from surefit.penalties.no_penalty import NoPenalty
from surefit.penalties.ordered import Ordered
from surefit.solvers.likelihood.constrained_model import numbers
from surefit.solvers.objective.base import At, Objective
from surefit.solvers.objective.function import Shape
from surefit.stats.joint_curvature import JointCurvature, JointLikelihood
from surefit.stats.spread import Spread


@dataclass(frozen=True, slots=True)
class Standardised:
    """Take the mean from each column, where it is not 0, and divide by its size."""

    mean: Vector
    size: Vector

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with such columns."""
        X: Any = batch.X
        if hasattr(X, "tocsr"):
            return replace(batch, X=X.multiply(1.0 / self.size).tocsr())
        return replace(batch, X=(np.asarray(X, dtype=np.float64) - self.mean) / self.size)


class JointObjective(Objective):
    """The mean of a joint likelihood over a source, negated, by (w, b, v) of standardised columns."""

    tabular: ClassVar[bool] = False

    def __init__(
        self,
        source: Source,
        engine: Engine,
        likelihood: JointLikelihood,
        start: Vector,
        *,
        fit_intercept: bool,
        shifted: Any,
        alpha: float = 0.0,
        alike: Sequence[Sequence[int]] = (),
    ) -> None:
        super().__init__(source, engine, Shape(), NoPenalty(), fit_intercept=fit_intercept)  # type: ignore[arg-type]
        self.likelihood, self.shifted, self.extra = likelihood, shifted, len(start)
        spread = self.spread
        sparse = any(hasattr(batch.X, "tocsr") for batch in _first(source))
        mean = np.zeros_like(spread.mean) if sparse or shifted is None else spread.mean
        size = np.sqrt(spread.variance + (spread.mean - mean) ** 2)
        for group in alike:  # an order holds in units that its levels share
            size[list(group)] = size[list(group)].max(initial=0.0)
        self.columns_moved = Standardised(mean, np.where(size > 0, size, 1.0))
        if alpha > 0:
            self.penalty = L2(alpha, weights=self.columns_moved.size**-2.0)
        self._rows = (
            ArraySource(source.schema, self.columns_moved(source.batch))
            if isinstance(source, ArraySource)
            else MappedSource(source, source.schema, self.columns_moved)
        )
        self._own_start = np.concatenate([np.zeros(self.columns + fit_intercept), start])
        self._seen: tuple[Vector, At] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Coefficients, intercept and further parameters."""
        return (self.columns + self.fit_intercept + self.extra,)

    def split(self, w: Vector) -> tuple[Vector, Any]:
        """Return the coefficients, and all that has no penalty."""
        return w[: self.columns], w[self.columns :]

    def inner(self, packed: Vector) -> Vector:
        """Return a packed point as it is with standardised columns."""
        moved = np.array(packed, dtype=np.float64)
        if self.shifted is not None:
            moved[self._places] += self._sign * float(self.columns_moved.mean @ packed[: self.columns])
        moved[: self.columns] *= self.columns_moved.size
        return moved

    def outer(self, moved: Vector) -> Vector:
        """Return a packed point of standardised columns as it is with the source's."""
        packed = np.array(moved)
        packed[: self.columns] /= self.columns_moved.size
        if self.shifted is not None:
            packed[self._places] -= self._sign * float(self.columns_moved.mean @ packed[: self.columns])
        return packed

    @property
    def _places(self) -> Any:
        return slice(self.columns, None) if self.shifted == "thresholds" else self.columns

    @property
    def _sign(self) -> float:
        return -1.0 if self.shifted == "thresholds" else 1.0

    def jacobian(self) -> Matrix:
        """Return the derivative of ``outer``."""
        return np.column_stack([self.outer(unit) for unit in np.eye(self.shape[0])])

    def at(self, w: Vector, order: Literal[0, 1, 2] = 1) -> At:
        """Evaluate to second order; the last point is remembered."""
        if self._seen is None or not np.array_equal(self._seen[0], w):
            self.passes += 1
            coef, rest = self.split(w)
            intercept, v = (rest[0], rest[1:]) if self.fit_intercept else (None, rest)
            of = partial(JointCurvature.of, likelihood=self.likelihood, w=coef, intercept=intercept, v=v)
            with np.errstate(all="ignore"):  # a trial point may be too far out
                found: JointCurvature = self.engine.accumulate(of, self._rows)
            weight = found.weight
            self._seen = (
                np.array(w),
                At(found.value / weight, found.gradient / weight, found.hessian / weight),
            )
        return self._seen[1]

    @cached_property
    def null(self) -> Vector:
        """No coefficients, and the further parameters as they were given to start from."""
        return self._own_start

    @cached_property
    def scale(self) -> float:
        """How large the loss is at the start."""
        return max(abs(self.value(self.null)), float(np.finfo(float).eps))

    @cached_property
    def spread(self) -> Spread:
        """Mean, scatter and range of the columns."""
        found: Spread = self.engine.accumulate(Spread.of, self.source)
        return found

    def certificate(self, w: Vector, tolerance: float, slopes: Vector | None = None) -> Certificate:
        """Certify by what a step of Newton's method still promises to gain."""
        here, coef = self.at(w, 2), self.split(w)[0]
        gradient, hessian = np.array(here.gradient), np.array(here.hessian)
        table = numbers(self)
        assert table is not None
        hessian[: self.columns, : self.columns] += np.diag(table.l2)
        gradient[: self.columns] = self._unbalanced(table, coef, gradient[: self.columns])
        value = here.value + self.penalised(w)
        promised, left = _promised(hessian, gradient)
        size = max(self.scale, abs(value))
        parts = {"objective": value, "promised": promised, "left": left, "scale": size}
        found = max(promised, left) / size if np.isfinite(value) else np.inf
        measure = "predicted decrease of a Newton step, relative to the loss of a constant"
        return Certificate("stationary", measure, found, tolerance, parts)

    def _unbalanced(self, table: CoordinateTable, coef: Vector, gradient: Vector) -> Vector:
        """Return what of the slope neither the penalty nor a multiplier balances."""
        if isinstance(self.penalty, Ordered):
            return -self.penalty.beyond(coef, -gradient)
        least, most = table.subgradients(coef)
        return np.asarray(gradient + np.clip(-gradient, least, most))


def _promised(hessian: Matrix, gradient: Vector) -> tuple[float, float]:
    """Return g'H^-1 g / 2 over the directions that bend, and the square of the slope along the others."""
    if not np.isfinite(hessian).all():
        return np.inf, np.inf
    bends, axes = linalg.eigh(hessian, check_finite=False)
    pull = axes.T @ gradient
    flat = np.abs(bends) <= 1e-13 * np.abs(bends).max(initial=0.0)
    promised = 0.5 * float(np.sum(pull[~flat] ** 2 / np.abs(bends[~flat])))
    return promised, float(np.sum(pull[flat] ** 2))


def _first(source: Source) -> list[Batch]:
    return [source.batch] if isinstance(source, ArraySource) else [next(iter(source))]
