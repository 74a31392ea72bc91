"""Columns that distances hardly see, beside one that fills them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from surefit.core.diagnosis import Evidence, Finding, Rule, named


class UnscaledDistances(Rule):
    """One column makes up nearly all of the distances between rows.

    ``distance_columns``: the standard deviation of each column that distances are counted from.
    """

    name = "unscaled-distances"
    needs = ("distance_columns",)
    share = 0.99
    ratio = 100.0

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Compare the variances, of which a squared distance is made."""
        spread = np.asarray(evidence["distance_columns"], dtype=np.float64)
        known = spread[(spread > 0) & np.isfinite(spread)]
        if len(known) < 2:
            return
        largest = int(np.argmax(np.where(np.isfinite(spread), spread, -1.0)))
        sizes = (known / known.max()) ** 2
        share, ratio = 1 / sizes.sum(), float(known.max() / known.min())
        if share < self.share or ratio < self.ratio:
            return
        name = named(evidence.get("column_names"), (largest,))[0]
        yield Finding(
            code=self.name,
            severity="warning",
            message=(
                f"Column {name} makes up {share:.1%} of the squared distances: it varies {ratio:.3g} "
                "times as much as the column that varies least."
            ),
            remedy="Scale the columns first, as StandardScaler does, or take metric='seuclidean' or 'gower'.",
            columns=(name,),
            evidence={"share": float(share), "ratio": ratio},
        )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """Metres beside kilometres."""
        return {"distance_columns": np.array([1000.0, 1.0, 2.0])}

    @classmethod
    def clean_case(cls) -> Evidence:
        """Unlike, but all are seen."""
        return {"distance_columns": np.array([10.0, 1.0, 2.0])}
