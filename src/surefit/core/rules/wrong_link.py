"""A link function that does not fit."""

from __future__ import annotations

from collections.abc import Iterable

from surefit.core.diagnosis import Evidence, Finding, Rule


class WrongLink(Rule):
    """The square of the score would explain more: Pregibon's test of the link."""

    name = "wrong-link"
    needs = ("link_test",)
    threshold = 4.0  # standard errors

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Look at the score test of the squared score."""
        z, link = evidence["link_test"]
        if not abs(z) > self.threshold:
            return
        yield Finding(
            code=self.name,
            severity="warning",
            message=(
                f"The square of the linear predictor would improve the fit by {abs(z):.1f} standard "
                f"errors, so the {link} link may be wrong, or a column is missing or enters nonlinearly."
            ),
            remedy="Try another link, or add squares and products of columns.",
            evidence={"z": float(z)},
        )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """Six standard errors."""
        return {"link_test": (6.0, "log")}

    @classmethod
    def clean_case(cls) -> Evidence:
        """Two standard errors."""
        return {"link_test": (-2.0, "log")}
