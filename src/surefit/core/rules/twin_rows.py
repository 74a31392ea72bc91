"""Rows that are tested on and stand among the training rows as well make a score too good."""

from __future__ import annotations

from collections.abc import Iterable

from surefit.core.diagnosis import Evidence, Finding, Rule


class TwinRows(Rule):
    """Many rows tested on have an equal among the rows that were learnt from, target included."""

    name = "twin-rows"
    needs = ("share_of_twins",)
    LEAST = (
        0.05  # fewer are the coincidences of any rounded table, and move a score by less than its interval
    )

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Look at the share of them."""
        share = float(evidence["share_of_twins"])
        if share >= self.LEAST:
            yield Finding(
                code=self.name,
                severity="warning",
                message=f"{share:.0%} of the test rows are also among the training rows, target included.",
                remedy="If they are the same cases recorded twice, give each case a group: groups=.",
                evidence={"share": share},
            )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """Half of the rows."""
        return {"share_of_twins": 0.5}

    @classmethod
    def clean_case(cls) -> Evidence:
        """A coincidence."""
        return {"share_of_twins": 0.01}
