"""A component of a mixture that has shrunk to a point."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from surefit.core.diagnosis import Evidence, Finding, Rule, listed

NARROW = 1e-4  # of the deviation of all rows: below it a component is a point, or rows on a plane


class CollapsedComponents(Rule):
    """Components whose density is a peak over one or a few rows."""

    name = "collapsed-components"
    needs = ("component_widths", "component_weights")

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Name each such component, its share and its rows."""
        widths = np.asarray(evidence["component_widths"])
        weights = np.asarray(evidence["component_weights"])
        if len(weights) < 2:
            return
        for k in np.flatnonzero(widths < NARROW):
            rows = tuple(evidence.get("component_rows", {}).get(int(k), ()))
            where = f", around row{'s' if len(rows) > 1 else ''} {listed(rows)}" if rows else ""
            yield Finding(
                code=self.name,
                severity="warning",
                message=(
                    f"Component {k}, with {weights[k]:.3g} of all rows, has collapsed: in one direction it "
                    f"is {widths[k]:.2g} times as wide as the table{where}. Its likelihood has no bound but "
                    "the floor of the variances."
                ),
                remedy="Ask for fewer components, raise reg_covar, or remove rows that are copies.",
                rows=rows,
                evidence={"component": float(k), "width": float(widths[k]), "share": float(weights[k])},
            )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """The second of two components is a point."""
        return cls._case(1e-9)

    @classmethod
    def clean_case(cls) -> Evidence:
        """It is narrow, but no point."""
        return cls._case(1e-2)

    @staticmethod
    def _case(width: float) -> Evidence:
        widths, weights = np.array([0.5, width]), np.array([0.9, 0.1])
        return {"component_widths": widths, "component_weights": weights, "component_rows": {1: (7, 8)}}
