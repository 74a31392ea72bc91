"""A fit whose objective is above that of no coefficients at all."""

from __future__ import annotations

from collections.abc import Iterable

from surefit.core.diagnosis import Evidence, Finding, Rule


class WorseThanNothing(Rule):
    """Stochastic steps were too long, and their stopping rule ended them above the starting point."""

    name = "worse-than-nothing"
    needs = ("objective_and_at_zero",)

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Compare the two objectives."""
        found, nothing = evidence["objective_and_at_zero"]
        if found > nothing:
            yield Finding(
                code=self.name,
                severity="warning",
                message=(
                    f"The objective is {found:.4g} after all epochs, above {nothing:.4g} with all "
                    "coefficients zero: the learning rate was too large."
                ),
                remedy=(
                    "Standardise the columns, average the iterates (average=True), lower the learning rate "
                    "(eta0), raise alpha, or continue to the minimum with polish=True."
                ),
                evidence={"objective": float(found), "without coefficients": float(nothing)},
            )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """More than the loss of nothing."""
        return {"objective_and_at_zero": (1.5, 1.0)}

    @classmethod
    def clean_case(cls) -> Evidence:
        """As much as the loss of nothing."""
        return {"objective_and_at_zero": (1.0, 1.0)}
