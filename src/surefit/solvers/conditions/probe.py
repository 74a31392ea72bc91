"""What a search for a counterexample found: something, or nothing in so many trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefit.core.arrays import Vector
from surefit.core.errors import DataError

Sampler = Callable[[np.random.Generator], Vector]

ROUNDINGS = 64 * float(np.finfo(np.float64).eps)  # of the numbers compared: less is no violation


@dataclass(frozen=True, slots=True)
class Probe:
    """The outcome of a search; a search that found nothing has proved nothing.

    >>> Probe("convexity", 100).statement
    'No counterexample to convexity was found in 100 trials.'
    """

    of: str
    trials: int
    worst: float = 0.0  # the largest violation, relative to the numbers compared
    counterexample: Mapping[str, Any] = field(default_factory=dict)
    seen: float | None = None  # the extreme of what was measured, such as the largest ratio of slopes

    @property
    def refuted(self) -> bool:
        """Whether there is a counterexample."""
        return bool(self.counterexample)

    @property
    def statement(self) -> str:
        """One English sentence."""
        if not self.refuted:
            return f"No counterexample to {self.of} was found in {self.trials} trials."
        shown = ", ".join(f"{name} = {_text(value)}" for name, value in self.counterexample.items())
        return f"A counterexample to {self.of}: {shown}."

    def __str__(self) -> str:
        return self.statement


def _text(value: Any) -> str:
    return np.array2string(np.asarray(value), precision=6, threshold=8)


def box_sampler(low: ArrayLike, high: ArrayLike) -> Sampler:
    """Draw from a box, one coordinate in eight at one of its ends."""
    lowest, highest = (np.atleast_1d(np.array(side, dtype=np.float64)) for side in (low, high))
    if lowest.shape != highest.shape or not np.isfinite([lowest, highest]).all() or np.any(lowest > highest):
        raise DataError("the box must have finite sides of one length, with low no larger than high.")

    def draw(rng: np.random.Generator) -> Vector:
        point: Vector = rng.uniform(lowest, highest)
        ends = np.where(rng.random(len(lowest)) < 0.5, lowest, highest)
        return np.where(rng.random(len(lowest)) < 0.125, ends, point)

    return draw


def segment_sampler(one: ArrayLike, other: ArrayLike) -> Sampler:
    """Draw from the segment between two points."""
    start, end = (np.atleast_1d(np.array(side, dtype=np.float64)) for side in (one, other))

    def draw(rng: np.random.Generator) -> Vector:
        return start + rng.random() * (end - start)

    return draw


def pairs(sampler: Sampler, rng: np.random.Generator) -> tuple[Vector, Vector]:
    """Draw two points, of all distances: what bends up at large may bend down in the small."""
    one, other = sampler(rng), sampler(rng)
    return one, one + 10.0 ** rng.uniform(-3, 0) * (other - one)
