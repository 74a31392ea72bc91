"""Distances that are all alike, so that the nearest row is hardly nearer than any."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from surefit.core.diagnosis import Evidence, Finding, Rule


class DistancesAlike(Rule):
    """The nearest row is hardly nearer than an average one, as happens in many dimensions of noise.

    ``distance_spread``: the mean distance between rows of a sample, the mean distance to the nearest, and the
    number of rows.
    """

    name = "distances-alike"
    needs = ("distance_spread",)
    contrast = 1.5
    fewest = 100

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Compare the two means."""
        mean, nearest, rows = evidence["distance_spread"]
        if rows < self.fewest or not np.isfinite(mean) or nearest <= 0 or mean >= self.contrast * nearest:
            return
        yield Finding(
            code=self.name,
            severity="warning",
            message=(
                f"Distances mean little here: an average row is {mean / nearest:.3g} times as far away as "
                f"the nearest ({rows} rows of the fit)."
            ),
            remedy="Use fewer columns: those that matter (selection), or a few made of all (PCA).",
            evidence={"contrast": float(mean / nearest), "rows": float(rows)},
        )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """A hundred columns of noise."""
        return {"distance_spread": (14.0, 12.0, 500)}

    @classmethod
    def clean_case(cls) -> Evidence:
        """A few columns."""
        return {"distance_spread": (4.0, 1.0, 500)}
