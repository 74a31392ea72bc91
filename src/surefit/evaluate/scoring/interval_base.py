"""What an interval for a score is, and how its level is checked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from surefit.core.errors import ParameterError
from surefit.metrics.base import Metric


@dataclass(frozen=True, slots=True)
class ScoreInterval:
    """A score, and where the score for all rows of the kind lies, at a level of confidence.

    method says in words how it was found; error is the standard error where there is one, NaN otherwise.

    >>> print(ScoreInterval("accuracy_score", 0.9, 0.84, 0.94, 0.95, "Wilson"))
    accuracy_score 0.9 [0.84, 0.94] (95 %, Wilson)
    """

    name: str
    estimate: float
    low: float
    high: float
    level: float
    method: str
    error: float = math.nan

    def __str__(self) -> str:
        numbers = f"{self.estimate:.4g} [{self.low:.4g}, {self.high:.4g}]"
        return f"{self.name} {numbers} ({100 * self.level:g} %, {self.method})"

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def width(self) -> float:
        """From end to end."""
        return self.high - self.low


def check_level(level: Any) -> float:
    """Return a level of confidence, refused unless it lies between 0 and 1."""
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise ParameterError(f"level={level!r} must be a number between 0 and 1, such as 0.95.")
    return float(level)


def within_range(metric: Metric | Any, low: float, high: float) -> tuple[float, float]:
    """Cut an interval to what the score can be."""
    least, most = getattr(metric, "value_range", (-math.inf, math.inf))
    return max(low, least), min(high, most)
