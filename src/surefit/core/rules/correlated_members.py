"""Members of an ensemble that err alike, so that averaging them changes little."""

from __future__ import annotations

from collections.abc import Iterable

from surefit.core.diagnosis import Evidence, Finding, Rule


class CorrelatedMembers(Rule):
    """The errors of two members are the same but for a few per cent: more members cannot help."""

    name = "correlated-members"
    needs = ("member_errors",)
    threshold = 0.95

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Compare the correlation with its threshold."""
        correlation, members, base = evidence["member_errors"]
        if correlation <= self.threshold:
            return
        yield Finding(
            code=self.name,
            severity="note",
            message=f"The errors of two {base} members have a correlation of {correlation:.3g}, so that no "
            f"number of members lowers the squared error of one by more than {1 - correlation:.2%}.",
            remedy="Use one such model by itself, or a base model that varies more, as a deep tree does.",
            evidence={"correlation": float(correlation), "members": float(members)},
        )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """Ridge regressions of bootstraps."""
        return {"member_errors": (0.99, 10, "Ridge")}

    @classmethod
    def clean_case(cls) -> Evidence:
        """Deep trees of bootstraps."""
        return {"member_errors": (0.55, 10, "DecisionTreeRegressor")}
