"""A first axis that is one column, because of its unit."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from surefit.core.diagnosis import Evidence, Finding, Rule, named
from surefit.core.native.sums.moments import ColumnMoments, column_moments


class DominantColumn(Rule):
    """One column has nearly all the variance, and so the first principal axis to itself."""

    name = "dominant-column"
    needs = ("principal_axes", "column_moments")
    threshold = 0.95

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Look at the share of variance of the largest column, and at its part in the first axis."""
        moments: ColumnMoments = evidence["column_moments"]
        axes = np.asarray(evidence["principal_axes"])
        varying = int((moments.scatter > 0).sum())
        if varying < 2 or len(axes) == 0:
            return
        largest = int(np.argmax(moments.scatter))
        share = float(moments.scatter[largest] / moments.scatter.sum())
        part = float(axes[0, largest] ** 2)
        if share <= self.threshold or part <= self.threshold:
            return
        (column,) = named(evidence.get("column_names"), [largest])
        yield Finding(
            code=self.name,
            severity="warning",
            message=(
                f"Column {column} has {share:.1%} of the variance of all {varying} columns, so the first "
                f"component is that column ({part:.1%}), however it relates to the others."
            ),
            remedy="Scale the columns first, with StandardScaler, unless their units are meant to count.",
            columns=(column,),
            evidence={"share": share, "part": part},
        )

    @classmethod
    def _case(cls, unit: float) -> Evidence:
        X = np.array([[1.0, 2.0], [2.0, -1.0], [-2.0, 1.0], [-1.0, -2.0]]) * [1.0, unit]
        return {"principal_axes": np.array([[0.0, 1.0]]), "column_moments": column_moments(X)}

    @classmethod
    def triggering_case(cls) -> Evidence:
        """The second column is measured in a unit ten times smaller."""
        return cls._case(10.0)

    @classmethod
    def clean_case(cls) -> Evidence:
        """Twice the deviation."""
        return cls._case(2.0)
