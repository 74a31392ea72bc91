"""A column with one value carries no information."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from surefit.core.diagnosis import Evidence, Finding, Rule, listed, named
from surefit.core.native.sums.moments import ColumnMoments, column_moments


class ConstantColumns(Rule):
    """Columns without any scatter."""

    name = "constant-columns"
    needs = ("column_moments", "rows")

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Name the constant columns, if there is more than one row."""
        moments: ColumnMoments = evidence["column_moments"]
        if evidence["rows"] < 2:
            return
        (constant,) = np.nonzero(moments.scatter == 0)
        if len(constant) == 0:
            return
        columns = named(evidence.get("column_names"), constant)
        has = "columns have" if len(columns) > 1 else "column has"
        yield Finding(
            code=self.name,
            severity="warning",
            message=f"{len(columns)} {has} one value only: {listed(columns)}.",
            remedy="Drop them: they carry no information.",
            columns=columns,
            evidence={"columns": float(len(columns))},
        )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """One of two columns is constant."""
        return {"column_moments": column_moments(np.array([[1.0, 5.0], [2.0, 5.0]])), "rows": 2}

    @classmethod
    def clean_case(cls) -> Evidence:
        """Both columns vary, one of them very little."""
        return {"column_moments": column_moments(np.array([[1.0, 5.0], [2.0, 5.0 + 1e-12]])), "rows": 2}
