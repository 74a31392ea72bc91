"""Targets and scores that the laws try a loss on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core.parameters import Interval
from surefit.losses.arrays import Array

ROWS = 64
FAR = (-800.0, -745.0, -40.0, -1.0, 0.0, 1.0, 40.0, 745.0, 800.0)


@dataclass(frozen=True, slots=True)
class Case:
    """A loss, targets that it allows, and scores."""

    loss: Any
    y: Any
    z: Array


def scores(rows: int, rng: np.random.Generator) -> Array:
    """Draw scores near 0, and some at either end."""
    z = 2.0 * rng.normal(size=rows)
    z[: len(FAR)] = FAR
    return z


def targets(domain: Interval, rng: np.random.Generator, rows: int = ROWS) -> Array:
    """Draw targets from a domain that is the whole line, half of it, or a segment."""
    if domain.low is None:
        return np.round(3.0 * rng.normal(size=rows), 1)
    if domain.high is None:
        y = np.round(rng.gamma(2.0, size=rows), 1) + 0.1
        if not domain.open_low:
            y[::5] = domain.low
        return y
    return domain.low + (domain.high - domain.low) * np.round(rng.random(rows), 1)
