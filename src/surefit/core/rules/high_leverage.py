"""Rows that pull the fit towards themselves."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from surefit.core.diagnosis import Evidence, Finding, Rule, listed


class HighLeverage(Rule):
    """Rows whose leverage is above one half, and more than ten times the average."""

    name = "high-leverage"
    needs = ("leverage",)

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Name the rows, the worst first."""
        leverage = np.asarray(evidence["leverage"])
        average = float(leverage.mean()) if len(leverage) else 0.0
        (found,) = np.nonzero((leverage > 0.5) & (leverage > 10 * average))
        if len(found) == 0:
            return
        worst = found[np.argsort(-leverage[found])]
        yield Finding(
            code=self.name,
            severity="warning",
            message=(
                f"{len(worst)} rows nearly determine their own prediction (leverage above one half): "
                f"{listed([f'row {row} ({leverage[row]:.2f})' for row in worst])}."
            ),
            remedy="Check these rows: an error in one of them carries over to the coefficients.",
            rows=tuple(int(row) for row in worst),
            evidence={"largest": float(leverage[worst[0]]), "average": average},
        )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """One row far out, among a hundred."""
        return {"leverage": np.concatenate([np.full(99, 0.01), [0.9]])}

    @classmethod
    def clean_case(cls) -> Evidence:
        """A saturated fit, where every row has leverage one."""
        return {"leverage": np.ones(5)}
