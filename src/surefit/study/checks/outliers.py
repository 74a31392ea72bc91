"""Numbers far from all others."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from scipy import special

from surefit.core.diagnosis import Finding
from surefit.study.checks.base import Case, Check, Seen


class Outliers(Check):
    """Values beyond three distances between the quartiles from them, further where rows are many."""

    name = "outliers"
    far = 3.0  # Tukey's fence for what is far out
    chance = 0.05  # that one of as many normal numbers lies outside; long tables have a wider fence
    rows = 20  # fewer do not tell quartiles

    def findings(self, seen: Seen) -> Iterable[Finding]:
        """Count them from the sketch of each column."""
        sketch, names = seen.facts.sketch, seen.facts.sketched
        if sketch is None or seen.facts.rows < self.rows:
            return
        known = seen.facts.columns  # a column that was left out is in the sketch alone
        nothing = (np.nan, np.nan, np.nan)
        quartiles = np.array([known[name].quartiles if name in known else nothing for name in names])
        reach = self._fence(seen.facts.rows) * (quartiles[:, 2] - quartiles[:, 0])
        low, high = quartiles[:, 0] - reach, quartiles[:, 2] + reach
        outside = sketch.cdf(np.nextafter(low, -np.inf)) + 1.0 - sketch.cdf(high)
        found = {}
        for j, name in enumerate(names):
            if name not in known:
                continue
            column = known[name]
            beyond = (column.low < low[j]) | (column.high > high[j])
            if beyond and reach[j] > 0 and seen.kinds[name] == "number":
                found[name] = max(1, round(float(outside[j]) * column.present))
        if not found:
            return
        worst = sorted(found, key=lambda name: -found[name])
        told = [self._told(seen, name, found[name]) for name in worst[:3]]
        more = f", and {len(worst) - 3} more columns have some" if len(worst) > 3 else ""
        yield Finding(
            self.name,
            "note",
            f"Outliers: {', '.join(told)}{more}.",
            "Check the largest for errors; if they are real, use a robust loss "
            "(Huber, absolute) or take logarithms.",
            tuple(worst),
            evidence={"columns": float(len(worst)), "most": float(found[worst[0]])},
        )

    def _fence(self, rows: int) -> float:
        """How many distances between the quartiles, 1.349 deviations of normal numbers, the fence is away."""
        quartile = float(special.ndtri(0.75))
        normal = -float(special.ndtri(self.chance / 2 / rows))
        return max(self.far, (normal - quartile) / (2 * quartile))

    @staticmethod
    def _told(seen: Seen, name: str, count: int) -> str:
        column = seen.facts.columns[name]
        first, _, last = column.quartiles
        end = column.high if column.high - last > first - column.low else column.low
        return f"{count:,} of {name!r} (up to {end:.4g}, where half lie from {first:.4g} to {last:.4g})"

    @classmethod
    def triggering_case(cls) -> Case:
        """One beyond the fence, 39 + 3 * 20."""
        return cls._case(90.5)

    @classmethod
    def clean_case(cls) -> Case:
        """One within it."""
        return cls._case(80.5)

    @staticmethod
    def _case(last: float) -> Case:
        return Case(pa.table({"a": [*(place + 0.25 for place in range(40)), last]}))
