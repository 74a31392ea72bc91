"""A column without a single value says nothing."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from surefit.core.diagnosis import Evidence, Finding, Rule, listed, named


class EmptyColumns(Rule):
    """Columns whose cells are all missing."""

    name = "empty-columns"
    needs = ("cells",)

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Name the columns in which the missing cells have all the weight."""
        weight, missing = evidence["cells"]
        (empty,) = np.nonzero(np.asarray(missing) >= weight)
        if len(empty) == 0 or weight == 0:
            return
        columns = named(evidence.get("column_names"), empty)
        has = "columns have" if len(columns) > 1 else "column has"
        yield Finding(
            code=self.name,
            severity="warning",
            message=f"{len(columns)} {has} only missing values: {listed(columns)}.",
            remedy="Drop them, or find out why they are empty.",
            columns=columns,
            evidence={"columns": float(len(columns))},
        )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """One of two columns is empty."""
        return {"cells": (3.0, np.array([3.0, 1.0]))}

    @classmethod
    def clean_case(cls) -> Evidence:
        """One cell of the column is there."""
        return {"cells": (3.0, np.array([2.0, 1.0]))}
