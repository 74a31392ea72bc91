"""Rows without which the coefficients would be others."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from surefit.core.diagnosis import Evidence, Finding, Rule, listed


class InfluentialRows(Rule):
    """Rows with a Cook's distance above one, without which the coefficients leave their confidence region."""

    name = "influential-rows"
    needs = ("cooks_distance",)
    threshold = 1.0

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Name the rows, the worst first."""
        distance = np.nan_to_num(np.asarray(evidence["cooks_distance"]), nan=0.0, posinf=0.0)
        (found,) = np.nonzero(distance > self.threshold)
        if len(found) == 0:
            return
        worst = found[np.argsort(-distance[found])]
        yield Finding(
            code=self.name,
            severity="warning",
            message=(
                f"{len(worst)} rows strongly influence the coefficients (Cook's distance above one): "
                f"{listed([f'row {row} ({distance[row]:.2g})' for row in worst])}."
            ),
            remedy="Look at these rows, and report how the fit changes without them.",
            rows=tuple(int(row) for row in worst),
            evidence={"largest": float(distance[worst[0]])},
        )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """One row far out, among a hundred."""
        return {"cooks_distance": np.concatenate([np.full(99, 0.01), [1.7]])}

    @classmethod
    def clean_case(cls) -> Evidence:
        """No row beyond a half."""
        return {"cooks_distance": np.linspace(0.0, 0.5, 100)}
