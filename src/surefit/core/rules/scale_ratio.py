"""Columns of very different size."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from surefit.core.diagnosis import Evidence, Finding, Rule, named
from surefit.core.native.sums.moments import ColumnMoments, column_moments


class ScaleRatio(Rule):
    """The largest standard deviation is more than a million times the smallest."""

    name = "scale-ratio"
    needs = ("column_moments", "rows")
    threshold = 1e6

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Compare the columns that vary."""
        moments: ColumnMoments = evidence["column_moments"]
        varies = np.flatnonzero(moments.scatter > 0)
        if len(varies) < 2:
            return
        size = np.sqrt(moments.scatter[varies])
        small, large = varies[np.argmin(size)], varies[np.argmax(size)]
        times = float(size.max() / size.min())
        if times <= self.threshold:
            return
        names = named(evidence.get("column_names"), (small, large))
        yield Finding(
            code=self.name,
            severity="note",
            message=f"Column {names[1]} varies {times:.2g} times as much as column {names[0]}.",
            remedy="Standardise the columns before a penalised, distance-based or iterative fit.",
            columns=names,
            evidence={"ratio": times},
        )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """Ten million times."""
        return {"column_moments": column_moments(np.array([[1.0, 1e7], [2.0, 3e7]])), "rows": 2}

    @classmethod
    def clean_case(cls) -> Evidence:
        """A thousand times."""
        return {"column_moments": column_moments(np.array([[1.0, 1e3], [2.0, 2e3]])), "rows": 2}
