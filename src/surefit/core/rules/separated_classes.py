"""Classes that a linear function tells apart without error."""

from __future__ import annotations

from collections.abc import Iterable

from surefit.core.diagnosis import Evidence, Finding, Rule


class SeparatedClasses(Rule):
    """The mean loss is negligible beside that of a constant, as for separable classes."""

    name = "separated-classes"
    needs = ("separation",)
    threshold = 1e-4  # by then every row has a probability above 0.999 on average

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Compare the mean loss at the end with that of a constant."""
        loss, constant = evidence["separation"]
        if loss > self.threshold * constant:
            return
        yield Finding(
            code=self.name,
            severity="warning",
            message=(
                f"The classes are separable: the mean loss fell to {loss:.2g} and keeps falling as the "
                "coefficients grow, so their size only reflects where the fit stopped."
            ),
            remedy="Add a penalty, such as L2, or drop the column that determines the class.",
            evidence={"loss": float(loss), "constant": float(constant)},
        )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """A loss of a millionth."""
        return {"separation": (1e-6, 0.69)}

    @classmethod
    def clean_case(cls) -> Evidence:
        """A loss of a hundredth."""
        return {"separation": (1e-2, 0.69)}
