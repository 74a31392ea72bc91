"""Targets that are numbers, centred and scaled so that no digit of a tiny or a huge one is lost."""

from __future__ import annotations

from math import frexp, ldexp

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError
from surefit.data.batches.batch import Batch
from surefit.models.tree.nodes.parameters import Target
from surefit.models.tree.targets.base import TreeRows


class NumberTargets(TreeRows, abstract=True):
    """Trees and forests that predict numbers."""

    def _weights(self, batch: Batch) -> Vector | None:
        return batch.weight

    def _target(self, batch: Batch, weight: Vector | None) -> Target:
        Y = np.asarray(batch.y, dtype=np.float64).reshape(len(batch), -1)
        used = slice(None) if weight is None else weight > 0
        if self.criterion == "poisson":
            refuse_for_poisson(Y[used])
            return Target(Y, factor=1.0)
        centre = np.average(Y, axis=0, weights=weight)
        spread = float(np.abs(Y[used] - centre).max(initial=0.0))
        # Near zero nothing is lost by squares, and rows that are alike keep their digits.
        centre = np.where(np.abs(centre) > 16 * spread, centre, 0.0)
        # Powers of two change no digit, and keep squares of tiny and of huge numbers in range.
        factor = ldexp(1.0, -frexp(spread)[1]) if spread > 0 else 1.0
        return Target(
            (Y - centre) * factor, (), centre, factor, 1 if self.criterion == "absolute_error" else 2
        )


def refuse_for_poisson(Y: Matrix) -> None:
    """Refuse counts below zero, and a target that is zero throughout."""
    if (Y < 0).any():
        row = int(np.flatnonzero((Y < 0).any(axis=1))[0])
        raise DataError(
            "Some value(s) of y are negative which is not allowed for Poisson regression: "
            f"the first is in row {row}, so use another criterion."
        )
    if (Y.sum(axis=0) <= 0).any():
        raise DataError(
            "Sum of y is not strictly positive which is necessary for Poisson regression: "
            "use another criterion."
        )
