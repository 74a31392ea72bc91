"""Certificates: how far a fit can be from the best answer, as a number that anyone can recompute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from types import MappingProxyType
from typing import Any, Literal

from sklearn.exceptions import ConvergenceWarning

from surefit.core.errors import SurefitWarning
from surefit.core.public import public

Claim = Literal[
    "optimal",  # within a duality gap of the minimum
    "stationary",  # the gradient, or the fixed-point residual, vanishes
    "fixed point",  # no half-step of the algorithm changes the answer
    "backward stable",  # the exact answer to data changed by a relative rounding error
    "best splits",  # every stored split is the best of its node
    "measured",  # an objective that the fit stated, computed again
    "estimated",  # a loss on data not used to fit, with its standard error
    "bounded",  # a number of the training rows, below a bound that theory gives
    "exact",  # a closed form, recomputed
    "infeasible",  # a mixture of the constraints that nothing satisfies
    "unbounded",  # a ray along which the objective falls for ever
]

_SENTENCES: Mapping[str, str] = {
    "optimal": "No parameters can lower the objective by more than {value} ({measure}).",
    "stationary": "The fit is stationary: its {measure} is {value}.",
    "fixed point": "Another step of the algorithm changes the solution by {value} ({measure}).",
    "backward stable": "The solution is exact for data perturbed by a relative {value} ({measure}).",
    "best splits": "No stored split can be improved by more than {value} ({measure}).",
    "measured": "Recomputing the objective of the fit changes it by {value} ({measure}).",
    "estimated": "On data not used to fit, the {measure} is {value}.",
    "bounded": "On the training rows, the {measure} is {value}.",
    "exact": "The solution is a closed form; recomputing it changes it by {value} ({measure}).",
    "infeasible": (
        "The constraints are infeasible: a combination of them is a contradiction to within {value} "
        "({measure})."
    ),
    "unbounded": (
        "The problem is unbounded: the objective decreases along a ray that violates no constraint by more "
        "than {value} ({measure})."
    ),
}

STATED = 1e-10  # of what an objective is measured by: what adding it up in another order may change
STATED_OBJECTIVE = "change of the objective that the fit stated, relative to the loss of a constant"

STEP = "largest Newton step of a coefficient, relative to the largest coefficient"


class CertificateWarning(SurefitWarning, ConvergenceWarning):  # type: ignore[misc]  # has no types
    """The fit ended, but its certificate does not hold to the tolerance asked for."""


@public
@dataclass(frozen=True, slots=True)
class Certificate:
    """What a fit claims, the number that backs it, and whether that number is small enough.

    >>> Certificate(claim="exact", measure="relative error of the mean", value=0.0, tolerance=1e-12).holds
    True
    """

    claim: Claim
    measure: str  # what the value measures, in words
    value: float
    tolerance: float
    parts: Mapping[str, float] = field(default_factory=dict)  # the numbers that the value was made of
    witness: Mapping[str, Any] = field(
        default_factory=dict, repr=False, compare=False
    )  # arrays needed to recompute it, such as a dual point

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", float(self.value))
        object.__setattr__(self, "tolerance", float(self.tolerance))
        object.__setattr__(self, "parts", dict(self.parts))
        object.__setattr__(self, "witness", dict(self.witness))

    @property
    def holds(self) -> bool:
        """Whether the value is a number no larger than the tolerance."""
        return isfinite(self.value) and self.value <= self.tolerance

    @property
    def statement(self) -> str:
        """One English sentence."""
        sentence = _SENTENCES[self.claim].format(value=f"{self.value:.3g}", measure=self.measure)
        if self.holds and self.tolerance == float("inf"):
            return sentence
        verdict = "within" if self.holds else "NOT within"
        sentence = f"{sentence[:-1]}, {verdict} the tolerance of {self.tolerance:.3g}."
        if STEP not in self.parts:
            return sentence
        step = f"{self.parts[STEP]:.3g}"
        return f"{sentence} A Newton step moves no coefficient by more than {step} of the largest."

    def __str__(self) -> str:
        return self.statement

    def restated(self, again: Certificate) -> Certificate:
        """Return a certificate that was computed again, if it finds the objective that this one states.

        A tolerance is an allowance for solvers. What was solved has one objective, to the last digits, and
        parameters, labels or weights that were changed since have another: the certificate then says so.

        >>> parts = {"objective": 1.0, "scale": 2.0}
        >>> fit = Certificate("optimal", "gap", 1e-6, 1e-4, parts)
        >>> fit.restated(replace(fit, parts={**parts, "objective": 1.000001})).holds
        False
        """
        if not (again.holds and {"objective", "scale"} <= self.parts.keys() & again.parts.keys()):
            return again
        stated, scale = self.parts["objective"], self.parts["scale"]
        moved = abs(again.parts["objective"] - stated)
        allowed = STATED * max(scale, abs(stated)) + again.parts.get("rounding", 0.0)
        if moved <= allowed:
            return again
        return replace(
            again, claim="measured", measure=STATED_OBJECTIVE, value=moved / scale, tolerance=allowed / scale
        )

    def view(self) -> Mapping[str, Any]:
        """Return the certificate as plain numbers and words, for files and reports."""
        return MappingProxyType(
            {
                "claim": self.claim,
                "measure": self.measure,
                "value": self.value,
                "tolerance": self.tolerance,
                "holds": self.holds,
                "parts": dict(self.parts),
                "statement": self.statement,
            }
        )
