"""How a family takes part in a study: what it needs its columns to be, how complex it is, what to try."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Purpose = Literal["linear", "distance", "tree", "count"]  # what a table is prepared for


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a class declares, as ``candidate``, to be compared with the others.

    title: for people, as "Ridge regression". complexity: the place in Occam's order; of models that cannot
    be told apart the lowest is taken (0 a baseline, 10 linear, 20 a tree, 50 a forest, 60 boosting).
    purpose: how a table is prepared for it. given: parameters that differ from the defaults. settings: the
    values of parameters to choose among inside each fold. most_rows: beyond it, a sample is compared.
    target: "any", "positive" or "counts", what values of a quantitative target it is made for. streams: its
    fit holds no rows, so that it learns from all of a table that is larger than memory.
    """

    title: str
    complexity: float
    purpose: Purpose = "linear"
    given: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    most_rows: int | None = None
    target: str = "any"
    streams: bool = False
