"""One class leaves nothing to tell apart."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from surefit.core.diagnosis import Evidence, Finding, Rule


class SingleClass(Rule):
    """All the weight lies in one class."""

    name = "single-class"
    needs = ("class_weights",)

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Look for a second class with weight."""
        classes, weights = evidence["class_weights"]
        present = np.flatnonzero(np.asarray(weights) > 0)
        if len(present) == 1:
            yield Finding(
                code=self.name,
                severity="problem",
                message=f"Every row with positive weight is of class {classes[present[0]]!s}.",
                remedy="Add rows of the other classes, or check how the rows were chosen.",
                evidence={"classes": float(len(classes))},
            )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """The second class has weight zero."""
        return {"class_weights": (np.array(["no", "yes"]), np.array([3.0, 0.0]))}

    @classmethod
    def clean_case(cls) -> Evidence:
        """Two classes."""
        return {"class_weights": (np.array(["no", "yes"]), np.array([3.0, 1.0]))}
