"""What a preparer does with one column: decided from facts about it, and applied to new rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.data.checks.float_range import out_of_range
from surefit.models.candidate import Purpose
from surefit.models.prepare.encoders.rare_levels import grouped_codes, infrequent

MAX_LEVELS = 10_000  # with more distinct values, words are text
LEAST_ROWS = 20  # fewer rows do not tell an identifier from a category
REASONS = {
    "text": "is text",
    "identifier": "has a distinct value in each row",
    "constant": "is constant",
    "empty": "has only missing values",
}
_CYCLES = (("month", 12), ("weekday", 7))


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a column: weights of rows and gaps; moments and median, or levels and counts."""

    weight: float
    missing: float
    mean: float = 0.0
    variance: float = 0.0
    minimum: float = np.inf
    maximum: float = -np.inf
    median: float = np.nan
    levels: NDArray[Any] | None = None
    counts: Vector | None = None


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """The way of a column: its role, what fills its gaps, how it is scaled, whether gaps are shown.

    role: "number", "calendar", "cycle" (a date as days and two cycles), "one-hot", "ordinal", or "dropped".
    """

    name: str
    role: str
    reason: str = ""
    fill: float = np.nan
    shift: float = 0.0
    scale: float = 1.0
    low: float = -np.inf
    indicator: bool = False
    levels: NDArray[Any] | None = None
    outputs: NDArray[np.int32] | None = None  # the output of each level, -1 for the reference; then of others
    height: float = 1.0  # what stands for yes

    @property
    def names(self) -> list[str]:
        """The names of the columns that come out."""
        found = {
            "number": [self.name],
            "ordinal": [self.name],
            "calendar": [f"{self.name}_{part}" for part in ("days", "year", "month", "weekday")],
            "cycle": [
                f"{self.name}_days",
                *(f"{self.name}_{part}_{wave}" for part, _ in _CYCLES for wave in ("sin", "cos")),
            ],
            "one-hot": self._level_names(),
            "dropped": [],
        }[self.role]
        return [*found, f"{self.name}_missing"] if self.indicator else found

    def _level_names(self) -> list[str]:
        if self.levels is None or self.outputs is None:
            return []
        named: dict[int, str] = {}
        for level, output in zip(self.levels, self.outputs[:-1], strict=True):
            named[output] = f"{self.name}_other" if output in named else f"{self.name}_{level}"
        if self.outputs[-1] >= 0:
            named[self.outputs[-1]] = f"{self.name}_other"
        return [named[output] for output in sorted(named) if output >= 0]

    def block(
        self, values: Vector | None, codes: NDArray[np.int32] | None, gone: NDArray[np.bool_]
    ) -> Vector:
        """The columns that come out for some rows, from numbers with NaN or codes with -1 for unknown."""
        parts: list[Any] = []
        if values is not None and self.role != "dropped":
            filled = np.where(gone, self.fill, values)
            scaled = np.maximum((filled - self.shift) / self.scale, self.low)
            parts = [scaled, *_calendar(filled, self.role)]
        elif self.role == "ordinal":
            parts = [codes]
        elif self.role == "one-hot":
            assert self.outputs is not None
            assert codes is not None
            places = np.where(gone, -1, self.outputs[codes])
            parts = [
                self.height * (places == output) for output in range(int(self.outputs.max(initial=-1)) + 1)
            ]
        if self.indicator:
            parts.append(self.height * gone)
        return np.column_stack(parts).astype(np.float64) if parts else np.zeros((len(gone), 0))


def _calendar(days: Vector, role: str) -> list[Any]:
    if role not in ("calendar", "cycle"):
        return []
    whole = np.floor(days).astype(np.int64)
    dates = whole.astype("datetime64[D]")
    month = dates.astype("datetime64[M]").astype(np.int64) % 12 + 1
    weekday = (whole + 3) % 7  # Monday is 0; 1970 began on a Thursday
    if role == "calendar":
        return [dates.astype("datetime64[Y]").astype(np.int64) + 1970, month, weekday]
    turns = [2 * np.pi * part / period for part, (_, period) in zip((month, weekday), _CYCLES, strict=True)]
    return [wave(turn) for turn in turns for wave in (np.sin, np.cos)]


