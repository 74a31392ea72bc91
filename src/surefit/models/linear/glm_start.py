"""Where to start a generalised linear model whose link does not take every score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import RefusalError
from surefit.data.batch import Batch
from surefit.data.source import MappedSource
from surefit.losses.family_loss import FamilyLoss
from surefit.losses.squared import Squared
from surefit.penalties.no_penalty import NoPenalty
from surefit.solvers.choose import choose
from surefit.solvers.objective import Objective


@dataclass(frozen=True, slots=True)
class ScoresOfTargets:
    """Replace each target by its own score, moved a little way inside of what the link takes."""

    loss: FamilyLoss

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with such a target."""
        y: Any = np.asarray(batch.y, dtype=np.float64)
        low, high = self.loss.family.means.low, self.loss.family.means.high
        if high is not None:
            y = (y + 0.5) / 2.0  # half an observation of either kind
        elif low is not None:
            y = np.maximum(y, 0.1 * float(np.mean(y)) + np.finfo(float).tiny)
        z = np.asarray(self.loss.link.forward(y), dtype=np.float64)
        return replace(batch, y=z if batch.offset is None else z - batch.offset, offset=None)


def feasible_start(objective: Objective) -> NDArray[np.float64] | None:
    """Return a packed point with a finite loss; None where the objective's own start has one."""
    loss = objective.loss
    if not isinstance(loss, FamilyLoss) or np.isfinite(objective.at(objective.null, 0).value):
        return None
    source = MappedSource(objective.source, objective.source.schema, ScoresOfTargets(loss))
    near = Objective(source, objective.engine, Squared(), NoPenalty(), fit_intercept=objective.fit_intercept)
    found: NDArray[np.float64] = choose(near).solve(near).x
    if np.isfinite(objective.at(found, 0).value):
        return found
    raise RefusalError(
        f"no start was found whose scores the {loss.link.name} link takes: fit with an intercept, or choose "
        "a link that takes every score, such as 'log'."
    )
