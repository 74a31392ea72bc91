"""Columns of different size, and the iterations that they cost."""

from __future__ import annotations

from collections.abc import Iterable

from surefit.core.diagnosis import Evidence, Finding, Rule, named


class UnscaledColumns(Rule):
    """The same solver took half the iterations, or fewer, on the same columns brought to one spread.

    ``scaling_cost``: iterations as the columns are, and scaled; the ratio of the largest spread to the
    smallest, and the columns that these belong to.
    """

    name = "unscaled-columns"
    needs = ("scaling_cost",)
    factor = 2.0

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Compare the two counts."""
        given, scaled, ratio, large, small = evidence["scaling_cost"]
        if given < self.factor * scaled:
            return
        names = named(evidence.get("column_names"), (large, small))
        yield Finding(
            code=self.name,
            severity="warning",
            message=(
                f"Differently scaled columns cost {given - scaled} iterations: this fit took {given}, and "
                f"{scaled} on the same columns standardised; column {names[0]} varies {ratio:.3g} times as "
                f"much as column {names[1]}."
            ),
            remedy="Scale the columns first, as StandardScaler does, or let solver='auto' choose.",
            columns=names,
            evidence={"iterations": float(given), "iterations scaled": float(scaled), "ratio": float(ratio)},
        )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """Ten times the iterations."""
        return {"scaling_cost": (400, 40, 1e3, 1, 0)}

    @classmethod
    def clean_case(cls) -> Evidence:
        """No more than noise."""
        return {"scaling_cost": (60, 50, 1e3, 1, 0)}
