r"""Mean loss plus penalty, over a source that may not fit into memory.

.. math:: P(w, b) = \frac1W \sum_i s_i f(y_i, x_i'w + b) + pen(w), \qquad W = \sum_i s_i

Coefficients and intercept travel as one packed array, (q,) or (q, K) for K outputs, the intercept last.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, Self

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import RefusalError
from surefit.data.batches.batch import Batch
from surefit.data.source import ArraySource, Source, in_memory
from surefit.engine.base import Engine
from surefit.losses.base import Loss
from surefit.penalties.base import Penalty
from surefit.stats.curvature import Curvature
from surefit.stats.moments import Moments
from surefit.stats.spread import Spread
from surefit.stats.target_sums import TargetSums


@dataclass(frozen=True, slots=True)
class At:
    """The mean loss at a point, without the penalty; what is beyond the order asked for has size 0.

    gradient: as the packed point. hessian: (q, q), or (K, K, q, q) for coupled outputs.
    """

    value: float
    gradient: Vector
    hessian: Matrix


class MeanLoss:
    """Source, engine, loss, penalty and intercept bound together: all of an objective but its proof.

    outputs: how many scores a row has; None for one without an axis of its own. passes: how often the
    source was read. tabular: whether there are rows; a function of one's own has none.

    >>> from surefit.losses import Squared
    >>> from surefit.penalties import L1
    >>> objective = MeanLoss.of_arrays([[0.0], [2.0]], [1.0, 3.0], Squared(), L1(0.5))
    >>> objective.value(np.array([1.0, 1.0]))
    0.5
    """

    tabular: ClassVar[bool] = True

    def __init__(
        self,
        source: Source,
        engine: Engine,
        loss: Loss,
        penalty: Penalty,
        *,
        fit_intercept: bool = True,
        outputs: int | None = None,
    ) -> None:
        self.source = source
        self.engine = engine
        self.loss = loss
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.outputs = outputs
        self.columns = source.schema.width
        self.passes = 0

    @classmethod
    def of_arrays(
        cls,
        X: Any,
        y: Any,
        loss: Loss,
        penalty: Penalty,
        *,
        sample_weight: Any = None,
        fit_intercept: bool = True,
        outputs: int | None = None,
    ) -> Self:
        """Bind arrays in memory, unchecked but for the target."""
        from surefit.data.schema import Schema
        from surefit.engine.serial import Serial

        if not hasattr(X, "tocsr"):
            X = np.asarray(X)
            X = X if X.flags.forc else np.ascontiguousarray(X)
        y = np.asarray(y)
        loss.check(y)
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        batch = Batch(X, y, weight)
        source = ArraySource(Schema(width=X.shape[1], rows=X.shape[0]), batch)
        return cls(source, Serial(), loss, penalty, fit_intercept=fit_intercept, outputs=outputs)

    def over(self, source: Source, loss: Loss | None = None) -> Self:
        """Return the same objective of other rows, or of another loss."""
        return type(self)(
            source,
            self.engine,
            self.loss if loss is None else loss,
            self.penalty,
            fit_intercept=self.fit_intercept,
            outputs=self.outputs,
        )

    def over_rows(self, batch: Batch) -> Self:
        """Return the same objective of some rows in memory."""
        return self.over(ArraySource(replace(self.source.schema, rows=len(batch)), batch))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a packed point."""
        size = self.columns + self.fit_intercept
        return (size,) if self.outputs is None else (size, self.outputs)

    def split(self, w: Vector) -> tuple[Vector, Any]:
        """Return coefficients and intercept; None for an intercept that there is not."""
        return (w[:-1], w[-1]) if self.fit_intercept else (w, None)

    def at(self, w: Vector, order: Literal[0, 1, 2] = 1) -> At:
        """Evaluate the mean loss in one pass."""
        coef, intercept = self.split(w)
        of = partial(Curvature.of, loss=self.loss, w=coef, intercept=intercept, order=order)
        found = self.accumulate(of)
        weight = found.weight
        return At(found.value / weight, found.gradient / weight, found.hessian / weight)

    def accumulate(self, of: Any) -> Any:
        """Read the source once and add up a statistic."""
        self.passes += 1
        return self.engine.accumulate(of, self.source)

    def value(self, w: Vector) -> float:
        """Return mean loss plus penalty."""
        return self.at(w, 0).value + self.penalised(w)

    def penalised(self, w: Vector) -> float:
        """Return the penalty of the coefficients in a packed point."""
        return float(self.penalty.value(self.split(w)[0]))

    def prox(self, v: Vector, step: float) -> Vector:
        """Return the proximal point of the penalty; an intercept stays as it is."""
        moved = np.array(v)
        coef = moved[:-1] if self.fit_intercept else moved
        coef[...] = self.penalty.prox(coef, step)
        return moved

    @cached_property
    def rows(self) -> Batch | None:
        """All rows, where they are in memory already; None for a source that is read in batches."""
        return in_memory(self.source)

    def need_rows(self, who: str) -> Batch:
        """Return all rows, or refuse for a source that is read in batches."""
        if self.rows is None:
            raise RefusalError(
                f"{who} needs all rows in memory, but this table is read in batches: choose a solver "
                "that streams, such as 'proximal_newton', or load the table as one array."
            )
        return self.rows

    @cached_property
    def targets(self) -> TargetSums:
        """The sums of the target."""
        found: TargetSums = self.accumulate(partial(TargetSums.of, loss=self.loss))
        return found

    @cached_property
    def spread(self) -> Spread:
        """Mean, scatter and range of the columns."""
        found: Spread = self.accumulate(Spread.of)
        return found

    @cached_property
    def moments(self) -> Moments:
        """Means and products of the columns, however often a proof asks for them."""
        found: Moments = self.accumulate(partial(Moments.of, target=False))
        return found

    @cached_property
    def null(self) -> Vector:
        """The packed point without coefficients, its intercept that of the mean target."""
        start = np.zeros(self.shape)
        if self.fit_intercept and self.loss.task == "regression":
            mean = self.targets.total / self.targets.weight
            score = np.asarray(self.loss.link.forward(mean), dtype=np.float64)
            score = score - self.targets.offset / self.targets.weight
            start[-1] = np.where(np.isfinite(score), score, 0.0).reshape(np.shape(start[-1]))
        elif self.fit_intercept and self.loss.task == "binary" and self.loss.link.name == "logit":
            share = float(self.targets.total[0] / self.targets.weight)
            if 0 < share < 1:
                start[-1] = self.loss.link.forward(share)
        return start

    @cached_property
    def scale(self) -> float:
        """What the gap is measured by: how far the mean loss of a constant is above the least possible."""
        floor = self.targets.floor / self.targets.weight
        loss = self.at(self.null, 0).value
        tiny = np.finfo(float).tiny
        return max(loss - floor, np.finfo(float).eps * max(abs(loss), abs(floor)), tiny)
