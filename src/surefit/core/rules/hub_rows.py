"""Rows that are near to far more rows than chance would have it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from surefit.core.diagnosis import Evidence, Finding, Rule


class HubRows(Rule):
    """One row is among the nearest of a large part of all others, as happens in many dimensions.

    ``hubs``: how often the row chosen most is among the k nearest of another row of a sample, k, its number,
    and how many rows the sample has.
    """

    name = "hub-rows"
    needs = ("hubs",)
    times = 8.0
    fewest = 100

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Compare with k, how often each row is chosen on average."""
        most, k, row, rows = evidence["hubs"]
        if rows < self.fewest or most < self.times * k:
            return
        yield Finding(
            code=self.name,
            severity="warning",
            message=(
                f"Row {row} is a hub: it is among the {k} nearest of {most} of {rows} rows, "
                f"{most / k:.3g} times as often as the average row."
            ),
            remedy="Use fewer dimensions (PCA), metric='cosine', or weights='distance'.",
            rows=(int(row),),
            evidence={"times": float(np.divide(most, k)), "rows": float(rows)},
        )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """Half of all rows have it for a neighbour."""
        return {"hubs": (240, 10, 7, 500)}

    @classmethod
    def clean_case(cls) -> Evidence:
        """The most popular of many is no hub."""
        return {"hubs": (40, 10, 7, 500)}
