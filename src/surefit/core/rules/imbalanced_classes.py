"""A rare class makes accuracy a poor guide."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from surefit.core.diagnosis import Evidence, Finding, Rule, ratio


class ImbalancedClasses(Rule):
    """The largest class outweighs the smallest by more than ten to one."""

    name = "imbalanced-classes"
    needs = ("class_weights",)
    threshold = 10.0

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Compare the heaviest and the lightest class."""
        classes, weights = evidence["class_weights"]
        if len(classes) < 2:
            return
        rare, common = int(np.argmin(weights)), int(np.argmax(weights))
        times = ratio(float(weights[common]), float(weights[rare]))
        if times <= self.threshold:
            return
        share = float(weights[common] / np.sum(weights))
        yield Finding(
            code=self.name,
            severity="warning",
            message=(
                f"Class {classes[common]!s} outweighs class {classes[rare]!s} {times:.3g} times, so always "
                f"predicting {classes[common]!s} is correct for {share:.1%} of the weight."
            ),
            remedy="Judge by balanced accuracy, log loss or the area under the curve, "
            "and set class weights or a threshold by cost.",
            evidence={"ratio": times, "share": share},
        )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """Eleven to one."""
        return {"class_weights": (np.array(["no", "yes"]), np.array([11.0, 1.0]))}

    @classmethod
    def clean_case(cls) -> Evidence:
        """Ten to one."""
        return {"class_weights": (np.array(["no", "yes"]), np.array([10.0, 1.0]))}
