"""What a boosted model keeps of itself, and the types of what it is asked."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.core.parameters import Interval
from surefit.models.ensemble import STATED
from surefit.models.tree.rows.matrix import Levels

ColumnShare = Annotated[float, Interval(0, 1, open_low=True)]
BinCount = Annotated[int, Interval(2, 255)]
HeldOut = (
    Annotated[float, Interval(0, 1, open_low=True, open_high=True)] | Annotated[int, Interval(1, None)] | None
)
Interactions = list[Any] | tuple[Any, ...] | Literal["pairwise", "no_interactions"] | None


@dataclass(frozen=True, slots=True)
class BoostParameters:
    """The trees one after the other, as ``BoostedNodes`` has them, and how the rounds went.

    baseline: the score of each output before the first tree. levels: of each column, those its codes stand
    for; () where all are numbers. training_loss, held_out_loss: what the fit states, NaN for no rows.
    validated_apart: the rows held out were given to the fit, not drawn by it.
    """

    baseline: Vector
    node_number: Vector
    node_column: NDArray[np.int32]
    node_left: NDArray[np.int32]
    node_right: NDArray[np.int32]
    node_missing_left: NDArray[np.uint8]
    node_by_levels: NDArray[np.uint8]
    node_level_bits: NDArray[np.uint64]
    tree_root: NDArray[np.int64]
    levels: Levels
    seed: int
    n_iter: int
    n_trees_per_iteration: int
    do_early_stopping: bool
    train_score: Vector
    validation_score: Vector
    validated_apart: bool
    training_loss: float
    held_out_loss: float


def with_own(kind: type, common: BoostParameters, **own: Any) -> Any:
    """Return the same with what is a class's own."""
    return kind(**{entry.name: getattr(common, entry.name) for entry in fields(common)}, **own)


def proof(
    training: float, held_out: float, training_again: float | None = None, held_out_again: float | None = None
) -> Certificate:
    """Compare the losses that a fit stated with those computed again; None for one that was not."""
    gaps = {"training loss": _gap(training, training_again), "held-out loss": _gap(held_out, held_out_again)}
    worst = max(gaps, key=lambda name: gaps[name])
    parts = {"training loss": training if training_again is None else training_again}
    if not np.isnan(held_out):
        parts["held-out loss"] = held_out if held_out_again is None else held_out_again
    return Certificate("measured", f"relative change of the {worst}", gaps[worst], STATED, parts)


def _gap(stated: float, again: float | None) -> float:
    if again is None or stated == again:
        return 0.0
    return abs(stated - again) / max(abs(stated), abs(again))
