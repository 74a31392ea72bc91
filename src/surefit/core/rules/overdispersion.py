"""Counts or shares that vary more than their family says."""

from __future__ import annotations

from collections.abc import Iterable

from surefit.core.diagnosis import Evidence, Finding, Rule


class Overdispersion(Rule):
    """Pearson's sum is above its degrees of freedom by half, and by more than chance explains."""

    name = "overdispersion"
    needs = ("pearson",)
    threshold = 1.5
    errors = 4.0  # standard deviations of Pearson's sum

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Compare the sum with what it is expected to be."""
        total, freedom, family = evidence["pearson"]
        if freedom <= 0 or total / freedom <= self.threshold:
            return
        beyond = (total - freedom) / (2.0 * freedom) ** 0.5
        if beyond <= self.errors:
            return
        ratio = total / freedom
        yield Finding(
            code=self.name,
            severity="warning",
            message=(
                f"The variance of the target is {ratio:.3g} times what the {family} family assumes, so its "
                f"standard errors are too small by a factor of about {ratio**0.5:.2g}."
            ),
            remedy=(
                "Use robust standard errors, summary(covariance='HC1') or summary(dispersion='pearson'), "
                "or a family with a dispersion parameter, such as 'negative_binomial' for counts."
            ),
            evidence={"ratio": float(ratio), "freedom": float(freedom)},
        )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """Twice the variance, in two hundred rows."""
        return {"pearson": (400.0, 200.0, "poisson")}

    @classmethod
    def clean_case(cls) -> Evidence:
        """A little more than expected."""
        return {"pearson": (220.0, 200.0, "poisson")}
