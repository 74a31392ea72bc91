"""A fit whose objective ended above where it began."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from surefit.core.certificate import Certificate
from surefit.core.diagnosis import Evidence, Finding, Rule
from surefit.core.trace import Trace


class Diverged(Rule):
    """The objective increased: the steps were too long."""

    name = "diverged"
    needs = ("trace", "certificate")

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Compare the last objective with the first."""
        trace: Trace = evidence["trace"]
        certificate: Certificate = evidence["certificate"]
        objective = trace.column("objective")
        if certificate.holds or len(objective) < 2 or np.isnan(objective[[0, -1]]).any():
            return
        if objective[-1] > objective[0]:
            yield Finding(
                code=self.name,
                severity="problem",
                message=f"The objective rose from {objective[0]:.4g} to {objective[-1]:.4g} in "
                f"{len(objective)} iterations.",
                remedy="Use a smaller step size, or a line search.",
                evidence={"first": float(objective[0]), "last": float(np.nan_to_num(objective[-1]))},
            )

    @classmethod
    def _case(cls, last: float) -> Evidence:
        trace = Trace()
        for i in trace.iterations(2):
            trace.record(objective=last if i else 1.0)
        return {"trace": trace, "certificate": Certificate("stationary", "gradient", 1.0, 1e-6)}

    @classmethod
    def triggering_case(cls) -> Evidence:
        """An objective that rises without end."""
        return cls._case(1e300)

    @classmethod
    def clean_case(cls) -> Evidence:
        """An objective that falls, though not yet enough."""
        return cls._case(0.5)
