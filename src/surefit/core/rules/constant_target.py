"""A target with one value leaves nothing to learn."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from surefit.core.diagnosis import Evidence, Finding, Rule, listed
from surefit.core.native.sums.moments import ColumnMoments, column_moments


class ConstantTarget(Rule):
    """A quantitative target that never changes."""

    name = "constant-target"
    needs = ("target_moments", "rows")

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Name the outputs that are constant, if there is more than one row."""
        moments: ColumnMoments = evidence["target_moments"]
        (constant,) = np.nonzero(moments.minimum == moments.maximum)
        if evidence["rows"] < 2 or len(constant) == 0:
            return
        which = (
            "The target is"
            if len(moments.mean) == 1
            else f"Of the targets, number {listed(constant.tolist())} is"
        )
        value = float(moments.mean[constant[0]])
        yield Finding(
            code=self.name,
            severity="problem",
            message=f"{which} constant ({value:.6g}), so there is nothing to learn from the columns.",
            remedy="Check that the right column was chosen, and that the rows were not filtered on it.",
            evidence={"value": value},
        )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """Three equal targets."""
        return {"target_moments": column_moments(np.full((3, 1), 7.0)), "rows": 3}

    @classmethod
    def clean_case(cls) -> Evidence:
        """Two targets are equal, the third is not."""
        return {"target_moments": column_moments(np.array([[7.0], [7.0], [7.5]])), "rows": 3}
