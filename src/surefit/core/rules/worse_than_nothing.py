"""A fit whose objective is above that of no coefficients at all."""

from __future__ import annotations

from collections.abc import Iterable

from surefit.core.diagnosis import Evidence, Finding, Rule


class WorseThanNothing(Rule):
    """Steps by single rows went too far, and their own rule ended them where they were."""

    name = "worse-than-nothing"
    needs = ("objective_and_at_zero",)

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Compare the two objectives."""
        found, nothing = evidence["objective_and_at_zero"]
        if found > nothing:
            yield Finding(
                code=self.name,
                severity="warning",
                message=f"The objective is {found:.4g} after all epochs, and {nothing:.4g} without any "
                "coefficient: the steps were too long.",
                remedy="Standardise the columns, average the steps (average=True), take shorter ones (eta0) "
                "or a larger alpha, or go on to the minimum with polish=True.",
                evidence={"objective": float(found), "without coefficients": float(nothing)},
            )

    @classmethod
    def sick(cls) -> Evidence:
        """More than the loss of nothing."""
        return {"objective_and_at_zero": (1.5, 1.0)}

    @classmethod
    def sound(cls) -> Evidence:
        """As much as the loss of nothing."""
        return {"objective_and_at_zero": (1.0, 1.0)}
