"""A fit that ended before its certificate held."""

from __future__ import annotations

from collections.abc import Iterable

from surefit.core.certificate import Certificate
from surefit.core.diagnosis import Evidence, Finding, Rule
from surefit.core.trace import Trace


class NotConverged(Rule):
    """The certificate does not hold at the end of an iterative fit."""

    name = "not-converged"
    needs = ("trace", "certificate")

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Say what stopped the fit and how far it still was."""
        trace: Trace = evidence["trace"]
        certificate: Certificate = evidence["certificate"]
        if certificate.holds or len(trace) == 0:
            return
        remedy = "Allow more iterations, scale the columns to like size, or ask for a larger tolerance."
        if trace.asked_to_stop:
            why, remedy = "a callback asked it to", "Let it run longer."
        elif trace.limit is not None and len(trace) >= trace.limit:
            why = "it reached its limit of iterations"
        else:
            why = "no step helped"
        yield Finding(
            code=self.name,
            severity="warning",
            message=f"The fit stopped after {len(trace)} iterations because {why}, "
            f"with {certificate.measure} at {certificate.value:.3g}, "
            f"above the tolerance of {certificate.tolerance:.3g}.",
            remedy=remedy,
            evidence={
                "value": certificate.value,
                "tolerance": certificate.tolerance,
            },
        )

    @classmethod
    def _case(cls, value: float) -> Evidence:
        trace = Trace()
        for _ in trace.iterations(2):
            trace.record(gap=value)
        return {"trace": trace, "certificate": Certificate("optimal", "duality gap", value, 1e-6)}

    @classmethod
    def sick(cls) -> Evidence:
        """A gap of 0.1 after two iterations."""
        return cls._case(0.1)

    @classmethod
    def sound(cls) -> Evidence:
        """A gap below the tolerance."""
        return cls._case(1e-7)
