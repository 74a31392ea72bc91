"""What stochastic gradient descent is made of: losses and penalties by name, starts and proofs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError
from surefit.core.native.linear.coefficient_set import CoefficientSet
from surefit.data.batches.batch import Batch
from surefit.data.source import Source, in_memory
from surefit.losses.base import Loss
from surefit.losses.epsilon_insensitive import EpsilonInsensitive
from surefit.losses.hinge import Hinge
from surefit.losses.huber import Huber
from surefit.losses.logistic import Logistic
from surefit.losses.modified_huber import ModifiedHuber
from surefit.losses.perceptron import Perceptron
from surefit.losses.squared import Squared
from surefit.losses.squared_epsilon_insensitive import SquaredEpsilonInsensitive
from surefit.losses.squared_hinge import SquaredHinge
from surefit.models.linear.sgd.projection import within
from surefit.penalties.base import Penalty
from surefit.penalties.elastic_net import ElasticNet
from surefit.penalties.l1 import L1
from surefit.penalties.l2 import L2
from surefit.penalties.no_penalty import NoPenalty
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.gap import proved

LOSSES: dict[str, tuple[str, Callable[[float], Loss]]] = {
    "hinge": ("hinge", lambda _: Hinge()),
    "log_loss": ("logistic", lambda _: Logistic()),
    "modified_huber": ("modified_huber", lambda _: ModifiedHuber()),
    "squared_hinge": ("squared_hinge", lambda _: SquaredHinge()),
    "perceptron": ("perceptron", lambda _: Perceptron()),
    "squared_error": ("squared", lambda _: Squared()),
    "huber": ("huber", lambda epsilon: Huber(threshold=epsilon)),
    "epsilon_insensitive": ("epsilon_insensitive", lambda epsilon: EpsilonInsensitive(epsilon)),
    "squared_epsilon_insensitive": (
        "squared_epsilon_insensitive",
        lambda epsilon: SquaredEpsilonInsensitive(epsilon),
    ),
}


@dataclass(frozen=True, slots=True)
class NumericTarget:
    """The target of a batch as numbers, unchanged."""

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with such a target."""
        return replace(batch, y=np.asarray(batch.y, dtype=np.float64).reshape(-1))


def penalty_named(name: str | None, alpha: float, l1_ratio: float | None) -> Penalty:
    """Return the penalty that scikit-learn calls so."""
    if name is None or alpha == 0:
        return NoPenalty()
    if name == "l2":
        return L2(alpha)
    return L1(alpha) if name == "l1" else ElasticNet(alpha, l1_ratio=l1_ratio or 0.0)


def bounded(objective: Objective, found: Certificate) -> Certificate:
    """Return a certificate of what could be gained at the most, whatever its slopes leave open.

    Slopes that still pull along a direction that nothing holds back bound nothing: without a penalty, and in
    a cone, epochs end at such. Slopes of 0 always do, by all of the loss that is left.

    >>> objective = Objective.of_arrays([[1.0], [2.0]], [1.0, -1.0], Hinge(), NoPenalty())
    >>> pulled = proved(0.9, 0.1, 1.0, 1e-3, left=0.2)
    >>> pulled.claim, bounded(objective, pulled).claim, bounded(objective, pulled).parts["gap"]
    ('stationary', 'optimal', 0.9)
    """
    if not found.parts.get("left", 0.0) > found.tolerance:
        return found
    primal, none = found.parts["objective"], np.zeros(objective.columns)
    floor = objective.targets.floor / objective.targets.weight
    whole = max(primal - floor + float(objective.penalty.conjugate(none)), 0.0)
    return proved(primal, whole, found.parts["scale"], found.tolerance)


def is_sparse(source: Source) -> bool:
    """Whether the rows come as a sparse matrix."""
    batch = in_memory(source) or next(iter(source), None)
    return batch is not None and not isinstance(batch.X, np.ndarray)


def shaped_like(given: Any, shape: tuple[int, int], what: str) -> Matrix:
    """Return starting values as (problems, columns), whatever their form."""
    found = np.asarray(given, dtype=np.float64)
    if found.size != shape[0] * shape[1]:
        raise DataError(
            f"Provided {what} does not match dataset: it holds {found.size} numbers instead of "
            f"{shape[0] * shape[1]}; give one for each coefficient."
        )
    return found.reshape(shape)


def objective_values(objective: Objective, point: Vector, held: CoefficientSet | None) -> tuple[float, float]:
    """The objective of a fit, and of no coefficients, or as few as are allowed.

    Alike where nothing can be better than the latter.
    """
    none = within(held, objective, np.zeros_like(point))
    nothing = float(objective.at(none, 0).value)
    if nothing == objective.targets.floor / objective.targets.weight:
        return nothing, nothing
    nothing += objective.penalised(none)
    return float(objective.at(point, 0).value + objective.penalised(point)), nothing


def change(before: float, now: float) -> float:
    """Return the relative change of a number."""
    return abs(now - before) / max(abs(before), abs(now), float(np.finfo(float).tiny))
