"""A fit that ended before its certificate held."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from surefit.core.certificate import Certificate
from surefit.core.diagnosis import Evidence, Finding, Rule
from surefit.core.native.sums.moments import ColumnMoments
from surefit.core.trace import Trace

LIKE_SIZE = 100.0  # ratio of standard deviations, up to which scaling columns hardly helps


def _scale_ratio(moments: ColumnMoments | None) -> float | None:
    """Return the largest standard deviation over the smallest, of the columns that vary."""
    if moments is None or not (moments.scatter > 0).any():
        return None
    varies = moments.scatter[moments.scatter > 0]
    return float(np.sqrt(varies.max() / varies.min()))


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
        scales = _scale_ratio(evidence.get("column_moments"))
        scaling = "standardise the columns, " if scales is None or scales > LIKE_SIZE else ""
        remedy = f"Allow more iterations, {scaling}or ask for a larger tolerance."
        if trace.asked_to_stop:
            why, remedy = "a callback asked it to", "Allow it to run longer."
        elif trace.limit is not None and len(trace) >= trace.limit:
            why = f"it reached its limit of iterations ({trace.limit})"
        else:
            why = "no step improved the objective beyond rounding error"
            remedy = f"{scaling}ask for a larger tolerance, or choose another solver."
            remedy = remedy[0].upper() + remedy[1:]
        beside = "" if scales is None else f"; the largest column varies {scales:.2g} times the smallest"
        yield Finding(
            code=self.name,
            severity="warning",
            message=f"The fit stopped after {len(trace)} iterations because {why}, "
            f"with {certificate.measure} at {certificate.value:.3g}, "
            f"above the tolerance of {certificate.tolerance:.3g}{beside}.",
            remedy=remedy,
            evidence={
                "value": certificate.value,
                "tolerance": certificate.tolerance,
                **({} if scales is None else {"scale ratio": scales}),
            },
        )

    @classmethod
    def _case(cls, value: float) -> Evidence:
        trace = Trace()
        for _ in trace.iterations(2):
            trace.record(gap=value)
        return {"trace": trace, "certificate": Certificate("optimal", "duality gap", value, 1e-6)}

    @classmethod
    def triggering_case(cls) -> Evidence:
        """A gap of 0.1 after two iterations."""
        return cls._case(0.1)

    @classmethod
    def clean_case(cls) -> Evidence:
        """A gap below the tolerance."""
        return cls._case(1e-7)
