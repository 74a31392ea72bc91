"""Columns that nearly depend on each other, and the digits that this costs."""

from __future__ import annotations

import math
from collections.abc import Iterable

from surefit.core.diagnosis import Evidence, Finding, Rule


class IllConditioned(Rule):
    """A condition number, of columns scaled to one length, beyond a million."""

    name = "ill-conditioned"
    needs = ("condition",)
    threshold = 1e6

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Turn the condition number into digits."""
        condition = float(evidence["condition"])
        if not condition > self.threshold:
            return
        lost = math.log10(condition)
        yield Finding(
            code=self.name,
            severity="warning",
            message=(
                f"The columns are nearly collinear: the condition number is {condition:.2g}, so about "
                f"{lost:.0f} of 16 digits are lost between the data and the coefficients."
            ),
            remedy=(
                f"Drop or combine redundant columns, or {_steadier(evidence.get('penalty'))}; predictions "
                "are affected less than coefficients."
            ),
            evidence={"condition": condition, "digits lost": lost},
        )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """Ten million."""
        return {"condition": 1e7}

    @classmethod
    def clean_case(cls) -> Evidence:
        """A hundred thousand."""
        return {"condition": 1e5}


def _steadier(penalty: float | None) -> str:
    """What would lower the condition number, for a fit with this penalty or without any."""
    return "use Ridge" if penalty is None else f"raise alpha, which is {penalty:g}"
