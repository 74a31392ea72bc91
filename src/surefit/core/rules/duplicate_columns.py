"""Columns that say the same, or nearly."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from surefit.core.diagnosis import Evidence, Finding, Rule, listed, named


class DuplicateColumns(Rule):
    """Pairs of columns whose correlation is 1 or -1, or within 1e-6 of it."""

    name = "duplicate-columns"
    needs = ("correlation",)
    near = 1e-6

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Name the pairs, exact ones as copies."""
        correlation = np.abs(np.nan_to_num(np.asarray(evidence["correlation"])))
        rows, columns = np.nonzero(np.triu(correlation >= 1 - self.near, k=1))
        if len(rows) == 0:
            return
        names = named(evidence.get("column_names"), range(len(correlation)))
        exact = int((correlation[rows, columns] >= 1 - 1e-14).sum())
        pairs = [f"{names[i]} and {names[j]}" for i, j in zip(rows, columns, strict=True)]
        yield Finding(
            code=self.name,
            severity="warning",
            message=(
                f"{len(pairs)} pairs of columns are equal up to scale and offset ({exact} exactly): "
                f"{listed(pairs)}."
            ),
            remedy="Keep one of each pair.",
            columns=tuple(names[i] for i in np.unique(np.concatenate([rows, columns]))),
            evidence={"pairs": float(len(pairs)), "exact": float(exact)},
        )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """The first two are copies."""
        return {"correlation": np.array([[1.0, -1.0, 0.2], [-1.0, 1.0, -0.2], [0.2, -0.2, 1.0]])}

    @classmethod
    def clean_case(cls) -> Evidence:
        """Closely related, but not the same; one column is constant."""
        return {"correlation": np.array([[1.0, 0.99, np.nan], [0.99, 1.0, np.nan], [np.nan] * 3])}