def decide(
    name: str,
    kind: str,
    facts: Facts,
    purpose: Purpose,
    most: int | None,
    indicators: bool,
    identifiers: bool = False,
) -> ColumnPlan:
    """Decide what becomes of a column; identifiers: whether they are kept."""
    present = facts.weight - facts.missing
    gaps = facts.missing > 0
    if kind == "text" or (facts.levels is not None and len(facts.levels) > MAX_LEVELS):
        return ColumnPlan(name, "dropped", "text")
    if present <= 0:
        return ColumnPlan(name, "dropped", "empty")
    if not identifiers and _is_identifier(kind, facts):
        return ColumnPlan(name, "dropped", "identifier")
    show = indicators and gaps and not (kind == "category" and purpose == "tree")
    varies = (len(facts.levels) > 1) if facts.levels is not None else facts.minimum < facts.maximum
    if not varies and purpose in ("linear", "distance") and facts.weight > 1:
        return ColumnPlan(name, "dropped", "" if show else "constant", indicator=show, levels=facts.levels)
    if kind == "category":
        return _category(name, facts, purpose, most, show)
    return _numeric(name, kind, facts, purpose, show)


def _is_identifier(kind: str, facts: Facts) -> bool:
    """Whether nearly every row has a value of its own: words, or the whole numbers of a range, each once."""
    if facts.weight < LEAST_ROWS or facts.missing > 0:
        return False
    if kind == "category":
        return facts.levels is not None and len(facts.levels) >= 0.95 * facts.weight
    count = facts.maximum - facts.minimum + 1
    if kind != "number" or count != facts.weight or facts.minimum != np.rint(facts.minimum):
        return False
    # The middle and the variance of a run of whole numbers; hardly anything else in that range has both.
    middle, spread = (facts.minimum + facts.maximum) / 2, (count**2 - 1) / 12
    return abs(facts.mean - middle) <= 1e-9 * count and abs(facts.variance - spread) <= 1e-9 * spread


def _numeric(name: str, kind: str, facts: Facts, purpose: Purpose, show: bool) -> ColumnPlan:
    role = {"linear": "cycle", "distance": "cycle", "tree": "calendar"}.get(purpose, "number")
    role = role if kind == "date" else "number"
    fill, shift, scale, low = facts.median, 0.0, 1.0, -np.inf
    if kind == "boolean":
        fill = float(facts.mean >= 0.5)
    elif purpose in ("linear", "distance"):
        shift, scale = facts.mean, np.sqrt(facts.variance) if facts.minimum < facts.maximum else 1.0
    elif purpose == "count":
        low = 0.0
        if facts.minimum < 0 or kind == "date":
            shift, scale = facts.minimum, (facts.maximum - facts.minimum) or 1.0
    if not 0 < scale < np.inf or not np.isfinite(shift):
        raise out_of_range(f"column {name!r}", tiny=bool(np.abs([facts.minimum, facts.maximum]).max() < 1))
    return ColumnPlan(name, role, "", fill, shift, scale, low, show)


def _category(name: str, facts: Facts, purpose: Purpose, most: int | None, show: bool) -> ColumnPlan:
    assert facts.levels is not None
    assert facts.counts is not None
    if purpose == "tree":
        return ColumnPlan(name, "ordinal", levels=facts.levels)
    rare = infrequent(facts.counts, facts.weight, None, most)
    group = grouped_codes(len(facts.levels), rare)
    other = -1 if rare is None else int(group[rare[0]])
    outputs = np.append(group, np.int32(other))
    if purpose == "linear":
        # The commonest level is the reference: an intercept stands for it, and so do unknown values.
        reference = int(np.argmax(np.bincount(group, facts.counts)))
        outputs = np.where(outputs == reference, -1, outputs - (outputs > reference)).astype(np.int32)
    height = np.sqrt(0.5) if purpose == "distance" else 1.0  # two different levels are 1 apart
    return ColumnPlan(name, "one-hot", indicator=show, levels=facts.levels, outputs=outputs, height=height)
