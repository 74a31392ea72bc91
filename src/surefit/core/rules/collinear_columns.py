r"""Columns that the others nearly predict, and how much that inflates the variance of coefficients.

The variance of a coefficient is :math:`VIF_j = 1 / (1 - R_j^2)` times what it would be if the other columns
told nothing of column j; it is the diagonal of the inverse correlation matrix, whose row is the regression.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from surefit.core.diagnosis import Evidence, Finding, Rule, listed, named


class CollinearColumns(Rule):
    """A variance inflation factor above 10: the other columns explain nine tenths of one."""

    name = "collinear-columns"
    needs = ("inverse_correlation", "deviations")
    threshold = 10.0
    telling = 0.1  # deviations of the column that a term must move it by, to be written out

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Name the columns, and write out the one that is told best by the others."""
        inverse: NDArray[np.float64] = evidence["inverse_correlation"]
        factors = np.diagonal(inverse)
        if not len(factors) or factors.max() <= self.threshold:
            return
        names = named(evidence.get("column_names"), range(len(factors)))
        worst = int(np.argmax(factors))
        told = [f"{names[j]} ({factors[j]:.3g})" for j in np.flatnonzero(factors > self.threshold)]
        yield Finding(
            code=self.name,
            severity="note",
            message=(
                f"Nearly collinear with the other columns, by variance inflation factor: {listed(told)}; "
                f"{self._equation(inverse, worst, evidence['deviations'], names)}."
            ),
            remedy=(
                "Predictions are not affected; to interpret single coefficients, drop or combine such "
                "columns."
            ),
            columns=tuple(names[j] for j in np.flatnonzero(factors > self.threshold)),
            evidence={"largest VIF": float(factors[worst]), "columns": float(len(told))},
        )

    def _equation(
        self, inverse: NDArray[np.float64], j: int, deviations: NDArray[np.float64], names: tuple[str, ...]
    ) -> str:
        """Write the regression of column j on the others, by the terms that move it."""
        standard = -inverse[j] / inverse[j, j]
        terms = [k for k in np.argsort(-np.abs(standard)) if k != j and abs(standard[k]) >= self.telling][:6]
        shown = " + ".join(f"{standard[k] * deviations[j] / deviations[k]:.3g} {names[k]}" for k in terms)
        return f"{names[j]} is about {shown}, up to a constant".replace("+ -", "- ")

    @classmethod
    def triggering_case(cls) -> Evidence:
        """Two columns with a correlation of 0.96."""
        return cls._case(0.96)

    @classmethod
    def clean_case(cls) -> Evidence:
        """Two columns with a correlation of 0.9."""
        return cls._case(0.9)

    @staticmethod
    def _case(correlation: float) -> Evidence:
        matrix = np.array([[1.0, correlation], [correlation, 1.0]])
        return {"inverse_correlation": np.linalg.inv(matrix), "deviations": np.ones(2)}
