"""A step that brings what it learnt into every fold may have seen the rows that the fold tests on."""

from __future__ import annotations

from collections.abc import Iterable

from surefit.core.diagnosis import Evidence, Finding, Rule, listed


class FittedOutside(Rule):
    """Steps that a copy does not make anew: frozen, or told to take a fitted model as it is."""

    name = "fitted-outside"
    needs = ("steps_fitted_outside",)

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Name the steps."""
        steps = tuple(evidence["steps_fitted_outside"])
        if steps:
            many = len(steps) > 1
            yield Finding(
                code=self.name,
                severity="problem",
                message=(
                    f"{listed(steps)} {'were' if many else 'was'} fitted outside the folds, and may have "
                    "seen the test rows: the scores may be too optimistic."
                ),
                remedy="Pass the step unfitted, so that each fold fits it anew, or fit it on other rows.",
                columns=steps,
                evidence={"steps": float(len(steps))},
            )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """A frozen scaler."""
        return {"steps_fitted_outside": ("scaler",)}

    @classmethod
    def clean_case(cls) -> Evidence:
        """Every step is fitted anew."""
        return {"steps_fitted_outside": ()}
