"""What the splits of a tree say, one condition a node: the ground of every way of writing a tree down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.models.tree.nodes.node_arrays import Nodes


@dataclass(frozen=True, slots=True)
class Condition:
    """What sends a row left: ``column`` at most ``threshold``, or one of ``levels``; missing goes as it says.

    column: its number. threshold: infinite where only what is missing goes right; None for levels.
    """

    column: int
    name: str
    threshold: float | None
    levels: tuple[Any, ...]
    missing_left: bool

    def words(self, goes_left: bool) -> str:
        """The condition, or its opposite, as one reads it."""
        if self.threshold is None:
            listed = ", ".join("missing" if is_gone(level) else str(level) for level in self.levels)
            return f"{self.name} in {{{listed}}}" if goes_left else f"{self.name} not in {{{listed}}}"
        if np.isinf(self.threshold):
            return f"{self.name} is known" if goes_left else f"{self.name} is missing"
        return f"{self.name} {'<=' if goes_left else '>'} {self.threshold:.6g}"


def is_gone(level: Any) -> bool:
    """Whether a level stands for what is missing.

    >>> is_gone(None), is_gone(float("nan")), is_gone("nan")
    (True, True, False)
    """
    return level is None or level != level


def conditions(nodes: Nodes, names: Sequence[str], levels: Sequence[NDArray[Any]]) -> dict[int, Condition]:
    """The condition of each inner node."""
    grown = nodes.grown
    found = {}
    for at in np.flatnonzero(nodes.inner).tolist():
        column = int(grown.feature[at])
        own: tuple[Any, ...] = ()
        threshold: float | None = float(grown.threshold[at])
        if grown.levels[column] > 0:
            own, threshold = tuple(levels[column][nodes.left_levels(at)].tolist()), None
        found[at] = Condition(column, names[column], threshold, own, bool(grown.missing_left[at]))
    return found
